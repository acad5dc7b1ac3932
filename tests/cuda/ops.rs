//! Programs and their operations in short, engines to run them on, and the right to be the only one that
//! uses the tests' driver.

use std::ffi::{CStr, c_char};
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use engine::buffer_kernels::{MEET, SPIN};
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::kernels::Launch;
use engine::{
    Argument, BlockTimestamp, BufferId, BufferKernel, BufferLaunch, BufferLocation, BufferOffset,
    BufferOp, Completion, DeviceId, Engine, EventId, HostMemory, IssuerId, LatticeId, Op, OrderOp,
    Priority, Program, Slot, Slots, SlotsSpec, Span, StreamId, StreamKind, StreamSpec, Transfer,
    kernels,
};
use life::{Lattice, Rule, Size, soup};

pub(crate) const D0: DeviceId = DeviceId(0);
pub(crate) const PINNED: BufferLocation = BufferLocation::Host(HostMemory::Pinned);
pub(crate) const PAGEABLE: BufferLocation = BufferLocation::Host(HostMemory::Pageable);

/// Waits for the right to be the only test with an engine: engines would share the primary
/// context. Puts the tests' own driver under it.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    static ENVIRONMENT: Once = Once::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: once, by the one test that runs; the others wait for the lock and read nothing.
    ENVIRONMENT.call_once(|| unsafe {
        std::env::set_var("LIFESTREAMS_LIBCUDA", crate::driver::library());
    });
    alone
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

/// Arms a fault of the fake driver.
pub(crate) fn arm(fault: &CStr) {
    // SAFETY: as for [`query`]; the function takes a text.
    unsafe {
        let library = libloading::Library::new(crate::driver::library()).unwrap();
        let name = "fake_cuda_arm".as_bytes();
        let function = library.get::<unsafe extern "C" fn(*const c_char) -> i32>(name);
        function.unwrap()(fault.as_ptr());
    }
}

pub(crate) fn on_cpu(workers: usize) -> Lab {
    Lab::new(Box::new(CpuEngine::new(
        NonZeroUsize::new(workers).unwrap(),
    )))
}

/// What `act` gives on the CUDA engine, which must leave nothing in the driver.
pub(crate) fn on_cuda<T>(act: impl FnOnce(&mut Lab) -> T) -> T {
    let _alone = alone();
    let held = || ["fake_cuda_leaked", "fake_cuda_contexts"].map(query);
    let before = held();
    let mut lab = Lab::new(Box::new(CudaEngine::open(Ordinals::First).unwrap()));
    let given = act(&mut lab);
    drop(lab);
    assert_eq!(held(), before, "something was left behind");
    given
}

/// What `act` gives on each engine, which must be the same.
pub(crate) fn on_both<T: PartialEq + Debug>(mut act: impl FnMut(&mut Lab) -> T) -> T {
    let of_cpu = act(&mut on_cpu(8));
    assert_eq!(of_cpu, on_cuda(act));
    of_cpu
}

/// An engine with 64 words on a device, in which ops meet, and as many on the host.
pub(crate) struct Lab {
    pub engine: Box<dyn Engine>,
    pub device: BufferId,
    pub host: BufferId,
}

impl Lab {
    pub(crate) fn new(mut engine: Box<dyn Engine>) -> Lab {
        let mut buffer = |place| engine.create_buffer(D0, 256, place).unwrap();
        let [device, host] = [BufferLocation::Device, PINNED].map(&mut buffer);
        Lab {
            engine,
            device,
            host,
        }
    }

    pub(crate) fn is_cuda(&self) -> bool {
        self.engine.devices()[0].capability.is_some()
    }

    pub(crate) fn stream_of(&mut self, device: DeviceId, kind: StreamKind) -> StreamId {
        let priority = Priority::Normal;
        let spec = StreamSpec { kind, priority };
        self.engine.create_stream(device, spec).unwrap()
    }

    pub(crate) fn streams<const N: usize>(&mut self) -> [StreamId; N] {
        [(); N].map(|()| self.stream_of(D0, StreamKind::NonBlocking))
    }

