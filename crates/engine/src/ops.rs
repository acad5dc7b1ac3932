//! Ops as data, and what comes back of them.

use std::ops::Range;
use std::sync::Arc;

use crate::{CalledKernel, Kernel, Layout, ReduceRegion, WordEdit};
use lang::mark;
use life::Rule;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $inner);
    )*};
}

ids! {
    /// A device of an engine, by its place in [`Engine::devices`](crate::Engine::devices).
    DeviceId(u16);
    /// A lattice, numbered from 0 in the order of creation.
    LatticeId(u32);
    /// A stream, numbered from 0 in the order of creation.
    StreamId(u32);
    /// An event, numbered from 0 in the order of creation.
    EventId(u32);
    /// One submission or replay, numbered from 0.
    RunId(u64);
    /// A prepared program.
    PreparedId(u32);
    /// A buffer of a lesson, on a device or on the host, numbered from 0 in the order of creation.
    BufferId(u32);
    /// A thread of the host that issues steps; 0 is the thread that owns the engine.
    IssuerId(u8);
    /// A host slot of a lattice: the picture slots first, the checkpoint slots behind them, then
    /// those of measures.
    Slot(u8);
    /// A length or point of time on the device's clock, in nanoseconds.
    Nanos(i64);
}

impl LatticeId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// It alone, for an op that takes several.
    pub const fn as_range(self) -> Range<u32> {
        self.0..self.0 + 1
    }
}

impl Nanos {
    /// As milliseconds.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// As microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

/// One thing for a stream to do.
///
/// Where an op takes several lattices it does for each what it would do for it alone: in one
/// launch, or one copy, for all that lie one behind the other (those that were created together
/// and have been through the same ops); where that cannot be, one after the other.
#[derive(Clone, Debug)]
pub enum Op {
    /// Copies a lattice's bits from (pageable) host memory to the device; its working layout is
    /// then [`Layout::Bits`].
    Upload {
        /// The lattice.
        lattice: LatticeId,
        /// [`Size::words`](life::Size::words) words.
        words: Arc<[u32]>,
    },
    /// Sets cells of a lattice, in whatever working layout it is; only the words that are touched
    /// travel. In layouts other than [`Layout::Bits`], its bits are then as before, until the next
    /// [`Op::Pack`].
    Edit {
        /// The lattice.
        lattice: LatticeId,
        /// Sorted by their words, each once.
        edits: Arc<[WordEdit]>,
    },
    /// Makes lattices' bits anew from their working layout, which stays as it is.
    Pack(Range<u32>),
    /// Makes the working layout `to` from lattices' bits.
    Unpack {
        /// The lattices.
        lattices: Range<u32>,
        /// A layout that was reserved.
        to: Layout,
    },
    /// Steps lattices; their working layout must be the kernel's.
    Advance {
        /// What steps them.
        kernel: &'static Kernel,
        /// The lattices; several in one launch only where the kernel is [`Kernel::batched`].
        lattices: Range<u32>,
        /// The rule.
        rule: Rule,
        /// How many generations.
        generations: u32,
        /// Threads of a block, across and down: one of the kernel's [`Kernel::blocks`].
        block: (u32, u32),
    },
    /// Reduces lattices' bits to one byte of density a pixel, on the device.
    Reduce {
        /// The lattices.
        lattices: Range<u32>,
        /// Which part, at how many pixels.
        region: ReduceRegion,
    },
    /// Measures lattices' bits, on the device: see [`Measure`](crate::Measure). Those of
    /// the measure before are kept there for it, in memory that is taken when first one is
    /// asked for.
    Measure(Range<u32>),
    /// `get_async`: copies to each lattice's host slot; complete when the event behind it has
    /// fired.
    Download {
        /// The lattices.
        lattices: Range<u32>,
        /// Where they land.
        slot: Slot,
        /// What is copied.
        what: Transfer,
    },
    /// Copies bytes between buffers, asynchronously where page-locked memory allows it.
    Copy {
        /// From here.
        from: Region,
        /// To here.
        to: Region,
        /// How many bytes: a multiple of 4, as the offsets are.
        bytes: usize,
    },
    /// Launches a kernel that has no lattice.
    Call(Call),
    /// The host waits, before it issues the next step.
    Synchronize(Scope),
    /// Marks this point of the stream.
    Record(crate::EventId),
    /// Holds the stream until the event's latest mark has been passed.
    Wait(crate::EventId),
}

impl Op {
    /// The lattices that it is about; none for one that is about something else.
    pub fn lattices(&self) -> Range<u32> {
        match self {
            Op::Upload { lattice, .. } | Op::Edit { lattice, .. } => lattice.as_range(),
            Op::Pack(lattices)
            | Op::Measure(lattices)
            | Op::Unpack { lattices, .. }
            | Op::Advance { lattices, .. }
            | Op::Reduce { lattices, .. }
            | Op::Download { lattices, .. } => lattices.clone(),
            Op::Copy { .. } | Op::Call(_) | Op::Synchronize(_) | Op::Record(_) | Op::Wait(_) => {
                0..0
            }
        }
    }

