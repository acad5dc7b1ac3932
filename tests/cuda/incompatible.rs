//! Programs that cannot be, on both engines: refused in the same words, and without a trace.

use std::time::Duration;

use engine::buffer_kernels::{BARRIER, GRAY, LOP3_RATE, MANDELBROT, MEET, SCALE, SPIN};
use engine::conformance::counted;
use engine::kernels::{KERNELS, Kernel};
use engine::{
    Argument, BufferId, BufferKernel, BufferLocation, BufferOp, DeviceId, Engine, EngineError,
    EventId, LatticeId, LatticeOp, Layout, Measure, MemoryOp, Op, OrderOp, PageLocation,
    PreparedId, Program, ReduceRegion, Result, Scope, Slot, StreamId, StreamKind, StreamSpec,
    Transfer, WordEdit,
};
use life::{Lattice, Rule, reference, soup};
use proptest::prelude::*;

use crate::ops::{
    D0, Lab, PAGEABLE, Soups, advance, at, call, copy, download, issued, on_both, on_cuda, program,
    record, spin, wait,
};

const NOWHERE: u32 = 99;

/// The lattices of a stage: 0 to 2 are of this size, on the first device; 3 is of the second, and 4
/// of the first again, in another context.
const SIZES: [&str; 2] = ["29x23", "128x256"];
const LATTICES: u32 = 5;

/// A laboratory with something of everything that programs can be wrong about.
struct Stage<'a> {
    lab: &'a mut Lab,
    /// All lattices and the cells that they have; its stream and a second one.
    soups: Soups,
    second: StreamId,
    /// The other context and a stream there.
    further: DeviceId,
    foreign: StreamId,
    pooled: BufferId,
}

impl Stage<'_> {
    fn new(lab: &mut Lab) -> Stage<'_> {
        let mut soups = lab.soups(3, SIZES[0]);
        let further = lab.engine.create_context(D0).unwrap();
        let foreign = lab.stream_of(further, StreamKind::NonBlocking);
        let others = [(D0, soups.stream, SIZES[1]), (further, foreign, SIZES[0])];
        for (lattice, (device, stream, size)) in (3..).zip(others) {
            let cells = soup(size.parse().unwrap(), 0.4, 3, lattice.into());
            let made = lab.engine.create_lattices(device, 1, cells.size());
            made.unwrap();
            let upload = Op::upload(LatticeId(lattice), cells.words());
            lab.run(&program([(stream, upload)]));
            soups.starts.push(cells);
        }
        lab.engine.reserve(Layout::I32).unwrap();
        soups.slots = lab.engine.allocate_slots(soups.spec).unwrap();
        let [second] = lab.streams();
        let pooled = lab.buffer(BufferLocation::Pool, 64);
        Stage {
            lab,
            soups,
            second,
            further,
            foreign,
            pooled,
        }
    }

    /// Runs ops in the first stream.
    fn run(&mut self, ops: impl IntoIterator<Item = Op>) {
        self.lab.run(&self.soups.program(ops));
    }

    fn prepare(&mut self, ops: impl IntoIterator<Item = Op>) -> PreparedId {
        let program = self.soups.program(ops);
        self.lab.engine.prepare(&program).unwrap()
    }

    fn parities(&self) -> Vec<u8> {
        let parity = |i| self.lab.engine.parity(LatticeId(i));
        (0..LATTICES).map(parity).collect()
    }

    /// Every slot is free, and another round of every lattice is what the reference makes of it.
    fn goes_on(&mut self, what: &str) {
        let mut steps = Vec::new();
        for i in 0..LATTICES {
            let is_free = |slot| self.soups.slots.is_free(LatticeId(i), Slot(slot));
            assert!((0..self.soups.spec.count()).all(is_free), "{i}: {what}");
            let stream = [self.soups.stream, self.foreign][usize::from(i == 4)];
            let round = [
                advance("bits", i..i + 1, 1),
                download(i..i + 1, 2, Transfer::Bits),
            ];
            steps.extend(round.map(|op| (stream, op)));
        }
        self.lab.run(&program(steps));
        for i in 0..LATTICES {
            self.expect_step(i);
            let cells = self.soups.starts[i as usize].words();
            assert_eq!(self.soups.read(i, 2), cells, "{i}: {what}");
        }
    }

    /// Its cells are expected to be those of the next generation.
    fn expect_step(&mut self, lattice: u32) {
        let cells = &mut self.soups.starts[lattice as usize];
        *cells = reference::run(cells, Rule::LIFE, 1);
    }

    /// What an engine says of what it refuses, which has no effect.
    fn refusal<T>(
        &mut self,
        what: &str,
        why: &str,
        act: impl FnOnce(&mut dyn Engine) -> Result<T>,
    ) -> EngineError {
        let parities = self.parities();
        let error = act(&mut *self.lab.engine).map(drop).expect_err(what);
        assert!(error.to_string().contains(why), "{what}: {error}");
        assert_eq!(self.parities(), parities, "{what}");
        self.goes_on(what);
        error
    }
}