    /// A stream of this kind in another context, and an op there that takes this long.
    pub(crate) fn elsewhere(&mut self, kind: StreamKind, length: Duration) -> (StreamId, Op) {
        let further = self.engine.create_context(D0).unwrap();
        let word = self
            .engine
            .create_buffer(further, 4, BufferLocation::Device);
        let there = spin(at(word.unwrap(), 0), length);
        (self.stream_of(further, kind), there)
    }

    pub(crate) fn event(&mut self) -> EventId {
        self.engine.create_event(D0).unwrap()
    }

    /// A buffer of this many words.
    pub(crate) fn buffer(&mut self, place: BufferLocation, words: usize) -> BufferId {
        self.engine.create_buffer(D0, 4 * words, place).unwrap()
    }

    /// A buffer that the host fills with these words.
    pub(crate) fn filled(&mut self, place: BufferLocation, words: &[u32]) -> BufferId {
        let buffer = self.buffer(place, words.len());
        let fill = &mut |to: &mut [u32]| to.copy_from_slice(words);
        self.engine.access(buffer, fill).unwrap();
        buffer
    }

    pub(crate) fn words(&mut self, buffer: BufferId) -> Vec<u32> {
        let mut words = Vec::new();
        let look = &mut |of: &mut [u32]| words = of.to_vec();
        self.engine.access(buffer, look).unwrap();
        words
    }

    /// An op that counts up word 0 and waits until `wanted` ops have done so; word `place` then
    /// says whether they did: 1, or 2 if it waited in vain.
    pub(crate) fn meet(&self, place: usize, wanted: u32, most: Duration) -> Op {
        let word = |word: usize| Argument::Buffer(at(self.device, 4 * word));
        let most = Argument::U64(most.as_nanos() as u64);
        call(
            &MEET,
            1,
            1,
            &[word(0), Argument::U32(wanted), most, word(place)],
        )
    }

    /// An op that takes this long, and then counts up the last word.
    pub(crate) fn spin(&self, length: Duration) -> Op {
        spin(at(self.device, 252), length)
    }

    /// Lattices of soups, each with a slot of every kind: one page-locked, one pageable, one for snapshots,
    /// two for measures.
    pub(crate) fn soups(&mut self, count: u32, size: &str) -> Soups {
        let size: Size = size.parse().unwrap();
        self.engine
            .create_lattices(D0, count as usize, size)
            .unwrap();
        let spec = SlotsSpec {
            pinned: 1,
            pageable: 1,
            picture_words: size.words(),
            snapshots: 1,
            measures: 2,
        };
        let [stream] = self.streams();
        let starts: Vec<_> = (0..count).map(|i| soup(size, 0.4, 3, i.into())).collect();
        let slots = self.engine.allocate_slots(spec).unwrap();
        let upload =
            |(i, start): (u32, &Lattice)| (stream, Op::upload(LatticeId(i), start.words()));
        self.run(&program((0..).zip(&starts).map(upload)));
        Soups {
            stream,
            spec,
            slots,
            starts,
        }
    }

    /// Runs a program to its end.
    pub(crate) fn run(&mut self, program: &Program) -> Done {
        self.engine.submit(program).unwrap();
        self.finish()
    }

    /// Waits for all that runs; what the last run came to.
    pub(crate) fn finish(&mut self) -> Done {
        self.engine.synchronize().unwrap();
        let mut completions = Vec::new();
        self.engine.poll(&mut completions).unwrap();
        let is_download = |it: &&Completion| matches!(it, Completion::Downloaded { .. });
        let downloads = completions.iter().filter(is_download).count();
        match completions.pop() {
            Some(Completion::Finished {
                spans,
                host,
                block_timestamps,
                ..
            }) => Done {
                downloads,
                spans,
                host,
                block_timestamps,
            },
            other => panic!("the run has finished, not {other:?}"),
        }
    }

    /// The words on the device, which are 0 again afterwards.
    pub(crate) fn take(&mut self) -> Vec<u32> {
        let [stream] = self.streams();
        let (device, host) = (at(self.device, 0), at(self.host, 0));
        self.run(&program([(stream, copy(device, host, 256))]));
        let words = self.words(self.host);
        let clear = &mut |words: &mut [u32]| words.fill(0);
        self.engine.access(self.host, clear).unwrap();
        self.run(&program([(stream, copy(host, device, 256))]));
        words
    }
}

