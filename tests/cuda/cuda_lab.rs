//! What the lab asks of the CUDA engine, over the tests' own driver: kinds of streams, contexts,
//! buffers, issuers, waiting, pageable memory, block timestamps; and nothing left behind.

use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use engine::buffer_kernels::{GRAY, MEET, SPIN};
use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::Batch;
use engine::{
    Argument, BlockTimestamp, BufferId, BufferLaunch, BufferLocation, BufferOffset, Completion,
    DeviceId, Engine, EngineError, HostMemory, IssuerId, LatticeId, Layout, Measure, Nanos, Op,
    Priority, Program, Scope, Slot, SlotsSpec, Span, StreamId, StreamKind, StreamSpec, Transfer,
    kernels,
};
use life::{Lattice, Rule, Size, reference, soup};

/// The engine, and the right to be the only one: they would share the primary context.
struct Lab(CudaEngine, #[allow(dead_code)] MutexGuard<'static, ()>);

pub(crate) static ALONE: Mutex<()> = Mutex::new(());
const D0: DeviceId = DeviceId(0);
const MS: i64 = 1_000_000;
/// How far the clocks that are brought together may be apart where the host is held up between
/// two readings; wrong units or epochs are farther.
const SLACK: i64 = 500 * MS;

fn lab() -> Lab {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    use_fake_driver();
    Lab(CudaEngine::open(Ordinals::First).unwrap(), alone)
}

/// Puts the fake driver under the engine; the caller holds [`ALONE`].
pub(crate) fn use_fake_driver() {
    static ENVIRONMENT: Once = Once::new();
    // SAFETY: once, by the one test that runs; the others wait for the lock and read nothing.
    ENVIRONMENT.call_once(|| unsafe {
        std::env::set_var("LIFESTREAMS_LIBCUDA", crate::driver::library());
    });
}

/// Sets a variable of the fake driver while it lives.
pub(crate) struct Variable(&'static str);

impl Variable {
    pub(crate) fn set(name: &'static str, value: &str) -> Variable {
        // SAFETY: the caller holds `ALONE`, and the driver's threads only sleep or run kernels now.
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
    fn stream(&mut self, kind: StreamKind) -> StreamId {
        let priority = Priority::Normal;
        self.0
            .create_stream(D0, StreamSpec { kind, priority })
            .unwrap()
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

    fn refused(&mut self, program: &Program) -> String {
        match self.0.submit(program) {
            Err(EngineError::InvalidProgram(why)) => why.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn not_prepared(&mut self, program: &Program) -> String {
        match self.0.prepare(program) {
            Err(EngineError::InvalidProgram(why)) => why.to_string(),
            other => panic!("{other:?}"),
        }
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

fn at(buffer: BufferId) -> BufferOffset {
    BufferOffset { buffer, offset: 0 }
}

fn copy(from: BufferId, to: BufferId, bytes: usize) -> Op {
    let (from, to) = (at(from), at(to));
    Op::Copy { from, to, bytes }
}

fn call(kernel: &'static engine::BufferKernel, arguments: Vec<Argument>) -> BufferLaunch {
    BufferLaunch {
        kernel,
        grid: 2,
        block: 32,
        shared_bytes: 0,
        arguments,
    }
}

fn spin(done: BufferId, ms: i64) -> Op {
    let arguments = vec![Argument::Buffer(at(done)), Argument::U64((ms * MS) as u64)];
    Op::LaunchOnBuffers(BufferLaunch {
        grid: 1,
        block: 1,
        ..call(&SPIN, arguments)
    })
}

fn gray(from: BufferId, to: BufferId, pixels: i32) -> Op {
    let arguments = vec![
        Argument::Buffer(at(from)),
        Argument::Buffer(at(to)),
        Argument::I32(pixels),
    ];
    Op::LaunchOnBuffers(call(&GRAY, arguments))
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
        let mut program = Program::default();
        program.push(stream, copy(from, colour, 16));
        program.push(stream, copy(colour, other, 16));
        program.push(stream, gray(other, bytes, 4));
        program.push(stream, copy(bytes, to, 8));
        lab.run(&program);
        let want = [77 * 255 / 256, 150 * 255 / 256, 29 * 255 / 256, 255].map(|gray| gray as u8);
        assert_eq!(lab.words(to), [u32::from_le_bytes(want), 0]);
        assert_eq!(lab.words(bytes), lab.words(to), "on the device");
        lab.0.access(bytes, &mut |words| words[1] = 5).unwrap();
        assert_eq!(lab.words(bytes)[1], 5, "written on the device");
    }
    lab.leaves_nothing();
}

#[test]
fn buffers_that_cannot_be_are_refused_and_their_ids_are_not_used_again() {
    let mut lab = lab();
    let a = lab.buffer(D0, 16);
    let host = lab.host(&[1; 4], HostMemory::Pinned);
    for bytes in [0, 6] {
        assert!(
            lab.0
                .create_buffer(D0, bytes, BufferLocation::Device)
                .is_err()
        );
    }
    lab.0.drop_buffers().unwrap();
    assert!(lab.0.access(a, &mut |_| panic!("it is gone")).is_err());
    let fresh = lab.buffer(D0, 4);
    assert!(fresh.0 > host.0, "an id was used again");
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
    let (first, last) = (
        lab.stream(StreamKind::Blocking),
        lab.stream(StreamKind::Blocking),
    );
    let free = lab.stream(StreamKind::NonBlocking);
    let default = lab.stream(StreamKind::Default);
    assert_eq!(default, lab.stream(StreamKind::Default), "there is one");
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
fn the_default_stream_and_what_blocks_are_not_prepared() {
    let mut lab = lab();
    let (plain, default) = (lab.plain(D0), lab.stream(StreamKind::Default));
    let done = lab.buffer(D0, 4);
    let pageable = lab.host(&[0], HostMemory::Pageable);
    let pinned = lab.host(&[0], HostMemory::Pinned);
    for (stream, op, why) in [
        (default, spin(done, 1), "default stream"),
        (plain, copy(done, pageable, 4), "pageable"),
        (plain, Op::Synchronize(Scope::Stream), "waiting"),
    ] {
        let mut program = Program::default();
        program.push(stream, op);
        let said = lab.not_prepared(&program);
        assert!(said.contains(why), "{said}");
    }
    let mut program = Program::default();
    program.push(plain, spin(done, 1));
    program.push(plain, copy(done, pinned, 4));
    let block_timestamps = Program {
        block_timestamps: true,
        ..program.clone()
    };
    assert!(
        lab.not_prepared(&block_timestamps)
            .contains("block timestamps")
    );
    let mut several = program.clone();
    several.push_from(IssuerId(1), plain, spin(done, 1));
    assert!(lab.not_prepared(&several).contains("several threads"));
    let prepared = lab.0.prepare(&program).unwrap();
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
        let priority = Priority::High;
        let stream = lab
            .0
            .create_stream(D0, StreamSpec { kind, priority })
            .unwrap();
        let done = lab.buffer(D0, 4);
        let mut program = Program::default();
        program.push(stream, spin(done, 1));
        lab.run(&program);
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
            program.push(a, Op::Synchronize(scope));
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
    let (started, ended) = (
        lab.0.create_event(D0).unwrap(),
        lab.0.create_event(D0).unwrap(),
    );
    let done = lab.buffer(D0, 4);
    in_some_tries(|times| {
        let mut program = Program::default();
        program.push(stream, Op::Record(started));
        program.push(stream, spin(done, 200 * times));
        program.push(stream, Op::Record(ended));
        lab.0.submit(&program).unwrap();
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
                Argument::Buffer(at(entered)),
                Argument::U32(3),
                Argument::U64(10_000 * MS as u64),
                Argument::Buffer(at(met)),
            ];
            let meet = BufferLaunch {
                grid: 1,
                block: 1,
                ..call(&MEET, arguments)
            };
            program.push_from(from, stream, Op::LaunchOnBuffers(meet));
            meetings.push(met);
        } else {
            program.push_from(from, stream, spin(done, 1));
        }
        program.push_from(from, stream, Op::Synchronize(Scope::Stream));
        program.push_from(from, stream, Op::Record(event));
        program.push_from(from, stream, Op::Wait(event));
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

#[test]
fn an_issuer_waits_for_its_own_events_only() {
    let mut lab = lab();
    let stream = lab.plain(D0);
    let event = lab.0.create_event(D0).unwrap();
    let mut program = Program::default();
    program.push_from(IssuerId(1), stream, Op::Record(event));
    program.push_from(IssuerId(2), stream, Op::Wait(event));
    assert!(lab.refused(&program).contains("another issuer"));
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
            let words = soup(size, 0.4, 3, u64::from(lattice.0)).words().into();
            program.push(stream, Op::Upload { lattice, words });
        }
        (size, stream, program)
    }
}

fn download(slot: u8, what: Transfer) -> Op {
    Op::Download {
        lattices: LatticeId(0).as_range(),
        slot: Slot(slot),
        what,
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
            program.push(stream, download(slot, Transfer::Bits));
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
    let mut program = Program::default();
    program.push(stream, download(1, Transfer::Bits));
    assert!(lab.not_prepared(&program).contains("pageable"));
    drop(slots);
    lab.leaves_nothing();
}

#[test]
fn cells_are_downloaded_as_they_are() {
    let mut lab = lab();
    let (size, stream, mut program) = lab.lattices(1);
    let spec = SlotsSpec {
        pinned: 1,
        pageable: 1,
        picture_words: size.cells() as usize,
        snapshots: 0,
        measures: 0,
    };
    let slots = lab.0.allocate_slots(spec).unwrap();
    let lattice = LatticeId(0);
    program.push(
        stream,
        Op::Unpack {
            lattices: lattice.as_range(),
            to: Layout::I32,
        },
    );
    program.push(stream, advance("global", 0..1, 3));
    program.push(stream, download(0, Transfer::Cells));
    program.push(stream, download(1, Transfer::Cells));
    assert_eq!(lab.run(&program).downloads, 2);
    let want = reference::run(&soup(size, 0.4, 3, 0), Rule::LIFE, 3);
    for slot in 0..2 {
        let look = &mut |words: &[u32]| {
            for y in 0..SIZE.1 {
                for x in 0..SIZE.0 {
                    let cell = words[(y * SIZE.0 + x) as usize];
                    assert_eq!(cell, u32::from(want.get(x, y)), "({x}, {y})");
                }
            }
        };
        assert!(slots.read(lattice, Slot(slot), look));
    }
    let mut program = Program::default();
    program.push(stream, Op::Pack(lattice.as_range()));
    program.push(
        stream,
        Op::Unpack {
            lattices: lattice.as_range(),
            to: Layout::Bits,
        },
    );
    program.push(stream, download(0, Transfer::Cells));
    assert!(lab.refused(&program).contains("no i32 cells"));
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
    let to = |slot| Op::Download {
        lattices: 0..3,
        slot: spec.measure_slot(slot),
        what: Transfer::Measure,
    };
    let mut early = Program::default();
    early.push(stream, to(0));
    assert!(lab.refused(&early).contains("has not been measured"));
    // Nobody paid for measures until now.
    let mut program = Program::default();
    for slot in 0..2 {
        program.push(stream, advance("bits", 0..3, 1));
        program.push(stream, Op::Measure(0..3));
        program.push(stream, to(slot));
    }
    let mut then: Vec<_> = (0..3).map(|_| Lattice::new(size)).collect();
    let mut generation = 0;
    let mut check = |lab: &str| {
        for slot in 0..2 {
            generation += 1;
            for (i, then) in then.iter_mut().enumerate() {
                let now = reference::run(&soup(size, 0.4, 3, i as u64), Rule::LIFE, generation);
                let mut want = Measure::default();
                for (index, (now, then)) in (0..).zip(now.words().iter().zip(then.words())) {
                    want.population += u64::from(now.count_ones());
                    want.births += u64::from((now & !then).count_ones());
                    want.deaths += u64::from((then & !now).count_ones());
                    want.hash = want.hash.wrapping_add(Measure::mixed(index, *now));
                }
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

fn advance(kernel: &str, lattices: std::ops::Range<u32>, generations: u32) -> Op {
    let kernel = kernels::find(kernel).unwrap();
    Op::Advance {
        kernel,
        lattices,
        rule: Rule::LIFE,
        generations,
        block: kernel.block(),
    }
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
    program.push(
        stream,
        Op::Unpack {
            lattices: lattice.as_range(),
            to: Layout::I32,
        },
    );
    program.push(stream, advance("sync-global", 0..1, 50)); // step 6
    program.push(stream, advance("global", 0..1, 100)); // step 7
    program.push(stream, Op::Pack(lattice.as_range()));
    program.push(stream, download(0, Transfer::Bits));
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
        let words = soup(size, 0.4, 3, u64::from(lattice.0)).words().into();
        let to = Layout::Planar;
        program.push(stream, Op::Upload { lattice, words });
        program.push(
            stream,
            Op::Unpack {
                lattices: lattice.as_range(),
                to,
            },
        );
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
    let (size, stream, program) = lab.lattices(1);
    lab.run(&program);
    let op = advance("global", 0..1, 1);
    let occupancy = lab.0.occupancy(D0, &op).unwrap().unwrap();
    assert_eq!(occupancy.block_threads, 256);
    assert_eq!(occupancy.blocks_per_sm, 8);
    assert_eq!(
        (occupancy.sm_count, occupancy.max_threads_per_sm),
        (4, 2048)
    );
    assert_eq!(
        occupancy.blocks,
        u64::from(size.width().div_ceil(32) * size.height().div_ceil(8))
    );
    let done = lab.buffer(D0, 4);
    let occupancy = lab.0.occupancy(D0, &spin(done, 1)).unwrap().unwrap();
    assert_eq!((occupancy.blocks, occupancy.block_threads), (1, 1));
    assert_eq!(occupancy.blocks_per_sm, 32);
    assert_eq!(
        lab.0
            .occupancy(D0, &Op::Pack(LatticeId(0).as_range()))
            .unwrap(),
        None
    );
    let _ = stream;
    lab.leaves_nothing();
}
