//! What stands around the lanes: which round is shown and how much overlaps, large what the last change did,
//! what colours and patterns mean, where the times come from, and what is under the pointer.

use egui::{
    Align, Align2, Atom, Button, Id, Label, Layout, Link, Mesh, Pos2, Rect, RichText, Tooltip, Ui,
    pos2, vec2,
};

use crate::view::Frame;
use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::timeline::lanes::{ShownRound, add_bar, paint_outline};
use crate::view::timeline::layout::TimelineLayout;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::trace::StepKind;
use session::{SessionAction, Status, Switch};
use ui::finding::{Headline, Tone};
use ui::theme::Palette;
use ui::timeline::{BarKind, KINDS, drawn_round};
use ui::{Action, Chart, RecordedTexts, Screen, ViewAction};

/// The size of the factor's type, of what is beside it, and of the foot's.
const LARGE: f32 = 26.0;
const BESIDE: f32 = 15.0;
const SMALL: f32 = 12.5;

/// Shows all of it.
pub(super) fn show(
    painter: &WidgetPainter,
    frame: &Frame<'_>,
    places: &TimelineLayout,
    rounds: &[ShownRound<'_>],
) {
    let (timeline, screen) = (frame.timeline, &frame.screen);
    let recorded = screen.recorded.as_ref();
    let is_missing = recorded.is_some_and(|it| !it.missing.is_empty());
    show_legend(painter, places, timeline.chart());
    if rounds.is_empty() {
        let palette = &painter.palette;
        painter.rect_filled(places.lanes, 0.0, palette.recessed);
        let text = recorded.map_or(tr!("No round has been timed yet"), |it| &it.missing);
        let (font, room) = (regular(14.0), places.lanes.width());
        let text = paragraph(painter, text, font, palette.label, room, 3);
        put(painter, places.lanes.center(), Align2::CENTER_CENTER, text);
    }
    if let Some(race) = &timeline.race {
        show_chip(painter, places, None);
        let place = if places.finding.is_positive() {
            places.finding
        } else {
            places.summary
        };
        let sizes = [BESIDE, 14.0, 11.5];
        show_fitting(painter, place, "race", &race.fault.message, &sizes);
        let how = if race.is_measured {
            tr!("drawn as the script orders it; each op takes as long as alone")
        } else {
            tr!("drawn as the script orders it; no op was timed yet, so that all are equally long")
        };
        return show_foot(painter, places, how, "");
    }
    if !is_missing {
        show_chip(
            painter,
            places,
            Some(Chip::of(timeline.frozen, frame.sources.status)),
        );
    }
    let Some(status) = frame.sources.status else {
        return;
    };
    show_summary(painter, places, screen);
    if places.finding.is_positive() {
        line(painter, places.finding, "finding", |ui| {
            match &screen.finding {
                Some(found) => show_finding(painter, ui, found),
                None => show_hint(painter, ui),
            }
        });
    }
    match recorded {
        Some(_) if is_missing => {} // nothing is drawn
        Some(recorded) => show_origin(painter, places, recorded),
        None => {
            let folded = rounds
                .iter()
                .map(|round| round.rows.folded)
                .max()
                .unwrap_or(1);
            show_source(painter, places, status, screen.finding.is_some(), folded);
        }
    }
}

/// Lays out a line of widgets in a place.
fn line(painter: &WidgetPainter, place: Rect, name: &str, add: impl FnOnce(&mut Ui)) {
    painter.lay_out(place, name, |ui| {
        ui.with_layout(Layout::left_to_right(Align::Center), add);
    });
}

/// What the button in the title says of the round that is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Chip {
    /// It stays until it is clicked again.
    Frozen,
    /// The next timed round replaces it.
    Live,
    /// No round follows it for now.
    LastRound,
    /// It was recorded on another machine.
    Recorded,
}

impl Chip {
    pub(super) fn of(frozen: bool, status: Option<&Status>) -> Chip {
        let is_recorded = status.is_some_and(|status| status.lab.recording.is_some());
        match (frozen, status.is_some_and(|status| status.clock.running)) {
            (true, _) => Chip::Frozen,
            (false, _) if is_recorded => Chip::Recorded,
            (false, true) => Chip::Live,
            (false, false) => Chip::LastRound,
        }
    }
}

