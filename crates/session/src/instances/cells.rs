//! Transfers of cells: sets lattices, edits words, downloads snapshots.
//!
//! Not to be used during a calibration ([`Instances::is_calibrating`]), while some lattices are a
//! round ahead of others.

use std::sync::Arc;

use super::Instances;
use super::issue::Kind;
use crate::Streams;
use crate::start::NewCells;
use engine::{
    EngineError, LatticeId, LatticeOp, Layout, Op, Program, Result, Slot, Slots, WordEdit,
};
use life::{Lattice, Size};

impl Instances {
    /// Sets instances, given by index, to lattices or soups, each in its own stream. The generation is
    /// set by [`Instances::set_generation`].
    pub fn set_lattices(&mut self, lattices: Vec<(usize, impl Into<NewCells>)>) -> Result<()> {
        let layout = self.plan().kernel.layout;
        let some = lattices.len() < self.instances();
        let mut program = Program::default();
        for (instance, cells) in lattices {
            let stream = self.plan().streams[instance];
            let id = LatticeId(instance as u32);
            let set = match cells.into() {
                NewCells::Lattice(lattice) => {
                    // The words below cannot be refused their memory: it is asked for here first.
                    drop(life::Lattice::try_copy(lattice.size(), lattice.words())?);
                    Op::upload(id, lattice.words())
                }
                NewCells::Soup(soup) => LatticeOp::Soup(soup).on(id.as_range()),
            };
            program.push(stream, set);
            if layout != Layout::Bits {
                program.push(stream, Op::unpack(id.as_range(), layout));
            }
        }
        // Both fill the first of two buffers; in a batch, all lattices must be in the same one.
        if some {
            program.steps.extend(self.alignment().steps);
        }
        self.forget_prepared(); // parities start anew
        self.submit(&program, Kind::Other, None)
    }

    /// Applies the same word edits to several instances, each in its own stream, after everything
    /// issued before.
    pub fn edit(&mut self, instances: &[usize], edits: &Arc<[WordEdit]>) -> Result<()> {
        let mut program = Program::default();
        for &instance in instances.iter().filter(|_| !edits.is_empty()) {
            let edit = LatticeOp::Edit(edits.clone()).on(LatticeId(instance as u32).as_range());
            program.push(self.plan().streams[instance], edit);
        }
        self.submit(&program, Kind::Other, None)
    }

    /// The number of the last edit that was applied; 0 before the first.
    #[cfg(test)]
    pub fn edit_number(&self) -> u64 {
        self.edit_number
    }

    /// Notes that pictures issued from now on show every instance with this edit and all before it:
    /// edits are applied in order, and one that another has replaced on the log shows nowhere.
    pub fn set_edit_number(&mut self, number: u64) {
        self.edit_number = number.max(self.edit_number);
    }

    /// The host slot for whole lattices with this index.
    pub fn snapshot_slot(&self, index: u8) -> Slot {
        Slot(self.spec.pictures() + index)
    }

    /// Downloads every lattice's bits into the whole-lattice slot `index`.
    /// [`Event::Snapshot`](super::Event::Snapshot) follows, unless the slots are allocated again
    /// before. Returns `false` if that slot is being read, or during a calibration.
    pub fn issue_snapshot(&mut self, index: u8) -> Result<bool> {
        if self.is_calibrating() {
            return Ok(false);
        }
        let program = self.plan().snapshot(self.snapshot_slot(index));
        match self.submit(&program, Kind::Snapshot(index), None) {
            Ok(()) => Ok(true),
            Err(EngineError::SlotBusy(..)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Downloads every lattice and waits for them.
    pub fn fetch(&mut self) -> Result<Vec<Lattice>> {
        self.finish()?;
        let slot = self.snapshot_slot(0);
        if !self.issue_snapshot(0)? {
            return Err(EngineError::SlotBusy(LatticeId(0), slot));
        }
        self.finish()?;
        (0..self.instances())
            .map(|i| read_lattice(&*self.slots, i, slot, self.size))
            .collect()
    }

    /// Whether some plan steps several lattices per launch, so that all must be in the same one of
    /// two buffers.
    fn batches_in_two_buffers(&self) -> bool {
        let is_batch = |side| self.plans[side as usize].switches.streams == Streams::Batch;
        !self.plan().kernel.is_in_place() && self.sides_in_turn().any(is_batch)
    }

    /// Moves all lattices into the same one of their two buffers, if batches need it.
    pub(super) fn align_buffers(&mut self) -> Result<()> {
        self.submit(&self.alignment(), Kind::Other, None)
    }

    /// The program that does so; empty if no batch needs it.
    fn alignment(&self) -> Program {
        let layout = self.plan().kernel.layout;
        if layout == Layout::Bits || !self.batches_in_two_buffers() {
            return Program::default();
        }
        let mut program = self.plan().pack_all();
        program.steps.extend(self.plan().relayout(layout).steps);
        program
    }
}

/// Reads a lattice out of a host slot.
///
/// # Errors
/// The slot is being filled, or the host has no memory for the lattice.
pub fn read_lattice(slots: &dyn Slots, instance: usize, slot: Slot, size: Size) -> Result<Lattice> {
    let mut lattice = None;
    let id = LatticeId(instance as u32);
    slots.read(id, slot, &mut |words| {
        lattice = Some(Lattice::try_copy(size, &words[..size.words()]));
    });
    Ok(lattice.ok_or(EngineError::SlotBusy(id, slot))??)
}