fn reduce(lattices: std::ops::Range<u32>, width: u32, height: u32) -> Op {
    let region = ReduceRegion::of_cells(width, height);
    LatticeOp::Reduce(region).on(lattices)
}

fn upload(lattice: u32, words: usize) -> Op {
    Op::upload(LatticeId(lattice), &vec![0; words])
}

fn edit(lattice: u32, edits: &[(u32, u32)]) -> Op {
    let edits = edits.iter().map(|&(word, mask)| WordEdit {
        word,
        mask,
        bits: 0,
    });
    LatticeOp::Edit(edits.collect()).on(LatticeId(lattice).as_range())
}

/// A kernel that is in no table.
static STRANGE: Kernel = Kernel {
    name: "strange",
    own: None,
    ..KERNELS[0]
};

static STRANGE_CALL: BufferKernel = BufferKernel {
    name: "strange",
    parameters: &[],
    own: None,
};

/// What is wrong with a program or an op, and how that is said.
type Wrong<T> = (&'static str, T, &'static str);

/// Ops that are wrong in the first stream, behind some that are right.
#[rustfmt::skip]
fn wrong_steps(stage: &mut Stage) -> Vec<Wrong<Op>> {
    use Argument::{Buffer, F32, I32, U32, U64};
    let Stage { lab, further, pooled, .. } = stage;
    let foreign_event = lab.engine.create_event(*further).unwrap();
    let foreign_buffer = lab.engine.create_buffer(*further, 256, BufferLocation::Device).unwrap();
    let pageable = lab.buffer(PAGEABLE, 64);
    let (start, pinned) = (at(lab.device, 0), at(lab.host, 0));
    let on_device = Buffer(start); // 64 words
    let from = |offset, bytes| copy(at(lab.device, offset), pinned, bytes);
    let block = |kernel: &'static Kernel, block| LatticeOp::Advance { kernel, rule: Rule::LIFE, generations: 1, block }.on(0..1);
    let rows = |first, count| download(0..1, 3, Transfer::Rows { first, count });
    let barrier = |grid, block, width| {
        let numbers = [I32(width), I32(8), U32(0), I32(1), I32(1), U64(0)];
        call(&BARRIER, grid, block, &[&[on_device, on_device][..], &numbers].concat())
    };
    let mut wrong = vec![
        // Ids that are not there.
        ("unknown event recorded", record(EventId(NOWHERE)), "no EventId(99)"),
        ("unknown event awaited", wait(EventId(NOWHERE)), "no EventId(99)"),
        ("an unknown kernel", block(&STRANGE, (32, 8)), "no kernel strange"),
        ("an unknown called kernel", call(&STRANGE_CALL, 1, 1, &[]), "no kernel strange"),
        // Other devices.
        ("a range into another device", advance("bits", 3..5, 1), "LatticeId(4) is not on the stream's device"),
        ("a foreign event recorded", record(foreign_event), "not on the stream's device"),
        ("a copy from a foreign buffer", copy(at(foreign_buffer, 0), pinned, 4), "not on the stream's device"),
        ("a copy to a foreign buffer", copy(pinned, at(foreign_buffer, 0), 4), "not on the stream's device"),
        ("a call with a foreign buffer", spin(at(foreign_buffer, 0), Duration::ZERO), "not on the stream's device"),
        // Layouts and kernels.
        ("a layout that the size does not take", Op::unpack(0..1, Layout::Planar), "29x23 cannot be in layout Planar"),
        ("a width of less than a lane", advance("multistep", 0..1, 1), "kernel 'multistep' supports widths from 128 cells on, not 29x23; use --kernel bits"),
        ("no square", advance("resident", 3..4, 1), "kernel 'resident' supports lattices from 32x32 to 256x256, whose sides are the same multiple of 32 once they are rounded up, not 128x256; use --kernel bits"),
        ("too few columns for blocks together", advance("cooperative", 3..4, 1), "cooperative"),
        ("another block", block(&KERNELS[0], (7, 3)), "not 7x3"),
        // Uploads and edits.
        ("an edit beyond", edit(0, &[(23, 1)]), "29x23"),
        ("an edit beyond the width", edit(0, &[(1, 1 << 29)]), "29x23"),
        ("an edit twice", edit(0, &[(1, 1), (1, 1)]), "not in order"),
        // Rows and slots.
        ("no rows", rows(0, 0), "has no Rows"),
        ("rows beyond the last", rows(20, 4), "has no Rows"),
        ("rows without end", rows(1, u32::MAX), "has no Rows"),
        ("a slot out of range", download(0..1, 5, Transfer::Bits), "no Slot(5)"),
        ("bits in a picture's slot", download(3..4, 0, Transfer::Bits), "Slot(0) has 23"),
        // Copies.
        ("a copy of no whole words", from(0, 6), "6 bytes"),
        ("a copy beyond the source", from(8, 252), "252 bytes"),
        ("a copy from far beyond", from(usize::MAX - 3, 8), "8 bytes"),
        ("a copy to an odd offset", copy(start, at(lab.host, 3), 4), "offset 3"),
        ("a copy from host to host", copy(at(pageable, 0), pinned, 4), "host to host"),
        ("a copy to nowhere", copy(pinned, at(BufferId(NOWHERE), 0), 4), "no BufferId(99)"),
        ("a host function on the device", BufferOp::HostFunction(lab.device).into(), "cannot be used like this in Device"),
        // Memory.
        ("a prefetch of a pool's memory", MemoryOp::Prefetch(*pooled, PageLocation::Host).into(), "cannot be used like this in Pool"),
        ("allocation without an end", MemoryOp::Allocate(*pooled).into(), "allocated and not freed"),
        // Calls.
        ("too few arguments", call(&SCALE, 1, 32, &[on_device]), "3 arguments, not 1"),
        ("a number for a buffer", call(&SPIN, 1, 1, &[U64(0), U64(0)]), "spin takes Buffer, not U64"),
        ("a buffer of the host", spin(pinned, Duration::ZERO), "not on the device"),
        ("no blocks", call(&SPIN, 0, 1, &[on_device, U64(0)]), "0 blocks"),
        ("no threads", call(&SPIN, 1, 0, &[on_device, U64(0)]), "0 threads"),
        ("too many threads", call(&SPIN, 1, 1025, &[on_device, U64(0)]), "1025 threads"),
        ("an array too short", call(&SCALE, 1, 32, &[on_device, I32(65), I32(1)]), "260 bytes"),
        ("a negative length", call(&SCALE, 1, 32, &[on_device, I32(-1), I32(1)]), "length of -1"),
        ("pixels of no whole words", call(&GRAY, 1, 32, &[on_device, on_device, I32(3)]), "length of 3"),
        ("too many pixels", call(&GRAY, 1, 32, &[on_device, on_device, I32(68)]), "272 bytes"),
        ("too many numbers", call(&MANDELBROT, 1, 32, &[on_device, on_device, I32(33), I32(1), F32(2.0)]), "264 bytes"),
        ("a meeting at a buffer's end", call(&MEET, 1, 1, &[on_device, U32(1), U64(0), Buffer(at(lab.device, 256))]), "from offset 256"),
        ("a barrier between blocks", barrier(2, 32, 8), "2 blocks"),
        ("a barrier of part of a warp", barrier(1, 31, 8), "31 threads"),
        ("a barrier over no cells", barrier(1, 32, 0), "cannot run in 1 blocks of 32 threads"),
        ("a barrier over too many cells", barrier(1, 32, 9), "288 bytes"),
        ("a word for each of too many threads", call(&LOP3_RATE, 3, 32, &[on_device, U32(1), I32(1)]), "384 bytes"),
    ];
    // No whole words, no width, no height, too high, no cells, too large steps, and overflow.
    for (width, height, step, x0) in [
        (6, 1, 1, 0), (0, 1, 1, 0), (4, 0, 1, 0), (4, 65_536, 1, 0), (4, 1, 0, 0), (4, 1, 1 << 42, 0), (4, 1, 1, i64::MAX),
    ] {
        let region = ReduceRegion { x0, y0: 0, step, width, height };
        wrong.push(("a view", LatticeOp::Reduce(region).on(0..1), "ReduceRegion"));
    }
    wrong
}

