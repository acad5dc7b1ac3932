//! Edits on their way to the engine, and one lattice's way to the host.

use std::sync::Arc;

use super::Worlds;
use super::issue::Kind;
use engine::{LatticeId, Layout, Op, Program, Result, Slot, Transfer, WordEdit};
use life::Lattice;

impl Worlds {
    /// Grows whenever a lattice may have changed, but by edits.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The number of the last edit of each instance.
    pub fn edits(&self) -> &Arc<[u64]> {
        &self.edits
    }

    /// Sets cells of instances whose lattices are alike, each in its own stream, behind everything
    /// issued before; the edit has this number. With `fetch`, the first one's lattice as it is
    /// before that comes to the host in this whole-lattice slot, as [`Event::Fetched`] tells.
    ///
    /// [`Event::Fetched`]: super::Event::Fetched
    pub fn edit(
        &mut self,
        instances: &[usize],
        edits: &Arc<[WordEdit]>,
        number: u64,
        fetch: Option<u8>,
    ) -> Result<()> {
        let mut program = Program::default();
        let kind = match (fetch, instances.first()) {
            (Some(index), Some(&instance)) => self.push_fetch(&mut program, instance, index),
            _ => Kind::Other,
        };
        for &instance in instances.iter().filter(|_| !edits.is_empty()) {
            let edit = Op::Edit {
                lattice: LatticeId(instance as u32),
                edits: edits.clone(),
            };
            program.push(self.plan().streams[instance], edit);
        }
        self.submit(&program, kind, None)?;
        self.number_edit(instances, number);
        Ok(())
    }

    /// Sets instances whose lattices are as `before` says to `after`: only what differs travels,
    /// unless that is much.
    pub fn replace(
        &mut self,
        instances: &[usize],
        (before, after): (&Lattice, &Arc<Lattice>),
        generation: u64,
        number: u64,
    ) -> Result<()> {
        let edits = WordEdit::between(before, after);
        // An edit is three words.
        if 3 * edits.len() > before.words().len() && edits.len() > WordEdit::MOST_AT_ONCE {
            let all = instances.iter().map(|&i| (i, after.clone(), generation));
            self.upload(all.collect())?;
            self.number_edit(instances, number);
        } else {
            self.edit(instances, &edits.into(), number, None)?;
        }
        let mut generations = self.generations.to_vec();
        instances.iter().for_each(|&i| generations[i] = generation);
        self.generations = generations.into();
        Ok(())
    }

    /// Notes that instances are as of this edit.
    pub fn number_edit(&mut self, instances: &[usize], number: u64) {
        let mut edits = self.edits.to_vec();
        instances
            .iter()
            .for_each(|&i| edits[i] = number.max(edits[i]));
        self.edits = edits.into();
    }

    /// Brings one lattice to the host, into this whole-lattice slot.
    pub fn issue_fetch(&mut self, instance: usize, index: u8) -> Result<()> {
        let mut program = Program::default();
        let kind = self.push_fetch(&mut program, instance, index);
        self.submit(&program, kind, None)
    }

    fn push_fetch(&self, program: &mut Program, instance: usize, index: u8) -> Kind {
        let (stream, lattice) = (self.plan().streams[instance], LatticeId(instance as u32));
        if self.plan().kernel.layout != Layout::Bits {
            program.push(stream, Op::Pack(lattice.alone()));
        }
        let slot = Slot(self.spec.pictures() + index);
        let download = Op::Download {
            lattices: lattice.alone(),
            slot,
            what: Transfer::Bits,
        };
        program.push(stream, download);
        Kind::Fetch(instance, slot)
    }
}