pub(crate) struct Soups {
    pub stream: StreamId,
    pub spec: SlotsSpec,
    pub slots: Arc<dyn Slots>,
    pub starts: Vec<Lattice>,
}

impl Soups {
    /// What was downloaded of a lattice.
    pub(crate) fn read(&self, lattice: u32, slot: u8) -> Vec<u32> {
        let mut words = Vec::new();
        let look = &mut |of: &[u32]| words = of.to_vec();
        assert!(self.slots.read(LatticeId(lattice), Slot(slot), look));
        words
    }

    /// Ops in the lattices' stream.
    pub(crate) fn program(&self, ops: impl IntoIterator<Item = Op>) -> Program {
        Program::in_stream(self.stream, ops).with_spans()
    }
}

/// What a run came to.
pub(crate) struct Done {
    pub downloads: usize,
    pub spans: Vec<Span>,
    pub host: Vec<Span>,
    pub block_timestamps: Vec<BlockTimestamp>,
}

impl Done {
    pub(crate) fn span(&self, step: u32) -> Span {
        *self.spans.iter().find(|span| span.step == step).unwrap()
    }

    pub(crate) fn host(&self, step: u32) -> Span {
        *self.host.iter().find(|span| span.step == step).unwrap()
    }
}

/// What comes about only if this machine is not held up for as long as the spins take: each try
/// has spins so many times as long.
#[track_caller]
pub(crate) fn in_some_try<T: Debug>(mut attempt: impl FnMut(u32) -> (bool, T)) {
    let mut last = None;
    for times in [1, 4, 16, 64] {
        let (holds, found) = attempt(times);
        if holds {
            return;
        }
        last = Some(found);
    }
    panic!("not in any try: {last:?}");
}

/// A timed program.
pub(crate) fn program(steps: impl IntoIterator<Item = (StreamId, Op)>) -> Program {
    issued(steps.into_iter().map(|(stream, op)| (0, stream, op)))
}

/// A timed program of several issuers.
pub(crate) fn issued(steps: impl IntoIterator<Item = (u8, StreamId, Op)>) -> Program {
    let mut program = Program::default().with_spans();
    for (issuer, stream, op) in steps {
        program.push_from(IssuerId(issuer), stream, op);
    }
    program
}

pub(crate) fn advance(kernel: &str, lattices: Range<u32>, generations: u32) -> Op {
    advance_by(kernel, lattices, Rule::LIFE, generations)
}

pub(crate) fn advance_by(kernel: &str, lattices: Range<u32>, rule: Rule, generations: u32) -> Op {
    Op::advance(kernels::find(kernel).unwrap(), lattices, rule, generations)
}

pub(crate) fn download(lattices: Range<u32>, slot: u8, what: Transfer) -> Op {
    Op::download(lattices, Slot(slot), what)
}

pub(crate) fn at(buffer: BufferId, offset: usize) -> BufferOffset {
    BufferOffset { buffer, offset }
}

pub(crate) fn copy(from: BufferOffset, to: BufferOffset, bytes: usize) -> Op {
    BufferOp::Copy { from, to, bytes }.into()
}

pub(crate) fn call(
    kernel: &'static BufferKernel,
    grid: u32,
    block: u32,
    arguments: &[Argument],
) -> Op {
    BufferOp::Launch(BufferLaunch {
        kernel,
        shape: Launch::in_row(grid, block),
        arguments: arguments.to_vec(),
    })
    .into()
}

/// An op that takes this long, and then counts up a word.
pub(crate) fn spin(word: BufferOffset, length: Duration) -> Op {
    let length = Argument::U64(length.as_nanos() as u64);
    call(&SPIN, 1, 1, &[Argument::Buffer(word), length])
}

pub(crate) fn record(event: EventId) -> Op {
    OrderOp::Record(event).into()
}

pub(crate) fn wait(event: EventId) -> Op {
    OrderOp::Wait(event).into()
}
