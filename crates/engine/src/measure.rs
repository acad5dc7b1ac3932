//! What ops on lattices take and give besides cells: the result of
//! [`LatticeOp::Measure`](crate::LatticeOp::Measure), the region of a reduced picture, and edits of words.

use crate::error::{bail, invalid};
use crate::{EngineError, Result};
use bytemuck::{Pod, Zeroable};
use life::{Lattice, Size};

/// Four numbers that describe a lattice: enough to plot its history and to recognise a repeated
/// state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Measure {
    /// Live cells.
    pub population: u64,
    /// Cells alive now but not at the previous measure; all live cells at the first one.
    pub births: u64,
    /// Cells alive at the previous measure but not now.
    pub deaths: u64,
    /// The sum of [`Measure::mixed`] over all words of the bits, modulo 2^64. Equal lattices have
    /// equal hashes on every engine; different ones of the same size almost certainly differ. Not
    /// cryptographic.
    pub hash: u64,
}

impl Measure {
    /// Size of a download in 32-bit words: the fields in order, each with its low word first.
    pub const WORDS: usize = 8;

    /// The contribution of word `index` of a lattice's bits to the hash.
    #[inline(always)]
    pub const fn mixed(index: u64, word: u32) -> u64 {
        const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
        let x = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word as u64;
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        x ^ x >> 32
    }

    /// Adds a row of words, the first of which is word `index` of the lattice. `before` holds the
    /// row at the previous measure and is replaced.
    #[inline(always)]
    pub(crate) fn add(&mut self, index: u64, words: &[u32], before: &mut [u32]) {
        let (mut population, mut births, mut deaths) = (0, 0, 0);
        for ((now, then), index) in words.iter().zip(before).zip(index..) {
            population += now.count_ones();
            births += (now & !*then).count_ones();
            deaths += (*then & !now).count_ones();
            self.hash = self.hash.wrapping_add(Measure::mixed(index, *now));
            *then = *now;
        }
        self.population += u64::from(population);
        self.births += u64::from(births);
        self.deaths += u64::from(deaths);
    }

    /// The measure of two parts of a lattice together.
    pub(crate) fn plus(self, other: Measure) -> Measure {
        Measure {
            population: self.population + other.population,
            births: self.births + other.births,
            deaths: self.deaths + other.deaths,
            hash: self.hash.wrapping_add(other.hash),
        }
    }

    /// Reads a measure from the words of a host slot.
    pub fn from_words(words: &[u32]) -> Measure {
        let number = |i: usize| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32;
        Measure {
            population: number(0),
            births: number(1),
            deaths: number(2),
            hash: number(3),
        }
    }

    /// The measure as the words of a host slot.
    pub fn to_words(self) -> [u32; Measure::WORDS] {
        let numbers = [self.population, self.births, self.deaths, self.hash];
        std::array::from_fn(|i| (numbers[i / 2] >> (32 * (i % 2))) as u32)
    }
}

// The region of a lattice that [`LatticeOp::Reduce`](crate::LatticeOp::Reduce) reduces, in integers, so that
// every engine computes the same bytes.

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

// Edits of a lattice, as a list of changed words.

/// New states for cells of one word of a lattice's bits, in the layout that crosses the bus.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
pub struct WordEdit {
    /// Index of the word in the lattice's bits, row by row.
    pub word: u32,
    /// The cells to set.
    pub mask: u32,
    /// Their new states. Bits outside the mask are ignored.
    pub bits: u32,
}

impl WordEdit {
    /// Maximum edits per copy; longer lists take several copies. Small enough that the driver reads
    /// the copy out of pageable memory before the call returns.
    pub const MAX_PER_COPY: usize = 4096;

    /// Errors if an edit lies outside the lattice, or the edits are not in ascending order of
    /// words, each word once.
    pub fn check_all(edits: &[WordEdit], size: Size) -> Result<()> {
        if !edits.is_sorted_by(|a, b| a.word < b.word) {
            bail!("the words of the edits are not in order, each once",);
        }
        let per_row = size.words_per_row();
        let beyond = |edit: &&WordEdit| {
            let word = edit.word as usize;
            let last = (word + 1).is_multiple_of(per_row);
            word >= size.words() || last && edit.mask & !size.last_word_mask() != 0
        };
        match edits.iter().find(beyond) {
            Some(edit) => Err(invalid!("{edit:?} lies outside a {size} lattice")),
            None => Ok(()),
        }
    }

    /// The edits that turn `before` into `after`, a lattice of the same size.
    pub fn between(before: &Lattice, after: &Lattice) -> Vec<WordEdit> {
        let words = (0..).zip(before.words().iter().zip(after.words()));
        let changed = words.filter(|(_, (before, after))| before != after);
        let edit = |(word, (before, after)): (u32, (&u32, &u32))| WordEdit {
            word,
            mask: before ^ after,
            bits: *after,
        };
        changed.map(edit).collect()
    }

    /// Applies the edit to its word.
    pub fn apply(self, word: &mut u32) {
        *word = *word & !self.mask | self.bits & self.mask;
    }

    /// The edited cells: column within the word, and new state.
    pub(crate) fn cells(self) -> impl Iterator<Item = (u32, bool)> {
        let set = (0..32).filter(move |bit| self.mask >> bit & 1 == 1);
        set.map(move |bit| (bit, self.bits >> bit & 1 == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_knows_where_a_word_is() {
        assert_ne!(Measure::mixed(0, 1), Measure::mixed(1, 1));
        assert_ne!(Measure::mixed(1, 1), Measure::mixed(1, 2));
        // A fixed value, since other programs may compare hashes.
        assert_eq!(Measure::mixed(0, 0), 0x4e17_cf67_001b_3979);
    }
}
