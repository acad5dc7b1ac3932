//! What can be wrong with a pattern's text, in any format, and where.

use lang::{Message, message, tr};

use crate::Size;
use crate::text::lines;

/// What is wrong, and the byte offset where it is.
pub(crate) type Flaw = (usize, Message);

/// What is wrong with this text, with its line and column, which count from 1. A line ends with LF, CR or
/// both; a column is a UTF-8 character.
pub(crate) fn located(text: &[u8], (offset, message): Flaw) -> Message {
    let starts = (1..).zip(lines(text, 0).map(|(at, _)| at));
    let before = starts.take_while(|(_, at)| *at <= offset);
    let (line, start): (u64, usize) = before.last().unwrap_or_default();
    let before = &text[start..offset.min(text.len())];
    let is_first_of_character = |byte: &&u8| **byte & 0xc0 != 0x80;
    let column = 1 + before.iter().filter(is_first_of_character).count();
    Message::new(|| tr!("line {line}, column {column}: ") + &message)
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
