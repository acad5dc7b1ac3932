//! RLE, the pattern format that all Life programs read and write.
//!
//! Reading makes two passes and stores no cells: [`Rle::parse`] checks and measures the whole text,
//! then [`Rle::draw_into`] draws it. So a hostile text can only use memory for the text and the
//! lattice, and an invalid text draws nothing.

mod body;
mod header;
#[cfg(test)]
mod tests;
mod write;

pub use body::Runs;
pub use header::RuleAndTorus;
pub use write::{RowWriter, write, write_sheet};

pub(crate) use header::{FileRule, read_rule};

pub use super::run::Run;

use super::fault::{Flaw, TextError};
use super::formats::Frame;
use super::{Lattice, Rule, Size};
use body::Cursor;

/// A checked and measured RLE pattern, borrowing its text.
#[derive(Clone, Copy, Debug)]
pub struct Rle<'a> {
    text: &'a [u8],
    outline: Outline,
}

/// The result of parsing a pattern, without its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    header: Frame,
    body_at: usize,
}

impl Outline {
    pub(crate) fn frame(self) -> Frame {
        self.header
    }
}

impl<'a> Rle<'a> {
    /// Reads comments, header and body. What follows the `!` is not looked at.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line and column.
    pub fn parse(text: &'a [u8]) -> Result<Rle<'a>, TextError> {
        Self::read(text).map_err(|flaw| TextError::new(text, flaw))
    }

    pub(crate) fn read(text: &'a [u8]) -> Result<Rle<'a>, Flaw> {
        let (mut header, body_at) = header::read(text)?;
        let mut cursor = Cursor::new(text, body_at);
        while let Some(run) = cursor.next_run()? {
            header.live.add(run);
            header.width = header.width.max(run.x + run.length);
            header.height = header.height.max(run.y + 1);
        }
        header.remarks.states = cursor.states();
        header.remarks.no_end = !cursor.has_ended();
        Ok(Rle {
            text,
            outline: Outline { header, body_at },
        })
    }

    /// Combines a text with its known outline.
    pub(crate) fn of(text: &'a [u8], outline: Outline) -> Rle<'a> {
        Rle { text, outline }
    }

    pub(crate) fn outline(&self) -> Outline {
        self.outline
    }

    /// Columns as the header says, or more if live cells lie further out; may be 0.
    pub fn width(&self) -> u32 {
        self.outline.header.width
    }

    /// Rows as the header says, or more if live cells lie further out; may be 0.
    pub fn height(&self) -> u32 {
        self.outline.header.height
    }

    /// The rule, if the header names one.
    pub fn rule(&self) -> Option<Rule> {
        self.outline.header.rule
    }

    /// The torus, if the header gives one (`:TW,H` after the rule).
    pub fn torus(&self) -> Option<Size> {
        self.outline.header.torus
    }

    /// The generation of the cells; 0 if the text does not say.
    pub fn generation(&self) -> u64 {
        self.outline.header.generation
    }

    /// Whether the text has an end mark and only two states.
    pub fn is_plain(&self) -> bool {
        let remarks = self.outline.header.remarks;
        !remarks.no_end && !remarks.history && remarks.states == 0
    }

    /// The live cells, from the top, as runs.
    pub fn runs(&self) -> Runs<'a> {
        Runs(Cursor::new(self.text, self.outline.body_at))
    }

    /// Draws the live cells into a lattice, with the pattern's top left at column `x`, row `y`. The
    /// pattern wraps around the torus; other cells are unchanged.
    pub fn draw_into(&self, lattice: &mut Lattice, x: u32, y: u32) {
        self.runs().for_each(|run| run.draw_into(lattice, x, y));
    }
}
