//! The panels: how many there are, of which lattices, and which of them belong to A and to B.

use crate::ViewOptions;
use session::{Side, Status};

/// What is known of the panels beside their cells and their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PanelFacts {
    /// How many instances there are.
    pub instances: usize,
    /// Cells across each.
    pub width: u32,
    /// Cells down each.
    pub height: u32,
    /// The selected instance.
    pub selected: usize,
    /// The one instance that is shown, or all.
    pub single: Option<usize>,
    /// Instances of A and of B each, while they are compared.
    pub compared: Option<usize>,
}

impl PanelFacts {
    pub(crate) fn of(status: &Status, options: &ViewOptions) -> PanelFacts {
        PanelFacts {
            instances: status.lattices.instances,
            width: status.lattices.size.width(),
            height: status.lattices.size.height(),
            selected: status.panels.selected,
            single: options.single_instance(status),
            compared: status.lab.comparison.as_ref().map(|both| both.each),
        }
    }

    /// Whose setting an instance is stepped with, while A and B are compared; an odd one out belongs
    /// to neither.
    pub fn side_of(&self, instance: usize) -> Option<Side> {
        match instance / self.compared?.max(1) {
            0 => Some(Side::A),
            1 => Some(Side::B),
            _ => None,
        }
    }
}
