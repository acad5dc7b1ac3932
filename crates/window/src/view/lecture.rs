//! The step of a lecture, in a strip above the panels: what the class reads, what it is asked and may say,
//! and what was measured. It is as high as what it may say usually is, so that panels stay where they are when
//! something is measured; words shrink where they have no room.

use egui::*;

use crate::view::lesson::{choices, page_buttons, size_that_fits};
use crate::view::style::*;
use lang::tr;
use ui::{LectureScreen, ViewAction};

/// What the buttons in the corner take.
const BUTTONS: [f32; 2] = [252.0, 30.0];

/// The height of the strip: of its text, a question with choices, and a result.
pub(crate) fn height(step: &LectureScreen) -> f32 {
    let question = if step.question.is_empty() { 0.0 } else { 56.0 };
    let result = if step.may_have_result { 32.0 } else { 0.0 };
    60.0 + question + result
}

/// Shows the strip.
pub(crate) fn show(ui: &mut Ui, step: &LectureScreen, rect: Rect) {
    let (palette, painter) = (palette(ui), ui.painter());
    painter.rect_filled(rect, 0.0, palette.lesson_card);
    painter.rect_filled(rect.with_max_x(rect.left() + 4.0), 0.0, palette.accent);
    let inside = rect.shrink2(vec2(14.0, 7.0));
    // Above: the strip grows downwards, and a mouse can click one button again and again.
    let corner = Align2::RIGHT_TOP.align_size_within_rect(BUTTONS.into(), inside);
    lay_out(ui, inside, "step of a lecture", |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.spacing_mut().interact_size.y = 0.0;
        let show = |ui: &mut Ui, size: f32| {
            // Beside the buttons; the rest has the whole width below them.
            ui.scope(|ui| {
                ui.set_max_width(corner.left() - inside.left() - 10.0);
                ui.set_min_height(corner.height());
                let text = lang::keep_units(&step.text);
                ui.label(styled(text, regular(19.0 * size), palette.value));
            });
            let found = if step.is_right {
                palette.running
            } else {
                palette.value
            };
            // A question is as large in each step: what stands above it makes room first.
            let asked = (1.6 * size).min(1.0);
            for (text, font, colour) in [
                (&step.result, medium(28.0 * size), found),
                (&step.question, medium(19.0 * asked), palette.accent),
            ] {
                if !text.is_empty() {
                    ui.label(styled(lang::keep_units(text), font, colour));
                }
            }
            ui.add_space(5.0 * size);
            let is_asked = !step.choices.iter().any(|choice| choice.is_right);
            choices(ui, &step.choices, is_asked, size);
        };
        let size = size_that_fits(ui, step, inside, 1.0, show);
        show(ui, size);
    });
    lay_out(ui, corner, "buttons of a lecture", |ui| {
        let next = if step.number == step.of {
            tr!("Finish")
        } else {
            tr!("Next")
        };
        ui.horizontal(|ui| {
            ui.label(RichText::new(format!("{} / {}", step.number, step.of)).small());
            let buttons = [
                (tr!("Close"), ViewAction::ToggleLecture, true),
                (tr!("Back"), ViewAction::PreviousPage, step.number > 1),
                (next, ViewAction::NextPage, true),
            ];
            page_buttons(ui, 1.0, &buttons);
        });
    });
}
