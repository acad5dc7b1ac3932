//! The main session, pinned while two settings are compared.

use std::sync::Arc;

use crate::log::{Log, Position};
use crate::snapshots::Snapshots;
use life::Lattice;

/// The main session while A and B are compared on a scratch log, and what was found of their cells.
pub(crate) struct Comparison {
    /// The main log.
    pub(crate) log: Log,
    /// The session's position on it.
    pub(crate) position: Position,
    /// The snapshots along the main log.
    pub(crate) snapshots: Snapshots,
    /// All lattices at that position, or at an earlier one if it was not reached yet.
    pub(crate) main_snapshot: (Position, Vec<Arc<Lattice>>),
    /// Instances of each side.
    pub(crate) each: usize,
    /// Number of cells that differ between A and B, and the generation of that count.
    pub(crate) differing: Option<(u64, u64)>,
}

impl Comparison {
    /// Counts the cells that differ between A and B in a snapshot.
    pub(crate) fn compare(&mut self, lattices: &[Arc<Lattice>], generation: u64) {
        let (a, rest) = lattices.split_at(self.each.min(lattices.len()));
        let differing = a.iter().zip(rest).map(|(a, b)| {
            let words = a.words().iter().zip(b.words());
            let differ = words.map(|(a, b)| u64::from((a ^ b).count_ones()));
            differ.sum::<u64>()
        });
        self.differing = Some((differing.sum(), generation));
    }
}