/// Programs that are wrong as a whole, or by what their own steps leave.
#[rustfmt::skip]
fn wrong_programs(stage: &mut Stage) -> Vec<Wrong<Program>> {
    let &mut Stage { ref soups, second, foreign, pooled, .. } = stage;
    let (stream, event) = (soups.stream, stage.lab.event());
    let [allocate, free] = [MemoryOp::Allocate(pooled), MemoryOp::Free(pooled)].map(Op::from);
    let pack = || LatticeOp::Pack.on(0..1);
    let unpack = |lattices| Op::unpack(lattices, Layout::I32);
    let used = copy(at(pooled, 0), at(stage.lab.host, 0), 4);
    vec![
        ("an unknown stream", program([(StreamId(NOWHERE), LatticeOp::Pack.on(0..0))]), "no StreamId(99)"),
        ("a range without end", program([(foreign, advance("bits", 4..u32::MAX, 1))]), "no LatticeId(5)"),
        ("allocation on another device", program([(foreign, allocate.clone())]), "not on the stream's device"),
        ("allocated twice", soups.program([&allocate, &allocate, &free, &free].map(Op::clone)), "allocated and not freed"),
        ("used after its end", soups.program([allocate.clone(), free.clone(), used]), "not allocated in this stream"),
        ("freed in another stream", program([(stream, allocate.clone()), (second, free.clone())]), "not allocated in this stream"),
        ("allocated by one of several threads", issued([(0, stream, allocate), (0, stream, free), (1, second, pack())]), "one of several threads"),
        ("cells after an upload", soups.program([unpack(0..1), upload(0, 23), download(0..1, 0, Transfer::Cells)]), "no i32 cells"),
        ("a kernel of a range in two layouts", soups.program([unpack(1..2), advance("bits", 0..3, 1)]), "bits needs layout Bits, but LatticeId(1) is in layout I32"),
        ("a view that has grown out of its slot", soups.program([reduce(0..1, 4, 47), download(0..1, 0, Transfer::View)]), "47 words"),
        ("a slot twice, in ranges", soups.program([0..2, 1..3].map(|range| download(range, 0, Transfer::Bits))), "a host slot is in use"),
        ("an event that another issuer records later", issued([(1, second, wait(event)), (2, stream, record(event))]), "another issuer"),
        ("an event of two issuers", issued([(1, stream, record(event)), (2, second, record(event)), (2, second, wait(event))]), "another issuer"),
    ]
}