/// Shows which round is shown as a button that freezes it; a round that did not run cannot be frozen.
fn show_chip(painter: &WidgetPainter, places: &TimelineLayout, shown: Option<Chip>) {
    let palette = painter.palette;
    let (fill, colour, word) = match shown {
        Some(Chip::Frozen) => (palette.accent, palette.on_accent, tr!("frozen")),
        Some(Chip::Live) => (palette.running_background, palette.running, tr!("live")),
        Some(Chip::LastRound) => (palette.rule, palette.value, tr!("last round")),
        Some(Chip::Recorded) => (palette.rule, palette.recorded, tr!("recorded")),
        None => (palette.failed, palette.on_failed, tr!("not run")),
    };
    let is_frozen = shown == Some(Chip::Frozen);
    let sign = Atom::paint(vec2(10.0, 10.0), move |ui, face| {
        let square = face.rect;
        if is_frozen {
            for left in [square.left(), square.right() - 3.6] {
                let corner = pos2(left, square.top());
                let bar = Rect::from_min_size(corner, vec2(3.6, square.height()));
                ui.painter().rect_filled(bar, 0.0, colour);
            }
        } else {
            ui.painter().circle_filled(square.center(), 5.0, colour);
        }
    });
    painter.lay_out(places.chip, "chip", |ui| {
        let word = fitted(
            painter,
            word,
            medium(14.5),
            colour,
            places.chip.width() - 42.0,
        );
        let button = Button::new((sign, word))
            .fill(fill)
            .corner_radius(5)
            .selected(is_frozen);
        let button = button.min_size(places.chip.size());
        let Some(_) = shown else {
            ui.visuals_mut().disabled_alpha = 1.0;
            ui.add_enabled(false, button);
            return;
        };
        let button = ui.add(button);
        painter.requests(&button, UiRequest::FreezeTimeline);
        button.on_hover_text(if is_frozen {
            tr!("Click to resume")
        } else {
            tr!("Click to freeze this round")
        });
    });
}

/// The overlap, and the time of the round if there is room.
fn show_summary(painter: &WidgetPainter, places: &TimelineLayout, screen: &Screen) {
    let Some(overlap) = &screen.overlap else {
        return; // it is not measured while A and B are compared
    };
    let (room, font) = (places.summary.width(), medium(14.0));
    let colour = match &screen.recorded {
        None => painter.palette.accent,
        Some(_) => painter.palette.recorded,
    };
    // Of two rounds the finding has the times.
    let parts = match (&screen.round_before, overlap.round_time.as_str()) {
        (None, time) if !time.is_empty() => format!("{} · {time}", overlap.overlap),
        _ => overlap.overlap.clone(),
    };
    let whole = painter.layout_no_wrap(parts.clone(), font.clone(), colour);
    let text = if whole.size().x <= room {
        whole
    } else {
        fitted(painter, &overlap.overlap, font, colour, room)
    };
    line(painter, places.summary, "summary", |ui| {
        ui.visuals_mut().hyperlink_color = colour;
        let link = ui.add(Link::new(text)).accessible_name(&parts);
        painter.asks(&link, ViewAction::ToggleCauses);
        let what = tr!("Click for what keeps streams from overlapping");
        ui.ctx()
            .accesskit_node_builder(link.id, |node| node.set_description(what));
        link.on_hover_ui(|ui| {
            show_lines(ui, &overlap.tip);
            ui.label(what);
        });
    });
}

/// The factor large, then what was changed and the times, one above the other where room is short.
fn show_finding(painter: &WidgetPainter, ui: &mut Ui, found: &Headline) {
    let colour = tone_colour(found.tone, &painter.palette);
    ui.label(fitted(
        painter,
        &found.factor,
        medium(LARGE),
        colour,
        ui.available_width(),
    ));
    ui.add_space(8.0);
    let (room, colour) = (ui.available_width(), painter.palette.value);
    let line = |text: &str, size: f32| painter.layout_no_wrap(text.into(), regular(size), colour);
    let whole = match found.times.as_str() {
        "" => found.subject.clone(),
        times => format!("{} · {times}", found.subject),
    };
    let whole = line(&whole, BESIDE);
    let lines = [&found.subject, &found.times].map(|text| line(text, 14.0));
    if whole.size().x <= room {
        ui.label(whole);
    } else if lines.iter().all(|line| line.size().x <= room) {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for line in lines {
                ui.label(line);
            }
        });
    } else {
        ui.label(fitted(
            painter,
            &found.subject,
            regular(BESIDE),
            colour,
            room,
        ));
    }
}

