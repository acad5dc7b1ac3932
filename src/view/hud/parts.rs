//! What column and bar have in common.

use egui::{Align2, Color32, Painter, Rect, Shape, pos2, vec2};

use crate::view::hud::figures::{State, Urgency};
use crate::view::hud::style::*;

/// The state as a band that is seen from the last row: a sign, a word, and the pace if there is
/// room.
pub(super) fn state(painter: &Painter, rect: Rect, unit: f32, state: State, pace: &str) {
    let (ground, colour, word) = match state {
        State::Running => (RUNNING_GROUND, RUNNING, "running"),
        State::Paused => (ACCENT, Color32::from_rgb(0x1C, 0x14, 0x02), "PAUSED"),
        State::Ended => (FAILED, Color32::WHITE, "ENDED"),
    };
    painter.rect_filled(rect, 6.0 * unit, ground);
    let size = 13.0 * unit;
    let sign = Rect::from_center_size(
        rect.left_center() + vec2(12.0 * unit + size / 2.0, 0.0),
        vec2(size, size),
    );
    match state {
        State::Running => {
            let corners = vec![sign.left_top(), sign.right_center(), sign.left_bottom()];
            painter.add(Shape::convex_polygon(corners, colour, egui::Stroke::NONE));
        }
        State::Paused => {
            let bar = vec2(0.36 * size, size);
            painter.rect_filled(Rect::from_min_size(sign.min, bar), 0.0, colour);
            let right = sign.right_top() - vec2(bar.x, 0.0);
            painter.rect_filled(Rect::from_min_size(right, bar), 0.0, colour);
        }
        State::Ended => {
            painter.rect_filled(sign, 0.0, colour);
        }
    }
    let left = sign.right() + 9.0 * unit;
    let room = rect.right() - left - 10.0 * unit;
    let word = fitted(painter, word, medium(19.0 * unit), colour, room);
    let used = word.size().x + 10.0 * unit;
    put(
        painter,
        pos2(left, rect.center().y),
        Align2::LEFT_CENTER,
        word,
    );
    if !pace.is_empty() && room > used {
        let pace = fitted(painter, pace, regular(14.0 * unit), colour, room - used);
        put(
            painter,
            rect.right_center() - vec2(12.0 * unit, 0.0),
            Align2::RIGHT_CENTER,
            pace,
        );
    }
}

/// The ground and the type of a sentence.
pub(in crate::view) fn message_colours(urgency: Urgency) -> (Color32, Color32) {
    match urgency {
        Urgency::Failure => (FAILED, Color32::WHITE),
        Urgency::Notice => (
            Color32::from_rgb(0x1E, 0x3A, 0x5C),
            Color32::from_rgb(0xDC, 0xEB, 0xFF),
        ),
        Urgency::Warning => (Color32::from_rgb(0x33, 0x2A, 0x12), ACCENT),
    }
}
