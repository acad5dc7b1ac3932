//! The formats that Life programs exchange patterns in, by name, by content and in writing; all are read,
//! RLE and plaintext are written.
//!
//! Each reader checks the whole text in one pass and draws the cells in a second one, as
//! [`super::rle`] does, so memory is only used for the text and the lattice. The macrocell
//! reader also stores nodes, a fixed number of bytes each.

use crate::frame::Writer;
use crate::text::{self, lines, printable};
use crate::{Size, rle};
use flate2::read::MultiGzDecoder;
use lang::{Message, message, tr};
use std::fmt;
use std::io::Read;
use std::path::Path;

pub(crate) mod macrocell;
pub(crate) mod rows;
#[cfg(test)]
mod tests;

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

    /// Detects the format of a text by its first lines, else by the file name, which may end with
    /// `.gz`; RLE if neither tells.
    pub fn detect(text: &[u8], name: impl AsRef<Path>) -> Format {
        let name = name.as_ref();
        let packed = name.extension().is_some_and(|ending| ending == "gz");
        let name = name.file_stem().filter(|_| packed).map_or(name, Path::new);
        Format::of_content(text)
            .or_else(|| Format::of_name(name))
            .unwrap_or(Format::Rle)
    }

    fn of_content(text: &[u8]) -> Option<Format> {
        let mut commented = false;
        for (_, line) in lines(text, text::start(text)) {
            let line = line.trim_ascii_start();
            match line {
                [] => {}
                [b'[', b'M', ..] => return Some(Format::Macrocell),
                [b'!', ..] => return Some(Format::Plaintext),
                [b'x' | b'X', rest @ ..] if text::is_header(rest) => return Some(Format::Rle),
                [b'#', b'P' | b'p', rest @ ..]
                    if rest.first().is_none_or(u8::is_ascii_whitespace) =>
                {
                    return Some(Format::Life105);
                }
                [b'#', marked @ ..] => match rows::version(marked) {
                    Some(b"1.06") => return Some(Format::Life106),
                    Some(_) => return Some(Format::Life105),
                    None => commented = true,
                },
                cells if rows::is_row(cells) => {
                    return Some(if commented {
                        Format::Life105
                    } else {
                        Format::Plaintext
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// What writes a lattice in this format, if it can be written. The lattice's size is preserved.
    pub fn writer(self) -> Option<Writer> {
        match self {
            Format::Rle => Some(rle::write),
            Format::Plaintext => Some(rows::write_plaintext),
            Format::Life105 | Format::Life106 | Format::Macrocell => None,
        }
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

// Files that are not pattern text themselves: patterns packed with gzip, as Golly can save them,
// and other kinds of files found in pattern collections.

/// Maximum unpacked size in bytes; gzip can expand a thousandfold.
const MAX_UNPACKED: u64 = 64 << 20;

/// Unpacks a text that is packed. One without its end, DOS's, is left.
pub(crate) fn unpack(text: &mut Vec<u8>) -> Result<(), Flaw> {
    if text.starts_with(b"\x1f\x8b") {
        *text = unpacked(&std::mem::take(text))?;
    }
    text.truncate(text::end(text));
    Ok(())
}

fn unpacked(text: &[u8]) -> Result<Vec<u8>, Flaw> {
    let mut inner = Vec::new();
    let mut packed = MultiGzDecoder::new(text).take(MAX_UNPACKED + 1);
    packed.read_to_end(&mut inner).map_err(|reason| {
        let why = message!(
            "this is compressed with gzip and cannot be unpacked: {reason}; fetch it again"
        );
        (0, why)
    })?;
    if inner.len() as u64 > MAX_UNPACKED {
        return Err((
            0,
            message!(
                "this is compressed with gzip and more than {} MiB long when unpacked; unpack it first, such as with gunzip",
                MAX_UNPACKED >> 20
            ),
        ));
    }
    Ok(inner)
}

/// How the names of scripts end.
const SCRIPTS: [&str; 3] = ["lua", "py", "pl"];

/// Errors for files of known other kinds.
pub(crate) fn check_kind(name: &str, text: &[u8]) -> Result<(), Flaw> {
    let ending = Path::new(name).extension();
    if text.starts_with(b"PK\x03\x04") {
        return Err((
            0,
            message!("this is a ZIP archive; unpack it and name one of its patterns"),
        ));
    }
    if text.starts_with(b"#MCell") {
        let game = lines(text, 0).find_map(|(_, line)| line.strip_prefix(b"#GAME"));
        let game = printable(game.unwrap_or(b"Standard Life").trim_ascii());
        let game: String = game.chars().take(40).collect();
        return Err((
            0,
            message!(
                "this is in the format of MCell, of the kind '{game}'; where its rule is one such as B3/S23, save it as RLE with Golly"
            ),
        ));
    }
    if ending.is_some_and(|ending| SCRIPTS.iter().any(|script| ending == *script)) {
        return Err((
            0,
            message!(
                "this is a script, not a pattern; run it in Golly and save what it makes as RLE"
            ),
        ));
    }
    Ok(())
}
