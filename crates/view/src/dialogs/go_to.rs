//! A field for the generation to run to, or to go back to.

use egui::{Event, Key, RichText, TextEdit};

use crate::dialogs::{DialogContext, UiRequest, style};
use lang::tr;
use model::SessionAction;
use screen::numbers::grouped;

/// The open field.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GoTo {
    typed: String,
    /// Whether the text was not a generation when Enter was pressed.
    wrong: bool,
    /// Keys typed after Enter in the same frame, which belong to the next frame.
    later: Vec<Event>,
}

impl GoTo {
    /// Lays it out; whether it stays open.
    pub(super) fn show(
        &mut self,
        context: &egui::Context,
        cx: DialogContext<'_>,
        requests: &mut Vec<UiRequest>,
    ) -> bool {
        let mut stays = true;
        let left = style::dialog(context, cx, "go to", Some(0.12), 360.0, |ui| {
            style::heading(ui, tr!("Run to generation"));
            // Before the field sees it: it would lose its focus.
            let entered = ui.input_mut(|input| self.up_to_enter(&mut input.events));
            if !self.later.is_empty() {
                ui.ctx().request_repaint();
            }
            let field = TextEdit::singleline(&mut self.typed).hint_text(tr!("such as 5,206"));
            let field = ui.add(field.desired_width(f32::INFINITY));
            if cx.is_top {
                field.request_focus();
            }
            self.wrong &= !field.changed();
            match generation(&self.typed).filter(|_| entered) {
                Some(generation) => {
                    requests.push(UiRequest::Act(SessionAction::RunTo(generation).into()));
                    stays = false;
                }
                None => self.wrong |= entered,
            }
            let now = cx
                .frame
                .sources
                .status
                .map_or(0, |status| status.generation);
            // One line, whatever it says: nothing moves.
            if self.wrong {
                let why = RichText::new(tr!("type a whole number"));
                ui.label(why.color(cx.palette.accent))
            } else {
                ui.label(tr!(
                    "Current generation: {}. A smaller number goes back in time.",
                    grouped(now)
                ))
            };
        });
        stays && !left
    }

    /// Leaves of the events those in front of Enter, and keeps those behind it for the next frame;
    /// whether Enter is among them.
    fn up_to_enter(&mut self, events: &mut Vec<Event>) -> bool {
        events.splice(0..0, std::mem::take(&mut self.later));
        let is_enter = |event: &Event| {
            let Event::Key { key, pressed, .. } = event else {
                return false;
            };
            *key == Key::Enter && *pressed
        };
        let Some(at) = events.iter().position(is_enter) else {
            return false;
        };
        self.later = events.split_off(at + 1);
        events.truncate(at);
        true
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
    use egui::Modifiers;

    #[test]
    fn what_is_typed_behind_enter_is_for_later() {
        let key = |key| Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        let (typed, enter) = (Event::Text("7".into()), key(Key::Enter));
        let mut field = GoTo::default();
        let mut events = vec![typed.clone(), enter.clone(), key(Key::Backspace), enter];
        assert!(field.up_to_enter(&mut events));
        assert_eq!(events, [typed]);
        let mut next = Vec::new();
        assert!(field.up_to_enter(&mut next));
        assert_eq!(next, [key(Key::Backspace)]);
        assert!(!field.up_to_enter(&mut Vec::new()));
    }

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
