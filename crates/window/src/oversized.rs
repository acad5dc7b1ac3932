//! A pattern that is larger than the lattices.

use std::sync::Arc;

use life::{Lattice, Pattern, Rule, Size};
use model::InWords;

/// A pattern that is larger than the lattices.
#[derive(Clone)]
pub(super) enum OversizedPattern {
    /// A parsed pattern, not yet expanded into cells.
    Pattern(Arc<Pattern>),
    /// Its cells.
    Cells(Arc<Lattice>),
}

impl OversizedPattern {
    /// A lattice that has room for it and for one of this size, if there can be one.
    pub(super) fn room(&self, beside: Size) -> Option<Size> {
        match self {
            OversizedPattern::Pattern(pattern) => pattern.room_beside(beside),
            OversizedPattern::Cells(cells) => {
                beside.with_room(cells.size().width(), cells.size().height())
            }
        }
    }

    /// The generation at which it starts, if it was opened and not pasted.
    pub(super) fn opened_at(&self) -> Option<u64> {
        match self {
            OversizedPattern::Pattern(pattern) => Some(pattern.generation()),
            OversizedPattern::Cells(_) => None,
        }
    }

    /// The rule that it was made for, if it says so.
    pub(super) fn rule(&self) -> Option<Rule> {
        match self {
            OversizedPattern::Pattern(pattern) => pattern.rule(),
            OversizedPattern::Cells(_) => None,
        }
    }

    /// It in the middle of a lattice of this size; why not, in words.
    pub(super) fn centred_in(&self, size: Size) -> Result<Lattice, String> {
        match self {
            OversizedPattern::Pattern(pattern) => {
                pattern.centred_in(size).map_err(|why| why.in_words())
            }
            OversizedPattern::Cells(cells) => {
                cells.in_the_middle_of(size).map_err(|why| why.in_words())
            }
        }
    }
}

/// An open offer: the instance, the pattern, and the size the lattices would get.
pub(super) type ResizeOffer = (usize, OversizedPattern, Size);
