//! The cells of the one instance that the host knows without a copy: those that a person edits.
//!
//! They become known when a copy arrives, and stay known while changes are applied to them and nothing
//! is stepped. Then each change gets its inverse, with which undo needs neither a snapshot nor a step.

use std::sync::Arc;

use crate::cell_write::CellWrite;
use crate::log::Position;
use life::Lattice;

/// An instance's cells at a position.
pub(crate) struct KnownCells {
    /// The instance; in a comparison, A's.
    pub(crate) instance: usize,
    /// Its cells.
    pub(crate) lattice: Arc<Lattice>,
    /// Where they are those of the lattices on the engine.
    pub(crate) at: Position,
}

impl KnownCells {
    /// Applies a change. Returns its inverse.
    pub(crate) fn apply(&mut self, write: &CellWrite) -> CellWrite {
        let inverse = write.inverse(&self.lattice);
        write.apply(&mut self.lattice);
        inverse
    }
}
