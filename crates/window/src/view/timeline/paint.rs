//! The timeline, painted piece by piece.

use egui::{Align2, Color32, Mesh, Rect, pos2, vec2};

use crate::view::Frame;
use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::layout::WindowLayout;
use crate::view::timeline::layout::TimelineLayout;
use crate::view::timeline::rows::Rows;
use crate::view::timeline::shown_rounds::{ShownRound, shown_rounds};
use crate::view::timeline::{bars, finding, sm_map, tip};
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use session::Status;
use session::trace::StepKind;
use ui::RecordedTexts;
use ui::code_editor::Race;
use ui::timeline::lanes::{Bar, Chart, row_name};
use ui::timeline::scale::{TimeScale, TimeZoom};
use ui::timeline::{BarKind, KINDS, Which, drawn_round};

/// The least height in which the lanes of two rounds are told apart.
const MIN_ROUNDS: f32 = 32.0;
/// Spans of a row that are said one by one, at most.
const MAX_SPANS_SAID: usize = 12;

/// Paints the timeline, if the window has room for it, and what the pointer is over anywhere near it.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, layout: &WindowLayout) {
    let timeline = frame.timeline;
    let Some(places) = TimelineLayout::of(layout) else {
        return;
    };
    painter.hline(
        places.all.x_range(),
        places.all.top() + 0.5,
        (1.0, painter.palette.rule),
    );
    let recorded = frame.screen.recorded.as_ref();
    let is_missing = recorded.is_some_and(|it| !it.missing.is_empty());
    if let Some(race) = &timeline.race {
        paint_race_chip(painter, &places);
        finding::paint_race(painter, &places, &race.fault);
    } else if !is_missing {
        let chip = Chip::of(timeline.frozen, frame.sources.status);
        paint_chip(painter, &places, chip);
    }
    paint_legend(painter, &places, timeline.chart());
    let rounds = shown_rounds(timeline, &places, frame.sources.status);
    let folded = if rounds.is_empty() {
        paint_nothing_yet(painter, &places, recorded)
    } else {
        let scale = timeline.scale(places.lanes);
        paint_axis(painter, &places, scale, &rounds);
        let folded = rounds
            .iter()
            .map(|round| paint_round(painter, scale, round));
        folded.max().unwrap_or(1)
    };
    if let Some(status) = frame.sources.status {
        if timeline.race.is_none() {
            finding::paint(painter, &places, &frame.screen);
        }
        let chart = timeline.chart();
        sm_map::paint(
            painter,
            &places,
            status,
            chart,
            timeline.scale(places.lanes),
        );
        let has_finding = frame.screen.finding.is_some();
        match (&timeline.race, recorded) {
            (Some(race), _) => paint_race_foot(painter, &places, race),
            (None, None) => paint_foot(painter, &places, status, has_finding, folded),
            (None, Some(recorded)) if !is_missing => paint_origin(painter, &places, recorded),
            (None, Some(_)) => {} // nothing is drawn
        }
    }
    tip::paint(painter, frame, layout, &places);
}

/// Paints one round, or two as A and B on one axis, without what stands around the lanes of a session's
/// timeline.
pub(crate) fn paint_rounds(painter: &WidgetPainter, rect: Rect, charts: &[Chart]) {
    let [first, ..] = charts else { return };
    let places = TimelineLayout::of_lanes(rect);
    if places.lanes.height() < MIN_ROUNDS || !places.lanes.is_positive() {
        return;
    }
    let rounds = match charts {
        [a, b] => {
            let stacked = places.stacked([a, b].map(|chart| chart.data.lanes.len()));
            let rounds = stacked.into_iter().zip([a, b]).zip(Which::both(true));
            let round = |((places, chart), which)| ShownRound {
                places,
                chart,
                which,
            };
            rounds.map(round).collect()
        }
        _ => vec![ShownRound {
            places,
            chart: first,
            which: Which::Only,
        }],
    };
    let whole = TimeZoom::default().of(first.data.whole);
    let scale = TimeScale::new(whole, places.lanes.left(), places.lanes.width());
    paint_axis(painter, &places, scale, &rounds);
    for round in &rounds {
        paint_round(painter, scale, round);
    }
}

