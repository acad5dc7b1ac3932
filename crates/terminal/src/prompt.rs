//! The open field for a value: what is typed there is the value's, and no key acts behind it but
//! those that act in dialogs.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use crate::help::Answer;
use crate::keys;
use ui::actions::{Setting, ViewAction};

/// The open field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptField {
    pub(crate) setting: Setting,
    pub(crate) typed: String,
    /// Why that was refused when Enter was pressed.
    pub(crate) refused: Option<String>,
}

impl PromptField {
    /// An empty field.
    pub fn new(setting: Setting) -> PromptField {
        PromptField {
            setting,
            typed: String::new(),
            refused: None,
        }
    }

    /// Takes a key; at most `most_instances` can be shown.
    pub(crate) fn key(&mut self, event: &KeyEvent, most_instances: usize) -> Answer {
        if event.kind == KeyEventKind::Release {
            return Answer::Stays;
        }
        let types = keys::chord(event).is_some_and(|chord| chord.types());
        match event.code {
            KeyCode::Char(letter) if types => self.typed.push(letter),
            KeyCode::Backspace => drop(self.typed.pop()),
            KeyCode::Enter => match self.setting.read(&self.typed, most_instances) {
                Ok(action) => return Answer::Acts(action.into()),
                Err(why) => {
                    self.refused = Some(why);
                    return Answer::Stays;
                }
            },
            _ => {
                return match keys::action(event) {
                    Some(action) if action == ViewAction::Escape.into() => Answer::Closes,
                    Some(action) if action.row().is_some_and(|row| row.in_dialogs) => {
                        Answer::Acts(action)
                    }
                    _ => Answer::Stays,
                };
            }
        }
        self.refused = None;
        Answer::Stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyModifiers;
    use session::SessionAction;

    #[test]
    fn what_is_typed_is_read_at_enter_and_what_is_wrong_is_said() {
        let mut field = PromptField::new(Setting::Instances);
        let mut press = |code| field.key(&KeyEvent::new(code, KeyModifiers::NONE), 4096);
        assert_eq!(press(KeyCode::Char('x')), Answer::Stays);
        assert_eq!(press(KeyCode::Enter), Answer::Stays);
        assert_eq!(press(KeyCode::F(2)), Answer::Stays, "nothing behind it");
        let why = field.refused.clone().expect("a reason");
        assert!(why.contains("from 1 to 4,096"), "{why}");
        let mut press = |code| field.key(&KeyEvent::new(code, KeyModifiers::NONE), 4096);
        press(KeyCode::Backspace);
        press(KeyCode::Char('8'));
        let action = SessionAction::SetInstances(8).into();
        assert_eq!(press(KeyCode::Enter), Answer::Acts(action));
        assert_eq!(press(KeyCode::Esc), Answer::Closes);
        assert_eq!(field.refused, None);
    }
}