/// Programs that cannot be prepared.
#[rustfmt::skip]
fn unpreparable(stage: &mut Stage) -> Vec<Wrong<Program>> {
    let default = stage.lab.stream_of(D0, StreamKind::Default);
    let event = stage.lab.event();
    let pageable = stage.lab.buffer(PAGEABLE, 64);
    let &mut Stage { ref soups, second, pooled, .. } = stage;
    let pack = || LatticeOp::Pack.on(0..1);
    let one = |op| soups.program([op]);
    let allocated = [MemoryOp::Allocate(pooled), MemoryOp::Free(pooled)].map(Op::from);
    let block_timestamps = Program { block_timestamps: true, ..one(pack()) };
    vec![
        ("stamped", block_timestamps, "a program with block timestamps"),
        ("several issuers", issued([(0, soups.stream, pack()), (1, second, pack())]), "several threads"),
        ("the default stream", program([(default, pack())]), "the default stream"),
        ("waiting for a stream", one(OrderOp::Synchronize(Scope::Stream).into()), "waiting on the host"),
        ("an upload", one(upload(0, 23)), "an upload"),
        ("an edit", one(edit(0, &[])), "an edit"),
        ("a pageable slot", one(download(0..1, 1, Transfer::Bits)), "pageable memory"),
        ("a copy from pageable memory", one(copy(at(pageable, 0), at(stage.lab.device, 0), 4)), "pageable memory"),
        ("memory of a pool", soups.program(allocated), "managing memory"),
        ("a wait before its record", program([(soups.stream, wait(event)), (second, record(event))]), "has not recorded"),
    ]
}

