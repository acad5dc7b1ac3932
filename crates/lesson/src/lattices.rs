//! Lattices for parts that issue their ops themselves.

use std::sync::Arc;

use engine::{Kernel, LatticeOp, Layout, Op, Program, Slot, Slots, SlotsSpec, StreamId, Transfer};
use life::{Lattice, Rule, Size, Soup};
use session::instances::read_lattice;

use crate::bench::{Bench, DEVICE};
use crate::{Result, data};

/// How many of a soup's cells are alive.
pub(crate) const DENSITY: f64 = 0.3;
/// The soups of the lessons.
pub(crate) const SEED: u64 = 1;

/// Lattices on a bench's engine.
pub(crate) struct BenchLattices {
    /// The stream of each lattice.
    pub(crate) streams: Vec<StreamId>,
    pub(crate) kernel: &'static Kernel,
    size: Size,
    slots: Arc<dyn Slots>,
}

/// The slot for a lattice's bits, behind one in page-locked and one in pageable memory for its cells.
const WHOLE: Slot = Slot(2);

impl BenchLattices {
    /// So many soups on an engine with nothing on it, which take turns in these streams.
    pub(crate) fn new(
        bench: &mut Bench,
        count: usize,
        size: Size,
        kernel: &'static Kernel,
        streams: &[StreamId],
    ) -> Result<BenchLattices> {
        let streams = streams.iter().copied().cycle().take(count).collect();
        bench.lattice = size;
        let engine = bench.engine()?;
        engine.create_lattices(DEVICE, count, size)?;
        engine.reserve(kernel.layout)?;
        let is_small = size.cells() <= 1 << 20;
        let slots = engine.allocate_slots(SlotsSpec {
            pinned: 1,
            pageable: 1,
            picture_words: if is_small { size.cells() as usize } else { 1 },
            snapshots: 1,
            measures: 0,
        })?;
        let lattices = BenchLattices {
            streams,
            kernel,
            size,
            slots,
        };
        lattices.restart(bench)?;
        Ok(lattices)
    }

    /// Every lattice is its soup again.
    pub(crate) fn restart(&self, bench: &mut Bench) -> Result<()> {
        let mut program = Program::default();
        for (i, &stream) in (0..).zip(&self.streams) {
            program.push(stream, LatticeOp::Soup(start(i)).on(i..i + 1));
            if self.kernel.layout != Layout::Bits {
                program.push(stream, LatticeOp::Unpack(self.kernel.layout).on(i..i + 1));
            }
        }
        bench.run(&program)?;
        Ok(())
    }

    /// The first lattice steps this many generations in blocks of this shape.
    pub(crate) fn advance_first(&self, generations: u32, block: (u32, u32)) -> Op {
        let advance = LatticeOp::Advance {
            kernel: self.kernel,
            rule: Rule::LIFE,
            generations,
            block,
        };
        advance.on(0..1)
    }

    /// What every lattice is now.
    pub(crate) fn fetch(&self, bench: &mut Bench) -> Result<Vec<Lattice>> {
        let mut program = Program::default();
        for (i, &stream) in (0..).zip(&self.streams) {
            if self.kernel.layout != Layout::Bits {
                program.push(stream, LatticeOp::Pack.on(i..i + 1));
            }
            program.push(stream, Op::download(i..i + 1, WHOLE, Transfer::Bits));
        }
        bench.run(&program)?;
        let read = |i| read_lattice(&*self.slots, i, WHOLE, self.size);
        let lattices = (0..self.streams.len()).map(read);
        Ok(lattices.collect::<Result<_, _>>()?)
    }

    /// A lattice after so many generations, by the reference.
    pub(crate) fn after(i: usize, size: Size, generations: u64) -> Lattice {
        data::after(&start(i as u32).lattice(size), Rule::LIFE, generations)
    }
}

/// What a lattice begins with.
fn start(i: u32) -> Soup {
    Soup {
        density: DENSITY,
        seed: SEED,
        instance: i.into(),
    }
}
