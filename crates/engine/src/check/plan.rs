//! The memory and functions that a program needs before its first step is issued.

use crate::DeviceId;
use crate::kernels::{Function, LadderFunction};

/// The memory and functions that a program needs before its first step is issued. (Host slots are
/// listed by [`Program::downloads`](crate::Program::downloads); the engine plans memory for block
/// timestamps itself.)
#[derive(Default, Debug)]
pub(crate) struct Plan {
    /// Groups whose views need more memory: group index, and words per lattice.
    pub(crate) views: Vec<(usize, usize)>,
    /// Groups that need memory for measures.
    pub(crate) measures: Vec<usize>,
    /// Functions that are launched on each device, each once.
    pub(crate) functions: Vec<(DeviceId, Function)>,
    /// Whether the program changes cells. If it fails halfway, every lattice must be restored.
    pub(crate) changes_cells: bool,
    /// Whether several host threads issue the program.
    pub(crate) several_issuers: bool,
}

impl Plan {
    pub(super) fn needs_view(&mut self, group: usize, words: usize) {
        match self.views.iter_mut().find(|(of, _)| *of == group) {
            Some((_, max)) => *max = words.max(*max),
            None => self.views.push((group, words)),
        }
    }

    pub(super) fn needs_measures(&mut self, group: usize) {
        if !self.measures.contains(&group) {
            self.measures.push(group);
        }
    }

    #[inline]
    pub(super) fn launches(&mut self, device: DeviceId, function: Function) {
        if !self.functions.contains(&(device, function)) {
            self.functions.push((device, function));
        }
    }

    /// The functions of the ladder that are launched on each device.
    pub(crate) fn of_ladder(&self) -> impl Iterator<Item = (DeviceId, LadderFunction)> {
        self.functions
            .iter()
            .filter_map(|(device, launched)| match launched {
                Function::Ladder(function) => Some((*device, *function)),
                Function::Support(_) | Function::Buffer(_) => None,
            })
    }
}
