//! Cells on their way to the device and back: lattices set, words edited, snapshots taken.
//!
//! None of it belongs between the ops of a round that runs op by op
//! ([`Instances::is_calibrating`]): some lattices have been stepped there and others not.

use std::sync::Arc;

use super::Instances;
use super::issue::Kind;
use crate::round::RoundPlan;
use engine::{EngineError, LatticeId, Layout, Op, Program, Result, Slot, Slots, WordEdit};
use life::{Lattice, Size};
use model::Streams;

impl Instances {
    /// Sets instances to these lattices, each in its own stream. The generation stays as it is:
    /// [`Instances::set_generation`].
    pub fn set_lattices(&mut self, lattices: Vec<(usize, Arc<Lattice>)>) -> Result<()> {
        let layout = self.plan().kernel.layout;
        let some = lattices.len() < self.instances();
        let mut program = Program::default();
        for (instance, lattice) in lattices {
            let stream = self.plan().streams[instance];
            let id = LatticeId(instance as u32);
            let words = lattice.words().into();
            program.push(stream, Op::Upload { lattice: id, words });
            if layout != Layout::Bits {
                program.push(
                    stream,
                    Op::Unpack {
                        lattices: id.alone(),
                        to: layout,
                    },
                );
            }
        }
        // What is set anew is in the first of two buffers: in a batch, so must be the others.
        if some {
            program.steps.extend(self.alignment().steps);
        }
        self.forget_prepared(); // parities start anew
        self.submit(&program, Kind::Other, None)
    }

    /// Sets cells of instances whose lattices are alike, each in its own stream, behind everything
    /// issued before.
    pub fn edit(&mut self, instances: &[usize], edits: &Arc<[WordEdit]>) -> Result<()> {
        let mut program = Program::default();
        for &instance in instances.iter().filter(|_| !edits.is_empty()) {
            let edit = Op::Edit {
                lattice: LatticeId(instance as u32),
                edits: edits.clone(),
            };
            program.push(self.plan().streams[instance], edit);
        }
        self.submit(&program, Kind::Other, None)
    }

    /// The number of the last edit of each instance.
    pub(crate) fn edit_numbers(&self) -> &Arc<[u64]> {
        &self.edit_numbers
    }

    /// Says that what is issued from now on shows instances with this edit; a number never gets
    /// smaller.
    pub(crate) fn set_edit_number(&mut self, instances: &[usize], number: u64) {
        let numbers = Arc::make_mut(&mut self.edit_numbers);
        for &instance in instances {
            numbers[instance] = number.max(numbers[instance]);
        }
    }

    /// The host slot for whole lattices with this index.
    pub(crate) fn snapshot_slot(&self, index: u8) -> Slot {
        Slot(self.spec.pictures() + index)
    }

    /// Downloads every lattice's bits into the whole-lattice slot `index`, as
    /// [`Event::Snapshot`](super::Event::Snapshot) tells; never, if the slots are made anew
    /// before. Answers `false` where that slot is still being read, and while a round runs op by
    /// op.
    pub(crate) fn issue_snapshot(&mut self, index: u8) -> Result<bool> {
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

    /// Whether a launch of some plan steps several lattices, which must all be in the same one of
    /// two buffers.
    fn batches_in_two_buffers(&self) -> bool {
        let batches = |plan: &RoundPlan| plan.switches.streams == Streams::Batch;
        !self.plan().kernel.in_place && self.plans.iter().any(batches)
    }

    /// Brings all lattices into the same one of their two buffers, if batches need it.
    pub(super) fn align_buffers(&mut self) -> Result<()> {
        self.submit(&self.alignment(), Kind::Other, None)
    }

    /// What brings all lattices into the same one of their two buffers, if batches need it.
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

/// A lattice out of a host slot.
pub fn read_lattice(slots: &dyn Slots, instance: usize, slot: Slot, size: Size) -> Result<Lattice> {
    let mut lattice = None;
    let id = LatticeId(instance as u32);
    slots.read(id, slot, &mut |words| {
        lattice = Some(Lattice::try_copy(size, &words[..size.words()]));
    });
    Ok(lattice.ok_or(EngineError::SlotBusy(id, slot))??)
}
