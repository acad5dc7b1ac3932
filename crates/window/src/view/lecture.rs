//! The step of a lecture, in a strip above the panels: what the class reads, what it is asked and may say,
//! and what was measured. It is as high as a step usually is, so that panels stay where they are from one
//! step to the next; words shrink where they have no room.

use egui::{Button, Rect, RichText, Stroke, vec2};

use crate::view::hud::style::*;
use crate::view::lesson::sign;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use ui::{LectureScreen, ViewAction};

/// The row of choices, and the buttons in the corner.
const CHOICES: f32 = 40.0;
const BUTTONS: [f32; 2] = [252.0, 30.0];

/// The height of a strip of a step.
pub(crate) fn height(step: &LectureScreen) -> f32 {
    if step.choices.is_empty() { 94.0 } else { 142.0 }
}

/// Shows the strip.
pub(crate) fn show(painter: &WidgetPainter, step: &LectureScreen, rect: Rect) {
    let palette = painter.palette;
    painter.rect_filled(rect, 0.0, palette.lesson_card);
    painter.rect_filled(rect.with_max_x(rect.left() + 4.0), 0.0, palette.accent);
    let inside = rect.shrink2(vec2(14.0, 7.0));
    let corner = Rect::from_min_max(inside.max - vec2(BUTTONS[0], BUTTONS[1]), inside.max);
    let [width, below] = if step.choices.is_empty() {
        [corner.left() - inside.left(), 0.0]
    } else {
        [inside.width(), CHOICES]
    };
    let texts = |size: &f32| {
        let texts = [
            (&step.text, regular(19.0 * size), palette.value),
            (&step.result, medium(19.0 * size), palette.running),
            (&step.question, medium(19.0 * size), palette.accent),
        ];
        let texts = texts.into_iter().filter(|(text, ..)| !text.is_empty());
        let texts =
            texts.map(|(text, font, colour)| paragraph(painter, text, font, colour, width, 9));
        texts.collect::<Vec<_>>()
    };
    let fits = |size: &f32| {
        let heights = texts(size).into_iter().map(|text| text.size().y);
        heights.sum::<f32>() + below * size <= inside.height()
    };
    let mut sizes = [1.0, 0.9, 0.8, 0.7, 0.6].into_iter();
    let size = sizes.find(fits).unwrap_or(0.5);
    painter.lay_out(inside, "step of a lecture", |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for text in texts(&size) {
            ui.label(text);
        }
        ui.set_max_width(corner.left() - inside.left());
        chosen_have_the_accent(ui, &palette);
        // What was chosen is to be read, also once it cannot be changed.
        ui.visuals_mut().disabled_alpha = 1.0;
        ui.spacing_mut().button_padding = vec2(10.0, 4.0) * size;
        ui.add_space(5.0 * size);
        let is_asked = !step.choices.iter().any(|choice| choice.is_right);
        ui.horizontal_wrapped(|ui| {
            for (number, choice) in step.choices.iter().enumerate() {
                let text = format!("{}  {}", number + 1, choice.text);
                let mut button = Button::new(RichText::new(text).font(medium(17.0 * size)));
                if choice.is_right {
                    button = button.right_text(sign(&palette, true));
                    button = button.stroke(Stroke::new(2.0, palette.running));
                }
                let button = ui.add_enabled(is_asked, button.selected(choice.is_chosen));
                painter.asks(&button, ViewAction::Predict(number as u8));
            }
        });
    });
    painter.lay_out(corner, "buttons of a lecture", |ui| {
        let next = if step.number == step.of {
            tr!("Finish")
        } else {
            tr!("Next")
        };
        ui.horizontal(|ui| {
            ui.label(RichText::new(format!("{} / {}", step.number, step.of)).small());
            for (name, action, is_possible) in [
                (tr!("Close"), ViewAction::ToggleLecture, true),
                (tr!("Back"), ViewAction::PreviousPage, step.number > 1),
                (next, ViewAction::NextPage, true),
            ] {
                let button = Button::new(RichText::new(name).font(medium(14.0)));
                let button = button.min_size(vec2(62.0, BUTTONS[1]));
                painter.asks(&ui.add_enabled(is_possible, button), action);
            }
        });
    });
}
