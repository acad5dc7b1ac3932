//! What is typed into an open card: a value, or words that the keys are searched for. No key acts behind it
//! but those that act in dialogs.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::keys;
use ui::actions::{Action, Setting, ViewAction};

/// The open field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The value that is asked for; none where the keys are searched.
    pub(crate) setting: Option<Setting>,
    pub(crate) typed: String,
    /// Why that was refused when Enter was pressed.
    pub(crate) refused: Option<String>,
}

/// What a key did to the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// It stays open.
    Stays,
    /// It is to be closed.
    Closes,
    /// The key acts, here as everywhere, or what was typed does.
    Acts(Action),
}

impl Field {
    /// An empty one.
    pub fn new(setting: Option<Setting>) -> Field {
        Field {
            setting,
            typed: String::new(),
            refused: None,
        }
    }

    /// Takes a key; at most `most_instances` can be shown.
    pub(crate) fn key(&mut self, event: &KeyEvent, most_instances: usize) -> Answer {
        let Some(chord) = keys::chord(event) else {
            return Answer::Stays;
        };
        match (event.code, self.setting) {
            (KeyCode::Char(letter), _) if chord.types() => self.typed.push(letter),
            (KeyCode::Backspace, _) => drop(self.typed.pop()),
            (KeyCode::Esc, None) if !self.typed.is_empty() => self.typed.clear(),
            (KeyCode::Enter, Some(setting)) => {
                let read = setting.read(&self.typed, most_instances);
                self.refused = read.as_ref().err().cloned();
                return read.map_or(Answer::Stays, |action| Answer::Acts(action.into()));
            }
            (_, setting) => {
                return match keys::action(event) {
                    Some(Action::View(ViewAction::Escape)) => Answer::Closes,
                    Some(Action::View(ViewAction::ToggleHelp)) if setting.is_none() => {
                        Answer::Closes
                    }
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

    fn press(field: &mut Field, code: KeyCode) -> Answer {
        field.key(&KeyEvent::new(code, KeyModifiers::NONE), 4096)
    }

    #[test]
    fn what_is_typed_is_read_at_enter_and_what_is_wrong_is_said() {
        let mut field = Field::new(Some(Setting::Instances));
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

    #[test]
    fn what_is_typed_searches_and_escape_clears_it_before_it_closes() {
        let mut field = Field::new(None);
        for letter in "b k".chars() {
            assert_eq!(press(&mut field, KeyCode::Char(letter)), Answer::Stays);
        }
        assert_eq!(field.typed, "b k");
        press(&mut field, KeyCode::Backspace);
        assert_eq!(field.typed, "b ");
        assert_eq!(press(&mut field, KeyCode::Esc), Answer::Stays);
        assert_eq!(field.typed, "");
        assert_eq!(press(&mut field, KeyCode::Esc), Answer::Closes);
    }

    #[test]
    fn no_key_acts_behind_it_but_those_of_dialogs() {
        let mut field = Field::new(None);
        for code in [
            KeyCode::Enter,
            KeyCode::Tab,
            KeyCode::Delete,
            KeyCode::F(2),
            KeyCode::F(10),
            KeyCode::Left,
        ] {
            assert_eq!(press(&mut field, code), Answer::Stays, "{code:?}");
        }
        assert_eq!(field, Field::new(None));
        assert_eq!(press(&mut field, KeyCode::F(1)), Answer::Closes);
        let quit = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::CONTROL);
        assert_eq!(
            field.key(&quit, 4096),
            Answer::Acts(ViewAction::Quit.into())
        );
    }
}
