//! The engine's guarantees: stream order and concurrency, and events as in CUDA. That its results are those
//! of the reference is tested in [`conformance`](crate::conformance); `tests/cuda/incompatible.rs` holds on
//! both engines which programs are refused, and what each leaves.

mod buffers;
mod lab;
mod order;
mod own;
mod streams;

use std::num::NonZeroUsize;

use super::*;
use crate::kernels::find;
use crate::{BufferOp, LatticeOp, OrderOp, Slot, Span, Transfer};
use life::{Lattice, Rule, reference};

/// Random cells, about three in eight alive.
pub(super) fn soup(size: Size, seed: u64) -> Lattice {
    life::soup(size, 0.375, seed, 0)
}

/// The lattice after `generations` steps of the reference.
pub(super) fn generations_later(lattice: &Lattice, rule: Rule, generations: u32) -> Lattice {
    reference::run(lattice, rule, generations.into())
}

const FIRST: LatticeId = LatticeId(0);

/// An engine with lattices of one size, uploaded soups, and a stream and two picture slots per
/// lattice.
struct Bench {
    engine: CpuEngine,
    streams: Vec<StreamId>,
    soups: Vec<Lattice>,
    slots: Arc<dyn Slots>,
}

impl Bench {
    fn new(lattices: usize, size: &str) -> Bench {
        let size: Size = size.parse().unwrap();
        let mut engine = CpuEngine::new(NonZeroUsize::new(lattices).unwrap());
        engine.create_lattices(DeviceId(0), lattices, size).unwrap();
        engine.reserve(Layout::I32).unwrap();
        let spec = SlotsSpec {
            pinned: 2,
            picture_words: size.words(),
            snapshots: 1,
            ..SlotsSpec::default()
        };
        let slots = engine.allocate_slots(spec).unwrap();
        let streams: Vec<_> = (0..lattices)
            .map(|_| {
                engine
                    .create_stream(DeviceId(0), StreamSpec::PLAIN)
                    .unwrap()
            })
            .collect();
        let soups: Vec<_> = (0..lattices as u64).map(|seed| soup(size, seed)).collect();
        let mut bench = Bench {
            engine,
            streams,
            soups,
            slots,
        };
        let uploads = (0..lattices).map(|i| (bench.streams[i], bench.upload(i)));
        bench.run(uploads.collect::<Vec<_>>());
        bench
    }

    fn upload(&self, i: usize) -> Op {
        LatticeOp::Upload(self.soups[i].words().into()).on(LatticeId(i as u32).as_range())
    }

    /// Runs steps to completion and returns the completions.
    fn run(&mut self, steps: impl IntoIterator<Item = (StreamId, Op)>) -> Vec<Completion> {
        self.engine.submit(&program(steps)).unwrap();
        self.drain()
    }

    fn drain(&mut self) -> Vec<Completion> {
        self.engine.synchronize().unwrap();
        let mut completions = Vec::new();
        self.engine.poll(&mut completions).unwrap();
        completions
    }

    /// Downloads a lattice.
    fn lattice(&mut self, lattice: LatticeId) -> Lattice {
        let stream = self.streams[lattice.index()];
        self.run([
            (stream, LatticeOp::Pack.on(lattice.as_range())),
            (stream, download(lattice, 0)),
        ]);
        let mut words = Vec::new();
        assert!(
            self.slots
                .read(lattice, Slot(0), &mut |slot| words = slot.to_vec())
        );
        let after = Lattice::from_words(self.soups[0].size(), words.clone());
        assert_eq!(after.words(), words, "bits beyond the width are 0");
        after
    }

    fn refused(&mut self, op: Op) -> String {
        let error = self
            .engine
            .submit(&program([(self.streams[0], op)]))
            .unwrap_err();
        error.to_string()
    }
}

fn program(steps: impl IntoIterator<Item = (StreamId, Op)>) -> Program {
    let mut program = Program {
        timed: true,
        ..Program::default()
    };
    steps
        .into_iter()
        .for_each(|(stream, op)| program.push(stream, op));
    program
}

fn advance(kernel: &str, lattice: LatticeId, generations: u32) -> Op {
    let (kernel, rule) = (find(kernel).unwrap(), Rule::LIFE);
    LatticeOp::Advance {
        kernel,
        rule,
        generations,
        block: kernel.block(),
    }
    .on(lattice.0..lattice.0 + 1)
}

fn download(lattice: LatticeId, slot: u8) -> Op {
    LatticeOp::Download {
        slot: Slot(slot),
        what: Transfer::Bits,
    }
    .on(lattice.as_range())
}

#[test]
fn what_no_machine_has_is_refused() {
    let mut engine = CpuEngine::new(NonZeroUsize::MIN);
    let size = Size::new(1 << 18, 1 << 18).unwrap();
    let error = engine
        .create_lattices(DeviceId(0), 1 << 20, size)
        .unwrap_err();
    assert!(matches!(error, EngineError::OutOfMemory { .. }), "{error}");
    engine
        .create_lattices(DeviceId(0), 1, Size::new(8, 8).unwrap())
        .unwrap();
    assert_eq!(engine.parity(FIRST), 0);
}
