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

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            write!(f, "Ctrl+")?;
        }
        if self.shift {
            write!(f, "Shift+")?;
        }
        match self.key {
            Key::Char('-') => write!(f, "−"),
            Key::Char(c) => write!(f, "{c}"),
            Key::Escape => write!(f, "Esc"),
            Key::PageUp => write!(f, "PgUp"),
            Key::PageDown => write!(f, "PgDn"),
            Key::Left => write!(f, "←"),
            Key::Right => write!(f, "→"),
            Key::Up => write!(f, "↑"),
            Key::Down => write!(f, "↓"),
            Key::F(n) => write!(f, "F{n}"),
            named => write!(f, "{named:?}"),
        }
    }
}

impl Chord {
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

pub(super) const fn key(key: Key) -> Chord {
    Chord {
        key,
        shift: false,
        ctrl: false,
    }
}
pub(super) const fn shifted(key: Key) -> Chord {
    Chord {
        shift: true,
        ..self::key(key)
    }
}
pub(super) const fn with_ctrl(key: Key) -> Chord {
    Chord {
        ctrl: true,
        ..self::key(key)
    }
}
pub(super) const fn char(c: char) -> Chord {
    key(Key::Char(c))
}
pub(super) const fn shift(c: char) -> Chord {
    shifted(Key::Char(c))
}
pub(super) const fn ctrl(c: char) -> Chord {
    with_ctrl(Key::Char(c))
}
