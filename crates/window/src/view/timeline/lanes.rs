//! Lanes of rounds on one axis: of the host, the streams and the multiprocessors. A bar's colour is the
//! instance's, and how much of it is filled says what is done.

use egui::*;

use crate::view::style::*;
use crate::view::timeline::layout::{GUTTER, Plot, Rows};
use lang::tr;
use session::Status;
use ui::Chart;
use ui::timeline::scale::{TimeScale, TimeZoom};
use ui::timeline::{Bar, Lane, PlacedBar, colour, fill, fold_bars, host_names, row_name};

/// The least height in which the lanes of two rounds are told apart.
const MIN_ROUNDS: f32 = 32.0;
/// Spans of a row that are said one by one, at most.
const MAX_SPANS_SAID: usize = 100;
/// What is shorter is as wide all the same: a pixel in any window.
const MIN_WIDTH: f32 = 1.25;
/// How far beside a bar that still count as over it.
const NEAR: f32 = 3.0;
/// More arrows than this would hide the bars.
const MAX_ARROWS: usize = 200;
/// Rows at least this high have the ops' names in their bars.
const MIN_NAMED: f32 = 8.5;

/// Lanes of a round, and where they stand.
pub(super) struct Strip<'a> {
    /// What the name of each lane begins with.
    name: &'a str,
    lanes: &'a [Lane],
    chart: &'a Chart,
    /// Whether events and races are drawn between its lanes.
    has_links: bool,
    place: Rect,
    pub rows: Rows,
    scale: TimeScale,
}

/// The strips of one round, or of two of which the first is above.
pub(super) fn rounds<'a>(
    plot: &Plot,
    scale: TimeScale,
    charts: &[&'a Chart],
    is_comparing: bool,
) -> Vec<Strip<'a>> {
    let lanes: Vec<usize> = charts.iter().map(|chart| chart.lanes.len()).collect();
    let places = plot.rounds(&lanes);
    let names = host_names(charts.len(), is_comparing);
    let each = charts.iter().zip(places).zip(names);
    let strips = each.flat_map(|((chart, [host, lanes]), name)| {
        [
            Strip::new(name, std::slice::from_ref(&chart.host), chart, host, scale),
            Strip {
                has_links: true,
                ..Strip::new("", &chart.lanes, chart, lanes, scale)
            },
        ]
    });
    strips.collect()
}

/// Paints rounds on one axis, as A and B if they are two, without what stands around the lanes of a
/// session's timeline.
pub(crate) fn paint_rounds(ui: &Ui, rect: Rect, charts: &[Chart]) {
    let plot = Plot::of(rect);
    let [first, ..] = charts else { return };
    if plot.rows.height() < 2.0 * MIN_ROUNDS || !plot.rows.is_positive() {
        return;
    }
    let whole = TimeZoom::default().of(first.whole);
    let scale = TimeScale::new(whole, plot.rows.left(), plot.rows.width());
    let charts: Vec<_> = charts.iter().collect();
    let strips = rounds(&plot, scale, &charts, charts.len() > 1);
    paint(ui, &plot, scale, &strips);
}

