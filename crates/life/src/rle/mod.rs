//! RLE, the pattern format that all Life programs read and write.
//!
//! Reading makes two passes and stores no cells: [`Rle::parse`] checks and measures the whole text,
//! then [`Rle::draw_into`] draws it. So a hostile text can only use memory for the text and the
//! lattice, and an invalid text draws nothing.

mod body;
mod header;
mod write;

pub use body::Runs;
pub use write::{RowWriter, write_sheet};

pub use super::run::Run;

use super::fault::{Flaw, TextError};
use super::frame::Frame;
use super::{Lattice, Rule, Size};
use body::Cursor;

/// A checked and measured RLE pattern, borrowing its text.
#[derive(Clone, Copy, Debug)]
pub struct Rle<'a> {
    text: &'a [u8],
    pub(crate) frame: Frame,
    pub(crate) body_at: usize,
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
        let (mut frame, body_at) = header::read(text)?;
        let mut cursor = Cursor::new(text, body_at);
        while let Some(run) = cursor.next_run()? {
            frame.live.add(run);
            frame.width = frame.width.max(run.x + run.length);
            frame.height = frame.height.max(run.y + 1);
        }
        frame.remarks.states = cursor.states();
        frame.remarks.no_end = !cursor.has_ended();
        Ok(Rle {
            text,
            frame,
            body_at,
        })
    }

    /// Columns as the header says, or more if live cells lie further out; may be 0.
    pub fn width(&self) -> u32 {
        self.frame.width
    }

    /// Rows as the header says, or more if live cells lie further out; may be 0.
    pub fn height(&self) -> u32 {
        self.frame.height
    }

    /// The rule, if the header names one.
    pub fn rule(&self) -> Option<Rule> {
        self.frame.rule
    }

    /// The torus, if the header gives one (`:TW,H` after the rule).
    pub fn torus(&self) -> Option<Size> {
        self.frame.torus
    }

    /// The generation of the cells; 0 if the text does not say.
    pub fn generation(&self) -> u64 {
        self.frame.generation
    }

    /// Whether the text has an end mark and only two states.
    pub fn is_plain(&self) -> bool {
        let remarks = self.frame.remarks;
        !remarks.no_end && !remarks.history && remarks.states == 0
    }

    /// The live cells, from the top, as runs.
    pub fn runs(&self) -> Runs<'a> {
        runs(self.text, self.body_at)
    }

    /// Draws the live cells into a lattice, with the pattern's top left at column `x`, row `y`. The
    /// pattern wraps around the torus; other cells are unchanged.
    pub fn draw_into(&self, lattice: &mut Lattice, x: u32, y: u32) {
        self.runs().for_each(|run| run.draw_into(lattice, x, y));
    }
}

/// The live cells of a checked text whose body begins there.
pub(crate) fn runs(text: &[u8], body_at: usize) -> Runs<'_> {
    Runs(Cursor::new(text, body_at))
}
