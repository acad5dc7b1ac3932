//! What is under the pointer, on a small card that stays within the window.

use std::sync::Arc;

use egui::{Align2, CornerRadius, Galley, Pos2, Rect, Vec2, pos2, vec2};

use crate::view::Frame;
use crate::view::hud::style::*;
use crate::view::layout::WindowLayout;
use crate::view::timeline::bars::{bar_rect, paint_outline};
use crate::view::timeline::layout::TimelineLayout;
use crate::view::timeline::shown_rounds::{ShownRound, shown_rounds};
use crate::view::timeline::sm_map;
use crate::view::widget_painter::WidgetPainter;
use ui::Chart;
use ui::timeline::lanes::Bar;
use ui::timeline::scale::TimeScale;

/// How far beside a bar that still count as over it.
const NEAR: f32 = 3.0;

/// Paints the card for what is under the pointer, if there is anything.
pub(super) fn paint(
    painter: &WidgetPainter,
    frame: &Frame<'_>,
    layout: &WindowLayout,
    places: &TimelineLayout,
) {
    let timeline = frame.timeline;
    let pointer = timeline.pointer.map(|at| layout.point(at));
    let Some(at) = pointer.filter(|at| places.all.contains(*at)) else {
        return;
    };
    let is_over_summary = places.summary.contains(at);
    let summary = frame.screen.overlap.as_ref().filter(|_| is_over_summary);
    let lines = if let Some(overlap) = summary {
        overlap.tip.clone()
    } else {
        let Some(chart) = timeline.chart() else {
            return;
        };
        let scale = timeline.scale(places.lanes);
        let block = frame
            .sources
            .status
            .and_then(|status| sm_map::hit_test(at, places, status, chart, scale));
        if let Some((rect, lines)) = block {
            paint_outline(painter, rect);
            lines
        } else {
            let rounds = shown_rounds(timeline, places, frame.sources.status);
            let hit = |round: &ShownRound<'_>| {
                let (bar, edges) = hit(at, &round.places, scale, round.chart)?;
                Some((
                    round.chart.describe(bar),
                    bar_rect(places, scale, edges, bar),
                ))
            };
            let Some((lines, rect)) = rounds.iter().find_map(hit) else {
                return;
            };
            if let Some(rect) = rect {
                paint_outline(painter, rect);
            }
            lines
        }
    };
    let screen = frame.rect();
    let room = (screen.width() - 40.0).max(1.0);
    let galleys: Vec<_> = lines
        .iter()
        .enumerate()
        .map(|(line, text)| {
            let (font, colour) = match line {
                0 => (medium(15.0), painter.palette.value),
                _ => (regular(14.0), painter.palette.value),
            };
            fitted(painter, text, font, colour, room)
        })
        .collect();
    paint_lines(painter, at, screen, galleys);
}

fn paint_lines(painter: &WidgetPainter, at: Pos2, screen: Rect, lines: Vec<Arc<Galley>>) {
    let pad = vec2(10.0, 7.0);
    let width = lines.iter().map(|line| line.size().x).fold(0.0, f32::max);
    let height: f32 = lines.iter().map(|line| line.size().y).sum();
    let card = card_at(at, vec2(width, height) + 2.0 * pad, screen);
    paint_card(painter, card);
    let mut y = card.top() + pad.y;
    for line in lines {
        let height = line.size().y;
        put(
            painter,
            pos2(card.left() + pad.x, y),
            Align2::LEFT_TOP,
            line,
        );
        y += height;
    }
}

/// A card of this size beside a point: to its right and above it where there is room.
fn card_at(at: Pos2, size: Vec2, screen: Rect) -> Rect {
    let off = 12.0;
    let x = if at.x + off + size.x <= screen.right() {
        at.x + off
    } else {
        at.x - off - size.x
    };
    let y = at.y - off - size.y;
    let most = (screen.max - size).max(screen.min);
    let corner = pos2(x, y).clamp(screen.min, most);
    Rect::from_min_size(corner, size)
}

/// The shortest bar under or next to a point, in the row that is there, and the row's edges.
fn hit<'a>(
    at: Pos2,
    places: &TimelineLayout,
    scale: TimeScale,
    chart: &'a Chart,
) -> Option<(&'a Bar, (f32, f32))> {
    if !places.lanes.x_range().contains(at.x) {
        return None;
    }
    let over = |bar: &&Bar| {
        let (start, end) = (scale.x(bar.start), scale.x(bar.end));
        at.x >= start - NEAR && at.x <= end.max(start + 1.0) + NEAR
    };
    let off = |bar: &Bar| {
        let (start, end) = (scale.x(bar.start), scale.x(bar.end));
        (start - at.x).max(at.x - end).max(0.0)
    };
    let closest = |a: &&Bar, b: &&Bar| {
        let key = |bar: &Bar| (off(bar), bar.end - bar.start);
        key(a)
            .partial_cmp(&key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    };
    let host = places.host.y_range();
    if host.contains(at.y) {
        let bar = chart.data.host.iter().filter(over).min_by(closest)?;
        return Some((bar, (host.min, host.max)));
    }
    let rows = places.rows(chart.data.lanes.len());
    let row = rows.row_at(at.y)?;
    let lanes = &chart.data.lanes[rows.lanes_of(row)];
    let bars = lanes.iter().flat_map(|lane| &lane.bars);
    Some((bars.filter(over).min_by(closest)?, rows.edges(row)))
}

/// The background of a card.
fn paint_card(painter: &WidgetPainter, card: Rect) {
    let corner = CornerRadius::same(4);
    painter.rect_filled(card, corner, painter.palette.raised);
    let edge = egui::Stroke::new(1.0, painter.palette.tip_edge);
    painter.rect_stroke(card, corner, edge, egui::StrokeKind::Inside);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_stays_in_the_window_and_off_the_pointer() {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(800.0, 500.0));
        let size = vec2(220.0, 80.0);
        for x in 0..=40 {
            for y in 5..=25 {
                let at = pos2(20.0 * x as f32, 20.0 * y as f32);
                let card = card_at(at, size, screen);
                assert!(screen.contains_rect(card), "{at:?} {card:?}");
                assert!(!card.contains(at), "{at:?} {card:?}");
            }
        }
    }
}