/// Everything that depends on the round; returns how many streams share a row.
fn paint_round(painter: &WidgetPainter, scale: TimeScale, round: &ShownRound<'_>) -> usize {
    let (places, chart) = (&round.places, round.chart);
    let rows = places.rows(chart.data.lanes.len());
    bars::paint(painter, places, scale, rows, chart);
    say_rows(painter, places, rows, round);
    paint_lane_names(painter, places, rows, round);
    rows.folded
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

/// Which round is shown, as a button.
fn paint_chip(painter: &WidgetPainter, places: &TimelineLayout, shown: Chip) {
    let chip = places.chip;
    let palette = &painter.palette;
    let (background, colour, word) = match shown {
        Chip::Frozen => (palette.accent, palette.on_accent, tr!("frozen")),
        Chip::Live => (palette.running_background, palette.running, tr!("live")),
        Chip::LastRound => (palette.rule, palette.value, tr!("last round")),
        Chip::Recorded => (palette.rule, palette.recorded, tr!("recorded")),
    };
    let tip = match shown {
        Chip::Frozen => tr!("Click to resume"),
        Chip::Live | Chip::LastRound | Chip::Recorded => tr!("Click to freeze this round"),
    };
    let spoken = Spoken::new(word, tip).on(Some(shown == Chip::Frozen));
    painter.request(chip, &spoken, UiRequest::FreezeTimeline);
    painter.rect_filled(chip, 5.0, background);
    let sign = Rect::from_center_size(chip.left_center() + vec2(15.0, 0.0), vec2(10.0, 10.0));
    if shown == Chip::Frozen {
        for left in [sign.left(), sign.right() - 0.36 * sign.width()] {
            let size = vec2(0.36 * sign.width(), sign.height());
            painter.rect_filled(
                Rect::from_min_size(pos2(left, sign.top()), size),
                0.0,
                colour,
            );
        }
    } else {
        painter.circle_filled(sign.center(), sign.width() / 2.0, colour);
    }
    let room = chip.right() - sign.right() - 12.0;
    let word = fitted(painter, word, medium(14.5), colour, room);
    let at = pos2(sign.right() + 7.0, chip.center().y);
    put(painter, at, Align2::LEFT_CENTER, word);
}

/// Says in the button's place that the round that is shown did not run.
fn paint_race_chip(painter: &WidgetPainter, places: &TimelineLayout) {
    let chip = places.chip;
    let palette = &painter.palette;
    painter.rect_filled(chip, 5.0, palette.failed);
    let (font, room) = (medium(14.5), chip.width() - 12.0);
    let word = fitted(painter, tr!("not run"), font, palette.on_failed, room);
    put(painter, chip.center(), Align2::CENTER_CENTER, word);
}

/// Each kind's colour and name; helper kernels by their own names, where these have room.
fn paint_legend(painter: &WidgetPainter, places: &TimelineLayout, chart: Option<&Chart>) {
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
        bars::add_bar(&mut mesh, square, colour, kind.pattern(), &painter.palette);
        put_mesh(painter, mesh);
        let at = pos2(square.right() + beside, middle.y);
        let place = square.with_max_x(at.x + name.size().x);
        let place = place.expand2(vec2(0.0, 4.0));
        painter.say(place, &Spoken::new(name.text(), kind.meaning()));
        x = at.x + name.size().x + apart;
        put(painter, at, Align2::LEFT_CENTER, name);
    }
}

fn paint_grounds(painter: &WidgetPainter, places: &TimelineLayout, rows: Rows) {
    painter.rect_filled(places.host, 0.0, painter.palette.recessed);
    if let Some((map, _)) = places.map {
        painter.rect_filled(map, 0.0, painter.palette.recessed);
    }
    let across = places.lanes.x_range();
    if rows.edges(0).1 < rows.edges(1).0 {
        let mut mesh = Mesh::default();
        for row in 0..rows.count() {
            let (top, bottom) = rows.edges(row);
            mesh.add_colored_rect(
                Rect::from_x_y_ranges(across, top..=bottom),
                painter.palette.recessed,
            );
        }
        put_mesh(painter, mesh);
    } else {
        let bottom = rows.edges(rows.count() - 1).1;
        let all = Rect::from_x_y_ranges(across, places.lanes.top()..=bottom);
        painter.rect_filled(all, 0.0, painter.palette.recessed);
    }
}

