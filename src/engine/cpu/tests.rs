//! What the engine promises: streams in order and together, events as in CUDA, and a state that
//! survives every change of kernel.

use std::num::NonZeroUsize;

use super::*;
use crate::engine::kernels::{KERNELS, find};
use crate::engine::{Kernel, Slot, Span, Transfer, Viewport};
use crate::life::{Lattice, Rule};

/// Sizes that a careless torus or a careless word gets wrong.
pub(super) const AWKWARD: [(u64, u64); 34] = [
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 2),
    (1, 3),
    (3, 1),
    (1, 7),
    (2, 9),
    (3, 3),
    (5, 4),
    (7, 2),
    (9, 1),
    (30, 5),
    (31, 1),
    (31, 3),
    (32, 1),
    (32, 8),
    (33, 2),
    (33, 9),
    (63, 4),
    (64, 5),
    (65, 6),
    (65, 1),
    (96, 3),
    (97, 7),
    (127, 4),
    (128, 1),
    (129, 5),
    (255, 3),
    (257, 8),
    (288, 6),
    (511, 5),
    (512, 4),
    (545, 13),
];

/// Random cells, about three in eight alive.
pub(super) fn soup(size: Size, seed: u64) -> Lattice {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) as u32
    };
    let words = (0..size.words())
        .map(|_| random() & (random() | random()))
        .collect();
    Lattice::from_words(size, words)
}

/// The definition of Life, so many times.
pub(super) fn generations_later(lattice: &Lattice, rule: Rule, generations: u32) -> Lattice {
    let (width, height) = (lattice.size().width(), lattice.size().height());
    let mut lattice = lattice.clone();
    for _ in 0..generations {
        let mut next = Lattice::new(lattice.size());
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let around = [
                (0, 0),
                (0, 1),
                (0, 2),
                (1, 0),
                (1, 2),
                (2, 0),
                (2, 1),
                (2, 2),
            ];
            let alive = |&(dx, dy): &(u32, u32)| {
                lattice.get((x + width + dx - 1) % width, (y + height + dy - 1) % height)
            };
            let neighbours = around.iter().filter(|at| alive(at)).count();
            next.set(x, y, rule.next(lattice.get(x, y), neighbours as u32));
        }
        lattice = next;
    }
    lattice
}

const FIRST: LatticeId = LatticeId(0);

/// An engine with lattices of one size, a stream and two picture slots each, uploaded soups.
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
            pictures: 2,
            picture_words: size.words(),
            checkpoints: 1,
        };
        let slots = engine.allocate_slots(spec).unwrap();
        let streams: Vec<_> = (0..lattices)
            .map(|_| engine.create_stream(DeviceId(0)).unwrap())
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
        Op::Upload {
            lattice: LatticeId(i as u32),
            words: self.soups[i].words().into(),
        }
    }

    /// Runs to the end; the completions.
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
        self.run([(stream, Op::Pack(lattice)), (stream, download(lattice, 0))]);
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
    Op::Advance {
        kernel,
        lattices: lattice.0..lattice.0 + 1,
        rule,
        generations,
    }
}

fn download(lattice: LatticeId, slot: u8) -> Op {
    Op::Download {
        lattice,
        slot: Slot(slot),
        what: Transfer::Bits,
    }
}

fn spans(completions: &[Completion]) -> Vec<Span> {
    let finished = completions.iter().find_map(|completion| match completion {
        Completion::Finished { spans, .. } => Some(spans.clone()),
        _ => None,
    });
    finished.expect("the run has finished")
}

#[test]
fn every_kernel_steps_in_the_engine_and_parity_is_kept() {
    let mut bench = Bench::new(3, "65x37");
    let stream = bench.streams[0];
    let mut expected = bench.soups.clone();
    for kernel in &KERNELS {
        let unpack = |i| {
            (
                stream,
                Op::Unpack {
                    lattice: LatticeId(i),
                    to: kernel.layout,
                },
            )
        };
        bench.run((0..3).map(unpack));
        for generations in [0, 1, 2, 5] {
            let before = bench.engine.parity(FIRST);
            let (rule, lattices) = (Rule::LIFE, 0..3);
            bench.run([(
                stream,
                Op::Advance {
                    kernel,
                    lattices,
                    rule,
                    generations,
                },
            )]);
            let flipped = bench.engine.parity(FIRST) != before;
            assert_eq!(
                flipped,
                kernels::flips(kernel, generations),
                "{}",
                kernel.name
            );
            for (i, expected) in expected.iter_mut().enumerate() {
                *expected = generations_later(expected, rule, generations);
                let after = bench.lattice(LatticeId(i as u32));
                assert_eq!(
                    after, *expected,
                    "{} lattice {i} after {generations}",
                    kernel.name
                );
            }
        }
    }
}