#[test]
fn both_engines_refuse_the_same_programs_in_the_same_words_and_without_a_trace() {
    on_both(|lab| {
        let stage = &mut Stage::new(lab);
        let mut wrong = wrong_programs(stage);
        let right = [
            advance("bits", 0..3, 3),
            Op::unpack(2..3, Layout::I32),
            download(1..3, 1, Transfer::Bits),
        ];
        for (what, op, why) in wrong_steps(stage) {
            let steps = right.iter().cloned().chain([op]);
            wrong.push((what, stage.soups.program(steps), why));
        }
        let mut said = Vec::new();
        for (what, program, why) in wrong {
            said.push(stage.refusal(what, why, |engine| {
                let error = engine.submit(&program);
                if !why.contains("in use") {
                    let prepared = engine.prepare(&program).expect_err(what);
                    let other = prepared.to_string().contains("cannot be prepared");
                    assert!(
                        other || Err(&prepared) == error.as_ref(),
                        "{what}: {prepared}"
                    );
                }
                error
            }));
        }
        for (what, program, why) in unpreparable(stage) {
            said.push(stage.refusal(what, why, |engine| engine.prepare(&program)));
        }
        said
    });
}

#[test]
fn a_slot_that_is_read_is_refused_in_the_same_words() {
    on_both(|lab| {
        let stage = &mut Stage::new(lab);
        let slots = stage.soups.slots.clone();
        let steps = [advance("bits", 0..3, 1), download(0..3, 0, Transfer::Bits)];
        let steps = stage.soups.program(steps);
        stage.refusal("read", "a host slot is in use", |engine| {
            let mut answer = None;
            slots.read(LatticeId(1), Slot(0), &mut |_| {
                answer = Some(engine.submit(&steps))
            });
            answer.unwrap()
        })
    });
}

#[test]
fn what_was_never_made_is_refused_in_the_same_words() {
    on_both(|lab| {
        let [stream] = lab.streams();
        let engine = &mut lab.engine;
        let size = SIZES[0].parse().unwrap();
        engine.create_lattices(D0, 1, size).unwrap();
        assert_eq!(engine.parity(LatticeId(7)), 0);
        let steps = program([(stream, download(0..1, 0, Transfer::Bits))]);
        let missing = engine.submit(&steps).unwrap_err();
        let said = missing.to_string();
        assert!(said.contains("LatticeId(0) has no Slot(0)"), "{said}");
        let mut buffer = |bytes| engine.create_buffer(D0, bytes, BufferLocation::Device);
        let buffers = [0, 6].map(|bytes| buffer(bytes).unwrap_err());
        let others = [
            engine.query(EventId(0)).map(drop),
            engine
                .create_stream(DeviceId(1), StreamSpec::PLAIN)
                .map(drop),
            engine.replay(PreparedId(0)).map(drop),
        ];
        (missing, buffers, others.map(Result::unwrap_err))
    });
}

#[test]
fn preparing_moves_no_state_and_a_replay_needs_the_state_that_it_was_prepared_from() {
    on_both(|lab| {
        let stage = &mut Stage::new(lab);
        let view = || download(0..1, 0, Transfer::View);
        let measure = || download(0..1, 4, Transfer::Measure);
        // What is made in a prepared program is not there before it has been replayed.
        let made = stage.prepare([
            reduce(0..1, 4, 1),
            LatticeOp::Measure.on(0..1),
            Op::unpack(1..2, Layout::I32),
            advance("global", 1..2, 1),
            advance("bits", 2..3, 1),
        ]);
        let mut said = Vec::new();
        for (op, why) in [
            (view(), "reduce it first"),
            (measure(), "not been measured"),
            (advance("global", 1..2, 1), "needs layout I32"),
        ] {
            let early = stage.soups.program([op]);
            said.push(stage.refusal("early", why, |engine| engine.submit(&early)));
        }
        // The rounds that were made since have moved every lattice on, and another moves it back.
        let mut replay = |stage: &mut Stage, prepared, why| {
            said.push(stage.refusal("replay", why, |engine| engine.replay(prepared)));
        };
        replay(stage, made, "another state");
        stage.lab.engine.replay(made).unwrap();
        stage.lab.finish();
        let back = [LatticeOp::Pack.on(1..2), Op::unpack(1..2, Layout::Bits)];
        stage.run([view(), measure()].into_iter().chain(back));
        stage.expect_step(1);
        stage.expect_step(2);
        stage.goes_on("replayed");
        // Views of other lengths than the one that a prepared download copies.
        stage.run([reduce(0..1, 4, 2)]);
        let prepared = stage.prepare([view()]);
        for (height, why) in [(1, "another state"), (3, "replaced")] {
            stage.run([reduce(0..1, 4, height)]);
            replay(stage, prepared, why);
        }
        stage.lab.engine.release(prepared);
        replay(stage, prepared, "there is no PreparedId(1)");
        let old = stage.prepare([LatticeOp::Pack.on(0..1)]);
        stage.soups.slots = stage.lab.engine.allocate_slots(stage.soups.spec).unwrap();
        replay(stage, old, "replaced");
        said
    });
}

