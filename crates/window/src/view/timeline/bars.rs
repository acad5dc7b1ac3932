//! The bars of a round, and the names in them: the colour is the instance's, the pattern says what is
//! done.

use std::ops::RangeInclusive;

use egui::{Align2, Color32, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::timeline::layout::TimelineLayout;
use crate::view::timeline::rows::Rows;
use crate::view::widget_painter::WidgetPainter;
use ui::Chart;
use ui::theme::Palette;
use ui::timeline::Pattern;
use ui::timeline::lanes::{Arrow, Bar, Lane, RacingBar, fold_bars};
use ui::timeline::scale::TimeScale;

/// How much of the colour a hollow bar has inside.
const INSIDE: f32 = 0.28;

/// From one upright line of a fence to the next, in points.
const FENCE_PITCH: f32 = 7.0;

/// Paints the bars of the host and of all lanes.
///
/// They are one mesh: thousands cost little.
pub(super) fn paint(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    scale: TimeScale,
    rows: Rows,
    chart: &Chart,
) {
    let mut mesh = Mesh::default();
    let palette = &painter.palette;
    let host = (places.host.top(), places.host.bottom());
    let single = |row: usize| match &chart.data.lanes[rows.lanes_of(row)] {
        [lane] => Some((lane.bars.as_slice(), rows.edges(row))),
        _ => None,
    };
    let lanes = (0..rows.count()).filter_map(single);
    let rows_of_bars = std::iter::once((chart.data.host.as_slice(), host)).chain(lanes);
    for (bars, edges) in rows_of_bars.clone() {
        add_bars(&mut mesh, palette, places, scale, edges, bars);
    }
    for row in (0..rows.count()).filter(|&row| single(row).is_none()) {
        let lanes = &chart.data.lanes[rows.lanes_of(row)];
        add_folded(&mut mesh, painter, places, scale, rows.edges(row), lanes);
    }
    put_mesh(painter, mesh);
    for (bars, edges) in rows_of_bars {
        if edges.1 - edges.0 >= 10.0 {
            paint_names(painter, places, scale, edges, bars, chart);
        }
    }
    for arrow in &chart.data.arrows {
        paint_arrow(painter, places, scale, rows, arrow);
    }
    if let Some(race) = &chart.data.race {
        paint_race(painter, places, scale, rows, race);
    }
}

/// Marks two ops that nothing orders, and what is missing between them by a dashed arrow: the end of the
/// first is to come before the beginning of the second.
fn paint_race(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    scale: TimeScale,
    rows: Rows,
    [first, second]: &[RacingBar; 2],
) {
    let rect = |(lane, bar): &RacingBar| {
        let row = (0..rows.count()).find(|&row| rows.lanes_of(row).contains(lane))?;
        bar_rect(places, scale, rows.edges(row), bar)
    };
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
    painter.add(Shape::convex_polygon(
        arrow_head(from, to),
        colour,
        Stroke::NONE,
    ));
}

/// The head of an arrow that ends in a point.
fn arrow_head(from: Pos2, end: Pos2) -> Vec<Pos2> {
    let back = (from - end).normalized() * 9.0;
    let aside = 0.5 * back.rot90();
    vec![end, end + back + aside, end + back - aside]
}

/// Paints an arrow from the record of an event to what waits for it, where each lane has a row.
fn paint_arrow(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    scale: TimeScale,
    rows: Rows,
    arrow: &Arrow,
) {
    let seen = places.lanes.x_range();
    let place = |(lane, time): (usize, f64)| {
        let row = (0..rows.count()).find(|&row| rows.lanes_of(row) == (lane..lane + 1))?;
        let (top, bottom) = rows.edges(row);
        let x = scale.x(time);
        seen.contains(x).then(|| pos2(x, (top + bottom) / 2.0))
    };
    let (Some(from), Some(to)) = (place(arrow.from), place(arrow.to)) else {
        return;
    };
    let colour = painter.palette.value;
    // Events of one moment would hide one another: it leaves to the right, and comes from the left.
    let bend = 7.0;
    let corners = [
        from,
        pos2(from.x.max(to.x) + bend, from.y),
        pos2(from.x.max(to.x) + bend, to.y),
    ];
    let end = pos2(to.x + 1.0, to.y);
    let line = Stroke::new(1.8, colour);
    painter.line(corners.into_iter().chain([end]).collect(), line);
    let head = vec![end, end + vec2(6.0, -4.0), end + vec2(6.0, 4.0)];
    painter.add(Shape::convex_polygon(head, colour, Stroke::NONE));
}

/// What is shorter is as wide all the same: a pixel in any window.
pub(super) const MIN_WIDTH: f32 = 1.25;

/// A bar's place, if any of it is shown.
pub(super) fn bar_rect(
    places: &TimelineLayout,
    scale: TimeScale,
    (top, bottom): (f32, f32),
    bar: &Bar,
) -> Option<Rect> {
    let (left, right) = (places.lanes.left(), places.lanes.right());
    let (start, end) = (scale.x(bar.start), scale.x(bar.end));
    if end < left || start > right {
        return None;
    }
    let start = start.clamp(left, right - MIN_WIDTH);
    let end = end.clamp(start + MIN_WIDTH, right);
    Some(Rect::from_x_y_ranges(start..=end, top..=bottom))
}

fn add_bars(
    mesh: &mut Mesh,
    palette: &Palette<Color32>,
    places: &TimelineLayout,
    scale: TimeScale,
    edges: (f32, f32),
    bars: &[Bar],
) {
    let mut before = f32::MIN;
    for bar in bars {
        let Some(mut rect) = bar_rect(places, scale, edges, bar) else {
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

fn add_folded(
    mesh: &mut Mesh,
    painter: &WidgetPainter,
    places: &TimelineLayout,
    scale: TimeScale,
    (top, bottom): (f32, f32),
    lanes: &[Lane],
) {
    let (palette, pixels) = (&painter.palette, PixelColumns::of(painter, places.lanes));
    let bars = lanes.iter().flat_map(|lane| &lane.bars);
    for piece in fold_bars(bars, pixels.scale(scale), pixels.left, pixels.count) {
        let across = pixels.range(piece.columns);
        let share = 0.4 + 0.15 * f32::from(piece.level);
        let part = piece.kind.pattern().strength() * share;
        let colour = piece.kind.colour(piece.number, palette);
        let rect = Rect::from_x_y_ranges(across, top..=bottom);
        mesh.add_colored_rect(rect, mixed(palette, colour, part));
    }
}

/// So much of a colour, the rest being the lane's.
fn mixed(palette: &Palette<Color32>, colour: Color32, part: f32) -> Color32 {
    palette.recessed.lerp_to_gamma(colour, part)
}

/// Paints the ops' names where they fit into their bars.
fn paint_names(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    scale: TimeScale,
    edges: (f32, f32),
    bars: &[Bar],
    chart: &Chart,
) {
    let font = medium((0.86 * (edges.1 - edges.0)).min(12.5));
    let rects = bars
        .iter()
        .map(|bar| (bar, bar_rect(places, scale, edges, bar)));
    for (bar, rect) in rects {
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
        let name = painter.layout_no_wrap(chart.name(bar).to_owned(), font.clone(), text_colour);
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

/// Paints a frame around the bar under the pointer.
pub(super) fn paint_outline(painter: &WidgetPainter, bar: Rect) {
    let edge = Stroke::new(1.5, painter.palette.highlight);
    painter.rect_stroke(bar, 0.0, edge, StrokeKind::Outside);
}
