//! RLE, the pattern format that all Life programs read and write.
//!
//! Reading stores no cells: [`Rle::parse`] checks and measures the whole text, then [`Rle::draw_into`]
//! reads it once more and draws it. So a hostile text can only use memory for the text and the
//! lattice, and an invalid text draws nothing.

mod body;
mod header;
mod write;

pub use write::{RowWriter, write};

use super::format::{Flaw, located};
use super::frame::Frame;
use super::run::Run;
use super::{Lattice, Size};
use lang::Message;

/// A checked and measured RLE pattern, borrowing its text.
#[derive(Clone, Copy, Debug)]
pub struct Rle<'a> {
    text: &'a [u8],
    /// Columns as the header says, or more if live cells lie further out; may be 0.
    pub width: u32,
    /// Rows as the header says, or more if live cells lie further out; may be 0.
    pub height: u32,
    /// The torus, if the header gives one (`:TW,H` after the rule).
    pub torus: Option<Size>,
    /// The generation of the cells; 0 if the text does not say.
    pub generation: u64,
    /// Whether the text has an end mark and only two states.
    pub is_plain: bool,
}

impl<'a> Rle<'a> {
    /// Reads comments, header and body. What follows the `!` is not looked at.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line and column.
    pub fn parse(text: &'a [u8]) -> Result<Rle<'a>, Message> {
        let frame = read(text, |_| {}).map_err(|flaw| located(text, flaw))?;
        let remarks = frame.remarks;
        Ok(Rle {
            text,
            width: frame.width,
            height: frame.height,
            torus: frame.torus,
            generation: frame.generation,
            is_plain: !remarks.no_end && !remarks.history && remarks.states == 0,
        })
    }

    /// Draws the live cells into a lattice, with the pattern's top left at column `x`, row `y`. The
    /// pattern wraps around the torus; other cells are unchanged.
    pub fn draw_into(&self, lattice: &mut Lattice, x: u32, y: u32) {
        let read = read(self.text, |run| run.draw_into(lattice, x, y));
        read.expect("the text was read before");
    }
}

/// Checks and measures the text, and calls `run` with its live cells, from the top.
pub(crate) fn read(text: &[u8], mut run: impl FnMut(Run)) -> Result<Frame, Flaw> {
    let (mut frame, body_at) = header::read(text)?;
    body::read(text, body_at, &mut frame.remarks, |live| {
        frame
            .live
            .add(live.x.into(), live.y.into(), live.length.into());
        frame.width = frame.width.max(live.x + live.length);
        frame.height = frame.height.max(live.y + 1);
        run(live);
    })?;
    Ok(frame)
}
