//! Runs of adjacent live cells, the common form of all pattern formats.

use super::{Lattice, Size};
use lang::{Message, message};

/// Adjacent live cells in one row, relative to the pattern's top left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// Column of the first cell.
    pub x: u32,
    /// The row.
    pub y: u32,
    /// Number of cells: at least 1, and none beyond column
    /// [`Size::MAX_SIDE`](super::Size::MAX_SIDE).
    pub length: u32,
}

impl Run {
    /// Makes these cells alive, with the pattern's top left at column `x`, row `y`. They wrap
    /// around the torus; other cells are unchanged.
    pub(crate) fn draw_into(self, lattice: &mut Lattice, x: u32, y: u32) {
        let size = lattice.size();
        let (width, height) = (u64::from(size.width), u64::from(size.height));
        let row = around(u64::from(y) + u64::from(self.y), height);
        let first = around(u64::from(x) + u64::from(self.x), width);
        let end = first + u64::from(self.length).min(width);
        let words_per_row = size.words_per_row();
        let words = &mut lattice.words_mut()[row as usize * words_per_row..][..words_per_row];
        fill(words, first as usize, end.min(width) as usize);
        fill(words, 0, end.saturating_sub(width) as usize);
    }
}

impl Lattice {
    /// Its live cells, row by row.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let rows = self.words().chunks_exact(self.size().words_per_row());
        (0..).zip(rows).flat_map(|(y, row)| {
            LiveRuns::new(row).map(move |(x, end)| Run {
                x,
                y,
                length: end - x,
            })
        })
    }
}

/// The bounding box of live cells: first column, column after the last, first row, row after the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extent(pub Option<[i64; 4]>);

impl Extent {
    /// Extends the box by this many cells from column `x`, row `y` on.
    pub(crate) fn add(&mut self, x: i64, y: i64, length: i64) {
        let [left, right, top, bottom] = self.0.unwrap_or([x, x, y, y]);
        self.0 = Some([
            left.min(x),
            right.max(x + length),
            top.min(y),
            bottom.max(y + 1),
        ]);
    }

    /// Columns and rows; 0 if the box is empty.
    pub(crate) fn sides(self) -> [i64; 2] {
        let [left, right, top, bottom] = self.0.unwrap_or_default();
        [right - left, bottom - top]
    }

    /// Column and row of the first live cell.
    pub(crate) fn corner(self) -> [i64; 2] {
        let [left, _, top, _] = self.0.unwrap_or_default();
        [left, top]
    }
}

/// The flaw of live cells too far apart for a lattice.
pub(crate) fn far_apart() -> Message {
    message!(
        "live cells lie more than {max} cells apart, the longest side of a lattice; a smaller pattern is needed",
        max = Size::MAX_SIDE
    )
}

/// `at` modulo `side`. The comparison avoids a division, which would cost more than the rest of a
/// short run.
fn around(at: u64, side: u64) -> u64 {
    if at < side { at } else { at % side }
}

/// Sets the bits `first..end`.
fn fill(words: &mut [u32], first: usize, end: usize) {
    if first >= end {
        return;
    }
    let (first_word, last_word) = (first / 32, (end - 1) / 32);
    let from_first = u32::MAX << (first % 32);
    let to_last = u32::MAX >> (31 - (end - 1) % 32);
    if first_word == last_word {
        words[first_word] |= from_first & to_last;
    } else {
        words[first_word] |= from_first;
        words[first_word + 1..last_word].fill(u32::MAX);
        words[last_word] |= to_last;
    }
}

/// A row's runs of live cells, as (first column, column after the last).
pub(crate) struct LiveRuns<'a> {
    row: &'a [u32],
    word: usize,
    /// The rest of the current word; bits before the last run's end are 0.
    left: u32,
}

impl<'a> LiveRuns<'a> {
    /// Iterates over the words of one lattice row.
    pub(crate) fn new(row: &'a [u32]) -> LiveRuns<'a> {
        LiveRuns {
            row,
            word: 0,
            left: row[0],
        }
    }
}

impl Iterator for LiveRuns<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        while self.left == 0 {
            self.word += 1;
            self.left = *self.row.get(self.word)?;
        }
        let bit = self.left.trailing_zeros();
        let first = self.word as u32 * 32 + bit;
        // The run ends at the first 0 after `bit`, here or in a later word.
        let mut end_bit = bit + (self.left >> bit).trailing_ones();
        while end_bit == 32 {
            self.word += 1;
            let Some(&word) = self.row.get(self.word) else {
                self.left = 0;
                return Some((first, self.word as u32 * 32));
            };
            self.left = word;
            end_bit = word.trailing_ones();
        }
        self.left &= u32::MAX << end_bit;
        Some((first, self.word as u32 * 32 + end_bit))
    }
}
