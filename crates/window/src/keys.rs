//! From winit's keys to the action table's.

use winit::event::KeyEvent;
use winit::keyboard::{Key as WinitKey, KeyCode, ModifiersState, NamedKey, PhysicalKey};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement as _;

use ui::actions::{Action, Chord, Key, Row, row_for};

/// A pressed key with its modifiers.
#[derive(Clone, Copy)]
pub(super) struct Pressed {
    /// As the table has it, as a digit, or as it is typed.
    pub chord: Chord,
    /// What it stands for; while it is held, only what the table repeats.
    pub row: Option<&'static Row>,
}

impl Pressed {
    /// What winit tells of; not a key that came up.
    pub(super) fn of(event: &KeyEvent, modifiers: ModifiersState) -> Option<Pressed> {
        let chord = most_useful(&chords(event, modifiers))?;
        let row = row_for(chord).filter(|row| !event.repeat || row.repeats);
        Some(Pressed { chord, row })
    }

    /// What it asks for.
    pub(super) fn action(self) -> Option<Action> {
        self.row.map(|row| row.action)
    }
}

fn most_useful(chords: &[Chord]) -> Option<Chord> {
    let is_useful =
        |chord: &&Chord| matches!(chord.key, Key::Char('0'..='9')) || row_for(**chord).is_some();
    chords.iter().find(is_useful).or(chords.first()).copied()
}

/// What a pressed key may stand for, the most likely first.
fn chords(event: &KeyEvent, modifiers: ModifiersState) -> Vec<Chord> {
    // Alt and the logo key are the desktop's.
    if !event.state.is_pressed() || modifiers.alt_key() || modifiers.super_key() {
        return Vec::new();
    }
    let plain = event.key_without_modifiers();
    chords_of(&event.logical_key, &plain, event.physical_key, modifiers)
}

/// The same for what a key types, what it would type without modifiers, and its place.
fn chords_of(
    typed: &WinitKey,
    plain: &WinitKey,
    place: PhysicalKey,
    modifiers: ModifiersState,
) -> Vec<Chord> {
    let (shift, ctrl) = (modifiers.shift_key(), modifiers.control_key());
    // With Ctrl, some systems make a control character of a letter.
    let plain = key(plain).filter(|_| ctrl);
    let by_place = physical_key(place, shift);
    let keys = [key(typed), plain, by_place].into_iter().flatten();
    keys.map(|key| Chord { key, shift, ctrl }).collect()
}

fn key(key: &WinitKey) -> Option<Key> {
    use NamedKey::*;
    Some(match key {
        WinitKey::Character(text) => {
            let mut characters = text.chars();
            let (first, None) = (characters.next()?, characters.next()) else {
                return None;
            };
            Key::Char(first.to_uppercase().next()?)
        }
        WinitKey::Named(named) => match named {
            Space => Key::Space,
            Enter => Key::Enter,
            Tab => Key::Tab,
            Escape => Key::Escape,
            Backspace => Key::Backspace,
            Delete => Key::Delete,
            PageUp => Key::PageUp,
            PageDown => Key::PageDown,
            ArrowLeft => Key::Left,
            ArrowRight => Key::Right,
            ArrowUp => Key::Up,
            ArrowDown => Key::Down,
            other => Key::F(format!("{other:?}").strip_prefix('F')?.parse().ok()?),
        },
        _ => return None,
    })
}

/// What a key types on a US keyboard: its letter where keyboards type Greek or Cyrillic, and the
/// digit row and the brackets where they type other signs or letters. With Shift, a digit's key
/// types a sign there.
fn physical_key(key: PhysicalKey, shift: bool) -> Option<Key> {
    let PhysicalKey::Code(code) = key else {
        return None;
    };
    let name = format!("{code:?}");
    let named = |prefix| name.strip_prefix(prefix)?.chars().next();
    let character = match code {
        KeyCode::BracketLeft => '[',
        KeyCode::BracketRight => ']',
        KeyCode::Minus => '-',
        KeyCode::Equal => '=',
        _ => named("Key")
            .filter(char::is_ascii_uppercase)
            .or_else(|| named("Digit").filter(|_| !shift))?,
    };
    Some(Key::Char(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::actions::TABLE;
    use winit::keyboard::SmolStr;

    #[test]
    fn every_key_of_the_table_can_be_typed() {
        use NamedKey::*;
        let named = [
            Space, Enter, Backspace, Tab, Escape, Delete, PageUp, PageDown, ArrowLeft, ArrowRight,
            ArrowUp, ArrowDown, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11,
        ];
        let named = named.map(|named| key(&WinitKey::Named(named)));
        for chord in TABLE.iter().flat_map(Row::chords) {
            let Key::Char(letter) = chord.key else {
                assert!(named.contains(&Some(chord.key)), "{chord}");
                continue;
            };
            let typed = WinitKey::Character(letter.to_lowercase().to_string().into());
            assert_eq!(key(&typed), Some(chord.key));
        }
        // Each is one of its own.
        let apart: std::collections::HashSet<_> =
            named.iter().map(|it| format!("{it:?}")).collect();
        assert_eq!(apart.len(), named.len());
    }

    #[test]
    fn letters_digits_and_signs_are_found_on_other_keyboards() {
        let none = ModifiersState::empty();
        let (shift, ctrl) = (ModifiersState::SHIFT, ModifiersState::CONTROL);
        for (keyboard, held, typed, plain, place, wanted) in [
            ("ru", none, "л", "л", KeyCode::KeyK, 'K'),
            ("ru", ctrl, "л", "л", KeyCode::KeyK, 'K'),
            ("us", none, "5", "5", KeyCode::Digit5, '5'),
            ("us", shift, "%", "5", KeyCode::Digit5, '%'),
            ("us", shift, "@", "2", KeyCode::Digit2, '@'),
            ("us", ctrl, "\u{b}", "k", KeyCode::KeyK, 'K'),
            ("fr", none, "é", "é", KeyCode::Digit2, '2'),
            ("fr", none, "-", "-", KeyCode::Digit6, '-'),
            ("fr", shift, "2", "é", KeyCode::Digit2, '2'),
            ("fr", ctrl, "(", "(", KeyCode::Digit5, '5'),
            ("fr", ctrl | shift, "5", "(", KeyCode::Digit5, '5'),
            ("fr", ctrl, "à", "à", KeyCode::Digit0, '0'),
            ("fr", ctrl, ")", ")", KeyCode::Minus, '-'),
            ("cz", ctrl, "ř", "ř", KeyCode::Digit5, '5'),
            ("de", ctrl | shift, "=", "0", KeyCode::Digit0, '='),
            ("de", none, "ü", "ü", KeyCode::BracketLeft, '['),
        ] {
            let of = |text: &str| WinitKey::Character(SmolStr::new(text));
            let chords = chords_of(&of(typed), &of(plain), PhysicalKey::Code(place), held);
            let key = most_useful(&chords).map(|chord| chord.key);
            assert_eq!(key, Some(Key::Char(wanted)), "{keyboard}: {held:?} {typed}");
        }
    }
}
