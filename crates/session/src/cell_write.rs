//! What is written into a lattice: the words of a change, or all cells. Applies a change and reverts it.

use std::ops::Range;
use std::sync::Arc;

use crate::log::{CellChange, Content, Log, SessionParameters};
use engine::WordEdit;
use life::{Lattice, MemoryError};
use simulation::NewCells;

/// What is written into a lattice.
#[derive(Clone, Debug)]
pub enum CellWrite {
    /// Some of its words.
    Words(Arc<[WordEdit]>),
    /// All cells.
    Whole(NewCells),
}

impl CellWrite {
    /// What a change writes into an instance's lattice, whose cells are `before` if they are known.
    /// `None` if it depends on unknown cells.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub(crate) fn of(
        cells: &CellChange,
        parameters: &SessionParameters,
        instance: usize,
        before: Option<&Arc<Lattice>>,
    ) -> Result<Option<CellWrite>, MemoryError> {
        if let Some(whole) = cells.whole(parameters, instance)? {
            return Ok(Some(CellWrite::Whole(whole)));
        }
        let CellChange::Edit(change) = cells else {
            return Ok(None);
        };
        let words = match (change.touched(parameters.size), before) {
            (Some(words), _) => words,
            (None, Some(before)) => WordEdit::between(before, &change.apply(before)),
            (None, None) => return Ok(None),
        };
        // An edit of a word is three words.
        if let Some(before) = before
            && 3 * words.len() > before.words().len()
            && words.len() > WordEdit::MAX_PER_COPY
        {
            let mut after = Lattice::try_copy(parameters.size, before.words())?;
            apply(&words, &mut after);
            return Ok(Some(CellWrite::Whole(Arc::new(after).into())));
        }
        Ok(Some(CellWrite::Words(words.into())))
    }

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

fn apply(words: &[WordEdit], lattice: &mut Lattice) {
    let cells = lattice.words_mut();
    for edit in words {
        edit.apply(&mut cells[edit.word as usize]);
    }
}

/// Reverts records of a log on the lattices of a snapshot, the last record first. Records without an
/// inverse are skipped: they change no cells.
pub(crate) fn take_back(log: &Log, records: Range<u64>, lattices: &mut [Arc<Lattice>]) {
    for record in records.rev().filter_map(|at| log.record(at)) {
        if let (Content::Cells { instance, .. }, Some(inverse)) = (&record.content, &record.inverse)
        {
            for instance in log.base_parameters().instances_of(*instance) {
                inverse.apply(&mut lattices[instance]);
            }
        }
    }
}
