//! The state of editing, and what its gestures hold.

use std::sync::Arc;

use crate::cell_hit::CellHit;
use life::{Lattice, Rule};

/// The state of editing.
#[derive(Default)]
pub(super) struct Editing {
    pub(super) holding: Option<EditGesture>,
    /// How often something was filled: another soup each time.
    pub(super) fills: u64,
    /// What is to be saved, until it is.
    pub(super) unsaved: Option<PatternToSave>,
    /// The path that was tried.
    pub(super) tried: String,
    /// The file that is there already and was asked about.
    pub(super) replaces: Option<String>,
    /// The rule of the pattern that was opened or pasted last, if the lattices ran another one.
    pub(super) offered_rule: Option<Rule>,
}

/// What a drag with the left button does.
pub(super) enum EditGesture {
    /// Draws, in an instance, from this cell on.
    Stroke {
        instance: usize,
        place: usize,
        last: CellHit,
        alive: bool,
    },
    /// Spans a selection from here.
    Selecting {
        instance: usize,
        place: usize,
        from: CellHit,
    },
    /// Nothing more: it has placed something.
    Placed,
}

/// Cells that are to be saved, as they were when that was asked for.
#[derive(Clone)]
pub(crate) struct PatternToSave {
    pub(super) cells: Arc<Lattice>,
    pub(super) rule: Rule,
    /// Whether they are a whole torus.
    pub(super) torus: bool,
    pub(super) generation: u64,
}
