//! The formats that Life programs exchange patterns in, by name, by content and in writing; all are read,
//! RLE and plaintext are written.
//!
//! Each reader checks the whole text in one pass and draws the cells in a second one, as
//! [`super::rle`] does, so memory is only used for the text and the lattice. The macrocell
//! reader also stores nodes, a fixed number of bytes each.

use crate::frame::{Format, Writer};
use crate::rle;
use crate::text::{self, Flaw, lines, printable};
use flate2::read::MultiGzDecoder;
use lang::message;
use std::io::Read;
use std::path::Path;

pub(crate) mod macrocell;
pub(crate) mod rows;
#[cfg(test)]
mod tests;

impl Format {
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