/// Where the finding will stand.
fn show_hint(painter: &WidgetPainter, ui: &mut Ui) {
    let text = &tr!(
        "{first} to {last} and {kernel} change a setting: its effect on a round is shown here",
        first = Switch::ALL[0].key(),
        last = Switch::ALL[Switch::ALL.len() - 1].key(),
        kernel = Action::from(SessionAction::NextKernel).key()
    );
    let (colour, room) = (painter.palette.label, ui.available_width());
    ui.label(fitted(painter, text, regular(BESIDE), colour, room));
}

/// Shows a sentence about a race in a place, in the largest of these types in which it is whole.
fn show_fitting(painter: &WidgetPainter, place: Rect, name: &str, text: &str, sizes: &[f32]) {
    let colour = painter.palette.failed_text;
    let mut laid_out = sizes.iter().map(|&size| {
        let text = paragraph(painter, text, medium(size), colour, place.width(), 3);
        let is_whole = !text.elided && text.size().y <= place.height();
        (text, is_whole)
    });
    let whole = laid_out
        .find(|(_, is_whole)| *is_whole)
        .map(|(text, _)| text);
    let smallest = medium(sizes.iter().copied().fold(BESIDE, f32::min));
    let text = whole.unwrap_or_else(|| cut(painter, text, smallest, colour, place.width()));
    line(painter, place, name, |ui| _ = ui.label(text));
}

/// Only a gain is green.
pub(crate) fn tone_colour<Colour: Copy>(tone: Tone, palette: &Palette<Colour>) -> Colour {
    match tone {
        Tone::Measuring => palette.accent,
        Tone::Better => palette.running,
        Tone::Neutral => palette.value,
        Tone::Recorded => palette.recorded,
    }
}

/// Shows the foot: a text and, if there is room, another one at the right end.
fn show_foot(painter: &WidgetPainter, places: &TimelineLayout, text: &str, right: &str) {
    let (colour, room) = (painter.palette.label, places.foot.width());
    let text = fitted(painter, text, regular(SMALL), colour, room);
    let right = painter.layout_no_wrap(right.into(), regular(SMALL), colour);
    let apart = room - text.size().x - right.size().x;
    line(painter, places.foot, "foot", |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.label(text);
        if apart >= 24.0 && !right.text().is_empty() {
            ui.add_space(apart);
            ui.label(right);
        }
    });
}

/// The foot of recorded rounds: where they come from, and how fast the cells go.
fn show_origin(painter: &WidgetPainter, places: &TimelineLayout, recorded: &RecordedTexts) {
    let (font, room) = (medium(SMALL), places.foot.width());
    let colour = painter.palette.recorded;
    let lines = [recorded.long_line(), recorded.line()].into_iter();
    let mut lines = lines.map(|line| painter.layout_no_wrap(line, font.clone(), colour));
    let text = lines.find(|line| line.size().x <= room);
    let text = text.unwrap_or_else(|| fitted(painter, &recorded.origin, font, colour, room));
    line(painter, places.foot, "foot", |ui| _ = ui.label(text));
}

/// The foot of rounds that ran here: how spans are measured and, if there is room, the mouse actions.
fn show_source(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    status: &Status,
    has_finding: bool,
    folded: usize,
) {
    let how = if status.engine.is_cpu() {
        tr!("spans: measured by the worker threads themselves")
    } else {
        tr!("spans: measured by events around each operation (about 2 µs longer)")
    };
    let how = match status.rates.timed_one_in {
        1 => tr!("{how}; every round is timed", how = how),
        rounds => tr!(
            "{how}; one round of {rounds} is timed",
            how = how,
            rounds = rounds
        ),
    };
    let folds = match folded {
        0 | 1 => String::new(),
        _ => tr!("; {folded} streams per row", folded = folded),
    };
    let mut text = how + folds.as_str();
    if has_finding {
        text = format!("{} · {text}", drawn_round());
        let whole = painter.layout_no_wrap(text.clone(), regular(SMALL), painter.palette.label);
        // Only a finding is medians that the drawing may contradict: where room is short, that matters most.
        if whole.size().x * SMALLEST > places.foot.width() {
            text = format!("{}{folds}", drawn_round());
        }
    }
    let mouse = tr!("wheel: zoom · drag: move · double click: fit");
    show_foot(painter, places, &text, mouse);
}

