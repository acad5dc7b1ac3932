//! What a person's hand has put over the panels: the selection, a pattern under the pointer before
//! it is placed, and edits until a picture shows them.

use std::collections::VecDeque;
use std::sync::Arc;

use life::Lattice;
use model::{Area, Change};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct EditOverlay {
    /// A part of an instance's lattice.
    pub selection: Option<(usize, Area)>,
    /// What a click will place.
    pub ghost: Option<Ghost>,
    /// Edits that no picture shows yet, in their order.
    pub pending: VecDeque<Pending>,
    /// Whether a drag draws.
    pub pencil: bool,
    /// The instance and the column and row of the cell under the pointer, while a drag draws or a
    /// pattern is being placed.
    pub pointed: Option<(usize, [u32; 2])>,
}

/// A pattern before it is placed.
#[derive(Clone, Debug)]
pub struct Ghost {
    /// Its cells.
    pub pattern: Arc<Lattice>,
    /// The instance that the pointer is over, and the cell under it.
    pub at: Option<(usize, [i64; 2])>,
}

impl Ghost {
    /// The column and row of its top left: the pointer is in its middle. They may lie beyond the
    /// edges.
    pub fn corner(&self) -> Option<(usize, [i64; 2])> {
        let (instance, [x, y]) = self.at?;
        let size = self.pattern.size();
        let half = |side: u32| i64::from(side / 2);
        Some((instance, [x - half(size.width()), y - half(size.height())]))
    }
}

/// An edit on its way.
#[derive(Clone, Debug)]
pub struct Pending {
    /// Whose lattice.
    pub instance: usize,
    /// The edit's number.
    pub number: u64,
    /// What it will show.
    pub change: Change,
}

impl EditOverlay {
    /// Whether a cell will be alive, as far as edits on their way say.
    pub fn will_be(&self, instance: usize, cell: [u32; 2]) -> Option<bool> {
        let mine = |pending: &&Pending| pending.instance == instance;
        let drawn = |pending: &Pending| match &pending.change {
            Change::Draw { cells, alive } => cells.contains(&cell).then_some(*alive),
            Change::Clear(area) => inside(*area, cell).then_some(false),
            _ => None,
        };
        self.pending.iter().rev().filter(mine).find_map(drawn)
    }

    /// Forgets the edits that are shown: `shown` is the number of the last one of an instance.
    pub fn settle(&mut self, shown: impl Fn(usize) -> u64) {
        self.pending
            .retain(|pending| pending.number > shown(pending.instance));
    }
}

fn inside(area: Area, [x, y]: [u32; 2]) -> bool {
    let within = |at: u32, from: u32, side: u32| at >= from && at - from < side;
    within(x, area.x, area.size.width()) && within(y, area.y, area.size.height())
}
