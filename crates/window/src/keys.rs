//! From winit's keys to the action table's.

use winit::event::KeyEvent;
use winit::keyboard::{Key as WinitKey, KeyCode, ModifiersState, NamedKey, PhysicalKey};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement as _;

use model::actions::{Action, Chord, Key, Row, row_for};

/// What a pressed key asks for; while it is held, only what the table repeats.
pub(super) fn action(event: &KeyEvent, modifiers: ModifiersState) -> Option<Action> {
    pressed(event, modifiers).map(|(_, row)| row.action)
}

/// The same while a dialog takes the keys: what acts there and types nothing into its field.
pub(super) fn action_in_dialog(event: &KeyEvent, modifiers: ModifiersState) -> Option<Action> {
    let (chord, row) = pressed(event, modifiers)?;
    (row.in_dialogs && !chord.types()).then_some(row.action)
}

/// A pressed key with its modifiers, whether the table has it or not.
pub(super) fn chord(event: &KeyEvent, modifiers: ModifiersState) -> Option<Chord> {
    chords(event, modifiers).next()
}

fn pressed(event: &KeyEvent, modifiers: ModifiersState) -> Option<(Chord, &'static Row)> {
    let rows = chords(event, modifiers);
    let (chord, row) = rows
        .into_iter()
        .find_map(|chord| Some((chord, row_for(chord)?)))?;
    (!event.repeat || row.repeats).then_some((chord, row))
}

/// What a pressed key may stand for, the most likely first.
fn chords(event: &KeyEvent, modifiers: ModifiersState) -> impl Iterator<Item = Chord> + use<> {
    // Alt and the logo key are the desktop's.
    let is_ours = event.state.is_pressed() && !modifiers.alt_key() && !modifiers.super_key();
    let (shift, ctrl) = (modifiers.shift_key(), modifiers.control_key());
    let plain = event.key_without_modifiers();
    // With Ctrl, some systems make a control character of a letter.
    let typed = if ctrl { &plain } else { &event.logical_key };
    let keys = [key(typed), physical_letter(event.physical_key)];
    let keys = keys.into_iter().flatten().filter(move |_| is_ours);
    keys.map(move |key| Chord { key, shift, ctrl })
}

fn key(key: &WinitKey) -> Option<Key> {
    Some(match key {
        WinitKey::Character(text) => {
            let mut characters = text.chars();
            let (first, None) = (characters.next()?, characters.next()) else {
                return None;
            };
            Key::Char(first.to_uppercase().next()?)
        }
        WinitKey::Named(named) => match named {
            NamedKey::Space => Key::Space,
            NamedKey::Enter => Key::Enter,
            NamedKey::Tab => Key::Tab,
            NamedKey::Escape => Key::Escape,
            NamedKey::Backspace => Key::Backspace,
            NamedKey::Delete => Key::Delete,
            NamedKey::PageUp => Key::PageUp,
            NamedKey::PageDown => Key::PageDown,
            NamedKey::ArrowLeft => Key::Left,
            NamedKey::ArrowRight => Key::Right,
            NamedKey::ArrowUp => Key::Up,
            NamedKey::ArrowDown => Key::Down,
            NamedKey::F1 => Key::F(1),
            NamedKey::F2 => Key::F(2),
            NamedKey::F3 => Key::F(3),
            NamedKey::F4 => Key::F(4),
            NamedKey::F5 => Key::F(5),
            NamedKey::F6 => Key::F(6),
            NamedKey::F7 => Key::F(7),
            NamedKey::F8 => Key::F(8),
            NamedKey::F9 => Key::F(9),
            NamedKey::F10 => Key::F(10),
            NamedKey::F11 => Key::F(11),
            NamedKey::F12 => Key::F(12),
            _ => return None,
        },
        _ => return None,
    })
}

/// The Latin letter of a key on keyboards that type Greek or Cyrillic letters, and the bracket keys
/// on keyboards with other letters there.
fn physical_letter(key: PhysicalKey) -> Option<Key> {
    let PhysicalKey::Code(code) = key else {
        return None;
    };
    match code {
        KeyCode::BracketLeft => return Some(Key::Char('[')),
        KeyCode::BracketRight => return Some(Key::Char(']')),
        _ => {}
    }
    let name = format!("{code:?}");
    let letter = name.strip_prefix("Key")?.chars().next()?;
    letter.is_ascii_uppercase().then_some(Key::Char(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::actions::TABLE;
    use winit::keyboard::SmolStr;

    /// What winit says when this key of the table is pressed.
    fn typed(chord: &Chord) -> WinitKey {
        WinitKey::Named(match chord.key {
            Key::Char(c) => {
                let c = if chord.shift {
                    c
                } else {
                    c.to_ascii_lowercase()
                };
                return WinitKey::Character(SmolStr::new(c.to_string()));
            }
            Key::Space => NamedKey::Space,
            Key::Enter => NamedKey::Enter,
            Key::Backspace => NamedKey::Backspace,
            Key::Tab => NamedKey::Tab,
            Key::Escape => NamedKey::Escape,
            Key::Delete => NamedKey::Delete,
            Key::PageUp => NamedKey::PageUp,
            Key::PageDown => NamedKey::PageDown,
            Key::Left => NamedKey::ArrowLeft,
            Key::Right => NamedKey::ArrowRight,
            Key::Up => NamedKey::ArrowUp,
            Key::Down => NamedKey::ArrowDown,
            Key::F(1) => NamedKey::F1,
            Key::F(2) => NamedKey::F2,
            Key::F(3) => NamedKey::F3,
            Key::F(4) => NamedKey::F4,
            Key::F(5) => NamedKey::F5,
            Key::F(6) => NamedKey::F6,
            Key::F(7) => NamedKey::F7,
            Key::F(8) => NamedKey::F8,
            Key::F(9) => NamedKey::F9,
            Key::F(10) => NamedKey::F10,
            Key::F(11) => NamedKey::F11,
            Key::F(other) => panic!("add F{other} here"),
        })
    }

    #[test]
    fn every_key_of_the_table_can_be_typed() {
        for chord in TABLE.iter().flat_map(|row| row.chords) {
            assert_eq!(key(&typed(chord)), Some(chord.key), "{chord}");
        }
    }

    #[test]
    fn letters_are_found_by_their_place_on_other_keyboards() {
        assert_eq!(
            physical_letter(PhysicalKey::Code(KeyCode::KeyK)),
            Some(Key::Char('K'))
        );
        assert_eq!(physical_letter(PhysicalKey::Code(KeyCode::Digit1)), None);
    }
}
