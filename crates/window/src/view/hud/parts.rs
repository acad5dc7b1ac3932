//! What column and bar have in common.

use std::sync::Arc;

use egui::{
    Align, Align2, Color32, Galley, Label, Layout, Pos2, Rect, RichText, Shape, Ui, Vec2, pos2,
    vec2,
};

use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use session::SessionAction;
use ui::actions::Setting;
use ui::figures::{Figure, PACE, RunState, Urgency};
use ui::theme::Palette;
use ui::{Action, ViewAction};

/// The state as a band that is seen from the last row: a sign, a word, and the pace if there is
/// room. At its right end, so much stays `free`.
pub(super) fn state(
    painter: &WidgetPainter,
    rect: Rect,
    scale: f32,
    state: RunState,
    pace: &str,
    free: f32,
) {
    let palette = &painter.palette;
    let colour = state_text_colour(state, palette);
    let (background, word) = match state {
        RunState::Running => (palette.running_background, tr!("running")),
        RunState::Paused => (palette.accent, tr!("PAUSED")),
        RunState::Recomputing => (palette.notice, tr!("recomputing")),
        RunState::Ended => (palette.failed, tr!("ENDED")),
    };
    let tip = tr!("click or press Space to run or pause; + and − set the pace");
    let middle = rect.center().x;
    let toggle = Rect::from_min_max(
        rect.min,
        match pace {
            "" => rect.max,
            _ => pos2(middle, rect.bottom()),
        },
    );
    painter.button(toggle, &Spoken::new(word, tip), SessionAction::TogglePause);
    painter.rect_filled(rect, 6.0 * scale, background);
    let size = 13.0 * scale;
    let sign = Rect::from_center_size(
        rect.left_center() + vec2(12.0 * scale + size / 2.0, 0.0),
        vec2(size, size),
    );
    paint_sign(painter, sign, state, colour);
    let left = sign.right() + 9.0 * scale;
    let room = rect.right() - free - left - 10.0 * scale;
    let word = fitted(painter, word, medium(19.0 * scale), colour, room);
    let used = word.size().x + 10.0 * scale;
    put_silently(
        painter,
        pos2(left, rect.center().y),
        Align2::LEFT_CENTER,
        word,
    );
    if !pace.is_empty() && room > used {
        let place = Rect::from_min_max(pos2(middle, rect.top()), rect.max);
        let spoken = format!("{}: {pace}", tr!("pace"));
        let request = UiRequest::Change(PACE, place);
        if painter.request(place, &Spoken::new(&spoken, ""), request) {
            painter.rect_filled(place, 6.0 * scale, colour.gamma_multiply(0.2));
        }
        let pace = fitted(painter, pace, regular(14.0 * scale), colour, room - used);
        let right = rect.right_center() - vec2(free + 12.0 * scale, 0.0);
        put_silently(painter, right, Align2::RIGHT_CENTER, pace);
    }
}

/// The colour of a figure's value.
pub(super) fn value_colour(painter: &WidgetPainter, figure: &Figure) -> Color32 {
    if figure.is_recorded {
        painter.palette.recorded
    } else {
        painter.palette.value
    }
}

/// Says a figure, with its tip; a click on one that can be changed opens its controls.
pub(super) fn say(painter: &WidgetPainter, place: Rect, figure: &Figure) {
    let note = match figure.note.as_str() {
        "" => String::new(),
        note => format!(", {note}"),
    };
    let text = format!("{}: {}{note}", figure.label, figure.value);
    let spoken = Spoken::new(&text, &figure.tip);
    change(painter, place, &spoken, figure.settings);
}

/// Says what stands at a place; where there are settings, a click opens their controls.
pub(crate) fn change(
    painter: &WidgetPainter,
    place: Rect,
    spoken: &Spoken<'_>,
    settings: &'static [Setting],
) {
    if settings.is_empty() {
        painter.say(place, spoken);
    } else if painter.request(place, spoken, UiRequest::Change(settings, place)) {
        let around = place.expand2(vec2(5.0, 1.0));
        painter.rect_filled(around, 4.0, painter.palette.rule);
    }
}

/// Paints a value, which its place says; a line below it says that a click changes it.
pub(crate) fn put_value(
    painter: &WidgetPainter,
    at: Pos2,
    align: Align2,
    value: Arc<Galley>,
    settings: &[Setting],
) {
    let place = align.anchor_size(at, value.size());
    put_silently(painter, at, align, value);
    if !settings.is_empty() {
        let stroke = (1.0, painter.palette.label.gamma_multiply(0.6));
        painter.hline(place.x_range(), place.bottom(), stroke);
    }
}

