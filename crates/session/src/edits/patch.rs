//! The words that an edit touches, gathered cell by cell or row by row.

use engine::WordEdit;
use life::{Lattice, Size};

/// Words of a lattice, each with the cells that are set and what they are set to.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    size: Size,
    /// In the order in which they were made; one word may have several.
    edits: Vec<WordEdit>,
}

impl Patch {
    /// Nothing yet, of a lattice of this size.
    pub(super) fn new(size: Size) -> Patch {
        let edits = Vec::new();
        Patch { size, edits }
    }

    /// Sets a cell, around the torus.
    pub(super) fn set(&mut self, x: u32, y: u32, alive: bool) {
        let (x, y) = (x % self.size.width(), y % self.size.height());
        let word = y as usize * self.size.words_per_row() + (x / 32) as usize;
        let mask = 1 << (x % 32);
        self.edits.push(WordEdit {
            word: word as u32,
            mask,
            bits: if alive { mask } else { 0 },
        });
    }

    /// Lays a pattern whose top left is at this column and row; without `overwrites_dead` only its live
    /// cells. Nothing happens if it is larger than the lattice.
    pub(super) fn lay(&mut self, pattern: &Lattice, [x, y]: [u32; 2], overwrites_dead: bool) {
        let (own, all) = (pattern.size(), self.size);
        if own.width() > all.width() || own.height() > all.height() {
            return;
        }
        let per_row = all.words_per_row();
        let mut row = vec![[0u32; 2]; per_row]; // mask and bits
        let (left, top) = (x % all.width(), y % all.height());
        let rows = pattern.words().chunks_exact(own.words_per_row());
        for (words, y) in rows.zip(0..) {
            row.fill([0; 2]);
            for (&bits, i) in words.iter().zip(0..) {
                let count = (own.width() - 32 * i).min(32);
                let cells = u32::MAX >> (32 - count);
                let mask = if overwrites_dead { cells } else { bits };
                if mask != 0 {
                    put(&mut row, all.width(), left, i, mask, bits);
                }
            }
            let first = ((top + y) % all.height()) as usize * per_row;
            let touched = row.iter().zip(first as u32..);
            let touched = touched.filter(|([mask, _], _)| *mask != 0);
            self.edits
                .extend(touched.map(|(&[mask, bits], word)| WordEdit { word, mask, bits }));
        }
    }

    /// As an engine takes them.
    pub(super) fn into_edits(mut self) -> Vec<WordEdit> {
        self.edits.sort_by_key(|edit| edit.word); // stable: what came later stays later
        self.edits.dedup_by(|later, earlier| {
            let same = later.word == earlier.word;
            if same {
                earlier.bits = earlier.bits & !later.mask | later.bits & later.mask;
                earlier.mask |= later.mask;
            }
            same
        });
        self.edits
    }
}

/// Puts word `i` of a pattern whose first column is `left` into a row of this width, around.
fn put(row: &mut [[u32; 2]], width: u32, left: u32, i: u32, mask: u32, bits: u32) {
    let start = u64::from(left) + 32 * u64::from(i);
    let column = (start % u64::from(width)) as u32;
    let mut deposit = |word: u32, shift: u32, up: bool| {
        let shifted = |bits: u32| if up { bits << shift } else { bits >> shift };
        let [masks, cells] = &mut row[word as usize];
        *masks |= shifted(mask);
        *cells |= shifted(mask & bits);
    };
    let highest = 31 - mask.leading_zeros();
    if column + highest < width {
        deposit(column / 32, column % 32, true);
        if column % 32 + highest > 31 {
            deposit(column / 32 + 1, 32 - column % 32, false);
        }
        return;
    }
    for bit in (0..=highest).filter(|bit| mask >> bit & 1 == 1) {
        let column = (column + bit) % width;
        let [masks, cells] = &mut row[(column / 32) as usize];
        *masks |= 1 << (column % 32);
        *cells |= (bits >> bit & 1) << (column % 32);
    }
}
