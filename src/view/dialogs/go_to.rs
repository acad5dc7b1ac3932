//! A field for the generation to run to, or to go back to.

use egui::{Align2, Id, Key, Modal, Modifiers, RichText, TextEdit, vec2};

use crate::session::Action;
use crate::view::dialogs::{Asked, Seen};
use crate::view::hud::numbers::grouped;
use crate::view::hud::style::ACCENT;

/// The open field.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct GoTo {
    typed: String,
    /// Whether Enter was pressed on what is no generation.
    wrong: bool,
}

impl GoTo {
    /// Lays it out; whether it stays open.
    pub(super) fn show(
        &mut self,
        context: &egui::Context,
        seen: Seen<'_>,
        asked: &mut Vec<Asked>,
    ) -> bool {
        let unit = seen.unit;
        let down = vec2(0.0, 0.12 * seen.screen.height());
        let id = Id::unique("go to");
        let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, down);
        let mut stays = true;
        let modal = Modal::new(id).area(area).show(context, |ui| {
            ui.set_width((360.0 * unit).min(0.9 * seen.screen.width()));
            ui.heading("Run to generation");
            // Before the field sees it: it would forget what was typed behind it.
            let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            let field = TextEdit::singleline(&mut self.typed).hint_text("such as 5,206");
            let field = ui.add(field.desired_width(f32::INFINITY));
            field.request_focus();
            self.wrong &= !field.changed();
            match generation(&self.typed).filter(|_| entered) {
                Some(generation) => {
                    asked.push(Asked::Act(Action::RunTo(generation)));
                    stays = false;
                }
                None => self.wrong |= entered,
            }
            let now = seen.frame.status.map_or(0, |status| status.generation);
            // One line, whatever it says: nothing moves.
            match self.wrong {
                true => ui.label(RichText::new("a whole number, please").color(ACCENT)),
                false => ui.label(format!(
                    "Now {}; earlier ones are gone back to.",
                    grouped(now)
                )),
            };
        });
        stays && !modal.backdrop_response.clicked()
    }
}

/// A generation as people write it.
fn generation(typed: &str) -> Option<u64> {
    let separates = |c: &char| matches!(c, ',' | '_' | '\'') || c.is_whitespace();
    let digits: String = typed.chars().filter(|c| !separates(c)).collect();
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_is_read_as_people_write_it() {
        for (typed, wanted) in [
            ("5206", Some(5206)),
            (" 5,206 ", Some(5206)),
            ("1_000_000", Some(1_000_000)),
            ("0", Some(0)),
            ("", None),
            ("-3", None),
            ("+3", None),
            ("1.5", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(generation(typed), wanted, "{typed}");
        }
    }
}
