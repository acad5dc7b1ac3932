//! What is written into a lattice: the words of a change, or all cells.

use std::sync::Arc;

use crate::NewCells;
use engine::WordEdit;
use life::Lattice;

/// What is written into a lattice.
#[derive(Clone, Debug)]
pub enum CellWrite {
    /// Some of its words.
    Words(Arc<[WordEdit]>),
    /// All cells.
    Whole(NewCells),
}

impl CellWrite {
    /// What restores the cells before it.
    pub(crate) fn inverse(&self, before: &Arc<Lattice>) -> CellWrite {
        match self {
            CellWrite::Whole(_) => CellWrite::Whole(before.clone().into()),
            CellWrite::Words(words) => {
                let words = words.iter().map(|edit| WordEdit {
                    bits: before.words()[edit.word as usize] & edit.mask,
                    ..*edit
                });
                CellWrite::Words(words.collect())
            }
        }
    }

    /// Writes it into a lattice on the host.
    pub(crate) fn apply(&self, lattice: &mut Arc<Lattice>) {
        match self {
            CellWrite::Whole(whole) => *lattice = whole.clone().lattice(lattice.size()),
            CellWrite::Words(words) => apply(words, Arc::make_mut(lattice)),
        }
    }
}

/// Writes words into a lattice on the host.
pub(crate) fn apply(words: &[WordEdit], lattice: &mut Lattice) {
    let cells = lattice.words_mut();
    for edit in words {
        edit.apply(&mut cells[edit.word as usize]);
    }
}