/// Paints strips, and the axis with its lines through all of them.
pub(super) fn paint(ui: &Ui, plot: &Plot, scale: TimeScale, strips: &[Strip<'_>]) {
    let (painter, palette) = (ui.painter(), &palette(ui));
    let mut ground = Mesh::default();
    for (place, _) in strips.iter().flat_map(Strip::rows) {
        ground.add_colored_rect(place, palette.recessed);
    }
    put_mesh(painter, ground);
    paint_axis(painter, palette, plot, scale);
    for strip in strips {
        strip.paint_bars(painter, palette);
        strip.paint_links(painter, palette);
        strip.name_rows(ui, palette);
    }
}

/// Paints the time axis: tick lines through all lanes, and their labels.
fn paint_axis(painter: &Painter, palette: &Palette, plot: &Plot, scale: TimeScale) {
    let label = |text: &str| painter.layout_no_wrap(text.into(), regular(12.5), palette.label);
    // Deep in a long round the labels are long.
    let last = scale.ticks(88.0).pop();
    let widest = last.map_or(0.0, |(_, text)| label(&text).size().x);
    let down = plot.rows.top()..=plot.axis.top() + 4.0;
    let mut free = f32::MIN;
    for (ns, text) in scale.ticks((widest + 30.0).max(88.0)) {
        let x = scale.x(ns);
        painter.vline(x, down.clone(), (1.0, palette.time_line));
        let label = label(&text);
        // The first and the last stay inside, if they are not in the way of others.
        let half = label.size().x / 2.0;
        let x = x.clamp(plot.axis.left() + half - 4.0, plot.axis.right() - half);
        if x - half > free {
            free = x + half + 6.0;
            let at = pos2(x, plot.axis.top() + 4.0);
            put(painter, at, Align2::CENTER_TOP, label);
        }
    }
}

impl<'a> Strip<'a> {
    pub(super) fn new(
        name: &'a str,
        lanes: &'a [Lane],
        chart: &'a Chart,
        place: Rect,
        scale: TimeScale,
    ) -> Strip<'a> {
        Strip {
            name,
            lanes,
            chart,
            has_links: false,
            place,
            rows: Rows::new(1.0, lanes.len(), place.top(), place.height()),
            scale,
        }
    }

    /// Each row's place, and its lanes.
    fn rows(&self) -> impl Iterator<Item = (Rect, &'a [Lane])> {
        (0..self.rows.count()).map(|row| self.row(row))
    }

    fn row(&self, row: usize) -> (Rect, &'a [Lane]) {
        let (top, bottom) = self.rows.edges(row);
        let place = Rect::from_x_y_ranges(self.place.x_range(), top..=bottom);
        let lanes = self.rows.lanes_of(row);
        (place, self.lanes.get(lanes).unwrap_or_default())
    }

    /// Paints all bars as one mesh: thousands cost little.
    fn paint_bars(&self, painter: &Painter, palette: &Palette) {
        let mut mesh = Mesh::default();
        for (row, lanes) in self.rows() {
            match lanes {
                [lane] => self.add_bars(&mut mesh, palette, row, &lane.bars),
                _ => {
                    let columns = (row.width() * painter.pixels_per_point()) as usize;
                    self.add_folded(&mut mesh, palette, row, columns, lanes);
                }
            }
        }
        put_mesh(painter, mesh);
        for (row, lanes) in self.rows() {
            if let ([lane], true) = (lanes, row.height() >= MIN_NAMED) {
                self.paint_names(painter, palette, row, &lane.bars);
            }
        }
    }

    fn add_bars(&self, mesh: &mut Mesh, palette: &Palette, row: Rect, bars: &[Bar]) {
        for bar in bars {
            let Some(mut rect) = self.bar_rect(row, bar) else {
                continue;
            };
            let colour = colour(bar.kind, bar.number, palette);
            // Bars that touch are told apart.
            if rect.width() >= 6.0 {
                rect.set_right(rect.right() - 1.0);
            }
            add_bar(mesh, rect, colour, fill(bar.kind), palette);
        }
    }

    fn add_folded(
        &self,
        mesh: &mut Mesh,
        palette: &Palette,
        row: Rect,
        columns: usize,
        lanes: &[Lane],
    ) {
        let x = |column: usize| row.left() + column as f32 / columns as f32 * row.width();
        let bars = lanes.iter().flat_map(|lane| &lane.bars);
        for piece in fold_bars(bars, self.scale.range, columns) {
            let part = 0.4 + 0.15 * f32::from(piece.level);
            let part = part * fill(piece.kind).max(MIN_FILL);
            let across = x(piece.columns.start)..=x(piece.columns.end);
            let colour = colour(piece.kind, piece.number, palette);
            let rect = Rect::from_x_y_ranges(across, row.y_range());
            mesh.add_colored_rect(rect, mixed(palette, colour, part));
        }
    }

    /// Paints the ops' names where they fit into their bars.
    fn paint_names(&self, painter: &Painter, palette: &Palette, row: Rect, bars: &[Bar]) {
        let font = medium((0.86 * row.height()).min(12.5));
        for bar in bars {
            let rect = self.bar_rect(row, bar);
            let Some(rect) = rect.filter(|rect| rect.width() >= 16.0) else {
                continue;
            };
            // Calls of several threads of the host lie over one another.
            let is_over =
                |it: &Bar| it.step != bar.step && it.start < bar.end && bar.start < it.end;
            if bars.iter().any(is_over) {
                continue;
            }
            let colour = colour(bar.kind, bar.number, palette);
            let inside = text_on(mixed(palette, colour, fill(bar.kind)));
            let name = self.chart.name(bar).to_owned();
            let name = painter.layout_no_wrap(name, font.clone(), inside);
            if name.size().x + 2.0 <= rect.width() {
                put(painter, rect.center(), Align2::CENTER_CENTER, name);
            }
        }
    }

    /// Paints what joins lanes of streams: events and what waits for them, and a race.
    fn paint_links(&self, painter: &Painter, palette: &Palette) {
        if !self.has_links {
            return;
        }
        let row_of = |lane: usize| self.row(lane / self.rows.folded).0;
        let has_room = self.rows.folded == 1 && self.chart.arrows.len() <= MAX_ARROWS;
        for [record, wait] in self.chart.arrows.iter().filter(|_| has_room) {
            let end =
                |(lane, bar): &PlacedBar| pos2(self.scale.x(bar.end), row_of(*lane).center().y);
            let ends = [end(record), end(wait)];
            if ends.iter().all(|at| self.place.x_range().contains(at.x)) {
                paint_arrow(painter, palette.value, ends);
            }
        }
        let racing = self.chart.race.as_ref().map(|race| {
            race.each_ref()
                .map(|(lane, bar)| self.bar_rect(row_of(*lane), bar))
        });
        if let Some([Some(first), Some(second)]) = racing {
            paint_race(painter, palette.failed_text, [first, second]);
        }
    }

    /// A bar's place in a row, if any of it is shown.
    fn bar_rect(&self, row: Rect, bar: &Bar) -> Option<Rect> {
        let (left, right) = (self.place.left(), self.place.right());
        let [start, end] = [bar.start, bar.end].map(|ns| self.scale.x(ns));
        if end < left || start > right {
            return None;
        }
        let start = start.clamp(left, right - MIN_WIDTH);
        let end = end.clamp(start + MIN_WIDTH, right);
        Some(Rect::from_x_y_ranges(start..=end, row.y_range()))
    }

    fn row_name(&self, lanes: &[Lane]) -> String {
        match (self.name, row_name(lanes)) {
            ("", name) => name,
            (of, name) => format!("{of} {name}").trim_end().into(),
        }
    }

    /// Names rows, as many as have room; a screen reader is told of each, with its first spans and their
    /// times.
    fn name_rows(&self, ui: &Ui, palette: &Palette) {
        let (painter, colour, is_read) = (ui.painter(), palette.label, is_read(ui));
        let every = self.rows.named(13.5);
        for (at, (row, lanes)) in self.rows().enumerate() {
            let name = self.row_name(lanes);
            if is_read {
                let bars = lanes.first().map_or(&[][..], |lane| &lane.bars);
                let spans = self.chart.list(&bars[..bars.len().min(MAX_SPANS_SAID)]);
                let all = row.with_min_x(row.left() - GUTTER).expand(8.0);
                let id = ui.scope_id().with((row.top() as i32, "row"));
                let said = || {
                    WidgetInfo::labeled(accesskit::Role::Label, true, format!("{name}: {spans}"))
                };
                ui.interact(all, id, Sense::hover()).widget_info(said);
            }
            if at % every == 0 {
                let name = fitted(painter, &name, regular(12.5), colour, GUTTER - 8.0);
                let end = row.left_center() - vec2(8.0, 0.0);
                put(painter, end, Align2::RIGHT_CENTER, name);
            }
        }
    }

    /// What the shortest bar under or next to a point is, and its place where that is shown.
    pub(super) fn hit(&self, at: Pos2) -> Option<(Vec<String>, Option<Rect>)> {
        if !self.place.contains(at) {
            return None;
        }
        let (row, lanes) = self.row(self.rows.row_at(at.y)?);
        let off = |bar: &Bar| {
            let (start, end) = (self.scale.x(bar.start), self.scale.x(bar.end));
            (start - at.x).max(at.x - end.max(start + 1.0)).max(0.0)
        };
        let bars = lanes
            .iter()
            .flat_map(|lane| lane.bars.iter().map(move |bar| (lane, bar)));
        let near = bars.filter(|(_, bar)| off(bar) <= NEAR);
        let (lane, bar) = near.min_by(|(_, a), (_, b)| {
            let by_length = || (a.end - a.start).total_cmp(&(b.end - b.start));
            off(a).total_cmp(&off(b)).then_with(by_length)
        })?;
        let mut lines = self.chart.describe(bar);
        if bar.blocks > 0 {
            lines.insert(0, self.row_name(std::slice::from_ref(lane)));
        }
        Some((lines, self.bar_rect(row, bar)))
    }
}