#[test]
fn a_view_that_grows_leaves_its_neighbours_as_they_are() {
    let views = on_both(|lab| {
        let soups = lab.soups(3, SIZES[0]);
        lab.run(&soups.program([reduce(0..3, 8, 2)]));
        lab.run(&soups.program([2, 3, 5].map(|height| reduce(1..2, 8, height))));
        lab.run(&soups.program([download(0..3, 0, Transfer::View)]));
        [(0, 4), (1, 10), (2, 4)].map(|(i, words)| soups.read(i, 0)[..words].to_vec())
    });
    assert!(views.iter().flatten().any(|word| *word != 0));
}

#[test]
fn a_reserve_that_fails_leaves_the_state_that_there_is() {
    on_cuda(|lab| {
        let stage = &mut Stage::new(lab);
        stage.lab.engine.reserve(Layout::Planar).unwrap();
        stage.run([Op::unpack(3..4, Layout::Planar)]);
        // 2 GiB at 4 bytes per cell, of which the fake driver has 1.
        let large = "16384x16384".parse().unwrap();
        stage.lab.engine.create_lattices(D0, 1, large).unwrap();
        let failed = stage.lab.engine.reserve(Layout::I32);
        let full = matches!(failed, Err(EngineError::OutOfMemory { .. }));
        assert!(full, "{failed:?}");
        let gone = "needs layout Planar, but LatticeId(3) is in layout Bits";
        for (op, why) in [
            (advance("planar", 3..4, 1), gone),
            (Op::unpack(3..4, Layout::Planar), "not reserved"),
            (Op::unpack(5..6, Layout::I32), "not reserved"),
        ] {
            let refused = stage.soups.program([op]);
            stage.refusal("a failed reserve", why, |engine| engine.submit(&refused));
        }
        // Those for which there was memory have it, and keep their cells when it is asked for again.
        stage.run([Op::unpack(0..1, Layout::I32), advance("global", 0..1, 1)]);
        stage.lab.engine.reserve(Layout::I32).unwrap_err();
        stage.run([LatticeOp::Pack.on(0..1), Op::unpack(0..1, Layout::Bits)]);
        stage.expect_step(0);
        stage.goes_on("a reserve that failed again");
    });
}
/// A step of a random program: for the validator to judge.
fn any_op() -> impl Strategy<Value = Op> {
    let lattices = (0u32..4, 0u32..3).prop_map(|(first, count)| first..(first + count).min(4));
    let layout = prop_oneof![Just(Layout::Bits), Just(Layout::I32), Just(Layout::Planar)];
    let kernel = prop::sample::select(vec![
        "global",
        "shared",
        "sync-global",
        "sync-shared",
        "bits",
        "planar",
        "multistep",
    ]);
    let transfer = prop_oneof![
        Just(Transfer::Bits),
        Just(Transfer::View),
        Just(Transfer::Cells),
        Just(Transfer::Measure),
        (0u32..30, 0u32..30).prop_map(|(first, count)| Transfer::Rows { first, count }),
    ];
    prop_oneof![
        2 => lattices.clone().prop_map(|range| LatticeOp::Pack.on(range)),
        3 => (lattices.clone(), layout).prop_map(|(lattices, to)| Op::unpack(lattices, to)),
        6 => (lattices.clone(), kernel, 0u32..4).prop_map(|(l, kernel, n)| advance(kernel, l, n)),
        1 => (lattices.clone(), 0u32..4, 0u32..3).prop_map(|(l, w, h)| reduce(l, 4 * w, h)),
        1 => lattices.clone().prop_map(|range| LatticeOp::Measure.on(range)),
        2 => (lattices, 0u8..6, transfer).prop_map(|(l, slot, what)| download(l, slot, what)),
        1 => (0u32..4, 0usize..60).prop_map(|(l, words)| upload(l, words)),
        1 => (0u32..4, any::<u64>()).prop_map(|(l, seed)| {
            let soup = life::Soup { density: 0.3, seed, instance: l.into() };
            LatticeOp::Soup(soup).on(LatticeId(l).as_range())
        }),
        2 => (0u32..4, 0u32..50, any::<u32>()).prop_map(|(l, word, mask)| edit(l, &[(word, mask & 0x1fff)])),
    ]
}

