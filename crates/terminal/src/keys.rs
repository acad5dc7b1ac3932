//! From a terminal's keys to the action table's.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use ui::actions::{Action, Chord, Key, ViewAction, action_for};

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
            for chord in row.chords {
                let plain = matches!(chord.key, Key::Char('C')) && chord.ctrl;
                if plain {
                    continue; // in a terminal it quits
                }
                let event = typed(chord).unwrap();
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
}