/// Where a bar is too small to have an inside, so much of its colour shows at least.
const MIN_FILL: f32 = 0.55;

/// Adds a bar: an edge of its colour, and so much of that within.
pub(super) fn add_bar(mesh: &mut Mesh, rect: Rect, colour: Color32, fill: f32, palette: &Palette) {
    let inside = rect.shrink(1.0);
    if inside.width() >= 2.0 && inside.height() >= 2.0 {
        mesh.add_colored_rect(rect, colour);
        mesh.add_colored_rect(inside, mixed(palette, colour, fill));
    } else {
        // Rows are told apart, too, where they are high enough.
        let apart = if rect.height() < 3.0 { 0.0 } else { 0.5 };
        let rect = rect.shrink2(vec2(0.0, apart));
        mesh.add_colored_rect(rect, mixed(palette, colour, fill.max(MIN_FILL)));
    }
}

/// Paints an arrow from the record of an event to what waits for it.
fn paint_arrow(painter: &Painter, colour: Color32, [from, to]: [Pos2; 2]) {
    // Events of one moment would hide one another: it leaves to the right, and comes from the left.
    let bend = from.x.max(to.x) + 7.0;
    let end = pos2(to.x + 1.0, to.y);
    let line = vec![from, pos2(bend, from.y), pos2(bend, to.y), end];
    painter.line(line, Stroke::new(1.8, colour));
    let head = vec![end, end + vec2(6.0, -4.0), end + vec2(6.0, 4.0)];
    painter.add(Shape::convex_polygon(head, colour, Stroke::NONE));
}