#[test]
fn layouts_keep_the_state_and_bits_are_as_of_the_last_pack() {
    for (width, height) in AWKWARD {
        let mut bench = Bench::new(1, &format!("{width}x{height}"));
        let (stream, start) = (bench.streams[0], bench.soups[0].clone());
        let to_i32 = Op::Unpack {
            lattice: FIRST,
            to: Layout::I32,
        };
        let to_bits = Op::Unpack {
            lattice: FIRST,
            to: Layout::Bits,
        };
        bench.run([(stream, to_i32), (stream, advance("global", FIRST, 1))]);
        bench.run([(stream, download(FIRST, 1))]);
        let unpacked = bench.slots.read(FIRST, Slot(1), &mut |words| {
            assert_eq!(words, start.words())
        });
        assert!(unpacked, "{width}x{height}");
        bench.run([
            (stream, Op::Pack(FIRST)),
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
fn steps_of_a_stream_are_in_order_and_never_overlap() {
    let mut bench = Bench::new(4, "256x256");
    let steps = (0..200).map(|i| {
        (
            bench.streams[i % 4],
            advance("bits", LatticeId(i as u32 % 4), 3),
        )
    });
    let spans = spans(&bench.run(steps.collect::<Vec<_>>()));
    assert_eq!(spans.len(), 200);
    assert!(
        spans
            .iter()
            .enumerate()
            .all(|(i, span)| span.step as usize == i)
    );
    for stream in &bench.streams {
        let own: Vec<_> = spans.iter().filter(|span| span.stream == *stream).collect();
        assert_eq!(own.len(), 50);
        assert!(own.iter().all(|span| span.start <= span.end));
        assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}

#[test]
fn a_wait_holds_a_stream_until_the_mark_is_passed() {
    let mut bench = Bench::new(2, "512x512");
    let [first, second] = bench.streams[..] else {
        unreachable!()
    };
    let event = bench.engine.create_event(DeviceId(0)).unwrap();
    let completions = bench.run([
        (first, advance("bits", FIRST, 200)),
        (first, Op::Record(event)),
        (second, Op::Wait(event)),
        (second, advance("bits", FIRST, 1)),
    ]);
    let spans = spans(&completions);
    assert!(spans[2].end >= spans[1].start && spans[3].start >= spans[0].end);
    let expected = bench.soups[0].clone();
    let mut alone = Bench::new(1, "512x512");
    assert_eq!(alone.soups[0], expected);
    alone.run([(alone.streams[0], advance("bits", FIRST, 201))]);
    assert_eq!(bench.lattice(FIRST), alone.lattice(FIRST));
}

#[test]
fn a_downloaded_picture_does_not_wait_for_the_run() {
    let mut bench = Bench::new(2, "64x64");
    let [first, second] = bench.streams[..] else {
        unreachable!()
    };
    let endless = Op::Advance {
        kernel: find("bits").unwrap(),
        lattices: 0..1,
        rule: Rule::LIFE,
        generations: u32::MAX,
    };
    let run = bench.engine.submit(&program([
        (first, endless),
        (second, download(LatticeId(1), 0)),
    ]));
    let mut completions = Vec::new();
    while completions.is_empty() {
        bench.engine.wait(Duration::from_secs(1));
        bench.engine.poll(&mut completions).unwrap();
    }
    let [
        Completion::Downloaded {
            run: of,
            lattice: LatticeId(1),
            slot: Slot(0),
        },
    ] = completions[..]
    else {
        panic!("{completions:?}")
    };
    assert_eq!(of, run.unwrap());
    let soup = bench.soups[1].clone();
    assert!(
        bench
            .slots
            .read(LatticeId(1), Slot(0), &mut |words| assert_eq!(
                words,
                soup.words()
            ))
    );
    let started = Instant::now();
    drop(bench);
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "what runs is abandoned"
    );
}

#[test]
fn a_slot_in_use_is_refused_and_nothing_is_queued() {
    let mut bench = Bench::new(1, "64x64");
    let stream = bench.streams[0];
    let before = bench.lattice(FIRST);
    let slots = bench.slots.clone();
    let engine = &mut bench.engine;
    assert!(slots.read(FIRST, Slot(0), &mut |_| {
        let steps = [
            (stream, advance("bits", FIRST, 1)),
            (stream, download(FIRST, 1)),
            (stream, download(FIRST, 0)),
        ];
        let busy = engine.submit(&program(steps));
        assert_eq!(busy, Err(EngineError::SlotBusy(FIRST, Slot(0))));
        assert!(slots.is_free(FIRST, Slot(1)), "what was bound is released");
    }));
    assert_eq!(bench.engine.parity(FIRST), 0);
    assert_eq!(bench.lattice(FIRST), before);
    let twice = [(stream, download(FIRST, 0)), (stream, download(FIRST, 0))];
    let busy = bench.engine.submit(&program(twice));
    assert_eq!(busy, Err(EngineError::SlotBusy(FIRST, Slot(0))));
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
    assert!(matches!(error, EngineError::BadProgram(_)), "{error}");
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
        pictures: 2,
        picture_words: 34,
        checkpoints: 0,
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
fn programs_that_cannot_be_are_refused() {
    let mut bench = Bench::new(1, "256x256");
    let unpack = Op::Unpack {
        lattice: FIRST,
        to: Layout::I32,
    };
    let viewport = Viewport {
        x0: 0,
        y0: 0,
        step: Viewport::ONE,
        width: 6,
        height: 1,
    };
    let view = Op::Download {
        lattice: FIRST,
        slot: Slot(0),
        what: Transfer::View,
    };
    static STRANGE: Kernel = Kernel {
        name: "strange",
        ..copy_of_bits()
    };
    let strange = Op::Advance {
        kernel: &STRANGE,
        lattices: 0..1,
        rule: Rule::LIFE,
        generations: 1,
    };
    for (op, why) in [
        (advance("global", FIRST, 1), "wants layout I32"),
        (advance("sync-shared", FIRST, 1), "at most 24576 cells"),
        (advance("bits", LatticeId(1), 1), "no lattice 1"),
        (strange, "no twin"),
        (
            Op::Upload {
                lattice: FIRST,
                words: [0; 3].into(),
            },
            "3 words",
        ),
        (
            Op::Reduce {
                lattice: FIRST,
                viewport,
            },
            "Viewport",
        ),
        (view, "before one is made"),
        (download(FIRST, 3), "no Slot(3)"),
        (Op::Record(EventId(0)), "no EventId(0)"),
    ] {
        let error = bench.refused(op);
        assert!(error.contains(why), "{error}");
    }
    let nowhere = program([(StreamId(7), Op::Pack(FIRST))]);
    assert!(bench.engine.submit(&nowhere).is_err());
    bench.engine.reserve(Layout::Bits).unwrap();
    assert!(bench.refused(unpack).contains("not reserved"));
    assert!(bench.engine.create_stream(DeviceId(1)).is_err());
}

const fn copy_of_bits() -> Kernel {
    Kernel {
        name: "bits",
        file: "",
        symbol: "",
        title: "",
        layout: Layout::Bits,
        iteration: crate::engine::kernels::Iteration::Launches,
        block: (1, 1),
        rows_per_thread: 1,
        shared_bytes: |_, _| 0,
        in_place: false,
        most_cells: None,
    }
}

#[test]
fn a_view_is_downloaded() {
    let mut bench = Bench::new(1, "64x64");
    let stream = bench.streams[0];
    let viewport = Viewport {
        x0: 0,
        y0: 0,
        step: 64 << 16,
        width: 4,
        height: 1,
    };
    let view = Op::Download {
        lattice: FIRST,
        slot: Slot(0),
        what: Transfer::View,
    };
    bench.run([
        (
            stream,
            Op::Reduce {
                lattice: FIRST,
                viewport,
            },
        ),
        (stream, view),
    ]);
    let alive = bench.soups[0].population() as f64;
    let expected = (255.0 * alive / 4096.0).round() as u32;
    assert!(
        bench
            .slots
            .read(FIRST, Slot(0), &mut |words| assert_eq!(words[0], expected))
    );
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

#[test]
fn an_empty_program_finishes() {
    let mut bench = Bench::new(1, "8x8");
    assert!(spans(&bench.run([])).is_empty());
    assert_eq!(bench.engine.devices()[0].units, 1);
}