/// Paints the state's sign: a triangle, two bars, two triangles, a square.
pub(super) fn paint_sign(painter: &WidgetPainter, sign: Rect, state: RunState, colour: Color32) {
    let size = sign.width();
    match state {
        RunState::Running => {
            let corners = vec![sign.left_top(), sign.right_center(), sign.left_bottom()];
            painter.add(Shape::convex_polygon(corners, colour, egui::Stroke::NONE));
        }
        RunState::Paused => {
            let bar = vec2(0.36 * size, size);
            painter.rect_filled(Rect::from_min_size(sign.min, bar), 0.0, colour);
            let right = sign.right_top() - vec2(bar.x, 0.0);
            painter.rect_filled(Rect::from_min_size(right, bar), 0.0, colour);
        }
        RunState::Recomputing => {
            for half in [sign.left(), sign.center().x] {
                let half = Rect::from_min_size(pos2(half, sign.top()), vec2(0.5 * size, size));
                let corners = vec![half.left_top(), half.right_center(), half.left_bottom()];
                painter.add(Shape::convex_polygon(corners, colour, egui::Stroke::NONE));
            }
        }
        RunState::Ended => {
            painter.rect_filled(sign, 0.0, colour);
        }
    }
}

/// A line at the right end of a title that names a key, and does what the key does; returns where it
/// begins.
pub(crate) fn key_hint(
    painter: &WidgetPainter,
    right: Pos2,
    text: String,
    action: impl Into<Action>,
) -> f32 {
    let galley = |text_colour| painter.layout_no_wrap(text.clone(), regular(13.0), text_colour);
    let size = galley(painter.palette.label).size();
    let place = Align2::RIGHT_CENTER.anchor_size(right, size);
    let is_over = painter.button(place.expand(4.0), &Spoken::new(&text, ""), action);
    let text_colour = if is_over {
        painter.palette.value
    } else {
        painter.palette.label
    };
    put(painter, right, Align2::RIGHT_CENTER, galley(text_colour));
    place.left()
}

/// The button at the right end of a side panel's title that closes it; returns where it begins.
pub(crate) fn close_button(painter: &WidgetPainter, right: Pos2, action: impl Into<Action>) -> f32 {
    let action = action.into();
    let text = tr!("Close ({key}) ×", key = action.key());
    let font = regular(13.0);
    let size = painter
        .layout_no_wrap(text.clone(), font.clone(), painter.palette.value)
        .size();
    let place = Align2::RIGHT_CENTER.anchor_size(right, size + vec2(12.0, 5.0));
    let background = if painter.button(place, &Spoken::new(&text, ""), action) {
        painter.palette.raised_pointed
    } else {
        painter.palette.raised
    };
    painter.rect_filled(place, 4.0, background);
    let text = painter.layout_no_wrap(text, font, painter.palette.value);
    put(painter, place.center(), Align2::CENTER_CENTER, text);
    place.left()
}

/// Shows a side panel: its edges, its title with the button that closes it, and its contents below.
pub(crate) fn side_panel(
    painter: &WidgetPainter,
    rect: Rect,
    title: &str,
    close: ViewAction,
    contents: impl FnOnce(&mut Ui),
) {
    let line = (1.0, painter.palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    painter.lay_out(rect.shrink2(vec2(14.0, 6.0)), "side panel", |ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        widgets.noninteractive.fg_stroke.color = painter.palette.value;
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let text = tr!("Close ({key}) ×", key = Action::from(close).key());
                painter.asks(&ui.button(RichText::new(text).font(regular(13.0))), close);
                let title = Label::new(RichText::new(title).font(medium(18.0))).truncate();
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(title));
            });
        });
        contents(ui);
    });
}

/// The colour of the text on the state band.
pub(super) fn state_text_colour(state: RunState, palette: &Palette<Color32>) -> Color32 {
    match state {
        RunState::Running => palette.running,
        RunState::Paused => palette.on_accent,
        RunState::Recomputing => palette.on_notice,
        RunState::Ended => palette.on_failed,
    }
}

/// The sign of the menu, three lines, where a click opens it.
pub(crate) fn menu(painter: &WidgetPainter, middle: Pos2, scale: f32, text_colour: Color32) {
    let place = Rect::from_center_size(middle, Vec2::splat(26.0 * scale));
    let name = tr!("menu (Ctrl+M)");
    let over = painter.button(place, &Spoken::new(name, name), ViewAction::ToggleMenu);
    if over {
        painter.rect_filled(place, 4.0 * scale, text_colour.gamma_multiply(0.25));
    }
    let (half, thick) = (8.0 * scale, 1.6 * scale);
    for line in [-5.0, 0.0, 5.0] {
        let across = middle.x - half..=middle.x + half;
        painter.hline(across, middle.y + line * scale, (thick, text_colour));
    }
}

/// The background and the type of a sentence.
pub(crate) fn message_colours(urgency: Urgency, palette: &Palette<Color32>) -> (Color32, Color32) {
    match urgency {
        Urgency::Failure => (palette.failed, palette.on_failed),
        Urgency::Effect | Urgency::Notice => (palette.notice, palette.on_notice),
        Urgency::Warning => (palette.warning, palette.accent),
    }
}
