//! The main session, pinned while two settings are compared.

use crate::timeline::Timeline;

/// The main session while A and B are compared on a scratch log, and what was found of their cells.
pub(crate) struct Comparison {
    /// The main timeline; one of its copies leads to its position.
    pub(crate) timeline: Timeline,
    /// Instances of each side.
    pub(crate) each: usize,
    /// Number of cells that differ between A and B, and the generation of that count.
    pub(crate) differing: Option<(u64, u64)>,
}
