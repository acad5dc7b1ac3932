//! The formats that Life programs exchange patterns in, by name, by content and in writing; all are read,
//! RLE and plaintext are written.
//!
//! Each reader checks the whole text in one pass and draws the cells in a second one, as
//! [`super::rle`] does, so memory is only used for the text and the lattice. The macrocell
//! reader also stores nodes, a fixed number of bytes each.

pub(crate) mod apgcode;
pub mod life;
pub mod macrocell;
mod notes;
pub(crate) mod packed;
pub mod plaintext;
#[cfg(test)]
mod tests;

pub use notes::Notes;

use super::rle;
use super::run::Extent;
use super::text::{self, lines};
use super::{Lattice, Rule, Size};
use std::fmt;
use std::io::{self, Write};
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

/// Data of a pattern besides its cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Frame {
    /// Columns; may be 0.
    pub(crate) width: u32,
    /// Rows; may be 0.
    pub(crate) height: u32,
    /// Bounding box of the live cells.
    pub(crate) live: Extent,
    pub(crate) rule: Option<Rule>,
    pub(crate) torus: Option<Size>,
    /// The generation of the cells; 0 if the text does not say.
    pub(crate) generation: u64,
    pub(crate) remarks: Remarks,
}

/// Coordinates of the pattern's top left, in a format whose cells have coordinates. The origin, column
/// 0 and row 0, is the middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Corner {
    pub(crate) x: i64,
    pub(crate) y: i64,
}

/// What was interpreted differently from the text and should be reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Remarks {
    /// The highest state of a cell; 0 for a text with two states.
    pub(crate) states: u8,
    /// The text's rule has several states and was replaced by one with two.
    pub(crate) history: bool,
    /// The text has no `!` at its end.
    pub(crate) no_end: bool,
    /// The generation is beyond [`MAX_GENERATION`].
    pub(crate) far_generation: bool,
}

/// The maximum start generation of a pattern; it leaves as many generations to run.
pub const MAX_GENERATION: u64 = 1 << 62;

impl Frame {
    /// Parses the generation from leading digits; 0 if there are none.
    pub(crate) fn read_generation(&mut self, text: &[u8]) {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        let generation = digits.fold(0u64, |so_far, digit| {
            so_far
                .saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        });
        self.remarks.far_generation = generation > MAX_GENERATION;
        self.generation = if self.remarks.far_generation {
            0
        } else {
            generation
        };
    }

    /// Sets the rule and the torus.
    pub(crate) fn take_rule(&mut self, read: rle::FileRule) {
        (self.rule, self.torus) = (Some(read.rule), read.torus);
        self.remarks.history = read.history;
    }
}

impl Remarks {
    /// Records a cell's state and returns whether the cell is alive. In LifeHistory and similar
    /// rules odd states are alive.
    pub(crate) fn see(&mut self, state: u8) -> bool {
        if state > 1 {
            self.states = self.states.max(state);
        }
        is_alive(state)
    }
}

/// Whether a cell of this state is alive. In LifeHistory and similar rules odd states are.
pub(crate) fn is_alive(state: u8) -> bool {
    state % 2 == 1
}

/// The content of a pattern file to write.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// The cells.
    pub lattice: &'a Lattice,
    /// The rule; plaintext cannot store it.
    pub rule: Rule,
    /// Whether the lattice is a whole torus, not a part of one. RLE stores that.
    pub torus: bool,
    /// The generation; plaintext cannot store it.
    pub generation: u64,
    /// Name, author and comments.
    pub notes: &'a Notes,
}

/// A function that writes a sheet.
pub type Writer = fn(Sheet, &mut dyn Write) -> io::Result<()>;

/// What a pattern file says of its cells before them.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The size of the lattice.
    pub size: Size,
    /// The rule.
    pub rule: Rule,
    /// Whether the lattice is a whole torus.
    pub torus: bool,
    /// The generation.
    pub generation: u64,
    /// Name, author and comments.
    pub notes: &'a Notes,
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

    /// The file extension without the dot; `lif` for both versions of Life.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Rle => "rle",
            Format::Plaintext => "cells",
            Format::Life105 | Format::Life106 => "lif",
            Format::Macrocell => "mc",
        }
    }

    /// The format that a file name's extension implies, if any. `lif` and `life` mean Life 1.05: texts
    /// of Life 1.06 state their version in the first line.
    pub fn of_name(name: impl AsRef<Path>) -> Option<Format> {
        let extension = name.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "rle" => Some(Format::Rle),
            "cells" => Some(Format::Plaintext),
            "lif" | "life" => Some(Format::Life105),
            "mc" => Some(Format::Macrocell),
            _ => None,
        }
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

    /// What writes a sheet in this format, if it can be written. The lattice's size is preserved.
    pub fn writer(self) -> Option<Writer> {
        match self {
            Format::Rle => Some(rle::write_sheet),
            Format::Plaintext => Some(plaintext::write),
            Format::Life105 | Format::Life106 | Format::Macrocell => None,
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

impl<'a> Sheet<'a> {
    /// The notes before the cells.
    pub(crate) fn head(&self) -> Head<'a> {
        Head {
            size: self.lattice.size(),
            rule: self.rule,
            torus: self.torus,
            generation: self.generation,
            notes: self.notes,
        }
    }
}

impl Head<'_> {
    /// The rule as RLE writes it, with the torus if the lattice is one.
    pub(crate) fn rule_and_torus(&self) -> String {
        if self.torus {
            let (width, height) = (self.size.width(), self.size.height());
            format!("{}:T{width},{height}", self.rule)
        } else {
            self.rule.to_string()
        }
    }
}