/// Paints the time axis: tick lines through all lanes, and their labels.
fn paint_axis(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    scale: TimeScale,
    rounds: &[ShownRound<'_>],
) {
    for round in rounds {
        let rows = round.places.rows(round.chart.data.lanes.len());
        paint_grounds(painter, &round.places, rows);
    }
    let label = |text: String| painter.layout_no_wrap(text, regular(12.5), painter.palette.label);
    let (times, ticks) = scale.ticks(88.0);
    // Deep in a long round the labels are long.
    let widest = times
        .last()
        .map_or(0.0, |ns| label(ticks.label(*ns)).size().x);
    let (times, ticks) = scale.ticks((widest + 30.0).max(88.0));
    let down = places.host.top()..=places.axis.top() + 4.0;
    let line = (1.0, painter.palette.time_line);
    let mut free = f32::MIN;
    for ns in times {
        let x = scale.x(ns);
        painter.vline(x, down.clone(), line);
        let label = label(ticks.label(ns));
        // The first and the last stay inside, if they are not in the way of others.
        let half = label.size().x / 2.0;
        let x = x.clamp(
            places.lanes.left() + half - 4.0,
            places.lanes.right() - half,
        );
        if x - half > free {
            free = x + half + 6.0;
            let at = pos2(x, places.axis.top() + 4.0);
            put(painter, at, Align2::CENTER_TOP, label);
        }
    }
}

/// Has each row said: what it is, and its first spans with their times.
fn say_rows(painter: &WidgetPainter, places: &TimelineLayout, rows: Rows, round: &ShownRound<'_>) {
    if !painter.is_read() {
        return;
    }
    let data = &round.chart.data;
    let say = |name: &str, (top, bottom): (f32, f32), bars: &[Bar]| {
        let row = Rect::from_x_y_ranges(places.names..=places.lanes.right(), top..=bottom);
        let text = format!(
            "{name}: {}",
            round.chart.list(&bars[..bars.len().min(MAX_SPANS_SAID)])
        );
        painter.say(row.expand(8.0), &Spoken::new(&text, ""));
    };
    let host = (places.host.top(), places.host.bottom());
    say(round.which.host_name(), host, &data.host);
    for row in 0..rows.count() {
        let lanes = &data.lanes[rows.lanes_of(row)];
        let name = row_name(lanes);
        say(&name, rows.edges(row), &lanes[0].bars);
    }
}

/// `host` and the streams' numbers, thinned out where lanes are thin.
fn paint_lane_names(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    rows: Rows,
    round: &ShownRound<'_>,
) {
    let chart = round.chart;
    let right = places.lanes.left() - 8.0;
    let name = |text: String, y: f32, colour: Color32| {
        let room = right - places.names;
        let galley = fitted(painter, &text, regular(12.5), colour, room);
        put(painter, pos2(right, y), Align2::RIGHT_CENTER, galley);
    };
    name(
        round.which.host_name().into(),
        places.host.center().y,
        painter.palette.value,
    );
    let mut every = 1;
    while every as f32 * rows.pitch < 13.5 {
        every *= 2;
    }
    for row in (0..rows.count()).step_by(every) {
        let lane = &chart.data.lanes[rows.lanes_of(row).start];
        let (top, bottom) = rows.edges(row);
        let text = lane.stream.name();
        name(text, (top + bottom) / 2.0, painter.palette.label);
    }
}

fn paint_nothing_yet(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    recorded: Option<&RecordedTexts>,
) -> usize {
    painter.rect_filled(places.lanes, 0.0, painter.palette.recessed);
    let text = match recorded {
        None => tr!("No round has been timed yet"),
        Some(recorded) => &recorded.missing,
    };
    let (font, room) = (regular(14.0), places.lanes.width());
    let text = paragraph(painter, text, font, painter.palette.label, room, 3);
    put(painter, places.lanes.center(), Align2::CENTER_CENTER, text);
    1
}

/// Paints the foot of recorded rounds: where they come from, and how fast the cells go.
fn paint_origin(painter: &WidgetPainter, places: &TimelineLayout, recorded: &RecordedTexts) {
    let (font, room) = (medium(12.5), places.foot.width());
    let colour = painter.palette.recorded;
    let lines = [recorded.long_line(), recorded.line()].into_iter();
    let mut lines = lines.map(|line| painter.layout_no_wrap(line, font.clone(), colour));
    let text = lines.find(|line| line.size().x <= room);
    let origin = || fitted(painter, &recorded.origin, font.clone(), colour, room);
    let text = text.unwrap_or_else(origin);
    let left = places.foot.left_center();
    put(painter, left, Align2::LEFT_CENTER, text);
}

/// Paints the foot of a round that did not run: where its times come from.
fn paint_race_foot(painter: &WidgetPainter, places: &TimelineLayout, race: &Race) {
    let text = if race.is_measured {
        tr!("drawn as the script orders it; each op takes as long as alone")
    } else {
        tr!("drawn as the script orders it; no op was timed yet, so that all are equally long")
    };
    let (font, room) = (regular(12.5), places.foot.width());
    let text = fitted(painter, text, font, painter.palette.label, room);
    put(
        painter,
        places.foot.left_center(),
        Align2::LEFT_CENTER,
        text,
    );
}

/// Paints the foot: how spans are measured and, if there is room, the mouse actions.
fn paint_foot(
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
    let room = places.foot.width();
    let font = regular(12.5);
    let line = |text: String| painter.layout_no_wrap(text, font.clone(), painter.palette.label);
    let whole = if has_finding {
        format!("{} · {how}{folds}", drawn_round())
    } else {
        how + folds.as_str()
    };
    // Only a finding is medians that the drawing may contradict: where room is short, that matters most.
    let text = if line(whole.clone()).size().x * SMALLEST <= room || !has_finding {
        whole
    } else {
        drawn_round().to_owned() + folds.as_str()
    };
    let text = fitted(painter, &text, font.clone(), painter.palette.label, room);
    let used = text.size().x + 24.0;
    let left = places.foot.left_center();
    put(painter, left, Align2::LEFT_CENTER, text);
    let mouse = tr!("wheel: zoom · drag: move · double click: fit");
    let mouse = painter.layout_no_wrap(mouse.into(), font, painter.palette.label);
    if used + mouse.size().x <= room {
        let right = places.foot.right_center();
        put(painter, right, Align2::RIGHT_CENTER, mouse);
    }
}
