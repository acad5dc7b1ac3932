//! The lanes of rounds on one axis: the bars, whose colour is the instance's and whose pattern says what is
//! done, and the names in them and beside them.

use std::iter::once;
use std::ops::RangeInclusive;

use egui::{Align2, Color32, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::timeline::TimelineView;
use crate::view::timeline::layout::{Rows, TimelineLayout};
use crate::view::widget_painter::WidgetPainter;
use session::Status;
use ui::Chart;
use ui::theme::Palette;
use ui::timeline::lanes::{Arrow, Bar, Lane, RacingBar, fold_bars, row_name};
use ui::timeline::scale::{TimeScale, TimeZoom};
use ui::timeline::{Pattern, Which};

/// The least height in which the lanes of two rounds are told apart.
const MIN_ROUNDS: f32 = 32.0;
/// Spans of a row that are said one by one, at most.
const MAX_SPANS_SAID: usize = 12;
/// How much of the colour a hollow bar has inside.
const INSIDE: f32 = 0.28;
/// From one upright line of a fence to the next, in points.
const FENCE_PITCH: f32 = 7.0;
/// What is shorter is as wide all the same: a pixel in any window.
const MIN_WIDTH: f32 = 1.25;
/// How far beside a bar that still count as over it.
const NEAR: f32 = 3.0;

/// Top and bottom of a row.
type Edges = (f32, f32);

/// A round, and where it stands.
pub(super) struct ShownRound<'a> {
    places: TimelineLayout,
    scale: TimeScale,
    pub(super) rows: Rows,
    chart: &'a Chart,
    which: Which,
}

/// The newest round; above it the one before the last change, or A's above B's, unless the
/// multiprocessors' rows need the room.
pub(super) fn shown_rounds<'a>(
    timeline: &'a TimelineView,
    places: &TimelineLayout,
    status: Option<&Status>,
) -> Vec<ShownRound<'a>> {
    let Some(chart) = timeline.chart() else {
        return Vec::new();
    };
    let compares = status.is_some_and(|status| status.lab.comparison.is_some());
    let before = timeline.before().filter(|_| places.map.is_none());
    let charts: Vec<_> = before.into_iter().chain([chart]).collect();
    rounds_of(places, timeline.scale(places.lanes), &charts, compares)
}

/// One round, or two of which the first is above, on one axis.
fn rounds_of<'a>(
    places: &TimelineLayout,
    scale: TimeScale,
    charts: &[&'a Chart],
    compares: bool,
) -> Vec<ShownRound<'a>> {
    let round = |places: TimelineLayout, chart: &'a Chart, which| ShownRound {
        rows: places.rows(chart.data.lanes.len()),
        places,
        scale,
        chart,
        which,
    };
    match charts {
        [a, b] => {
            let stacked = places.stacked([a, b].map(|chart| chart.data.lanes.len()));
            let both = stacked.into_iter().zip([a, b]).zip(Which::both(compares));
            both.map(|((places, chart), which)| round(places, chart, which))
                .collect()
        }
        _ => charts
            .iter()
            .map(|chart| round(*places, chart, Which::Only))
            .collect(),
    }
}

/// Paints one round, or two as A and B on one axis, without what stands around the lanes of a session's
/// timeline.
pub(crate) fn paint_rounds(painter: &WidgetPainter, rect: Rect, charts: &[Chart]) {
    let [first, ..] = charts else { return };
    let places = TimelineLayout::of_lanes(rect);
    if places.lanes.height() < MIN_ROUNDS || !places.lanes.is_positive() {
        return;
    }
    let whole = TimeZoom::default().of(first.data.whole);
    let scale = TimeScale::new(whole, places.lanes.left(), places.lanes.width());
    let charts: Vec<_> = charts.iter().collect();
    paint(painter, &places, &rounds_of(&places, scale, &charts, true));
}

