//! What stands around the lanes: which round is shown and how much overlaps, large what the last change did,
//! what colours and edges mean, where the times come from, and what is under the pointer.

use egui::*;

use crate::view::style::*;
use crate::view::timeline::lanes::{Strip, add_bar, paint_outline, sm_count, sm_prefix};
use crate::view::timeline::layout::TimelineLayout;
use lang::tr;
use session::{SessionAction, Status, Switch};
use ui::diagnosis::{describe, overlap_in_words, round_time};
use ui::finding::{Headline, Tone, headline};
use ui::timeline::{colour, fill};
use ui::{Action, Chart, RecordedTexts, Timeline, ViewAction};

/// The size of the factor's type, of what is beside it, and of the foot's.
const LARGE: f32 = 26.0;
const BESIDE: f32 = 14.0;
const SMALL: f32 = 12.5;
/// The room of the button that says which round is shown.
const STATE: f32 = 110.0;

/// Shows all of it.
pub(super) fn show(
    ui: &mut Ui,
    timeline: &Timeline,
    status: &Status,
    places: &TimelineLayout,
    strips: &[Strip<'_>],
) {
    let (palette, found) = (palette(ui), headline(status));
    let recorded = RecordedTexts::of(status);
    let missing = recorded.as_ref().map_or("", |it| it.missing.as_str());
    let folded = strips.iter().map(|strip| strip.rows.folded).max();
    line(ui, places.title, "title", |ui| {
        show_state(ui, timeline, status, recorded.as_ref());
        if timeline.race.is_none() {
            show_summary(ui, timeline, status);
        }
    });
    let colour = match &recorded {
        Some(_) => palette.recorded,
        None => palette.label,
    };
    // Where a step of a lecture says what was found, a race takes the legend's place.
    let has_legend = timeline.race.is_none() || places.finding.is_positive();
    let drawn = timeline.drawn_in_words(status);
    let drawn = drawn.filter(|_| timeline.race.is_none());
    // Right above the rounds that it is about, and whole; below them where the legend leaves no room.
    let (mut above, mut below) = (drawn, None);
    if let Some(chart) = timeline.shown().filter(|_| has_legend) {
        let letters = above.as_deref().map_or(0, lang::columns);
        if 7.0 * letters as f32 + 78.0 * chart.kinds().count() as f32 > places.legend.width() {
            below = above.take();
        }
        line(ui, places.legend, "legend", |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if let Some(drawn) = above {
                    ui.label(styled(drawn, medium(13.0), colour));
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.set_clip_rect(ui.max_rect());
                    show_legend(ui, chart);
                });
            });
        });
    }
    if strips.is_empty() {
        let place = places.plot.rows;
        ui.painter().rect_filled(place, 0.0, palette.recessed);
        let text = match missing {
            "" => tr!("No round has been timed yet"),
            missing => missing,
        };
        let text = RichText::new(lang::keep_units(text)).font(regular(14.0));
        ui.put(place, Label::new(text));
    }
    if let Some(race) = &timeline.race {
        let place = if places.finding.is_positive() {
            places.finding
        } else {
            let place = places.title.union(places.legend);
            place.with_min_x(place.left() + STATE)
        };
        let rows = (place.height() / (1.17 * SMALL)) as usize;
        let (font, colour, room) = (medium(SMALL), palette.failed_text, place.width());
        let text = race.message.to_string();
        let text = paragraph(ui.painter(), &text, font, colour, room, rows);
        line(ui, place, "finding", |ui| _ = ui.label(text));
    } else if places.finding.is_positive() {
        line(ui, places.finding, "finding", |ui| {
            show_finding(ui, found.as_ref());
        });
    }
    if let Some((head, _)) = places.map {
        // The axis' lines end where words are.
        ui.painter().rect_filled(head, 0.0, palette.background);
        let text = map_in_words(timeline.shown(), status);
        let text = styled(text, medium(13.5), palette.value);
        line(ui, head, "map", |ui| _ = truncated(ui, text));
    }
    // The last is what stands elsewhere, too.
    let mut foot: Vec<String> = match (&timeline.race, &recorded) {
        (Some(race), _) if race.is_measured => {
            vec![tr!("drawn as the script orders it; each op takes as long as alone").into()]
        }
        (Some(_), _) => vec![
            tr!("drawn as the script orders it; no op was timed yet, so that all are equally long")
                .into(),
        ],
        (None, Some(recorded)) => vec![recorded.origin.clone(), recorded.pace.clone()],
        (None, None) => vec![source(status, folded)],
    };
    foot.splice(0..0, below);
    foot.push(tr!("wheel: zoom · drag: move · double click: fit").into());
    if strips.is_empty() {
        foot.clear(); // there are no times, and nothing to zoom
    }
    foot.retain(|part| !part.is_empty());
    line(ui, places.foot, "foot", |ui| {
        let (painter, room) = (ui.painter(), ui.available_width());
        let text = |parts: &[String]| {
            let words = parts.join(" · ");
            let least = if parts.len() > 1 { SMALL } else { 10.0 };
            let size = type_size(&words, room, [least, SMALL]);
            fitted(painter, &words, regular(size), colour, room)
        };
        // Half a part says nothing.
        while foot.len() > 1 && text(&foot).elided {
            foot.pop();
        }
        ui.label(text(&foot));
    });
}