/// Marks two ops that nothing orders, and what is missing between them by a dashed line: the end of the
/// first is to come before the beginning of the second.
fn paint_race(painter: &Painter, colour: Color32, [first, second]: [Rect; 2]) {
    let line = Stroke::new(2.5, colour);
    for bar in [first, second] {
        painter.rect_stroke(bar, 0.0, line, StrokeKind::Outside);
    }
    let (from, to) = (first.right_center(), second.left_center());
    painter.extend(Shape::dashed_line(&[from, to], line, 6.0, 4.0));
    painter.circle_filled(to, 4.0, line.color);
}

/// So much of a colour, the rest being the lane's.
fn mixed(palette: &Palette, colour: Color32, part: f32) -> Color32 {
    palette.recessed.lerp_to_gamma(colour, part)
}

/// Paints a frame around the bar under the pointer.
pub(super) fn paint_outline(ui: &Ui, bar: Rect) {
    let edge = Stroke::new(1.5, palette(ui).highlight);
    ui.painter()
        .rect_stroke(bar, 0.0, edge, StrokeKind::Outside);
}

/// The multiprocessors (or the CPU's workers) that have rows, before any round is known.
pub(crate) fn sm_count(status: &Status) -> usize {
    let counts = status.engine.devices.iter().map(|it| it.sm_count as usize);
    counts.max().unwrap_or(1).max(1)
}

/// What the names of their rows begin with.
pub(super) fn sm_prefix(status: &Status) -> &'static str {
    if status.engine.is_cpu() {
        tr!("worker")
    } else {
        "SM"
    }
}
