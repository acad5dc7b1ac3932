//! What marks a panel as its instance's: a frame in the instance's colour, around its cells and off
//! them, and its number.

use egui::{Align2, Mesh, Rect, Stroke, StrokeKind};

use crate::view::hud::style::{medium, put_mesh, put_silently, text_on};
use crate::view::layout::WindowLayout;
use crate::view::widget_painter::WidgetPainter;
use session::Status;
use ui::ViewOptions;

/// A number's place, in points.
const NUMBER: [f32; 2] = [21.0, 15.0];

/// With more panels than these none has a number: nobody reads them, and each costs.
const MAX_NUMBERS: usize = 64;

/// A panel has a number if each of its sides is this many times the number's.
const MIN_PANEL: f32 = 2.5;

/// Paints frames and numbers of all panels, or of the one instance that is shown.
pub(crate) fn paint(
    painter: &WidgetPainter,
    status: &Status,
    only: Option<usize>,
    layout: &WindowLayout,
    options: &ViewOptions,
) {
    if status.lattices.instances < 2 {
        return;
    }
    let gap = layout.tiling.gap as f32 / layout.pixels_per_point;
    let width = (gap / 2.0).min(2.0);
    let panel = layout.points(layout.tiling.rect(0)).size();
    let is_large = panel.x >= MIN_PANEL * NUMBER[0] && panel.y >= MIN_PANEL * NUMBER[1];
    let has_numbers = layout.tiling.count <= MAX_NUMBERS && is_large;
    let mut frames = Mesh::default();
    for place in 0..layout.tiling.count {
        let rect = layout.points(layout.tiling.rect(place));
        if !rect.is_positive() {
            continue; // it belongs to neither A nor B
        }
        let number = status.number_of(only.unwrap_or(place));
        let colour = painter.palette.instance(number);
        let around = rect.expand(width);
        for side in [
            around.with_max_y(rect.top()),
            around.with_min_y(rect.bottom()),
            around.with_max_x(rect.left()),
            around.with_min_x(rect.right()),
        ] {
            frames.add_colored_rect(side, colour);
        }
        if has_numbers {
            let place = Rect::from_min_size(rect.min, NUMBER.into());
            paint_number(painter, place, number);
        }
    }
    put_mesh(painter, frames);
    if only.is_none() {
        let selected = status.panels.selected.min(status.lattices.instances - 1);
        let rect = layout.points(layout.tiling.rect(selected));
        paint_selection(painter, rect.expand(width), gap - width, options);
    }
}

/// Paints a frame around the selected panel's own.
fn paint_selection(painter: &WidgetPainter, rect: Rect, room: f32, options: &ViewOptions) {
    if !rect.is_positive() {
        return; // it belongs to neither A nor B, and has no panel
    }
    let width = room.clamp(1.0, 2.0);
    // White stands out beside dark cells (where the theme is light: black beside light ones), the
    // accent beside inverted ones.
    let colour = if options.invert {
        painter.palette.accent
    } else {
        painter.palette.value
    };
    painter.rect_stroke(rect, 0.0, Stroke::new(width, colour), StrokeKind::Outside);
}

/// Paints an instance's number on its colour; what it is the number of says it to a screen reader.
pub(crate) fn paint_number(painter: &WidgetPainter, place: Rect, number: usize) {
    let colour = painter.palette.instance(number);
    painter.rect_filled(place, 2.0, colour);
    let text = painter.layout_no_wrap(number.to_string(), medium(11.5), text_on(colour));
    put_silently(painter, place.center(), Align2::CENTER_CENTER, text);
}
