//! The CPU engine's bit layout: every row is stored between two halo words, so that it can be
//! stepped without handling the torus's edges.
//!
//! A row is the word to its left, its own words, and the word to its right. If the width is not a
//! multiple of 32, the first free bit of the last word holds the right neighbour. Rows are padded
//! to whole vectors; the padding holds no cells and is never read out.

use super::memory;
use crate::{MemoryUse, Result};
use life::{Size, Soup};

/// A lattice's bits, row by row with halos.
pub(super) struct BitRows {
    pub(super) size: Size,
    /// Words from one row to the next.
    pub(super) stride: usize,
    /// All words, including halos and padding. After a change of a row it must be [sealed](seal).
    pub(super) words: Vec<u32>,
}

impl BitRows {
    /// Allocates a lattice of dead cells.
    pub(super) fn new(size: Size, what: MemoryUse) -> Result<BitRows> {
        let stride = stride(size);
        Ok(BitRows {
            size,
            stride,
            words: memory::zeroed(stride * size.height() as usize, what)?,
        })
    }

    /// Size in bytes for a lattice.
    pub(super) fn bytes(size: Size) -> u64 {
        memory::bytes_of::<u32>(stride(size) * size.height() as usize)
    }

    /// The words of row `y`. Bits beyond the width are not cells.
    pub(super) fn row(&self, y: usize) -> &[u32] {
        &self.words[y * self.stride + 1..][..self.size.words_per_row()]
    }

    /// Writes every row: `fill` gets the row's index and words.
    pub(super) fn fill(&mut self, mut fill: impl FnMut(usize, &mut [u32])) {
        let width = self.size.width() as usize;
        for (y, row) in self.words.chunks_exact_mut(self.stride).enumerate() {
            fill(y, &mut row[1..=width.div_ceil(32)]);
            seal(row, width);
        }
    }

    /// Changes the words of row `y`.
    pub(super) fn change(&mut self, y: usize, change: impl FnOnce(&mut [u32])) {
        let row = &mut self.words[y * self.stride..][..self.stride];
        change(&mut row[1..=self.size.words_per_row()]);
        seal(row, self.size.width() as usize);
    }

    /// Loads a lattice in the layout that crosses the bus.
    pub(super) fn load(&mut self, words: &[u32]) {
        let per_row = self.size.words_per_row();
        self.fill(|y, row| row.copy_from_slice(&words[y * per_row..][..per_row]));
    }

    /// Makes the rows of a soup from row `first` on, whose number may be negative.
    pub(super) fn make_soup(&mut self, soup: Soup, first: i64) {
        soup.fill(self.size, first, &mut self.words, self.stride, 1);
        let width = self.size.width() as usize;
        let rows = self.words.chunks_exact_mut(self.stride);
        rows.for_each(|row| seal(row, width));
    }

    /// Stores as many rows as `words` has room for, from row `first` on, in the layout that crosses
    /// the bus, with bits beyond the width 0.
    pub(super) fn store(&self, first: usize, words: &mut [u32]) {
        let per_row = self.size.words_per_row();
        for (y, row) in (first..).zip(words.chunks_exact_mut(per_row)) {
            row.copy_from_slice(self.row(y));
            row[per_row - 1] &= self.size.last_word_mask();
        }
    }
}

/// Updates a row's halo from its cells; `row` is a whole stride.
pub(super) fn seal(row: &mut [u32], width: usize) {
    let last = width.div_ceil(32);
    match width % 32 {
        0 => {
            row[0] = row[last];
            row[last + 1] = row[1];
        }
        used => {
            let cells = row[last] & (u32::MAX >> (32 - used));
            row[0] = cells << (32 - used);
            row[last] = cells;
            row[last] |= (row[1] & 1) << used;
        }
    }
}

/// Words per row: the row padded to whole vectors, plus two halo words. 16 words fit AVX-512, but
/// narrow lattices use less.
fn stride(size: Size) -> usize {
    let vector = match size.words_per_row() {
        0..=2 => 1,
        3..=8 => 4,
        _ => 16,
    };
    size.words_per_row().next_multiple_of(vector) + 2
}