/// Lays out a line of widgets in a place.
fn line(ui: &mut Ui, place: Rect, name: &str, add: impl FnOnce(&mut Ui)) {
    let line = UiBuilder::new().id_salt(name).max_rect(place);
    let line = line.layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(line, |ui| {
        ui.set_clip_rect(place);
        add(ui);
    });
}

/// Shows which round is shown as a button that freezes it; a round that did not run cannot be frozen.
fn show_state(ui: &mut Ui, timeline: &Timeline, status: &Status, recorded: Option<&RecordedTexts>) {
    let palette = palette(ui);
    let (fill, colour, word) = match (&timeline.race, recorded) {
        (Some(_), _) => (palette.failed, palette.on_failed, tr!("not run")),
        _ if timeline.frozen => (palette.accent, palette.on_accent, tr!("frozen")),
        (None, Some(it)) => (palette.rule, palette.recorded, it.badge),
        _ if status.clock.running => (palette.running_background, palette.running, tr!("live")),
        _ => (palette.rule, palette.value, tr!("last round")),
    };
    let word = styled(word, medium(14.5), colour);
    let button = Button::new(word).fill(fill).selected(timeline.frozen);
    ui.visuals_mut().selection.bg_fill = fill;
    ui.visuals_mut().disabled_alpha = 1.0;
    let button = ui.add_enabled(timeline.race.is_none(), button);
    requests(&button, UiRequest::FreezeTimeline);
    button.on_hover_text(if timeline.frozen {
        tr!("Click to resume")
    } else {
        tr!("Click to freeze this round")
    });
}

/// How much overlaps; a click shows why no more does.
fn show_summary(ui: &mut Ui, timeline: &Timeline, status: &Status) {
    let judged = timeline.diagnosis.as_ref();
    let Some(overlap) = overlap_in_words(judged, status) else {
        return;
    };
    let colour = match &status.lab.recording {
        None => palette(ui).accent,
        Some(_) => palette(ui).recorded,
    };
    let room = ui.available_width();
    let line = |words: &str, least: f32| {
        let size = type_size(words, room, [least, 14.0]);
        fitted(ui.painter(), words, medium(size), colour, room)
    };
    // Of two rounds the finding has the times; and half a time says nothing.
    let time = round_time(status).filter(|_| timeline.before.is_none());
    let both = time.map(|time| line(&format!("{overlap} · {time}"), 14.0));
    let both = both.filter(|line| !line.elided);
    let words = both.unwrap_or_else(|| line(&overlap, 9.0));
    ui.visuals_mut().hyperlink_color = colour;
    let link = ui.add(Link::new(words));
    asks(&link, ViewAction::ToggleCauses);
    let what = tr!("Click for what keeps streams from overlapping");
    ui.ctx()
        .accesskit_node_builder(link.id, |node| node.set_description(what));
    link.on_hover_ui(|ui| {
        show_lines(ui, &describe(judged, status));
        ui.label(what);
    });
}

