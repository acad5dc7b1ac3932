//! The overlay for editing: the selection, the pattern that is being pasted, and edits that no
//! picture shows yet.

use std::collections::VecDeque;
use std::sync::Arc;

use life::Lattice;
use session::{Area, Change, Edit};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct EditOverlay {
    /// A part of an instance's lattice.
    pub selection: Option<(usize, Area)>,
    /// What a click will place.
    pub ghost: Option<Ghost>,
    /// Edits that no picture shows yet, in their order, with the numbers that the session gave them.
    pub pending: VecDeque<(u64, Edit)>,
    /// What a drag over cells does.
    pub tool: Tool,
    /// The instance and the column and row of the cell under the pointer, while a drag draws or
    /// selects, or a pattern is being placed.
    pub pointed: Option<(usize, [u32; 2])>,
}

/// What a drag over cells does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tool {
    /// It moves the view.
    #[default]
    Hand,
    /// It draws or erases.
    Pencil,
    /// It selects an area, once; then the hand is back.
    Selection,
}

impl Tool {
    /// The tool to use when `asked` is selected; selecting the current tool returns to
    /// [`Tool::Hand`].
    pub fn toggled(self, asked: Tool) -> Tool {
        if self == asked { Tool::Hand } else { asked }
    }
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

impl EditOverlay {
    /// Whether a cell will be alive, as far as edits on their way say.
    pub fn will_be(&self, instance: usize, cell: [u32; 2]) -> Option<bool> {
        let edits = self.pending.iter().rev().map(|(_, edit)| edit);
        let mut mine = edits.filter(|edit| edit.instance == instance);
        mine.find_map(|edit| match &edit.change {
            Change::Draw { cells, alive } => cells.contains(&cell).then_some(*alive),
            Change::Clear(area) => area.contains(cell).then_some(false),
            Change::Place { .. } | Change::Fill { .. } => None,
            Change::Flip { .. } | Change::Rotate { .. } => None,
        })
    }

    /// Forgets the edits that are shown: `shown` is the number of the last one of an instance.
    pub fn settle(&mut self, shown: impl Fn(usize) -> u64) {
        self.pending
            .retain(|(number, edit)| *number > shown(edit.instance));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_put_down_by_asking_for_it_again_and_replaced_by_another() {
        for asked in [Tool::Pencil, Tool::Selection] {
            assert_eq!(Tool::Hand.toggled(asked), asked);
            assert_eq!(asked.toggled(asked), Tool::Hand);
        }
        assert_eq!(Tool::Pencil.toggled(Tool::Selection), Tool::Selection);
        assert_eq!(Tool::Selection.toggled(Tool::Pencil), Tool::Pencil);
    }
}
