//! The part of a lattice that a panel shows, in whole numbers, so that every engine reduces it
//! to the same bytes.

use crate::EngineError;

/// A rectangle of a lattice, divided into pixels.
///
/// Cell coordinates are fixed-point with 16 fractional bits, and go around the torus: beyond an
/// edge they count on at the lattice's other side. Pixel column `i` covers the cells from
/// `(x0 + i * step) >> 16` up to, not including, `(x0 + (i + 1) * step) >> 16`: at least one, and
/// each once at most, so no more than a row has; rows likewise. Its byte is
/// `255 * alive / covered`, rounded to the nearest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReduceRegion {
    /// Left edge.
    pub x0: i64,
    /// Top edge.
    pub y0: i64,
    /// Cells a pixel, both ways.
    pub step: i64,
    /// Pixels a row; a multiple of 4, so that rows are whole words.
    pub width: u32,
    /// Rows of pixels.
    pub height: u32,
}

impl ReduceRegion {
    /// One cell, in fixed point.
    pub const ONE: i64 = 1 << 16;

    /// Words that its bytes take.
    pub const fn words(self) -> usize {
        self.width as usize / 4 * self.height as usize
    }

    /// The cells from-to (exclusive) that pixel column `i` covers, counted on beyond the edges: all of
    /// them, each once, where a lattice has no more.
    pub const fn columns(self, i: u32) -> (i64, i64) {
        Self::covered(self.x0, self.step, i)
    }

    /// The cells from-to (exclusive) that pixel row `j` covers, likewise.
    pub const fn rows(self, j: u32) -> (i64, i64) {
        Self::covered(self.y0, self.step, j)
    }

    const fn covered(origin: i64, step: i64, i: u32) -> (i64, i64) {
        let from = (origin + i as i64 * step) >> 16;
        let to = (origin + (i as i64 + 1) * step) >> 16;
        (from, if to > from { to } else { from + 1 })
    }

    /// The pixel column at a point, in fixed point, of a lattice so many cells wide; none where the
    /// region shows another part.
    pub fn column_at(self, x: i64, width: u32) -> Option<u32> {
        self.pixel_at(x, self.x0, width)
            .filter(|column| *column < self.width)
    }

    /// The pixel row at a point, in fixed point, of a lattice so many cells high, likewise.
    pub fn row_at(self, y: i64, height: u32) -> Option<u32> {
        self.pixel_at(y, self.y0, height)
            .filter(|row| *row < self.height)
    }

    fn pixel_at(self, at: i64, origin: i64, side: u32) -> Option<u32> {
        let turn = i64::from(side) * ReduceRegion::ONE;
        let ahead = (at.rem_euclid(turn) - origin.rem_euclid(turn)).rem_euclid(turn);
        u32::try_from(ahead / self.step).ok()
    }

    /// Refuses one that no engine can reduce.
    pub(crate) fn check(self) -> Result<(), EngineError> {
        let reach = |origin: i64, pixels: u32| {
            self.step
                .checked_mul(pixels.into())
                .and_then(|length| origin.checked_add(length))
                .is_some()
        };
        let sensible = self.width > 0
            && self.width.is_multiple_of(4)
            && (1..=65_535).contains(&self.height) // rows of blocks of a grid
            && (1..=1 << 41).contains(&self.step)
            && u32::try_from(self.words()).is_ok()
            && reach(self.x0, self.width)
            && reach(self.y0, self.height);
        if sensible {
            Ok(())
        } else {
            Err(EngineError::BadProgram(format!("{self:?}")))
        }
    }
}
