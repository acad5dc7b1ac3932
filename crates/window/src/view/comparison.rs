//! What stands over the panels of A and of B: which is which, what differs in their
//! settings, how long each takes, and that their cells are the same.

use std::sync::Arc;

use egui::{Align2, Color32, FontId, Galley, Rect, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::layout::{ComparisonPlaces, WindowLayout};
use crate::view::lesson::paint_sign;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::Side;
use ui::finding::{ComparisonTexts, SideTexts};

/// Paints band and headers; none of it lies over a panel.
pub(crate) fn paint(
    painter: &WidgetPainter,
    shown: &ComparisonTexts,
    places: &ComparisonPlaces,
    layout: &WindowLayout,
) {
    paint_band(painter, layout.points(places.band), shown);
    for texts in &shown.sides {
        let place = layout.points(places.header(texts.side));
        paint_header(painter, place, texts, figure_colour(painter, shown));
    }
}

/// The first of the two if there is room for it, else the second.
fn either(
    painter: &WidgetPainter,
    texts: &[String; 2],
    font: FontId,
    text_colour: Color32,
    room: f32,
) -> Arc<Galley> {
    let long = painter.layout_no_wrap(texts[0].clone(), font.clone(), text_colour);
    if long.size().x * 0.85 <= room {
        return fitted(painter, &texts[0], font, text_colour, room);
    }
    fitted(painter, &texts[1], font, text_colour, room)
}

fn paint_band(painter: &WidgetPainter, rect: Rect, shown: &ComparisonTexts) {
    let inside = rect.shrink2(vec2(10.0, 0.0));
    let gap = 16.0;
    let (holds, text) = match &shown.cells {
        None => (None, tr!("comparing the cells …")),
        Some((holds, text)) => (Some(*holds), text.as_str()),
    };
    let text_colour = match holds {
        Some(true) => painter.palette.running,
        Some(false) => painter.palette.value,
        None => painter.palette.label,
    };
    let room = 0.46 * inside.width();
    let text = fitted(painter, text, medium(16.0), text_colour, room);
    let left = inside.right() - text.size().x;
    put(painter, inside.right_center(), Align2::RIGHT_CENTER, text);
    let mut used = left;
    if let Some(holds) = holds {
        let size = rect.height().min(18.0);
        used = left - 8.0 - size;
        let corner = pos2(used, rect.center().y - size / 2.0);
        paint_sign(
            painter,
            &painter.palette,
            Rect::from_min_size(corner, vec2(size, size)),
            holds,
        );
    }
    let room = (used - gap - inside.left()).max(1.0);
    let font = medium(18.0);
    let factor = either(
        painter,
        &shown.factor,
        font,
        figure_colour(painter, shown),
        room,
    );
    put(painter, inside.left_center(), Align2::LEFT_CENTER, factor);
}

/// The colour of the factor and of the times.
fn figure_colour(painter: &WidgetPainter, shown: &ComparisonTexts) -> Color32 {
    if shown.is_recorded {
        painter.palette.recorded
    } else {
        painter.palette.value
    }
}

/// The letter of one of the two, its settings and its time.
fn paint_header(painter: &WidgetPainter, rect: Rect, texts: &SideTexts, time_colour: Color32) {
    let inside = rect.shrink2(vec2(6.0, 3.0));
    painter.rect_filled(inside, 6.0, painter.palette.comparison);
    let side = inside.height();
    let letter = Rect::from_min_size(inside.min, vec2(side, side));
    // They differ in lightness too.
    let colour = match texts.side {
        Side::A => painter.palette.accent,
        Side::B => painter.palette.comparison_b,
    };
    painter.rect_filled(letter, 6.0, colour);
    let dark = painter.palette.on_bright;
    let name = fitted(painter, texts.side.name(), medium(0.62 * side), dark, side);
    put(painter, letter.center(), Align2::CENTER_CENTER, name);
    let left = letter.right() + 10.0;
    let room = (inside.right() - left - 6.0).max(1.0);
    let line = side / 2.0;
    let font = |size: f32| medium(size.min(0.9 * line));
    let time = fitted(painter, &texts.time, font(17.0), time_colour, room);
    let settings = fitted(
        painter,
        &texts.settings,
        font(14.0),
        painter.palette.label,
        room,
    );
    for (row, text) in [time, settings].into_iter().enumerate() {
        let y = inside.top() + (row as f32 + 0.5) * line;
        put(painter, pos2(left, y), Align2::LEFT_CENTER, text);
    }
}