    /// Its name on timelines and in figures.
    pub fn label(&self) -> &'static str {
        match self {
            Op::Upload { .. } => mark!("upload"),
            Op::Edit { .. } => mark!("edit"),
            Op::Pack(_) => mark!("pack"),
            Op::Unpack { .. } => mark!("unpack"),
            Op::Advance { kernel, .. } => kernel.name,
            Op::Reduce { .. } => mark!("reduce"),
            Op::Measure(_) => mark!("measure"),
            Op::Download { .. } => mark!("download"),
            Op::Copy { .. } => mark!("copy"),
            Op::Call(call) => call.kernel.name,
            Op::Synchronize(_) => mark!("synchronize"),
            Op::Record(_) => mark!("record"),
            Op::Wait(_) => "wait",
        }
    }
}

/// What a download carries over the bus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transfer {
    /// The lattice's bits: current in layout [`Layout::Bits`], else as of the last [`Op::Pack`].
    Bits,
    /// The bytes of the last [`Op::Reduce`], four a word.
    View,
    /// The cells themselves, an `i32` each: in layout [`Layout::I32`] alone.
    Cells,
    /// What the last [`Op::Measure`] found, [`Measure::WORDS`](crate::Measure::WORDS)
    /// words.
    Measure,
}

/// A place in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from its start.
    pub offset: usize,
}

/// A launch of a kernel that has no lattice.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// What is launched.
    pub kernel: &'static CalledKernel,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// In the order of the kernel's parameters.
    pub arguments: Vec<Argument>,
}

/// An argument of a [`Call`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Argument {
    /// The address of a buffer on the device of the stream, so many bytes from its start.
    Buffer(Region),
    /// A number.
    I32(i32),
    /// A number.
    U32(u32),
    /// A number.
    U64(u64),
    /// A number.
    F32(f32),
}

/// For what the host waits in [`Op::Synchronize`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// For everything issued to the step's stream.
    Stream,
    /// For everything issued to the step's device.
    Device,
}

/// An op, the stream it is for, and who issues it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The thread of the host. Those of one issuer are issued in order; between issuers there is
    /// no order, not even by events: a [`Op::Wait`] is for an event that its own issuer recorded.
    pub issuer: IssuerId,
    /// The stream.
    pub stream: StreamId,
    /// The op.
    pub op: Op,
}

/// Steps in the order in which the host issues them.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The steps.
    pub steps: Vec<Step>,
    /// Whether a [`Span`] of every step is wanted; costs two events a step.
    pub timed: bool,
    /// Whether every block of the steps' kernels is to say when and where it ran ([`BlockTimestamp`]);
    /// costs the kernels some instructions, and cannot be prepared. On CUDA, of an op at most 64
    /// launches are stamped, of each lattice the last, and of a program 2 Mi blocks a device.
    pub block_timestamps: bool,
}

impl Program {
    /// Every slot that its downloads are bound for.
    pub fn downloads(&self) -> impl Iterator<Item = (LatticeId, Slot)> + Clone {
        let of_step = |step: &Step| match &step.op {
            Op::Download { lattices, slot, .. } => Some((lattices.clone(), *slot)),
            _ => None,
        };
        let downloads = self.steps.iter().filter_map(of_step);
        downloads.flat_map(|(lattices, slot)| lattices.map(move |id| (LatticeId(id), slot)))
    }

    /// Whether it changes cells: one that was done by half leaves nobody knows what.
    pub fn changes_cells(&self) -> bool {
        let changes =
            |op: &Op| matches!(op, Op::Upload { .. } | Op::Edit { .. } | Op::Advance { .. });
        self.steps.iter().any(|step| changes(&step.op))
    }

    /// Adds an op for a stream.
    pub fn push(&mut self, stream: StreamId, op: Op) {
        self.push_from(IssuerId(0), stream, op);
    }

    /// Adds an op that another thread of the host issues.
    pub fn push_from(&mut self, issuer: IssuerId, stream: StreamId, op: Op) {
        self.steps.push(Step { issuer, stream, op });
    }
}

/// Something that came to pass.
#[derive(Clone, Debug)]
pub enum Completion {
    /// A download has landed; its slots may be read until the next download is bound for them.
    Downloaded {
        /// Of which run.
        run: RunId,
        /// Of which lattices.
        lattices: Range<u32>,
        /// In which slot of theirs.
        slot: Slot,
    },
    /// Every step of a run has completed.
    Finished {
        /// Which run.
        run: RunId,
        /// A span a step, if the program was timed.
        spans: Vec<Span>,
        /// If it was timed, how long the host was inside the calls that issued it: a span a
        /// step, or one of step [`Span::WHOLE`] for a replay. Brought to the device's clock, some
        /// microseconds inexact.
        host: Vec<Span>,
        /// If it was stamped, when and where each block of its kernels ran, by step.
        block_timestamps: Vec<BlockTimestamp>,
    },
}

/// When and where a block ran, as it said itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockTimestamp {
    /// The index in its program of the step that launched it.
    pub step: u32,
    /// The streaming multiprocessor, numbered through all devices, or the CPU's worker.
    pub unit: u32,
    /// From when, on the device's clock, some microseconds inexact against spans but not against
    /// other stamps.
    pub start: Nanos,
    /// To when.
    pub end: Nanos,
}

/// When a step ran, as bounded by events around it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// The step's index in its program; with the run's id, the op's identity.
    pub step: u32,
    /// Its stream.
    pub stream: StreamId,
    /// From when, on the device's clock.
    pub start: Nanos,
    /// To when.
    pub end: Nanos,
}

impl Span {
    /// Stands for all steps of a program at once.
    pub const WHOLE: u32 = u32::MAX;

    /// How long it took.
    pub fn length(self) -> Nanos {
        Nanos(self.end.0 - self.start.0)
    }
}
