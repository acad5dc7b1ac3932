//! Edits of a lattice, as a list of changed words.

use bytemuck::{Pod, Zeroable};

use crate::Result;
use crate::error::{bail, invalid};
use life::{Lattice, Size};

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
