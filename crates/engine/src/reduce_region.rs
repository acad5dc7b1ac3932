//! The region of a lattice that [`LatticeOp::Reduce`](crate::LatticeOp::Reduce) reduces, in integers, so that
//! every engine computes the same bytes.

use crate::EngineError;
use crate::error::invalid;
use life::Size;

/// A rectangle of a lattice and its division into pixels.
///
/// Cell coordinates are fixed-point with 16 fractional bits and wrap around the torus. Pixel column
/// `i` covers the cells from `(x0 + i * step) >> 16` up to but excluding `(x0 + (i + 1) * step) >>
/// 16`: at least one cell, and at most the whole row, each cell once. Rows likewise. A pixel's byte
/// is `255 * alive / covered`, rounded to the nearest integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReduceRegion {
    /// Left edge, in fixed-point cells.
    pub x0: i64,
    /// Top edge, in fixed-point cells.
    pub y0: i64,
    /// Cells per pixel in both directions, fixed-point.
    pub step: i64,
    /// Width in pixels; a multiple of 4, so that a row is whole words.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl ReduceRegion {
    /// One cell in fixed point.
    pub const ONE: i64 = 1 << 16;

    /// So many columns and rows from the corner on, a pixel for each cell.
    pub const fn of_cells(width: u32, height: u32) -> ReduceRegion {
        ReduceRegion {
            x0: 0,
            y0: 0,
            step: ReduceRegion::ONE,
            width,
            height,
        }
    }

    /// Size of the reduced bytes, in 32-bit words.
    pub const fn words(self) -> usize {
        self.width as usize / 4 * self.height as usize
    }

    /// The byte of a pixel that covers so many cells.
    pub(crate) const fn density(alive: u64, covered: u64) -> u8 {
        ((255 * alive + covered / 2) / covered) as u8
    }

    /// How many cells each pixel column covers in a row of a lattice of this width.
    pub(crate) fn widths(self, width: u32) -> Vec<u64> {
        let widths = (0..self.width).map(|i| length(self.columns(i), width));
        widths.collect()
    }

    /// Writes the bytes of pixel row `j`, four per word, from the live cells of its pixels and from
    /// [`ReduceRegion::widths`].
    pub(crate) fn put_line(
        self,
        j: u32,
        alive: &[u64],
        widths: &[u64],
        height: u32,
        line: &mut [u32],
    ) {
        let tall = length(self.rows(j), height);
        for (word, pixels) in line.iter_mut().zip((0..).step_by(4)) {
            let byte =
                |k: usize| ReduceRegion::density(alive[pixels + k], widths[pixels + k] * tall);
            *word = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
        }
    }

    /// The reduced bytes, four per word, of a lattice of this size with so many live cells in each
    /// pixel.
    pub(crate) fn bytes_of(self, alive: &[u64], size: Size) -> Vec<u32> {
        let widths = self.widths(size.width());
        let mut words = vec![0; self.words()];
        let lines = words.chunks_exact_mut(self.width as usize / 4);
        for ((j, line), alive) in (0..).zip(lines).zip(alive.chunks_exact(widths.len())) {
            self.put_line(j, alive, &widths, size.height(), line);
        }
        words
    }

    /// The half-open range of cell columns that pixel column `i` covers, before wrapping. It may be
    /// longer than a row; each cell then counts once.
    pub const fn columns(self, i: u32) -> (i64, i64) {
        Self::covered(self.x0, self.step, i)
    }

    /// The half-open range of cell rows that pixel row `j` covers, likewise.
    pub const fn rows(self, j: u32) -> (i64, i64) {
        Self::covered(self.y0, self.step, j)
    }

    const fn covered(origin: i64, step: i64, i: u32) -> (i64, i64) {
        let from = (origin + i as i64 * step) >> 16;
        let to = (origin + (i as i64 + 1) * step) >> 16;
        (from, if to > from { to } else { from + 1 })
    }

    /// The pixel column at fixed-point coordinate `x` of a lattice `width` cells wide, or `None`
    /// outside the region.
    pub fn column_at(self, x: i64, width: u32) -> Option<u32> {
        self.pixel_at(x, self.x0, width)
            .filter(|column| *column < self.width)
    }

    /// The pixel row at fixed-point coordinate `y` of a lattice `height` cells high, or `None`
    /// outside the region.
    pub fn row_at(self, y: i64, height: u32) -> Option<u32> {
        self.pixel_at(y, self.y0, height)
            .filter(|row| *row < self.height)
    }

    fn pixel_at(self, at: i64, origin: i64, side: u32) -> Option<u32> {
        let turn = i64::from(side) * ReduceRegion::ONE;
        let ahead = (at.rem_euclid(turn) - origin.rem_euclid(turn)).rem_euclid(turn);
        u32::try_from(ahead / self.step).ok()
    }

    /// Errors if the region cannot be reduced.
    pub(crate) fn check(self) -> Result<(), EngineError> {
        let reach = |origin: i64, pixels: u32| {
            self.step
                .checked_mul(pixels.into())
                .and_then(|length| origin.checked_add(length))
                .is_some()
        };
        let sensible = self.width > 0
            && self.width.is_multiple_of(4)
            && (1..=65_535).contains(&self.height) // the limit of a grid's y dimension
            && (1..=1 << 41).contains(&self.step)
            && u32::try_from(self.words()).is_ok()
            && reach(self.x0, self.width)
            && reach(self.y0, self.height);
        if sensible {
            Ok(())
        } else {
            Err(invalid!("{self:?} cannot be reduced"))
        }
    }
}

/// The cells of a range that may be longer than a side of the torus; each counts once.
fn length((from, to): (i64, i64), side: u32) -> u64 {
    (to - from).min(side.into()) as u64
}
