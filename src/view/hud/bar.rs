//! The HUD below the panels, where the window is narrow: the figures in equal cells.

use egui::{Align2, Painter, Rect, pos2, vec2};

use crate::view::hud::figures::{Figure, Figures};
use crate::view::hud::parts;
use crate::view::hud::style::*;

const CELL: f32 = 150.0;
const LINE: f32 = 46.0;

/// Paints as many of the figures into the rectangle as it takes, by rank, `unit` pixels a unit.
pub(super) fn paint(painter: &Painter, rect: Rect, unit: f32, figures: &Figures) {
    painter.rect_filled(rect, 0.0, GROUND);
    let inside = rect.shrink2(vec2(14.0, 8.0) * unit);
    let columns = (inside.width() / (CELL * unit)).floor().max(2.0) as usize;
    let all = (inside.height() / (LINE * unit)).floor().max(1.0) as usize;
    let mut lines = all;
    if let Some((urgency, sentence)) = figures.messages.first() {
        // A sentence takes the last line.
        if lines > 1 {
            lines -= 1;
        }
        let (ground, colour) = parts::message_colours(*urgency);
        let height = 30.0 * unit;
        let min = pos2(inside.left(), inside.bottom() - height);
        let place = Rect::from_min_size(min, vec2(inside.width(), height));
        painter.rect_filled(place, 5.0 * unit, ground);
        let width = place.width() - 20.0 * unit;
        let text = fitted(painter, sentence, regular(14.0 * unit), colour, width);
        put(
            painter,
            place.left_center() + vec2(10.0 * unit, 0.0),
            Align2::LEFT_CENTER,
            text,
        );
    }
    // What is left over goes between the lines.
    let line = (inside.height() / all as f32).min(1.4 * LINE * unit);
    let cell = vec2(inside.width() / columns as f32, line);
    let place = |index: usize| {
        let at = vec2(
            (index % columns) as f32 * cell.x,
            (index / columns) as f32 * cell.y,
        );
        Rect::from_min_size(
            inside.min + at,
            vec2(cell.x - 12.0 * unit, (LINE - 8.0) * unit),
        )
    };
    let shown = by_rank(figures, columns * lines - 1);
    parts::state(painter, place(0), unit, figures.state, "");
    for (index, figure) in shown.into_iter().enumerate() {
        let place = place(index + 1);
        let label = fitted(
            painter,
            &figure.label,
            regular(12.5 * unit),
            LABEL,
            place.width(),
        );
        put(painter, place.left_top(), Align2::LEFT_TOP, label);
        let value = fitted(
            painter,
            &figure.value,
            medium(18.0 * unit),
            VALUE,
            place.width(),
        );
        put(
            painter,
            place.left_top() + vec2(0.0, 16.0 * unit),
            Align2::LEFT_TOP,
            value,
        );
    }
}

/// The `most` figures of the lowest ranks, in their usual order.
fn by_rank(figures: &Figures, most: usize) -> Vec<&Figure> {
    let mut all: Vec<_> = std::iter::once(&figures.lead)
        .chain(figures.groups.iter().flatten())
        .enumerate()
        .collect();
    all.sort_by_key(|(order, figure)| (figure.rank, *order));
    all.truncate(most);
    all.sort_by_key(|(order, _)| *order);
    all.into_iter().map(|(_, figure)| figure).collect()
}