/// Each kind's colour and name; helper kernels by their own names, where these have room.
fn show_legend(painter: &WidgetPainter, places: &TimelineLayout, chart: Option<&Chart>) {
    let (swatch, beside, apart) = (12.0, 6.0, 15.0);
    let helpers = chart.iter().flat_map(|chart| &chart.data.helpers);
    let helpers: Vec<&str> = helpers.map(|name| lang::text(name)).collect();
    let has_device_copies = chart.is_some_and(|chart| {
        let mut steps = chart.round.steps.iter();
        steps.any(|facts| facts.kind == StepKind::DeviceCopy)
    });
    let is_named = |kind| has_device_copies || kind != BarKind::Step(StepKind::DeviceCopy);
    let laid_out = |with_helpers: bool| {
        let kinds = KINDS[..KINDS.len() - 1].iter();
        let names = kinds
            .filter(|(kind, _)| is_named(*kind))
            .map(|(kind, name)| {
                let mut name = lang::text(name).to_owned();
                if with_helpers && *kind == BarKind::Step(StepKind::Support) {
                    name = format!("{name}: {}", helpers.join(", "));
                }
                let font = regular(13.0);
                (
                    *kind,
                    painter.layout_no_wrap(name, font, painter.palette.value),
                )
            });
        let names: Vec<_> = names.collect();
        let widths = names.iter().map(|(_, name)| name.size().x);
        let wide: f32 = widths.map(|width| swatch + beside + width + apart).sum();
        (names, wide - apart)
    };
    let (mut names, mut wide) = laid_out(!helpers.is_empty());
    if wide > places.legend.width() {
        (names, wide) = laid_out(false);
    }
    // With the copies from device to device it may still be too wide.
    let lacking = (wide - places.legend.width()).max(0.0);
    let apart = (apart - lacking / (names.len() - 1) as f32).max(beside);
    // Beside the figures it ends where everything ends.
    let mut x = if places.legend.top() == places.summary.top() {
        (places.legend.right() - wide).max(places.legend.left())
    } else {
        places.legend.left()
    };
    for (kind, name) in names {
        let middle = pos2(x + swatch / 2.0, places.legend.center().y);
        let square = Rect::from_center_size(middle, vec2(swatch, swatch));
        let mut mesh = Mesh::default();
        let colour = kind.colour(None, &painter.palette);
        add_bar(&mut mesh, square, colour, kind.pattern(), &painter.palette);
        put_mesh(painter, mesh);
        let at = pos2(square.right() + beside, middle.y);
        let place = square.with_max_x(at.x + name.size().x);
        let place = place.expand2(vec2(0.0, 4.0));
        painter.say(place, name.text(), kind.meaning());
        x = at.x + name.size().x + apart;
        put(painter, at, Align2::LEFT_CENTER, name);
    }
}

/// Shows what is under the pointer, on a card that stays within the window, and where that stands.
pub(super) fn show_tip(painter: &WidgetPainter, at: Pos2, lines: &[String], place: Option<Rect>) {
    if let Some(place) = place {
        paint_outline(painter, place);
    }
    let (context, layer) = (painter.ctx().clone(), painter.layer_id());
    let tip = Tooltip::always_open(context, layer, Id::unique("timeline"), at);
    tip.gap(12.0).show(|ui| show_lines(ui, lines));
}

/// Lines of which the first is a title.
fn show_lines(ui: &mut Ui, lines: &[String]) {
    for (at, text) in lines.iter().enumerate() {
        let font = if at == 0 { medium(15.0) } else { regular(14.0) };
        let colour = ui.visuals().widgets.inactive.text_color();
        ui.add(Label::new(RichText::new(text).font(font).color(colour)).extend());
    }
}
