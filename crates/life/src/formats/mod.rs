//! The formats that Life programs exchange patterns in, by name, by content and in writing.
//!
//! Each reader goes over the text once and checks it whole, then a second time over its cells to
//! draw them, as [`rle`](super::rle) does; so memory goes to the text and the lattice. Only a
//! macrocell keeps more: its nodes, a fixed number of bytes each.

pub mod life;
pub mod macrocell;
mod notes;
pub(crate) mod packed;
pub mod plaintext;
#[cfg(test)]
mod tests;

pub use life::LifeFault;
pub use macrocell::MacrocellFault;
pub use notes::Notes;
pub use plaintext::PlaintextFault;

use super::rle::{self, RleFault};
use super::run::Extent;
use super::text::{self, lines};
use super::{Lattice, Rule, Size};
use lang::tr;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// A format of pattern files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Runs of cells: what everyone reads and writes.
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

/// What is wrong with a pattern's text, by its format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// In RLE.
    #[error(transparent)]
    Rle(#[from] RleFault),
    /// In plaintext.
    #[error(transparent)]
    Plaintext(#[from] PlaintextFault),
    /// In Life 1.05 or 1.06.
    #[error(transparent)]
    Life(#[from] LifeFault),
    /// In a macrocell.
    #[error(transparent)]
    Macrocell(#[from] MacrocellFault),
    /// Packed, but not soundly.
    #[error("{}", tr!("this is compressed with gzip and cannot be unpacked: {reason}; fetch it again", reason = .0))]
    Packed(String),
    /// Packed, and too long to be unpacked unasked.
    #[error("{}", tr!("this is compressed with gzip and more than {} MiB long when unpacked; unpack it first, such as with gunzip", packed::LONGEST >> 20))]
    PackedLong,
    /// An archive.
    #[error("{}", tr!("this is a ZIP archive; unpack it and name one of its patterns"))]
    Archive,
    /// A script that Golly runs.
    #[error("{}", tr!("this is a script, not a pattern; run it in Golly and save what it makes as RLE"))]
    Script,
    /// MCell's own format, most often of rules with more than two states.
    #[error("{}", tr!("this is in the format of MCell, of the kind '{game}'; where its rule is one such as B3/S23, save it as RLE with Golly", game = .0))]
    MCell(String),
}

/// What is known of a pattern besides its cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Frame {
    /// Columns; may be 0.
    pub(crate) width: u32,
    /// Rows; may be 0.
    pub(crate) height: u32,
    /// Where its live cells lie among these.
    pub(crate) live: Extent,
    pub(crate) rule: Option<Rule>,
    pub(crate) torus: Option<Size>,
    /// The generation that its cells are of; 0 where the text says nothing.
    pub(crate) generation: u64,
    pub(crate) remarks: Remarks,
}

/// What was read otherwise than it is written, which people should know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Remarks {
    /// The highest state of a cell, 0 for a text of two states.
    pub(crate) states: u8,
    /// The rule is of several states, and stands for the one of two states that was read.
    pub(crate) history: bool,
    /// The text has no `!` at its end.
    pub(crate) no_end: bool,
    /// The generation is beyond [`MAX_GENERATION`].
    pub(crate) far_generation: bool,
}

/// The latest generation that a pattern may be of: there is room for as many again.
pub const MAX_GENERATION: u64 = 1 << 62;

impl Frame {
    /// Takes the generation of these digits, which may be followed by anything else; nothing where
    /// there are none.
    pub(crate) fn read_generation(&mut self, text: &[u8]) {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        let generation = digits.fold(0u64, |so_far, digit| {
            so_far
                .saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        });
        self.remarks.far_generation = generation > MAX_GENERATION;
        self.generation = match self.remarks.far_generation {
            true => 0,
            false => generation,
        };
    }

    /// Takes the rule and the torus.
    pub(crate) fn take_rule(&mut self, read: rle::FileRule) {
        (self.rule, self.torus) = (Some(read.rule), read.torus);
        self.remarks.history = read.history;
    }
}

impl Remarks {
    /// Takes in a cell's state; whether it is alive. Of LifeHistory and the like the odd states
    /// are alive.
    pub(crate) fn see(&mut self, state: u8) -> bool {
        if state > 1 {
            self.states = self.states.max(state);
        }
        is_alive(state)
    }
}

/// Whether a cell of this state is alive: of LifeHistory and the like, the odd states are.
pub(crate) fn is_alive(state: u8) -> bool {
    state % 2 == 1
}

/// What is to be written of a lattice.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// The cells.
    pub lattice: &'a Lattice,
    /// Their rule; plaintext and Life 1.06 have no place for it.
    pub rule: Rule,
    /// Whether the lattice is a whole torus, to be named as one where the format can (RLE and
    /// macrocell), and not a part cut out of one.
    pub torus: bool,
    /// Its generation; plaintext, Life 1.05 and Life 1.06 have no place for it.
    pub generation: u64,
    /// Name, author and comments.
    pub notes: &'a Notes,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [
        Format::Rle,
        Format::Plaintext,
        Format::Life105,
        Format::Life106,
        Format::Macrocell,
    ];

    /// How its files' names end, without the dot. Both versions of Life have `lif`.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Rle => "rle",
            Format::Plaintext => "cells",
            Format::Life105 | Format::Life106 => "lif",
            Format::Macrocell => "mc",
        }
    }

    /// The format that a file of this name should have, if its ending tells; `lif` and `life`
    /// are Life 1.06, which keeps every cell of every lattice.
    pub fn of_name(name: impl AsRef<Path>) -> Option<Format> {
        let extension = name.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "rle" => Some(Format::Rle),
            "cells" => Some(Format::Plaintext),
            "lif" | "life" => Some(Format::Life106),
            "mc" => Some(Format::Macrocell),
            _ => None,
        }
    }

    /// The format of a text, by its first lines; only where these could be anything by the
    /// file's name, and RLE where that tells nothing either. The name may end with `.gz` too.
    pub fn detect(text: &[u8], name: impl AsRef<Path>) -> Format {
        let name = name.as_ref();
        let packed = name.extension().is_some_and(|ending| ending == "gz");
        let name = name.file_stem().filter(|_| packed).map_or(name, Path::new);
        Format::of_content(text).unwrap_or_else(|| match Format::of_name(name) {
            // Life 1.06 has its version in its first line, so this is not it.
            Some(Format::Life106) => Format::Life105,
            named => named.unwrap_or(Format::Rle),
        })
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
                    return Some(match commented {
                        true => Format::Life105,
                        false => Format::Plaintext,
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// Writes the sheet in this format.
    ///
    /// RLE and plaintext keep the lattice's sides, the others its live cells alone; plaintext and
    /// Life 1.06 keep no rule. A macrocell takes memory for its different squares, the others for
    /// a chunk of text or a row.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write(self, sheet: Sheet, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        match self {
            Format::Rle => rle::write_sheet(sheet, out),
            Format::Plaintext => plaintext::write(sheet, out),
            Format::Life105 => life::write_105(sheet, out),
            Format::Life106 => life::write_106(sheet, out),
            Format::Macrocell => macrocell::write(sheet, out),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Rle => "RLE",
            Format::Plaintext => "plaintext",
            Format::Life105 => "Life 1.05",
            Format::Life106 => "Life 1.06",
            Format::Macrocell => "macrocell",
        })
    }
}

impl Sheet<'_> {
    /// The rule as RLE and macrocells write it, with the torus if it is one.
    pub(crate) fn rule_and_torus(&self) -> String {
        let size = self.lattice.size();
        if self.torus {
            format!("{}:T{},{}", self.rule, size.width(), size.height())
        } else {
            self.rule.to_string()
        }
    }
}
