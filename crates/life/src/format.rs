//! The formats of pattern files, by name, and what can be wrong with a text in any of them, and where.

use crate::Size;
use crate::text::lines;
use lang::{Message, message, tr};
use std::fmt;
use std::path::Path;

/// A format of pattern files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Runs of cells; all programs support it.
    Rle,
    /// Rows of `.` and `O`.
    Plaintext,
    /// Blocks of rows of `.` and `*`.
    Life105,
    /// The columns and rows of the live cells.
    Life106,
    /// A quadtree of shared squares, for patterns that are huge and repeat themselves.
    Macrocell,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [
        Format::Rle,
        Format::Plaintext,
        Format::Life105,
        Format::Life106,
        Format::Macrocell,
    ];

    /// The name, and how files' names end; `lif` and `life` mean Life 1.05: texts of Life 1.06 state their
    /// version in the first line.
    const fn named(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Format::Rle => ("RLE", &["rle"]),
            Format::Plaintext => ("plaintext", &["cells"]),
            Format::Life105 => ("Life 1.05", &["lif", "life"]),
            Format::Life106 => ("Life 1.06", &["lif"]),
            Format::Macrocell => ("macrocell", &["mc"]),
        }
    }

    /// The file extension without the dot; `lif` for both versions of Life.
    pub const fn extension(self) -> &'static str {
        self.named().1[0]
    }

    /// The format that a file name's extension implies, if any.
    pub fn of_name(name: impl AsRef<Path>) -> Option<Format> {
        let extension = name.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        let has_it = |format: &Format| format.named().1.contains(&&*extension);
        Format::ALL.into_iter().find(has_it)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().0)
    }
}

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
