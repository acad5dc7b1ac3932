//! The engine's guarantees: stream order and concurrency, events as in CUDA, and lattices that keep
//! their state when the kernel changes. That its results are those of the reference is tested with the
//! other engine's, in the crate `conformance`.

mod buffers;
mod incompatible;
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

fn spans(completions: &[Completion]) -> Vec<Span> {
    let finished = completions.iter().find_map(|completion| match completion {
        Completion::Finished { spans, .. } => Some(spans.clone()),
        _ => None,
    });
    finished.expect("the run has finished")
}

#[test]
fn layouts_keep_the_state_and_bits_are_as_of_the_last_pack() {
    for (width, height) in [(1, 1), (31, 3), (65, 6), (128, 1), (545, 13)] {
        let mut bench = Bench::new(1, &format!("{width}x{height}"));
        let (stream, start) = (bench.streams[0], bench.soups[0].clone());
        let to_i32 = LatticeOp::Unpack(Layout::I32).on(FIRST.as_range());
        let to_bits = LatticeOp::Unpack(Layout::Bits).on(FIRST.as_range());
        bench.run([(stream, to_i32), (stream, advance("global", FIRST, 1))]);
        bench.run([(stream, download(FIRST, 1))]);
        let unpacked = bench.slots.read(FIRST, Slot(1), &mut |words| {
            assert_eq!(words, start.words())
        });
        assert!(unpacked, "{width}x{height}");
        bench.run([
            (stream, LatticeOp::Pack.on(FIRST.as_range())),
            (stream, to_bits),
            (stream, advance("bits", FIRST, 2)),
        ]);
        assert_eq!(
            bench.lattice(FIRST),
            generations_later(&start, Rule::LIFE, 3)
        );
    }
}

#[test]
fn a_prepared_program_replays_from_its_state_only() {
    let mut bench = Bench::new(1, "33x17");
    let stream = bench.streams[0];
    let round = [
        (stream, advance("bits", FIRST, 1)),
        (stream, download(FIRST, 1)),
    ];
    let round = program(round);
    let even = bench.engine.prepare(&round).unwrap();
    assert_eq!(bench.engine.parity(FIRST), 0, "preparing changes nothing");
    bench.engine.replay(even).unwrap();
    bench.drain();
    let error = bench.engine.replay(even).unwrap_err();
    assert!(matches!(error, EngineError::InvalidProgram(_)), "{error}");
    let odd = bench.engine.prepare(&round).unwrap();
    for prepared in [odd, even, odd, even] {
        bench.engine.replay(prepared).unwrap();
        let completions = bench.drain();
        assert!(matches!(completions[0], Completion::Downloaded { .. }));
        assert_eq!(spans(&completions).len(), 2);
    }
    assert_eq!(
        bench.lattice(FIRST),
        generations_later(&bench.soups[0].clone(), Rule::LIFE, 5)
    );
    bench.engine.release(even);
    assert!(bench.engine.replay(even).is_err());
    let spec = SlotsSpec {
        pinned: 2,
        picture_words: 34,
        ..SlotsSpec::default()
    };
    bench.engine.allocate_slots(spec).unwrap();
    assert!(
        bench
            .engine
            .replay(odd)
            .unwrap_err()
            .to_string()
            .contains("replaced")
    );
}

#[test]
fn an_empty_program_finishes() {
    let mut bench = Bench::new(1, "8x8");
    assert!(spans(&bench.run([])).is_empty());
    assert_eq!(bench.engine.devices()[0].sm_count, 1);
}
