//! The line that says how much of the ops' own times overlaps, and what bounds it.

use egui::Align2;

use crate::hud::style::*;
use crate::timeline::layout::TimelineLayout;
use model::Status;
use screen::timeline::overlap::in_words;

/// Paints the line.
pub(super) fn paint(painter: &ThemedPainter, places: &TimelineLayout, status: &Status) {
    let text = in_words(status.overlap.as_ref(), status.engine);
    let room = places.overlap.width();
    let text = fitted(
        painter,
        &text,
        medium(14.0 * places.unit),
        painter.palette.accent,
        room,
    );
    let at = places.overlap.left_center();
    put(painter, at, Align2::LEFT_CENTER, text);
}
