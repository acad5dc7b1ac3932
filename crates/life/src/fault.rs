//! What can be wrong with a pattern's text, in any format, and where.

use std::fmt;

use lang::{Message, message, tr};

use crate::Size;

/// What is wrong with a text, and where; lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// The line.
    pub line: u64,
    /// The character in that line.
    pub column: u64,
    /// What is wrong there.
    pub message: Message,
}

/// What is wrong, and the byte offset where it is.
pub(crate) type Flaw = (usize, Message);

impl TextError {
    /// Converts a byte offset in this text to line and column. A line ends with LF, CR or both; a
    /// column is a UTF-8 character.
    pub(crate) fn new(text: &[u8], (offset, message): Flaw) -> TextError {
        let before = &text[..offset.min(text.len())];
        let ends_line = |at: usize| match before[at] {
            b'\n' => true,
            b'\r' => text.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let line = 1 + (0..before.len()).filter(|&at| ends_line(at)).count() as u64;
        let line_start = (0..before.len())
            .rposition(ends_line)
            .map_or(0, |at| at + 1);
        let is_first_of_character = |byte: &&u8| **byte & 0xc0 != 0x80;
        let column = 1 + before[line_start..]
            .iter()
            .filter(is_first_of_character)
            .count() as u64;
        TextError {
            line,
            column,
            message,
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = (self.line, self.column);
        let place = tr!("line {line}, column {column}: ");
        write!(f, "{place}{}", self.message)
    }
}

/// A byte of a text, as the character if it is one.
pub(crate) fn named(byte: u8) -> String {
    match byte {
        b'!'..=b'~' => tr!("character '{}'", char::from(byte)),
        _ => tr!("byte {}", format_args!("0x{byte:02x}")),
    }
}

/// The flaw of live cells too far apart for a lattice.
pub(crate) fn far_apart() -> Message {
    message!(
        "live cells lie more than {max} cells apart, the longest side of a lattice; a smaller pattern is needed",
        max = Size::MAX_SIDE
    )
}
