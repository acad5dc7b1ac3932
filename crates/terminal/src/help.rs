//! The open help: what is typed there searches it, and no key acts behind it but those that act in
//! dialogs.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::keys;
use ui::actions::{Action, ViewAction, search};

/// The open help.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Help {
    typed: String,
}

/// What a key did to the help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// It stays open.
    Stays,
    /// It is to be closed.
    Closes,
    /// The key acts, here as everywhere.
    Acts(Action),
}

impl Help {
    /// Takes a key.
    pub(crate) fn key(&mut self, event: &KeyEvent) -> Answer {
        let Some(chord) = keys::chord(event) else {
            return Answer::Stays;
        };
        match event.code {
            KeyCode::Char(letter) if chord.types() => self.typed.push(letter),
            KeyCode::Backspace => drop(self.typed.pop()),
            KeyCode::Esc if !self.typed.is_empty() => self.typed.clear(),
            _ => return Help::answer(event),
        }
        Answer::Stays
    }

    /// What a key that types nothing does.
    fn answer(event: &KeyEvent) -> Answer {
        let closing = [ViewAction::Escape, ViewAction::ToggleHelp].map(Action::View);
        match keys::action(event) {
            Some(action) if closing.contains(&action) => Answer::Closes,
            Some(action) if action.row().is_some_and(|row| row.in_dialogs) => Answer::Acts(action),
            _ => Answer::Stays,
        }
    }

    /// What has been typed.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The words to search for; none while nothing is typed.
    pub(crate) fn words(&self) -> Vec<String> {
        search::words(&self.typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyModifiers;

    fn press(help: &mut Help, code: KeyCode) -> Answer {
        help.key(&KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn what_is_typed_searches_and_escape_clears_it_before_it_closes() {
        let mut help = Help::default();
        for letter in "b k".chars() {
            assert_eq!(press(&mut help, KeyCode::Char(letter)), Answer::Stays);
        }
        assert_eq!(help.words(), ["b", "k"]);
        press(&mut help, KeyCode::Backspace);
        assert_eq!(help.typed(), "b ");
        assert_eq!(press(&mut help, KeyCode::Esc), Answer::Stays);
        assert_eq!(help.typed(), "");
        assert_eq!(press(&mut help, KeyCode::Esc), Answer::Closes);
    }

    #[test]
    fn no_key_acts_behind_it_but_those_of_dialogs() {
        let mut help = Help::default();
        for code in [
            KeyCode::Enter,
            KeyCode::Tab,
            KeyCode::Delete,
            KeyCode::F(2),
            KeyCode::F(10),
            KeyCode::Left,
        ] {
            assert_eq!(press(&mut help, code), Answer::Stays, "{code:?}");
        }
        assert_eq!(help, Help::default());
        assert_eq!(press(&mut help, KeyCode::F(1)), Answer::Closes);
        let quit = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::CONTROL);
        assert_eq!(help.key(&quit), Answer::Acts(ViewAction::Quit.into()));
    }
}
