//! The formats that Life programs exchange patterns in, by name, by content and in writing; all are read,
//! RLE and plaintext are written.
//!
//! Each reader checks the whole text in one pass and draws the cells in a second one, as
//! [`super::rle`] does, so memory is only used for the text and the lattice. The macrocell
//! reader also stores nodes, a fixed number of bytes each.

pub(crate) mod apgcode;
pub(crate) mod life;
pub(crate) mod macrocell;
pub(crate) mod packed;
pub(crate) mod plaintext;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::format::Format;
use crate::rle;
use crate::sheet::Writer;
use crate::text::{self, lines};

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
                [b'#', marked @ ..] => match life::version(marked) {
                    Some(b"1.06") => return Some(Format::Life106),
                    Some(_) => return Some(Format::Life105),
                    None => commented = true,
                },
                cells if plaintext::is_row(cells) => {
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
            Format::Plaintext => Some(plaintext::write),
            Format::Life105 | Format::Life106 | Format::Macrocell => None,
        }
    }
}
