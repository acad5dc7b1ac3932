//! The launches of an [`Op::Advance`](crate::Op::Advance).

use std::ops::Range;

use cust::sys;

use super::block_timestamps::TimestampTarget;
use super::calls::{Arguments, Values};
use super::issue::{Issuer, sides};
use crate::check::{Function, LadderFunction, Lattices};
use crate::kernels::Parameter::{Cells, From, Generations, Height, Mail, RuleTable, To, Width};
use crate::kernels::{Batch, Kernel, Launch};
use crate::{LatticeId, Result};
use life::{Rule, Size};

/// The parameters of an [`Op::Advance`](crate::Op::Advance).
#[derive(Clone, Copy)]
pub(super) struct Advance {
    pub(super) kernel: &'static Kernel,
    pub(super) rule: Rule,
    pub(super) generations: u32,
    pub(super) block: (u32, u32),
}

impl Issuer<'_> {
    /// Steps adjacent lattices, in one launch if they are all in the same buffer.
    pub(super) fn advance_batch(
        &mut self,
        advance: Advance,
        lattices: Range<u32>,
        place: Option<TimestampTarget>,
    ) -> Result<()> {
        let count = lattices.len() as u32;
        let first = LatticeId(lattices.start);
        let on_device = self.lattices.groups[self.lattices.group_of(first)].count as u32;
        let state = self.states.get(first);
        let differs = |lattice| !self.states.get(lattice).has_buffers_of(state);
        if lattices.clone().map(LatticeId).any(differs) {
            // Not all in the same buffer.
            return lattices.zip(0..).try_for_each(|(lattice, index)| {
                let place = place.map(|place| place.share(index, count));
                let one = Batch {
                    launched: 1,
                    in_all: count,
                    on_device,
                };
                self.advance(advance, LatticeId(lattice), one, place)
            });
        }
        self.advance(advance, first, Batch::of(count, on_device), place)
    }

    /// Steps adjacent lattices from `lattice` on.
    fn advance(
        &mut self,
        advance: Advance,
        lattice: LatticeId,
        lattices: Batch,
        place: Option<TimestampTarget>,
    ) -> Result<()> {
        let (group, index, state, size) = self.place(lattice);
        let kernel = advance.kernel;
        let group = &self.gpu.groups[group];
        let buffer = |parity| group.buffer_at(kernel.layout, index, parity);
        let buffers = [buffer(0)?, buffer(1)?];
        let mail = if kernel.parameters.contains(&Mail) {
            group.mail_at(index)?
        } else {
            0 // nobody takes it
        };
        let shape = kernel.launch(size, advance.block, lattices, self.gpu.sm_count);
        self.launch_generations(advance, (size, shape), (buffers, mail), state.parity, place)
    }

    /// Launches a kernel until all generations are done, first reading the buffer with this parity.
    fn launch_generations(
        &mut self,
        advance: Advance,
        (size, shape): (Size, Launch),
        (buffers, mail): ([sys::CUdeviceptr; 2], sys::CUdeviceptr),
        mut parity: u8,
        place: Option<TimestampTarget>,
    ) -> Result<()> {
        let Advance {
            kernel,
            rule,
            generations,
            ..
        } = advance;
        let (width, height) = sides(size);
        let function = Function::Ladder(LadderFunction {
            kernel,
            entry: shape.entry,
            rule,
        });
        let plain = self.gpu.functions.get(function, false)?;
        let table = rule.table();
        let launches = kernel.launches(generations);
        for index in 0..launches {
            let [from, to] = [parity, parity ^ 1].map(|parity| buffers[usize::from(parity)]);
            let max = kernel.iteration.generations_per_launch();
            let stepped = max.min(generations - index * max);
            let values: &Values = &[
                (From, &from),
                (To, &to),
                (Cells, &from),
                (Mail, &mail),
                (Width, &width),
                (Height, &height),
                (RuleTable, &table),
                (Generations, &stepped),
            ];
            let arguments = Arguments::fill(kernel.parameters, values)?;
            match place.and_then(|place| place.of(index, launches)) {
                None => self.call(plain, shape, arguments)?,
                records => self.launch(function, shape, arguments, records)?,
            }
            parity ^= u8::from(kernel.swaps_buffers(stepped));
        }
        Ok(())
    }
}

/// Splits an op's lattices into the ranges that one launch can step on a device with this many SMs:
/// adjacent lattices for a batched kernel, else single ones.
pub(super) fn batches(
    kernel: &Kernel,
    range: Range<u32>,
    lattices: &Lattices,
    sm_count: u32,
) -> Vec<Range<u32>> {
    let group = |i: u32| lattices.group_of(LatticeId(i));
    let mut batches: Vec<Range<u32>> = Vec::new();
    let mut max = (usize::MAX, 1); // group, and lattices of it per launch
    for i in range {
        if max.0 != group(i) {
            let facts = &lattices.groups[group(i)];
            let batch = kernel.max_batch(facts.size, facts.count as u32, sm_count);
            max = (group(i), batch as usize);
        }
        let follows =
            |batch: &&mut Range<u32>| batch.len() < max.1 && group(batch.end - 1) == group(i);
        match batches.last_mut().filter(follows) {
            Some(batch) => batch.end = i + 1,
            None => batches.push(i..i + 1),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceId;
    use crate::check::Validator;
    use crate::kernels::find;

    #[test]
    fn a_batch_is_of_one_group_and_fits_a_grid() {
        let mut check = Validator::new(Vec::new());
        let size = Size::new(128, 128).unwrap();
        check.add_lattices(DeviceId(0), 70_000, size);
        check.add_lattices(DeviceId(0), 3, size);
        let split = |kernel, range| {
            let kernel = find(kernel).unwrap();
            let batches = batches(kernel, range, &check.lattices, 132);
            let ends = batches.iter().map(|batch| (batch.start, batch.end));
            ends.collect::<Vec<_>>()
        };
        assert_eq!(split("resident", 5..9), [(5, 9)]);
        assert_eq!(split("bits", 5..7), [(5, 6), (6, 7)]);
        let groups = [(69_999, 70_000), (70_000, 70_002)];
        assert_eq!(split("resident", 69_999..70_002), groups);
        let halves = [(0, 65_535), (65_535, 70_000)];
        assert_eq!(split("resident", 0..70_000), halves);
    }
}
