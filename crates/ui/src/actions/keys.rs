//! Keys and chords, as help, docs and both front ends name them.

use std::fmt;

/// A key, whatever the toolkit calls it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Key {
    /// A character, letters in upper case.
    Char(char),
    /// The space bar.
    Space,
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// A function key.
    F(u8),
}

/// A key with its modifiers. Shift counts for letters and named keys; a sign such as `+` is
/// itself, however it is typed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Chord {
    /// The key.
    pub key: Key,
    /// With Shift.
    pub shift: bool,
    /// With Ctrl.
    pub ctrl: bool,
}

/// The keys that are no character as it is typed, and their names.
const NAMES: [(Key, &str); 13] = [
    (Key::Char('-'), "−"),
    (Key::Space, "Space"),
    (Key::Enter, "Enter"),
    (Key::Tab, "Tab"),
    (Key::Escape, "Esc"),
    (Key::Backspace, "Backspace"),
    (Key::Delete, "Delete"),
    (Key::PageUp, "PgUp"),
    (Key::PageDown, "PgDn"),
    (Key::Left, "←"),
    (Key::Right, "→"),
    (Key::Up, "↑"),
    (Key::Down, "↓"),
];

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            write!(f, "Ctrl+")?;
        }
        if self.shift {
            write!(f, "Shift+")?;
        }
        match (self.key, NAMES.iter().find(|(key, _)| *key == self.key)) {
            (_, Some((_, name))) => write!(f, "{name}"),
            (Key::F(number), _) => write!(f, "F{number}"),
            (Key::Char(c), _) => write!(f, "{c}"),
            (key, None) => write!(f, "{key:?}"),
        }
    }
}

impl Chord {
    /// The chord that is displayed like this.
    pub fn named(name: &str) -> Option<Chord> {
        let without = |name, modifier| match str::strip_prefix(name, modifier) {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let (ctrl, name) = without(name, "Ctrl+");
        let (shift, name) = without(name, "Shift+");
        let number = name.strip_prefix('F').and_then(|it| it.parse().ok());
        let key = match NAMES.iter().find(|(_, its)| *its == name) {
            Some((key, _)) => *key,
            None => number.map(Key::F).or(name.chars().next().map(Key::Char))?,
        };
        Some(Chord { key, shift, ctrl })
    }

    /// Whether it types a character into a text field.
    pub fn types(self) -> bool {
        matches!(self.key, Key::Char(_) | Key::Space) && !self.ctrl
    }

    /// The chord as the table has it: a sign such as `?` or `+` is itself, however it is typed, so
    /// Shift counts for letters and named keys alone.
    pub(super) fn normalized(self) -> Chord {
        let is_sign = matches!(self.key, Key::Char(c) if !c.is_alphabetic());
        Chord {
            shift: self.shift && !is_sign,
            ..self
        }
    }
}
