//! Transfers of cells: sets lattices, edits words, downloads snapshots.
//!
//! Not to be used during a calibration ([`Sim::is_calibrating`]), while some lattices are a
//! round ahead of others.

use std::sync::Arc;

use super::Sim;
use super::issue::Kind;
use crate::start::NewCells;
use engine::{
    EngineError, LatticeId, LatticeOp, Layout, Op, Program, Result, Slot, Slots, Transfer, WordEdit,
};
use life::{Lattice, Size};

impl Sim {
    /// Sets lattices, given by index, to other cells or soups, each in its own stream. The generation is
    /// set by [`Sim::set_generation`].
    pub fn set_lattices(&mut self, lattices: Vec<(usize, impl Into<NewCells>)>) -> Result<()> {
        let mut program = Program::default();
        let mut set = Vec::with_capacity(lattices.len());
        for (lattice, cells) in lattices {
            let facts = self.lattices[lattice];
            let id = LatticeId(lattice as u32);
            let op = match cells.into() {
                NewCells::Lattice(lattice) => {
                    // The words below cannot be refused their memory: it is asked for here first.
                    drop(life::Lattice::try_copy(lattice.size(), lattice.words())?);
                    Op::upload(id, lattice.words())
                }
                NewCells::Soup(soup) => LatticeOp::Soup(soup).on(id.as_range()),
            };
            program.push(facts.stream, op);
            if facts.layout != Layout::Bits {
                program.push(facts.stream, Op::unpack(id.as_range(), facts.layout));
            }
            set.push(lattice);
        }
        self.submit(&program, Kind::Other, 0)?;
        for lattice in set {
            self.lattices[lattice].is_set = true;
        }
        Ok(())
    }

    /// Applies the same word edits to several lattices, each in its own stream, after everything
    /// issued before.
    pub fn edit(&mut self, lattices: &[usize], edits: &Arc<[WordEdit]>) -> Result<()> {
        let mut program = Program::default();
        for &i in lattices.iter().filter(|_| !edits.is_empty()) {
            let (lattice, edits) = (LatticeId(i as u32), edits.clone());
            program.push(
                self.lattices[i].stream,
                LatticeOp::Edit(edits).on(lattice.as_range()),
            );
        }
        self.submit(&program, Kind::Other, 0)
    }

    /// The host slot for whole lattices with this index.
    pub fn snapshot_slot(&self, index: u8) -> Slot {
        Slot(self.spec.pictures() + index)
    }

    /// Downloads every lattice's bits into the whole-lattice slot `index`.
    /// [`Event::Snapshot`](super::Event::Snapshot) follows. Returns `false` if that slot is being read, or
    /// during a calibration.
    pub fn issue_snapshot(&mut self, index: u8) -> Result<bool> {
        if self.is_calibrating() {
            return Ok(false);
        }
        let (slot, all) = (self.snapshot_slot(index), 0..self.instances());
        let program = self.packed(all, false, |program, stream, lattices| {
            program.push(stream, Op::download(lattices, slot, Transfer::Bits));
        });
        match self.submit(&program, Kind::Snapshot(index), 0) {
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