/// The factor large, then what was changed and the times; or where that will stand.
fn show_finding(ui: &mut Ui, found: Option<&Headline>) {
    let palette = palette(ui);
    let Some(found) = found else {
        let text = tr!(
            "{first} to {last} and {kernel} change a setting: its effect on a round is shown here",
            first = Switch::ALL[0].key(),
            last = Switch::ALL[Switch::ALL.len() - 1].key(),
            kernel = Action::from(SessionAction::NextKernel).key()
        );
        let (font, room) = (regular(BESIDE), ui.available_width());
        ui.label(paragraph(ui.painter(), &text, font, palette.label, room, 2));
        return;
    };
    // Only a gain is green.
    let (colour, of_times) = match found.tone {
        Tone::Measuring => (palette.accent, palette.value),
        Tone::Better => (palette.running, palette.value),
        Tone::Neutral => (palette.value, palette.value),
        Tone::Recorded => (palette.recorded, palette.value),
    };
    // It leaves half the line to what was changed.
    let size = type_size(&found.factor, 0.5 * ui.available_width(), [15.0, LARGE]);
    ui.label(styled(&found.factor, medium(size), colour));
    let (font, room) = (regular(BESIDE), ui.available_width());
    let beside = |text: &str| paragraph(ui.painter(), text, font.clone(), of_times, room, 2);
    // Half a time says nothing.
    let both = beside(&format!("{} · {}", found.subject, found.times));
    ui.label(match found.times.as_str() {
        times if times.is_empty() || both.elided => beside(&found.subject),
        _ => both,
    });
}

/// How spans of rounds that ran here are measured.
fn source(status: &Status, folded: Option<usize>) -> String {
    let how = if status.engine.is_cpu() {
        tr!("spans: measured by the worker threads themselves")
    } else {
        tr!("spans: measured by events around each operation (about 2 µs longer)")
    };
    match folded {
        Some(folded) if folded > 1 => how.to_owned() + tr!("; {folded} streams per row").as_str(),
        _ => how.into(),
    }
}

/// How many multiprocessors were at work, and what it costs to know that.
fn map_in_words(chart: Option<&Chart>, status: &Status) -> String {
    let sms = chart.map_or(&[][..], |chart| &chart.sms);
    let busy = sms.iter().filter(|sm| !sm.bars.is_empty()).count();
    if busy == 0 {
        return tr!("No round with block timestamps yet").into();
    }
    let text = tr!(
        "{} of {count} {name}s at work",
        busy,
        count = sm_count(status).max(sms.len()),
        name = sm_prefix(status)
    );
    let overhead = match status.lab.timestamp_overhead {
        Some(factor) if factor < 1.02 => tr!("Timestamp overhead: not measurable").into(),
        Some(factor) => tr!(
            "Timestamps make a launch {factor}× slower",
            factor = format_args!("{factor:.2}")
        ),
        None => tr!("Timestamp overhead not measured yet").into(),
    };
    format!("{text} · {overhead}")
}

/// The colour and name of each kind of bar that the round has.
fn show_legend(ui: &mut Ui, chart: &Chart) {
    let palette = palette(ui);
    ui.spacing_mut().item_spacing.x = 4.0;
    for (kind, name) in chart.kinds() {
        let (square, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
        let mut mesh = Mesh::default();
        let colour = colour(*kind, None, &palette);
        add_bar(&mut mesh, square, colour, fill(*kind), &palette);
        put_mesh(ui.painter(), mesh);
        truncated(ui, styled(lang::text(name), regular(13.0), palette.value));
        ui.add_space(4.0);
    }
}

/// Shows what is under the pointer, on a card that stays within the window, and where that stands.
pub(super) fn show_tip(ui: &Ui, at: Pos2, lines: &[String], place: Option<Rect>) {
    if let Some(place) = place {
        paint_outline(ui, place);
    }
    let (context, layer) = (ui.ctx().clone(), ui.layer_id());
    let tip = Tooltip::always_open(context, layer, Id::unique("timeline"), at);
    tip.gap(12.0).show(|ui| show_lines(ui, lines));
}

/// Lines of which the first is a title.
fn show_lines(ui: &mut Ui, lines: &[String]) {
    for (at, text) in lines.iter().enumerate() {
        let font = if at == 0 { medium(15.0) } else { regular(14.0) };
        let colour = ui.visuals().widgets.inactive.text_color();
        ui.add(Label::new(styled(text, font, colour)).extend());
    }
}
