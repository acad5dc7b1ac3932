//! What the lab asks of the CUDA engine, over the tests' own driver: kinds of streams, contexts,
//! buffers, issuers, waiting, pageable memory, block timestamps; and nothing left behind.

use std::sync::MutexGuard;

use engine::buffer_kernels::{GRAY, MEET, SPIN};
use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::{Batch, Launch};
use engine::{
    Argument, BlockTimestamp, BufferId, BufferLaunch, BufferLocation, BufferOp, Completion,
    DeviceId, Engine, HostMemory, IssuerId, LatticeId, LatticeOp, Layout, Measure, Nanos, Op,
    OrderOp, Priority, Program, Scope, Slot, SlotsSpec, Span, StreamId, StreamKind, StreamSpec,
    Transfer, kernels,
};
use life::{Lattice, Rule, Size, reference, soup};

use crate::ops::{self, advance, alone, at, download, program};

/// The engine, and the right to be the only one: they would share the primary context.
struct Lab(CudaEngine, #[allow(dead_code)] MutexGuard<'static, ()>);

const D0: DeviceId = DeviceId(0);
const MS: i64 = 1_000_000;
/// How far the clocks that are brought together may be apart where the host is held up between
/// two readings; wrong units or epochs are farther.
const SLACK: i64 = 500 * MS;

fn lab() -> Lab {
    let alone = alone();
    Lab(CudaEngine::open(Ordinals::First).unwrap(), alone)
}

/// Sets a variable of the fake driver while it lives.
pub(crate) struct Variable(&'static str);

impl Variable {
    pub(crate) fn set(name: &'static str, value: &str) -> Variable {
        // SAFETY: the caller is [`alone`], and the driver's threads only sleep or run kernels now.
        unsafe { std::env::set_var(name, value) };
        Variable(name)
    }
}

impl Drop for Variable {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { std::env::remove_var(self.0) };
    }
}

/// A number that the fake driver gives of itself.
pub(crate) fn query(name: &str) -> i32 {
    // SAFETY: the library is the one that the engine has open; the functions take nothing.
    unsafe {
        let library = libloading::Library::new(crate::driver::library()).unwrap();
        let function = library.get::<unsafe extern "C" fn() -> i32>(name.as_bytes());
        function.unwrap()()
    }
}

/// What a run came to.
#[derive(Default)]
struct Done {
    downloads: usize,
    spans: Vec<Span>,
    host: Vec<Span>,
    block_timestamps: Vec<BlockTimestamp>,
}

impl Done {
    fn span(&self, step: usize) -> Span {
        *self.spans.iter().find(|s| s.step == step as u32).unwrap()
    }

    fn host(&self, step: usize) -> Span {
        *self.host.iter().find(|s| s.step == step as u32).unwrap()
    }
}

fn overlap(a: Span, b: Span) -> bool {
    a.start < b.end && b.start < a.end
}

/// What comes about only if this machine is not held up for as long as the spins take: each try
/// has spins so many times as long.
#[track_caller]
fn in_some_tries(mut attempt: impl FnMut(i64) -> Result<(), String>) {
    let mut last = Ok(());
    for times in [1, 4, 16, 64] {
        last = attempt(times);
        if last.is_ok() {
            return;
        }
    }
    panic!("not in any try: {last:?}");
}

fn so(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

impl Lab {
    fn stream(&mut self, kind: StreamKind, priority: Priority) -> StreamId {
        let spec = StreamSpec { kind, priority };
        self.0.create_stream(D0, spec).unwrap()
    }

    fn plain(&mut self, device: DeviceId) -> StreamId {
        self.0.create_stream(device, StreamSpec::PLAIN).unwrap()
    }

    fn buffer(&mut self, device: DeviceId, bytes: usize) -> BufferId {
        self.0
            .create_buffer(device, bytes, BufferLocation::Device)
            .unwrap()
    }

    fn host(&mut self, words: &[u32], kind: HostMemory) -> BufferId {
        let id = self
            .0
            .create_buffer(D0, words.len() * 4, BufferLocation::Host(kind))
            .unwrap();
        self.0
            .access(id, &mut |to| to.copy_from_slice(words))
            .unwrap();
        id
    }

    fn words(&mut self, buffer: BufferId) -> Vec<u32> {
        let mut words = Vec::new();
        self.0
            .access(buffer, &mut |of| words = of.to_vec())
            .unwrap();
        words
    }

    fn run(&mut self, program: &Program) -> Done {
        let run = self.0.submit(program).unwrap();
        self.0.synchronize().unwrap();
        let mut completions = Vec::new();
        self.0.poll(&mut completions).unwrap();
        let mut done = Done::default();
        for completion in completions {
            match completion {
                Completion::Downloaded { .. } => done.downloads += 1,
                Completion::Finished {
                    run: of,
                    spans,
                    host,
                    block_timestamps,
                } => {
                    assert_eq!(of, run);
                    (done.spans, done.host, done.block_timestamps) =
                        (spans, host, block_timestamps);
                }
            }
        }
        done
    }

    /// Ends the engine, which must leave nothing in the driver.
    fn leaves_nothing(self) {
        let before = query("fake_cuda_leaked");
        drop(self.0);
        assert_eq!(
            query("fake_cuda_leaked"),
            before,
            "something was left behind"
        );
        assert_eq!(query("fake_cuda_contexts"), 0);
    }
}

fn copy(from: BufferId, to: BufferId, bytes: usize) -> Op {
    ops::copy(at(from, 0), at(to, 0), bytes)
}

fn call(kernel: &'static engine::BufferKernel, arguments: Vec<Argument>) -> BufferLaunch {
    BufferLaunch {
        kernel,
        shape: Launch::in_row(2, 32),
        arguments,
    }
}

fn spin(done: BufferId, ms: i64) -> Op {
    let arguments = vec![
        Argument::Buffer(at(done, 0)),
        Argument::U64((ms * MS) as u64),
    ];
    BufferOp::Launch(BufferLaunch {
        shape: Launch::in_row(1, 1),
        ..call(&SPIN, arguments)
    })
    .into()
}

fn gray(from: BufferId, to: BufferId, pixels: i32) -> Op {
    let arguments = vec![
        Argument::Buffer(at(from, 0)),
        Argument::Buffer(at(to, 0)),
        Argument::I32(pixels),
    ];
    BufferOp::Launch(call(&GRAY, arguments)).into()
}

fn timed() -> Program {
    Program {
        timed: true,
        ..Program::default()
    }
}

#[test]
fn buffers_are_copied_and_calls_use_them() {
    let mut lab = lab();
    let stream = lab.plain(D0);
    let pixels = [0x00_00_00_ff, 0x00_00_ff_00, 0x00_ff_00_00, 0x00_ff_ff_ff];
    for kind in [HostMemory::Pinned, HostMemory::Pageable] {
        let from = lab.host(&pixels, kind);
        let to = lab.host(&[7, 7], kind);
        let (colour, other, bytes) = (lab.buffer(D0, 16), lab.buffer(D0, 16), lab.buffer(D0, 8));
        let ops = [
            copy(from, colour, 16),
            copy(colour, other, 16),
            gray(other, bytes, 4),
            copy(bytes, to, 8),
        ];
        lab.run(&program(ops.map(|op| (stream, op))));
        let want = [77 * 255 / 256, 150 * 255 / 256, 29 * 255 / 256, 255].map(|gray| gray as u8);
        assert_eq!(lab.words(to), [u32::from_le_bytes(want), 0]);
        assert_eq!(lab.words(bytes), lab.words(to), "on the device");
        lab.0.access(bytes, &mut |words| words[1] = 5).unwrap();
        assert_eq!(lab.words(bytes)[1], 5, "written on the device");
    }
    let last = lab.buffer(D0, 4);
    lab.0.drop_buffers().unwrap();
    assert!(lab.0.access(last, &mut |_| panic!("it is gone")).is_err());
    assert!(lab.buffer(D0, 4).0 > last.0, "an id was used again");
    lab.leaves_nothing();
}

#[test]
fn a_further_context_has_its_own_memory_and_streams() {
    let mut lab = lab();
    let further = lab.0.create_context(D0).unwrap();
    assert_eq!(further, DeviceId(1));
    assert_eq!(lab.0.devices()[0], lab.0.devices()[1]);
    let host = lab.host(&[0x00_ff_ff_ff; 4], HostMemory::Pinned);
    let mut program = timed();
    let mut results = Vec::new();
    for device in [D0, further] {
        let stream = lab.plain(device);
        let (colour, bytes) = (lab.buffer(device, 16), lab.buffer(device, 4));
        program.push(stream, copy(host, colour, 16));
        program.push(stream, gray(colour, bytes, 4));
        results.push(bytes);
    }
    let done = lab.run(&program);
    for bytes in results {
        assert_eq!(lab.words(bytes), [0xffff_ffff]);
    }
    assert_eq!(done.spans.len(), 4);
    let apart = (done.span(0).start.0 - done.span(2).start.0).abs();
    assert!(
        apart < 1000 * MS,
        "the clocks of two contexts differ by {apart} ns"
    );
    let size = Size::new(40, 12).unwrap();
    lab.0.create_lattices(further, 1, size).unwrap();
    lab.leaves_nothing();
}

#[test]
fn the_default_stream_waits_for_blocking_streams_and_they_for_it() {
    let mut lab = lab();
    use StreamKind::{Blocking, Default, NonBlocking};
    let kinds = [Blocking, Default, Blocking, NonBlocking, Default];
    let [first, default, last, free, again] = kinds.map(|kind| lab.stream(kind, Priority::Normal));
    assert_eq!(default, again, "there is one");
    let done = lab.buffer(D0, 4);
    let mut spins = 0;
    in_some_tries(|times| {
        let mut program = timed();
        for stream in [first, default, last, free] {
            program.push(stream, spin(done, 60 * times));
        }
        let ran = lab.run(&program);
        spins += 4;
        assert_eq!(lab.words(done), [spins]);
        assert!(ran.span(0).end <= ran.span(1).start, "{:?}", ran.spans);
        assert!(ran.span(1).end <= ran.span(2).start, "{:?}", ran.spans);
        let freely = overlap(ran.span(0), ran.span(3));
        so(freely, || format!("{:?}", ran.spans))
    });
    // With nothing between them.
    in_some_tries(|times| {
        let mut program = timed();
        program.push(first, spin(done, 60 * times));
        program.push(last, spin(done, 60 * times));
        let ran = lab.run(&program);
        let freely = overlap(ran.span(0), ran.span(1));
        so(freely, || format!("{:?}", ran.spans))
    });
    lab.leaves_nothing();
}

#[test]
fn calls_on_buffers_are_replayed() {
    let mut lab = lab();
    let stream = lab.plain(D0);
    let done = lab.buffer(D0, 4);
    let pinned = lab.host(&[0], HostMemory::Pinned);
    let round = program([(stream, spin(done, 1)), (stream, copy(done, pinned, 4))]);
    let prepared = lab.0.prepare(&round).unwrap();
    for _ in 0..3 {
        lab.0.replay(prepared).unwrap();
    }
    assert_eq!(lab.words(pinned), [3]);
    lab.leaves_nothing();
}

#[test]
fn a_stream_may_go_first() {
    let mut lab = lab();
    for kind in [StreamKind::NonBlocking, StreamKind::Blocking] {
        let stream = lab.stream(kind, Priority::High);
        let done = lab.buffer(D0, 4);
        lab.run(&program([(stream, spin(done, 1))]));
        assert_eq!(lab.words(done), [1]);
    }
    lab.leaves_nothing();
}

#[test]
fn the_host_waits_where_it_is_told_to() {
    let mut lab = lab();
    let (a, b) = (lab.plain(D0), lab.plain(D0));
    let done = lab.buffer(D0, 4);
    for (scope, both) in [(Scope::Stream, false), (Scope::Device, true)] {
        in_some_tries(|times| {
            let mut program = timed();
            program.push(b, spin(done, 300 * times));
            program.push(a, spin(done, 50 * times));
            program.push(a, OrderOp::Synchronize(scope));
            program.push(a, spin(done, 1));
            let ran = lab.run(&program);
            let steps: Vec<u32> = ran.spans.iter().map(|span| span.step).collect();
            assert_eq!(steps, [0, 1, 3], "waiting is nothing that the device does");
            assert!(ran.span(3).start >= ran.span(1).end);
            let launched = ran.host(0).length().0;
            so(launched < 40 * times * MS, || {
                format!("a launch takes {launched} ns")
            })?;
            let waited = ran.host(2).length().0;
            so(waited > 30 * times * MS, || {
                format!("waited {waited} ns only")
            })?;
            so((waited > 180 * times * MS) == both, || {
                format!("{scope:?}: {waited} ns")
            })
        });
    }
    lab.leaves_nothing();
}

#[test]
fn an_event_is_asked() {
    let mut lab = lab();
    let stream = lab.plain(D0);
    let [started, ended] = [(); 2].map(|()| lab.0.create_event(D0).unwrap());
    let done = lab.buffer(D0, 4);
    in_some_tries(|times| {
        let ops = [
            OrderOp::Record(started).into(),
            spin(done, 200 * times),
            OrderOp::Record(ended).into(),
        ];
        lab.0.submit(&program(ops.map(|op| (stream, op)))).unwrap();
        let over_at_once = lab.0.query(ended).unwrap();
        lab.0.synchronize().unwrap();
        assert!(lab.0.query(started).unwrap() && lab.0.query(ended).unwrap());
        lab.0.poll(&mut Vec::new()).unwrap();
        so(!over_at_once, || "over at once".into())
    });
    lab.leaves_nothing();
}

#[test]
fn several_issuers_issue_at_the_same_time() {
    let mut lab = lab();
    let further = lab.0.create_context(D0).unwrap();
    const MANY: u8 = 4;
    let mut program = timed();
    let mut meetings = Vec::new();
    let entered = lab.buffer(D0, 4);
    for issuer in 0..MANY {
        let device = if issuer == 3 { further } else { D0 };
        let stream = lab.plain(device);
        let done = lab.buffer(device, 4);
        let event = lab.0.create_event(device).unwrap();
        let from = IssuerId(issuer);
        // Three of them meet; that each waits for its own before it goes on, one host thread
        // could not do.
        if device == D0 {
            let met = lab.buffer(D0, 4);
            let arguments = vec![
                Argument::Buffer(at(entered, 0)),
                Argument::U32(3),
                Argument::U64(10_000 * MS as u64),
                Argument::Buffer(at(met, 0)),
            ];
            let meet = BufferLaunch {
                shape: Launch::in_row(1, 1),
                ..call(&MEET, arguments)
            };
            program.push_from(from, stream, BufferOp::Launch(meet));
            meetings.push(met);
        } else {
            program.push_from(from, stream, spin(done, 1));
        }
        program.push_from(from, stream, OrderOp::Synchronize(Scope::Stream));
        program.push_from(from, stream, OrderOp::Record(event));
        program.push_from(from, stream, OrderOp::Wait(event));
        program.push_from(from, stream, spin(done, 5));
    }
    let ran = lab.run(&program);
    for met in meetings {
        assert_eq!(lab.words(met), [1], "they did not meet");
    }
    assert_eq!(ran.host.len(), program.steps.len(), "a host span a step");
    assert_eq!(ran.spans.len(), program.steps.len() - usize::from(MANY));
    // Who met had all been launched: no thread's wait ends before the last of the launches began.
    // (That two waits overlap is likely, but a thread may be held up between launch and wait.)
    let waited = [1, 6, 11].map(|step| ran.host(step).end).into_iter().min();
    let launched = [0, 5, 10]
        .map(|step| ran.host(step).start)
        .into_iter()
        .max();
    assert!(launched <= waited, "{launched:?} {waited:?}");
    for issuer in 0..usize::from(MANY) {
        let steps = issuer * 5..issuer * 5 + 4;
        for step in steps {
            assert!(
                ran.host(step).end <= ran.host(step + 1).start,
                "out of order"
            );
        }
    }
    lab.leaves_nothing();
}

const SIZE: (u32, u32) = (45, 23);

impl Lab {
    /// Lattices with slots: one page-locked, one pageable, one for snapshots.
    fn lattices(&mut self, count: usize) -> (Size, StreamId, Program) {
        let size = Size::new(SIZE.0.into(), SIZE.1.into()).unwrap();
        self.0.create_lattices(D0, count, size).unwrap();
        self.0.reserve(Layout::I32).unwrap();
        let stream = self.plain(D0);
        let mut program = Program::default();
        for lattice in (0..count as u32).map(LatticeId) {
            let start = soup(size, 0.4, 3, u64::from(lattice.0));
            program.push(stream, Op::upload(lattice, start.words()));
        }
        (size, stream, program)
    }
}

#[test]
fn a_download_to_pageable_memory_blocks_its_call() {
    let mut lab = lab();
    let (size, stream, program) = lab.lattices(2);
    let spec = SlotsSpec {
        pinned: 1,
        pageable: 1,
        picture_words: size.words(),
        snapshots: 1,
        measures: 0,
    };
    let slots = lab.0.allocate_slots(spec).unwrap();
    let done = lab.buffer(D0, 4);
    lab.run(&program);
    in_some_tries(|times| {
        let mut program = timed();
        for slot in 0..3 {
            program.push(stream, spin(done, 100 * times));
            program.push(stream, download(0..1, slot, Transfer::Bits));
        }
        let ran = lab.run(&program);
        assert_eq!(ran.downloads, 3);
        let [pinned, pageable, snapshot] = [1, 3, 5].map(|step| ran.host(step).length().0);
        let at_once = pinned.max(snapshot) < 50 * times * MS;
        so(at_once && pageable > 50 * times * MS, || {
            format!("{pinned}, {pageable} and {snapshot} ns")
        })
    });
    let want = soup(size, 0.4, 3, 0);
    for slot in 0..3 {
        let mut same = false;
        let mut look = |words: &[u32]| same = words == want.words();
        assert!(slots.read(LatticeId(0), Slot(slot), &mut look));
        assert!(same, "slot {slot}");
    }
    drop(slots);
    lab.leaves_nothing();
}

#[test]
fn measures_agree_with_the_cpu_eagerly_and_in_graphs() {
    let mut lab = lab();
    let (size, stream, program) = lab.lattices(3);
    lab.run(&program);
    let spec = SlotsSpec {
        pinned: 1,
        pageable: 0,
        picture_words: size.words(),
        snapshots: 1,
        measures: 2,
    };
    let slots = lab.0.allocate_slots(spec).unwrap();
    let to = |slot| download(0..3, spec.measure_slot(slot).0, Transfer::Measure);
    // Nobody paid for measures until now.
    let mut program = Program::default();
    for slot in 0..2 {
        program.push(stream, advance("bits", 0..3, 1));
        program.push(stream, LatticeOp::Measure.on(0..3));
        program.push(stream, to(slot));
    }
    let mut then: Vec<_> = (0..3).map(|_| Lattice::new(size)).collect();
    let mut generation = 0;
    let mut check = |lab: &str| {
        for slot in 0..2 {
            generation += 1;
            for (i, then) in then.iter_mut().enumerate() {
                let now = reference::run(&soup(size, 0.4, 3, i as u64), Rule::LIFE, generation);
                let want = engine::conformance::counted(&now, Some(then));
                let mut found = Measure::default();
                let mut look = |words: &[u32]| found = Measure::from_words(words);
                let slot = spec.measure_slot(slot);
                assert!(slots.read(LatticeId(i as u32), slot, &mut look));
                assert_eq!(found, want, "{lab}: generation {generation}");
                *then = now;
            }
        }
    };
    assert_eq!(lab.run(&program).downloads, 2);
    check("eagerly");
    let prepared = lab.0.prepare(&program).unwrap();
    for _ in 0..2 {
        lab.0.replay(prepared).unwrap();
        lab.0.synchronize().unwrap();
        lab.0.poll(&mut Vec::new()).unwrap();
        check("replayed");
    }
    lab.0.release(prepared);
    drop(slots);
    lab.leaves_nothing();
}

#[test]
fn blocks_say_when_and_where_they_ran() {
    let mut lab = lab();
    let (size, stream, mut program) = lab.lattices(3);
    let other = lab.plain(D0);
    let spec = SlotsSpec {
        pinned: 1,
        pageable: 0,
        picture_words: size.words(),
        snapshots: 0,
        measures: 0,
    };
    let slots = lab.0.allocate_slots(spec).unwrap();
    let done = lab.buffer(D0, 4);
    (program.timed, program.block_timestamps) = (true, true);
    let lattice = LatticeId(0);
    program.push(stream, advance("bits", 0..2, 3)); // step 3
    program.push(other, spin(done, 10)); // step 4
    program.push(stream, Op::unpack(0..1, Layout::I32));
    program.push(stream, advance("sync-global", 0..1, 50)); // step 6
    program.push(stream, advance("global", 0..1, 100)); // step 7
    program.push(stream, LatticeOp::Pack.on(lattice.as_range()));
    program.push(stream, download(0..1, 0, Transfer::Bits));
    let ran = lab.run(&program);
    let sm_count = lab.0.devices()[0].sm_count;
    let blocks = |kernel: &str| {
        let kernel = kernels::find(kernel).unwrap();
        let grid = kernel
            .launch(size, kernel.block(), Batch::of(1, 1), sm_count)
            .grid;
        grid.iter().product::<u32>() as usize
    };
    assert!(blocks("global") > 1);
    let of = |step: u32| {
        ran.block_timestamps
            .iter()
            .filter(move |timestamp| timestamp.step == step)
    };
    assert_eq!(of(3).count(), 2 * 3 * blocks("bits"));
    assert_eq!(of(4).count(), 1);
    assert_eq!(of(6).count(), 1);
    assert_eq!(
        of(7).count(),
        64 * blocks("global"),
        "64 launches an op at most"
    );
    assert_eq!(
        ran.block_timestamps.len(),
        [3, 4, 6, 7]
            .map(|step| of(step).count())
            .iter()
            .sum::<usize>()
    );
    for timestamp in &ran.block_timestamps {
        let span = ran.span(timestamp.step as usize);
        let inside =
            timestamp.start.0 > span.start.0 - SLACK && timestamp.end.0 < span.end.0 + SLACK;
        assert!(
            timestamp.start <= timestamp.end && inside,
            "{timestamp:?} in {span:?}"
        );
    }
    let spun = of(4).next().unwrap();
    assert!(spun.end.0 - spun.start.0 >= 10 * MS, "{spun:?}");
    let want = reference::run(&soup(size, 0.4, 3, 0), Rule::LIFE, 153);
    let look = &mut |words: &[u32]| {
        assert_eq!(
            Lattice::from_words(size, words.to_vec()),
            want,
            "block timestamps changed the cells"
        );
    };
    assert!(slots.read(lattice, Slot(0), look));

    program.block_timestamps = false;
    assert!(lab.run(&program).block_timestamps.is_empty());
    drop(slots);
    lab.leaves_nothing();
}

#[test]
fn a_batch_has_timestamps_of_its_blocks_and_multistep_of_its_launches() {
    let mut lab = lab();
    let size = Size::new(128, 128).unwrap();
    lab.0.create_lattices(D0, 3, size).unwrap();
    lab.0.reserve(Layout::Planar).unwrap();
    let stream = lab.plain(D0);
    let mut program = Program {
        block_timestamps: true,
        ..Program::default()
    };
    for lattice in (0..3).map(LatticeId) {
        let start = soup(size, 0.4, 3, u64::from(lattice.0));
        program.push(stream, Op::upload(lattice, start.words()));
        program.push(stream, Op::unpack(lattice.as_range(), Layout::Planar));
    }
    program.push(stream, advance("resident", 0..3, 7)); // step 6: one launch
    program.push(stream, advance("multistep", 1..2, 9)); // step 7: three, into the other buffer
    program.push(stream, advance("resident", 0..3, 2)); // step 8: so one launch each
    let ran = lab.run(&program);
    let of = |step: u32| {
        ran.block_timestamps
            .iter()
            .filter(|timestamp| timestamp.step == step)
            .count()
    };
    let multistep = kernels::find("multistep").unwrap();
    let sm_count = lab.0.devices()[0].sm_count;
    let grid = multistep
        .launch(size, multistep.block(), Batch::of(1, 1), sm_count)
        .grid;
    assert_eq!(of(6), 3);
    assert_eq!(of(7), 3 * grid.iter().product::<u32>() as usize);
    assert_eq!(of(8), 3);
    lab.leaves_nothing();
}

#[test]
fn stamps_come_from_threads_and_from_every_context() {
    let mut lab = lab();
    let further = lab.0.create_context(D0).unwrap();
    let mut program = Program {
        block_timestamps: true,
        ..Program::default()
    };
    for (issuer, device) in [D0, further, D0].into_iter().enumerate() {
        let (stream, done) = (lab.plain(device), lab.buffer(device, 4));
        program.push_from(IssuerId(issuer as u8), stream, spin(done, 2));
    }
    for _ in 0..2 {
        let ran = lab.run(&program);
        let steps: Vec<u32> = ran
            .block_timestamps
            .iter()
            .map(|timestamp| timestamp.step)
            .collect();
        assert_eq!(steps, [0, 1, 2]);
        assert!(
            ran.block_timestamps
                .iter()
                .all(|timestamp| timestamp.start > Nanos(0))
        );
    }
    lab.leaves_nothing();
}

#[test]
fn occupancy_is_what_the_driver_says() {
    let mut lab = lab();
    let (size, stream, mut program) = lab.lattices(1);
    program.push(stream, Op::unpack(0..1, Layout::I32));
    lab.run(&program);
    let op = advance("global", 0..1, 1);
    let occupancy = lab.0.occupancy(D0, &op).unwrap().unwrap();
    assert_eq!(occupancy.block_threads, 256);
    assert_eq!(occupancy.blocks_per_sm, 8);
    assert_eq!(
        (occupancy.sm_count, occupancy.max_threads_per_sm),
        (4, 2048)
    );
    let cells = u64::from(size.width().div_ceil(32) * size.height().div_ceil(8));
    assert_eq!(occupancy.blocks, cells);
    let done = lab.buffer(D0, 4);
    let occupancy = lab.0.occupancy(D0, &spin(done, 1)).unwrap().unwrap();
    assert_eq!((occupancy.blocks, occupancy.block_threads), (1, 1));
    assert_eq!(occupancy.blocks_per_sm, 32);
    // A kernel that packs has a thread per cell, as the kernel above.
    let pack = LatticeOp::Pack.on(LatticeId(0).as_range());
    let pack = lab.0.occupancy(D0, &pack).unwrap().unwrap();
    assert_eq!((pack.blocks, pack.block_threads), (cells, 256));
    let measure = LatticeOp::Measure.on(LatticeId(0).as_range());
    assert_eq!(lab.0.occupancy(D0, &measure).unwrap(), None);
    lab.leaves_nothing();
}