/// Paints rounds and their axis.
pub(super) fn paint(painter: &WidgetPainter, places: &TimelineLayout, rounds: &[ShownRound<'_>]) {
    for round in rounds {
        round.paint_grounds(painter);
    }
    if let Some(round) = rounds.first() {
        paint_axis(painter, places, round.scale);
    }
    for round in rounds {
        round.paint_bars(painter);
        round.say(painter);
        round.paint_lane_names(painter);
    }
}

/// Paints the time axis: tick lines through all lanes, and their labels.
fn paint_axis(painter: &WidgetPainter, places: &TimelineLayout, scale: TimeScale) {
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

impl ShownRound<'_> {
    fn paint_grounds(&self, painter: &WidgetPainter) {
        let (places, rows, colour) = (&self.places, self.rows, painter.palette.recessed);
        painter.rect_filled(places.host, 0.0, colour);
        if let Some((map, _)) = places.map {
            painter.rect_filled(map, 0.0, colour);
        }
        let across = places.lanes.x_range();
        let mut mesh = Mesh::default();
        if rows.edges(0).1 < rows.edges(1).0 {
            for row in 0..rows.count() {
                let (top, bottom) = rows.edges(row);
                mesh.add_colored_rect(Rect::from_x_y_ranges(across, top..=bottom), colour);
            }
        } else {
            let down = places.lanes.top()..=rows.edges(rows.count() - 1).1;
            mesh.add_colored_rect(Rect::from_x_y_ranges(across, down), colour);
        }
        put_mesh(painter, mesh);
    }

    /// The bars of the host and of each lane that has a row of its own, with their rows' edges.
    fn single_rows(&self) -> impl Iterator<Item = (&[Bar], Edges)> {
        let host = (self.places.host.top(), self.places.host.bottom());
        let single = |row| match &self.chart.data.lanes[self.rows.lanes_of(row)] {
            [lane] => Some((lane.bars.as_slice(), self.rows.edges(row))),
            _ => None,
        };
        let lanes = (0..self.rows.count()).filter_map(single);
        once((self.chart.data.host.as_slice(), host)).chain(lanes)
    }

    /// Paints the bars of the host and of all lanes, and what joins them.
    ///
    /// They are one mesh: thousands cost little.
    fn paint_bars(&self, painter: &WidgetPainter) {
        let mut mesh = Mesh::default();
        for (bars, edges) in self.single_rows() {
            self.add_bars(&mut mesh, &painter.palette, edges, bars);
        }
        for row in 0..self.rows.count() {
            let lanes = &self.chart.data.lanes[self.rows.lanes_of(row)];
            if lanes.len() != 1 {
                self.add_folded(&mut mesh, painter, self.rows.edges(row), lanes);
            }
        }
        put_mesh(painter, mesh);
        for (bars, edges) in self.single_rows() {
            if edges.1 - edges.0 >= 10.0 {
                self.paint_names(painter, edges, bars);
            }
        }
        for arrow in &self.chart.data.arrows {
            self.paint_arrow(painter, arrow);
        }
        if let Some(race) = &self.chart.data.race {
            self.paint_race(painter, race);
        }
    }

    /// Marks two ops that nothing orders, and what is missing between them by a dashed arrow: the end of the
    /// first is to come before the beginning of the second.
    fn paint_race(&self, painter: &WidgetPainter, [first, second]: &[RacingBar; 2]) {
        let rect = |(lane, bar): &RacingBar| self.bar_rect(self.edges_of(*lane)?, bar);
        let (Some(first), Some(second)) = (rect(first), rect(second)) else {
            return;
        };
        let colour = painter.palette.failed_text;
        let line = Stroke::new(2.5, colour);
        for bar in [first, second] {
            painter.rect_stroke(bar, 0.0, line, StrokeKind::Outside);
        }
        let (from, to) = (first.right_center(), second.left_center());
        painter.extend(Shape::dashed_line(&[from, to], line, 6.0, 4.0));
        let back = (from - to).normalized() * 9.0;
        let aside = 0.5 * back.rot90();
        let head = vec![to, to + back + aside, to + back - aside];
        painter.add(Shape::convex_polygon(head, colour, Stroke::NONE));
    }

    /// The edges of the row that a lane is in.
    fn edges_of(&self, lane: usize) -> Option<Edges> {
        let mut rows = 0..self.rows.count();
        let row = rows.find(|&row| self.rows.lanes_of(row).contains(&lane))?;
        Some(self.rows.edges(row))
    }

    /// Paints an arrow from the record of an event to what waits for it, where each lane has a row.
    fn paint_arrow(&self, painter: &WidgetPainter, arrow: &Arrow) {
        let place = |(lane, time): (usize, f64)| {
            let (top, bottom) = self.edges_of(lane).filter(|_| self.rows.folded == 1)?;
            let x = self.scale.x(time);
            let is_seen = self.places.lanes.x_range().contains(x);
            is_seen.then(|| pos2(x, (top + bottom) / 2.0))
        };
        let (Some(from), Some(to)) = (place(arrow.from), place(arrow.to)) else {
            return;
        };
        let colour = painter.palette.value;
        // Events of one moment would hide one another: it leaves to the right, and comes from the left.
        let bend = from.x.max(to.x) + 7.0;
        let end = pos2(to.x + 1.0, to.y);
        let line = vec![from, pos2(bend, from.y), pos2(bend, to.y), end];
        painter.line(line, Stroke::new(1.8, colour));
        let head = vec![end, end + vec2(6.0, -4.0), end + vec2(6.0, 4.0)];
        painter.add(Shape::convex_polygon(head, colour, Stroke::NONE));
    }

    /// A bar's place, if any of it is shown.
    fn bar_rect(&self, edges: Edges, bar: &Bar) -> Option<Rect> {
        span_rect(&self.places, self.scale, edges, [bar.start, bar.end])
    }

    fn add_bars(&self, mesh: &mut Mesh, palette: &Palette<Color32>, edges: Edges, bars: &[Bar]) {
        let mut before = f32::MIN;
        for bar in bars {
            let Some(mut rect) = self.bar_rect(edges, bar) else {
                continue;
            };
            let colour = bar.colour(palette);
            // Bars that touch are told apart by a darker edge.
            if (rect.left() - before).abs() < 0.5 && rect.width() >= 6.0 {
                let edge = rect.with_max_x(rect.left() + 1.0);
                mesh.add_colored_rect(edge, mixed(palette, colour, 0.45));
                rect.set_left(rect.left() + 1.0);
            }
            before = rect.right();
            add_bar(mesh, rect, colour, bar.kind.pattern(), palette);
        }
    }

    fn add_folded(&self, mesh: &mut Mesh, painter: &WidgetPainter, edges: Edges, lanes: &[Lane]) {
        let (palette, pixels) = (
            &painter.palette,
            PixelColumns::of(painter, self.places.lanes),
        );
        let bars = lanes.iter().flat_map(|lane| &lane.bars);
        for piece in fold_bars(bars, pixels.scale(self.scale), pixels.left, pixels.count) {
            let share = 0.4 + 0.15 * f32::from(piece.level);
            let part = piece.kind.pattern().strength() * share;
            let colour = piece.kind.colour(piece.number, palette);
            let across = pixels.range(piece.columns);
            let rect = Rect::from_x_y_ranges(across, edges.0..=edges.1);
            mesh.add_colored_rect(rect, mixed(palette, colour, part));
        }
    }

    /// Paints the ops' names where they fit into their bars.
    fn paint_names(&self, painter: &WidgetPainter, edges: Edges, bars: &[Bar]) {
        let font = medium((0.86 * (edges.1 - edges.0)).min(12.5));
        for bar in bars {
            let rect = self.bar_rect(edges, bar);
            let Some(rect) = rect.filter(|rect| rect.width() >= 24.0) else {
                continue;
            };
            let (colour, pattern) = (bar.colour(&painter.palette), bar.kind.pattern());
            let text_colour = match pattern {
                Pattern::Solid => text_on(colour),
                Pattern::Dim | Pattern::Hollow | Pattern::Fence | Pattern::Split => {
                    painter.palette.value
                }
            };
            let name = self.chart.name(bar).to_owned();
            let name = painter.layout_no_wrap(name, font.clone(), text_colour);
            if name.size().x + 8.0 <= rect.width() {
                if matches!(pattern, Pattern::Fence | Pattern::Split) {
                    let within = rect.shrink(1.0).y_range();
                    let across = Rect::from_center_size(rect.center(), name.size()).expand(2.0);
                    let clear = Rect::from_x_y_ranges(across.x_range(), within);
                    painter.rect_filled(clear, 0.0, mixed(&painter.palette, colour, INSIDE));
                }
                // The lane says it.
                put_silently(painter, rect.center(), Align2::CENTER_CENTER, name);
            }
        }
    }

    /// Has each row said: what it is, and its first spans with their times.
    fn say(&self, painter: &WidgetPainter) {
        if !painter.is_read() {
            return;
        }
        let (data, places) = (&self.chart.data, &self.places);
        let say = |name: &str, (top, bottom): Edges, bars: &[Bar]| {
            let row = Rect::from_x_y_ranges(places.names..=places.lanes.right(), top..=bottom);
            let spans = self.chart.list(&bars[..bars.len().min(MAX_SPANS_SAID)]);
            painter.say(row.expand(8.0), &format!("{name}: {spans}"), "");
        };
        let host = (places.host.top(), places.host.bottom());
        say(self.which.host_name(), host, &data.host);
        for row in 0..self.rows.count() {
            let lanes = &data.lanes[self.rows.lanes_of(row)];
            say(&row_name(lanes), self.rows.edges(row), &lanes[0].bars);
        }
    }

    /// `host` and the streams' numbers, thinned out where lanes are thin.
    fn paint_lane_names(&self, painter: &WidgetPainter) {
        let host = self.which.host_name().into();
        name_row(
            painter,
            &self.places,
            self.places.host.center().y,
            host,
            painter.palette.value,
        );
        for row in self.rows.named(13.5) {
            let lane = &self.chart.data.lanes[self.rows.lanes_of(row).start];
            let (top, bottom) = self.rows.edges(row);
            let (y, colour) = ((top + bottom) / 2.0, painter.palette.label);
            name_row(painter, &self.places, y, lane.stream.name(), colour);
        }
    }

    /// What the shortest bar under or next to a point is, and its place where that is shown.
    pub(super) fn hit(&self, at: Pos2) -> Option<(Vec<String>, Option<Rect>)> {
        if !self.places.lanes.x_range().contains(at.x) {
            return None;
        }
        let off = |bar: &Bar| {
            let (start, end) = (self.scale.x(bar.start), self.scale.x(bar.end));
            (start - at.x).max(at.x - end.max(start + 1.0)).max(0.0)
        };
        let closest = |a: &&Bar, b: &&Bar| {
            let by_length = || (a.end - a.start).total_cmp(&(b.end - b.start));
            off(a).total_cmp(&off(b)).then_with(by_length)
        };
        let data = &self.chart.data;
        let host = self.places.host.y_range();
        let (lanes, edges);
        let bars: &mut dyn Iterator<Item = &Bar> = if host.contains(at.y) {
            edges = (host.min, host.max);
            &mut data.host.iter()
        } else {
            let row = self.rows.row_at(at.y)?;
            edges = self.rows.edges(row);
            lanes = &data.lanes[self.rows.lanes_of(row)];
            &mut lanes.iter().flat_map(|lane| &lane.bars)
        };
        let bar = bars.filter(|bar| off(bar) <= NEAR).min_by(closest)?;
        Some((self.chart.describe(bar), self.bar_rect(edges, bar)))
    }
}

/// Paints the name of a row in its middle, to the left of the lanes.
pub(super) fn name_row(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    y: f32,
    name: String,
    colour: Color32,
) {
    let right = places.lanes.left() - 8.0;
    let name = fitted(painter, &name, regular(12.5), colour, right - places.names);
    put(painter, pos2(right, y), Align2::RIGHT_CENTER, name);
}

/// The place of a span of time, if any of it is shown.
pub(super) fn span_rect(
    places: &TimelineLayout,
    scale: TimeScale,
    (top, bottom): Edges,
    span: [f64; 2],
) -> Option<Rect> {
    let (left, right) = (places.lanes.left(), places.lanes.right());
    let [start, end] = span.map(|ns| scale.x(ns));
    if end < left || start > right {
        return None;
    }
    let start = start.clamp(left, right - MIN_WIDTH);
    let end = end.clamp(start + MIN_WIDTH, right);
    Some(Rect::from_x_y_ranges(start..=end, top..=bottom))
}

/// Adds a bar in its pattern, or in as much of its colour as the pattern has where it is too small
/// for one.
pub(super) fn add_bar(
    mesh: &mut Mesh,
    rect: Rect,
    colour: Color32,
    pattern: Pattern,
    palette: &Palette<Color32>,
) {
    let edge = 1.0;
    let inside = rect.shrink(edge);
    let is_large = inside.width() >= 2.0 * edge && inside.height() >= 2.0 * edge;
    if matches!(pattern, Pattern::Solid | Pattern::Dim) || !is_large {
        mesh.add_colored_rect(rect, mixed(palette, colour, pattern.strength()));
        return;
    }
    mesh.add_colored_rect(rect, colour);
    if pattern == Pattern::Split {
        let line = Rect::from_center_size(rect.center(), vec2(rect.width(), 2.0 * edge));
        mesh.add_colored_rect(line, mixed(palette, colour, INSIDE));
        return;
    }
    mesh.add_colored_rect(inside, mixed(palette, colour, INSIDE));
    if pattern == Pattern::Fence {
        let pitch = FENCE_PITCH;
        let mut left = inside.left() + pitch / 2.0;
        while left + 2.0 * edge <= inside.right() {
            let line = Rect::from_x_y_ranges(left..=left + 2.0 * edge, inside.y_range());
            mesh.add_colored_rect(line, colour);
            left += pitch;
        }
    }
}

/// The columns of pixels in which bars of several lanes are folded.
pub(super) struct PixelColumns {
    pixels_per_point: f32,
    pub(super) left: f32,
    pub(super) count: usize,
}

impl PixelColumns {
    pub(super) fn of(painter: &WidgetPainter, lanes: Rect) -> PixelColumns {
        let pixels_per_point = painter.pixels_per_point();
        PixelColumns {
            pixels_per_point,
            left: lanes.left() * pixels_per_point,
            count: (lanes.width() * pixels_per_point) as usize,
        }
    }

    pub(super) fn scale(&self, points: TimeScale) -> TimeScale {
        points.enlarged(self.pixels_per_point)
    }

    /// Where so many columns stand, in points.
    pub(super) fn range(&self, (from, to): (usize, usize)) -> RangeInclusive<f32> {
        let x = |column| (self.left + column as f32) / self.pixels_per_point;
        x(from)..=x(to)
    }
}

/// So much of a colour, the rest being the lane's.
fn mixed(palette: &Palette<Color32>, colour: Color32, part: f32) -> Color32 {
    palette.recessed.lerp_to_gamma(colour, part)
}

/// Paints a frame around the bar under the pointer.
pub(super) fn paint_outline(painter: &WidgetPainter, bar: Rect) {
    let edge = Stroke::new(1.5, painter.palette.highlight);
    painter.rect_stroke(bar, 0.0, edge, StrokeKind::Outside);
}