/// A lattice as the ops' definitions have it, stepped by the reference.
struct ReferenceLattice {
    layout: Layout,
    cells: Lattice,
    /// The bits, as of the last pack.
    bits: Lattice,
    /// Those that were measured last, and what was found.
    measured: Option<Lattice>,
    measure: Measure,
}

impl ReferenceLattice {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Lattices(_, LatticeOp::Upload(words)) => {
                self.cells = Lattice::from_words(self.cells.size(), words.to_vec());
                self.layout = Layout::Bits;
            }
            Op::Lattices(_, LatticeOp::Soup(soup)) => {
                self.cells = soup.lattice(self.cells.size());
                self.layout = Layout::Bits;
            }
            Op::Lattices(_, LatticeOp::Edit(edits)) => {
                let mut words = self.cells.words().to_vec();
                edits
                    .iter()
                    .for_each(|edit| edit.apply(&mut words[edit.word as usize]));
                self.cells = Lattice::from_words(self.cells.size(), words);
            }
            Op::Lattices(_, LatticeOp::Pack) => self.bits = self.cells.clone(),
            Op::Lattices(_, LatticeOp::Measure) => {
                self.measure = counted(&self.bits, self.measured.as_ref());
                self.measured = Some(self.bits.clone());
            }
            Op::Lattices(_, LatticeOp::Unpack(to)) => {
                self.layout = *to;
                self.cells = self.bits.clone();
            }
            Op::Lattices(_, LatticeOp::Advance { generations, .. }) => {
                self.cells = reference::run(&self.cells, Rule::LIFE, u64::from(*generations));
            }
            _ => {}
        }
        if self.layout == Layout::Bits {
            self.bits = self.cells.clone();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever is asked, both engines judge it alike; what they accept is what the reference makes
    /// of it, and what they refuse leaves everything as it was.
    #[test]
    fn random_programs_are_refused_or_are_what_the_reference_makes_of_them(
        programs in prop::collection::vec(
            (prop::collection::vec(any_op(), 0..6), any::<bool>()), 1..12),
        planar: bool,
    ) {
        on_both(|lab| {
            let stage = &mut Stage::new(lab);
            if planar {
                stage.lab.engine.reserve(Layout::Planar).unwrap();
            }
            let model = |cells: &Lattice| ReferenceLattice {
                layout: Layout::Bits,
                cells: cells.clone(),
                bits: cells.clone(),
                measured: None,
                measure: Measure::default(),
            };
            let mut models: Vec<ReferenceLattice> = stage.soups.starts.iter().map(model).collect();
            let mut answers = Vec::new();
            for (ops, prepare) in &programs {
                // One stream: between two there would be no order.
                let steps = stage.soups.program(ops.iter().cloned());
                let (parities, engine) = (stage.parities(), &mut stage.lab.engine);
                let answer = if *prepare {
                    let prepared = engine.prepare(&steps);
                    prepared.and_then(|prepared| engine.replay(prepared))
                } else {
                    engine.submit(&steps)
                };
                if answer.is_err() {
                    assert_eq!(stage.parities(), parities);
                } else {
                    stage.lab.finish();
                    for op in ops {
                        for lattice in op.lattices() {
                            models[lattice as usize].apply(op);
                        }
                    }
                }
                answers.push((answer.map(drop), stage.parities()));
            }
            let measure = LatticeOp::Measure.on(0..4);
            let measured = download(0..4, 4, Transfer::Measure);
            stage.run([download(0..4, 2, Transfer::Bits), measure.clone(), measured]);
            for (i, model) in (0..4).zip(&mut models) {
                model.apply(&measure);
                let found = (stage.soups.read(i, 2), stage.soups.read(i, 4));
                let wanted = (model.bits.words().to_vec(), model.measure.to_words().to_vec());
                assert_eq!(found, wanted, "{}", stage.lab.engine.name());
            }
            answers
        });
    }
}
