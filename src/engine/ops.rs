//! Ops as data, and what comes back of them.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::{Kernel, Layout, Viewport};
use crate::life::Rule;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $inner);
    )*};
}

ids! {
    /// A device of an engine, by its place in [`Engine::devices`](crate::engine::Engine::devices).
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
    /// A host slot of a lattice: the picture slots first, the checkpoint slots behind them.
    Slot(u8);
    /// A length or point of time on the device's clock, in nanoseconds.
    Nanos(i64);
}

impl LatticeId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
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
#[derive(Clone, Debug)]
pub enum Op {
    /// Copies a lattice's bits from (pageable) host memory to the device; its working layout is
    /// then [`Layout::Bits`].
    Upload {
        /// The lattice.
        lattice: LatticeId,
        /// [`Size::words`](crate::life::Size::words) words.
        words: Arc<[u32]>,
    },
    /// Makes the lattice's bits anew from its working layout, which stays as it is.
    Pack(LatticeId),
    /// Makes the working layout `to` from the lattice's bits.
    Unpack {
        /// The lattice.
        lattice: LatticeId,
        /// A layout that was reserved.
        to: Layout,
    },
    /// Steps lattices; their working layout must be the kernel's.
    Advance {
        /// What steps them.
        kernel: &'static Kernel,
        /// One lattice, or several one after the other.
        lattices: Range<u32>,
        /// The rule.
        rule: Rule,
        /// How many generations.
        generations: u32,
    },
    /// Reduces the lattice's bits to one byte of density a pixel, on the device.
    Reduce {
        /// The lattice.
        lattice: LatticeId,
        /// Which part, at how many pixels.
        viewport: Viewport,
    },
    /// `get_async`: copies to a host slot; complete when the event behind it has fired.
    Download {
        /// The lattice.
        lattice: LatticeId,
        /// Where it lands.
        slot: Slot,
        /// What is copied.
        what: Transfer,
    },
    /// Marks this point of the stream.
    Record(crate::engine::EventId),
    /// Holds the stream until the event's latest mark has been passed.
    Wait(crate::engine::EventId),
}

impl Op {
    /// Its name on timelines and in figures.
    pub fn label(&self) -> &'static str {
        match self {
            Op::Upload { .. } => "upload",
            Op::Pack(_) => "pack",
            Op::Unpack { .. } => "unpack",
            Op::Advance { kernel, .. } => kernel.name,
            Op::Reduce { .. } => "reduce",
            Op::Download { .. } => "download",
            Op::Record(_) => "record",
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
}

/// An op and the stream it is for.
#[derive(Clone, Debug)]
pub struct Step {
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
}

impl Program {
    /// Adds an op for a stream.
    pub fn push(&mut self, stream: StreamId, op: Op) {
        self.steps.push(Step { stream, op });
    }
}

/// Something that came to pass.
#[derive(Clone, Debug)]
pub enum Completion {
    /// A download has landed; its slot may be read until the next download is bound for it.
    Downloaded {
        /// Of which run.
        run: RunId,
        /// Which lattice.
        lattice: LatticeId,
        /// In which slot.
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
    },
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
