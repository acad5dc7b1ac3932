//! From a terminal's keys to the action table's, and to what is typed into an open card: a value, or words
//! that the keys are searched for. No key acts behind it but those that act in dialogs.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use ui::actions::{Action, Chord, Key, Setting, ViewAction, action_for};

/// What a key asks for. Ctrl+C quits, as everywhere in terminals, whatever the window does with it.
pub(super) fn action(event: &KeyEvent) -> Option<Action> {
    let chord = chord(event)?;
    if chord.ctrl && chord.key == Key::Char('C') {
        return Some(ViewAction::Quit.into());
    }
    action_for(chord)
}

/// The chord of a key that is pressed, unless it is with keys that are somebody else's.
pub(super) fn chord(event: &KeyEvent) -> Option<Chord> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let has = |modifier| event.modifiers.contains(modifier);
    let ctrl = has(KeyModifiers::CONTROL);
    let mut shift = has(KeyModifiers::SHIFT);
    if has(KeyModifiers::ALT) || has(KeyModifiers::SUPER) {
        return None;
    }
    let key = match event.code {
        KeyCode::Char(' ') => Key::Space,
        KeyCode::Char(c) => {
            shift |= c.is_uppercase();
            Key::Char(c.to_uppercase().next()?)
        }
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => {
            shift = true;
            Key::Tab
        }
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::F(n) => Key::F(n),
        _ => return None,
    };
    Some(Chord { key, shift, ctrl })
}

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
        let Some(chord) = chord(event) else {
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
                return match action(event) {
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
    use ui::actions::TABLE;

    /// What crossterm says when this key of the table is pressed.
    fn typed(chord: &Chord) -> Option<KeyEvent> {
        let code = match chord.key {
            Key::Char(c) if chord.shift => KeyCode::Char(c),
            Key::Char(c) => KeyCode::Char(c.to_ascii_lowercase()),
            Key::Space => KeyCode::Char(' '),
            Key::Enter => KeyCode::Enter,
            Key::Tab => KeyCode::Tab,
            Key::Escape => KeyCode::Esc,
            Key::Backspace => KeyCode::Backspace,
            Key::Delete => KeyCode::Delete,
            Key::PageUp => KeyCode::PageUp,
            Key::PageDown => KeyCode::PageDown,
            Key::Left => KeyCode::Left,
            Key::Right => KeyCode::Right,
            Key::Up => KeyCode::Up,
            Key::Down => KeyCode::Down,
            Key::F(n) => KeyCode::F(n),
        };
        let mut held = KeyModifiers::NONE;
        held.set(KeyModifiers::CONTROL, chord.ctrl);
        let letter = matches!(chord.key, Key::Char(_)); // it says so itself
        held.set(KeyModifiers::SHIFT, chord.shift && !letter);
        Some(KeyEvent::new(code, held))
    }

    #[test]
    fn every_key_of_the_table_does_its_action() {
        for row in TABLE {
            for chord in row.chords() {
                let plain = matches!(chord.key, Key::Char('C')) && chord.ctrl;
                if plain {
                    continue; // in a terminal it quits
                }
                let event = typed(&chord).unwrap();
                assert_eq!(action(&event), Some(row.action), "{chord}");
            }
        }
    }

    #[test]
    fn ctrl_c_quits_and_alt_is_somebody_elses() {
        let event = |c, modifiers| KeyEvent::new(KeyCode::Char(c), modifiers);
        assert_eq!(
            action(&event('c', KeyModifiers::CONTROL)),
            Some(ViewAction::Quit.into())
        );
        assert_eq!(action(&event('k', KeyModifiers::ALT)), None);
        let mut release = event('k', KeyModifiers::NONE);
        release.kind = KeyEventKind::Release;
        assert_eq!(action(&release), None);
    }

    fn press(field: &mut Field, code: KeyCode) -> Answer {
        field.key(&KeyEvent::new(code, KeyModifiers::NONE), 4096)
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
