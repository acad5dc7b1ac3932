//! Stepping: which launches an [`Op::Advance`](crate::Op::Advance) comes to.

use std::ops::Range;

use cust::sys;

use super::calls::Arguments;
use super::issue::{Home, Issuer, sides};
use super::stamps::StampPlace;
use crate::kernels::{Iteration, Kernel, Launch, Layout};
use crate::{EngineError, LatticeId, Result};
use life::{Rule, Size};

/// How lattices are stepped: see [`Op::Advance`](crate::Op::Advance).
#[derive(Clone, Copy)]
pub(super) struct Advance {
    pub(super) kernel: &'static Kernel,
    pub(super) rule: Rule,
    pub(super) generations: u32,
    pub(super) block: (u32, u32),
}

impl Issuer<'_> {
    /// Steps lattices that lie one behind the other, in one launch where that can be.
    pub(super) fn advance_batch(
        &mut self,
        advance: Advance,
        lattices: Range<u32>,
        place: Option<StampPlace>,
    ) -> Result<()> {
        let count = lattices.len() as u32;
        let first = LatticeId(lattices.start);
        let (.., state, _) = self.home(first)?;
        let homes = &self.homes[lattices.start as usize..lattices.end as usize];
        if homes.iter().any(|home| home.state != state) {
            // Not all in the same buffer.
            return lattices.zip(0..).try_for_each(|(lattice, index)| {
                let place = place.map(|place| place.share(index, count));
                self.advance(advance, LatticeId(lattice), 1, place)
            });
        }
        self.advance(advance, first, count, place)
    }

    /// Steps a lattice, and with it the others of a batch of so many.
    fn advance(
        &mut self,
        advance: Advance,
        lattice: LatticeId,
        count: u32,
        place: Option<StampPlace>,
    ) -> Result<()> {
        let (group, index, state, size) = self.home(lattice)?;
        let kernel = advance.kernel;
        kernel.admit(size)?;
        kernel.admit_block(advance.block)?;
        if state.layout != kernel.layout {
            let have = state.layout;
            let why = format!(
                "{} needs {:?}, {lattice:?} is {have:?}",
                kernel.name, kernel.layout
            );
            return Err(EngineError::BadProgram(why));
        }
        let group = &self.gpu.groups[group];
        let buffer = |parity| group.buffer_at(kernel.layout, index, parity);
        let buffers = [buffer(0)?, buffer(1)?];
        let mut shape = kernel.launch(size, advance.block);
        if kernel.batched {
            shape = shape.batch(count);
        }
        let parity =
            self.launch_generations(advance, (size, shape), buffers, state.parity, place)?;
        for home in &mut self.homes[lattice.index()..][..count as usize] {
            home.state.parity = parity;
            if kernel.layout == Layout::Bits {
                home.state.bits_parity = parity;
            }
        }
        Ok(())
    }

    /// Launches a kernel as often as it takes; the parity of the buffer that then holds the cells.
    fn launch_generations(
        &mut self,
        advance: Advance,
        (size, shape): (Size, Launch),
        buffers: [sys::CUdeviceptr; 2],
        mut parity: u8,
        place: Option<StampPlace>,
    ) -> Result<u8> {
        let Advance {
            kernel,
            rule,
            generations,
            ..
        } = advance;
        let (width, height) = sides(size);
        let rule = rule.table();
        let launches = kernel.launches(generations);
        let (file, symbol) = (kernel.file, kernel.symbol);
        let function = self.gpu.function(file, symbol)?;
        for index in 0..launches {
            let [from, to] = [parity, parity ^ 1].map(|parity| buffers[usize::from(parity)]);
            let most = kernel.iteration.generations_per_launch();
            let stepped = most.min(generations - index * most);
            let count = i32::try_from(stepped)
                .map_err(|_| EngineError::BadProgram(format!("{stepped} generations a launch")))?;
            let mut arguments = if kernel.in_place {
                Arguments::of([&from, &width, &height, &rule])
            } else {
                Arguments::of([&from, &to, &width, &height, &rule])
            };
            if kernel.iteration != Iteration::Launches {
                arguments.push(&count);
            }
            if place.is_some() {
                let of = (index, launches);
                self.launch_stamped(file, symbol, shape, arguments, place, of)?;
            } else {
                self.call(function, shape, arguments)?;
            }
            parity ^= u8::from(kernel.flips(stepped));
        }
        Ok(parity)
    }
}

/// Which of an op's lattices one launch can step: those that lie one behind the other, if the
/// kernel is batched, else each by itself.
pub(super) fn together(batched: bool, lattices: Range<u32>, homes: &[Home]) -> Vec<Range<u32>> {
    let place = |i: u32| homes.get(i as usize).map(|h| (h.gpu, h.group, h.index));
    let mut batches: Vec<Range<u32>> = Vec::new();
    for i in lattices {
        let follows = |batch: &&mut Range<u32>| {
            let (Some((gpu, group, before)), Some(this)) = (place(batch.end - 1), place(i)) else {
                return false;
            };
            batched && this == (gpu, group, before + 1)
        };
        match batches.last_mut().filter(follows) {
            Some(batch) => batch.end = i + 1,
            None => batches.push(i..i + 1),
        }
    }
    batches
}
