//! The main session, pinned while two settings are compared.

use crate::copies::Copies;
use crate::log::{Log, Position};

/// The main session while A and B are compared on a scratch log, and what was found of their cells.
pub(crate) struct Comparison {
    /// The main log.
    pub(crate) log: Log,
    /// The session's position on it.
    pub(crate) position: Position,
    /// The copies along the main log; one leads to the position.
    pub(crate) copies: Copies,
    /// Instances of each side.
    pub(crate) each: usize,
    /// Number of cells that differ between A and B, and the generation of that count.
    pub(crate) differing: Option<(u64, u64)>,
}
