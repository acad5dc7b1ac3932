//! Lattices for parts that issue their ops themselves.

use std::sync::Arc;

use engine::{Kernel, LatticeOp, Layout, Op, Program, Slot, Slots, SlotsSpec, StreamId, Transfer};
use life::{Lattice, Size, Soup};
use session::instances::read_lattice;

use crate::bench::{Bench, DEVICE, Result};

/// How many of a soup's cells are alive.
pub(crate) const DENSITY: f64 = 0.3;
/// The soups of the lessons.
pub(crate) const SEED: u64 = 1;

/// Lattices on a bench's engine.
pub(crate) struct BenchLattices {
    count: u32,
    kernel: &'static Kernel,
    size: Size,
    slots: Arc<dyn Slots>,
}

const STREAM: StreamId = StreamId(0);
/// The slot for a lattice's bits, behind one in page-locked and one in pageable memory for its cells.
const WHOLE: Slot = Slot(2);

impl BenchLattices {
    /// So many soups on an engine with a stream and no lattices.
    pub(crate) fn new(
        bench: &mut Bench,
        count: usize,
        size: Size,
        kernel: &'static Kernel,
    ) -> Result<BenchLattices> {
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
            count: count as u32,
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
        for i in 0..self.count {
            program.push(STREAM, LatticeOp::Soup(start(i)).on(i..i + 1));
            if self.kernel.layout != Layout::Bits {
                program.push(STREAM, LatticeOp::Unpack(self.kernel.layout).on(i..i + 1));
            }
        }
        bench.run(&program)?;
        Ok(())
    }

    /// What every lattice is now.
    pub(crate) fn fetch(&self, bench: &mut Bench) -> Result<Vec<Lattice>> {
        let mut program = Program::default();
        for i in 0..self.count {
            if self.kernel.layout != Layout::Bits {
                program.push(STREAM, LatticeOp::Pack.on(i..i + 1));
            }
            program.push(STREAM, Op::download(i..i + 1, WHOLE, Transfer::Bits));
        }
        bench.run(&program)?;
        let read = |i| read_lattice(&*self.slots, i, WHOLE, self.size);
        let lattices = (0..self.count as usize).map(read);
        Ok(lattices.collect::<Result<_, _>>()?)
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
