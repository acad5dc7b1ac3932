//! Labels on panels that are dead, still or periodic, or were just filled with a new soup.

use egui::{Align2, vec2};

use crate::view::hud::style::{medium, put, translucent};
use crate::view::layout::WindowLayout;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::Status;

/// Paints them in the panels' lower left corners, where panels are large enough.
pub(crate) fn paint(
    painter: &WidgetPainter,
    status: &Status,
    only: Option<usize>,
    layout: &WindowLayout,
) {
    // Nearly opaque, so that the word is read on any cells.
    let background = translucent(painter.palette.tag_background, 0xE0);
    for place in 0..layout.tiling.count {
        let instance = only.unwrap_or(place);
        let settled = status.panels.settled.get(instance).copied().flatten();
        let word = match settled {
            Some(how) => how.to_string(),
            None if status.panels.reseeded.contains(&instance) => tr!("reseeded").into(),
            None => continue,
        };
        let panel = layout.points(layout.tiling.rect(place));
        let word = painter.layout_no_wrap(word, medium(13.0), painter.palette.value);
        let size = word.size() + vec2(10.0, 4.0);
        if size.x > panel.width() || 3.0 * size.y > panel.height() {
            continue;
        }
        let rect = Align2::LEFT_BOTTOM.anchor_size(panel.left_bottom(), size);
        painter.rect_filled(rect, 0.0, background);
        put(painter, rect.center(), Align2::CENTER_CENTER, word);
    }
}
