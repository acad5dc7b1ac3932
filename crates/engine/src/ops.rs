//! Ops and programs as data, and the completions that engines return.

use std::ops::Range;
use std::sync::Arc;

use crate::kernels::Launch;
use crate::{BufferKernel, Kernel, Layout, ReduceRegion, RowCopy, WordEdit};
use lang::mark;
use life::{Rule, Soup};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize,
            serde::Deserialize,
        )]
        pub struct $name(pub $inner);
    )*};
}

ids! {
    /// A device of an engine: an index into [`Engine::devices`](crate::Engine::devices).
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
    /// A device or host buffer, numbered from 0 in the order of creation.
    BufferId(u32);
    /// A host thread that issues steps; 0 is the thread that owns the engine.
    IssuerId(u8);
    /// A host slot of a lattice: picture slots first, then snapshot slots, then measure slots.
    Slot(u8);
    /// A duration or a point in time on the device's clock, in nanoseconds.
    Nanos(i64);
}

impl LatticeId {
    /// The id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The range of this lattice only, for ops that take a range.
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

/// One piece of work for a stream.
#[derive(Clone, Debug)]
pub enum Op {
    /// Work on lattices. It has the same effect as one op for each. Lattices that are adjacent in
    /// memory and in the same state share one launch or one copy; others get one each.
    Lattices(Range<u32>, LatticeOp),
    /// Work on buffers.
    Buffers(BufferOp),
    /// What orders other work, and does none.
    Order(OrderOp),
}

/// Work on lattices.
#[derive(Clone, Debug)]
pub enum LatticeOp {
    /// Copies a lattice's bits from pageable host memory to the device:
    /// [`Size::words`](life::Size::words) words. The working layout becomes [`Layout::Bits`].
    Upload(Arc<[u32]>),
    /// Makes a lattice's bits on the device: the same that [`Soup::lattice`] makes on the host. The
    /// working layout becomes [`Layout::Bits`]. In a [`Band`](crate::Band) its own rows are those of the
    /// torus, and its halo has any cells.
    Soup(Soup),
    /// Sets cells of a lattice in its current working layout. Only the edited words cross the bus:
    /// sorted by word index, each word at most once. In layouts other than [`Layout::Bits`], the
    /// lattice's bits are out of date until the next [`LatticeOp::Pack`].
    Edit(Arc<[WordEdit]>),
    /// Updates lattices' bits from their working layout.
    Pack,
    /// Converts lattices' bits to this working layout, which must be reserved.
    Unpack(Layout),
    /// Advances lattices by generations. Their working layout must be the kernel's.
    Advance {
        /// The kernel to launch. Only [`Kernel::batched`] kernels step several lattices in one launch.
        kernel: &'static Kernel,
        /// The rule.
        rule: Rule,
        /// The number of generations.
        generations: u32,
        /// Threads per block, width and height: one of the kernel's [`Kernel::blocks`].
        block: (u32, u32),
    },
    /// Reduces lattices' bits on the device to one byte of density per pixel of a region; those of a
    /// [`Band`](crate::Band) to one `u32` per pixel, the number of its own rows' live cells there. The
    /// region is one of the torus.
    Reduce(ReduceRegion),
    /// Measures lattices' bits on the device: see [`Measure`](crate::Measure). The device keeps a
    /// copy of the bits for the next measure; memory for it is allocated at the first one. Of a
    /// [`Band`](crate::Band) its own rows are measured.
    Measure,
    /// Copies to each lattice's host slot, asynchronously if the slot is page-locked: the copy is
    /// complete once the event after it has fired. (PyCUDA calls this `get_async`.)
    Download {
        /// The slot to copy to.
        slot: Slot,
        /// What to copy.
        what: Transfer,
    },
    /// Copies rows of cells from another lattice of the same width. The stream is one of the device of
    /// the lattice that gets them; the other may be on another one, as for [`BufferOp::Copy`]. Within a
    /// lattice, no row may be copied and replaced.
    CopyRows {
        /// The lattice that has them.
        from: LatticeId,
        /// Which rows.
        rows: RowCopy,
        /// The working layout of both.
        layout: Layout,
    },
}

/// Work on buffers.
#[derive(Clone, Debug)]
pub enum BufferOp {
    /// Copies bytes between buffers, asynchronously if host memory is page-locked. Of two buffers in
    /// device memory one may be another device's; such a copy goes through the host's memory unless
    /// [`Engine::set_peer_access`](crate::Engine::set_peer_access) allows a direct one.
    Copy {
        /// Source.
        from: BufferOffset,
        /// Destination.
        to: BufferOffset,
        /// Number of bytes; a multiple of 4, like the offsets.
        bytes: usize,
    },
    /// Launches a kernel that takes buffers instead of lattices.
    Launch(BufferLaunch),
    /// Calls a function of the host, which inverts the words of a host buffer, in the order of the
    /// stream, while the thread that issued it goes on.
    HostFunction(BufferId),
    /// Manages the memory of a buffer.
    Memory(MemoryOp),
}

/// What orders other work, and does none.
#[derive(Clone, Copy, Debug)]
pub enum OrderOp {
    /// Blocks the host before it issues the next step.
    Synchronize(Scope),
    /// Records an event in the stream.
    Record(EventId),
    /// Makes the stream wait for the event's latest record.
    Wait(EventId),
}

impl From<BufferOp> for Op {
    fn from(op: BufferOp) -> Op {
        Op::Buffers(op)
    }
}

impl From<OrderOp> for Op {
    fn from(op: OrderOp) -> Op {
        Op::Order(op)
    }
}

impl LatticeOp {
    /// The op on these lattices.
    pub fn on(self, lattices: Range<u32>) -> Op {
        Op::Lattices(lattices, self)
    }
}

impl Op {
    /// An upload of a lattice's words.
    pub fn upload(lattice: LatticeId, words: &[u32]) -> Op {
        LatticeOp::Upload(words.into()).on(lattice.as_range())
    }

    /// A conversion to a layout.
    pub fn unpack(lattices: Range<u32>, to: Layout) -> Op {
        LatticeOp::Unpack(to).on(lattices)
    }

    /// So many generations, in blocks of the kernel's usual size.
    pub fn advance(
        kernel: &'static Kernel,
        lattices: Range<u32>,
        rule: Rule,
        generations: u32,
    ) -> Op {
        let advance = LatticeOp::Advance {
            kernel,
            rule,
            generations,
            block: kernel.block(),
        };
        advance.on(lattices)
    }

    /// A download to a slot.
    pub fn download(lattices: Range<u32>, slot: Slot, what: Transfer) -> Op {
        LatticeOp::Download { slot, what }.on(lattices)
    }

    /// The lattices that the op works on; empty for ops without lattices.
    pub fn lattices(&self) -> Range<u32> {
        match self {
            Op::Lattices(lattices, _) => lattices.clone(),
            Op::Buffers(_) | Op::Order(_) => 0..0,
        }
    }

    /// The lattices that the op downloads, and the slot of each.
    pub(crate) fn downloaded(&self) -> Option<(Range<u32>, Slot)> {
        match self {
            Op::Lattices(lattices, LatticeOp::Download { slot, .. }) => {
                Some((lattices.clone(), *slot))
            }
            _ => None,
        }
    }

    /// Name of the op on timelines and in figures.
    pub fn label(&self) -> &'static str {
        match self {
            Op::Lattices(_, op) => match op {
                LatticeOp::Upload(_) => mark!("upload"),
                LatticeOp::Soup(_) => mark!("soup"),
                LatticeOp::Edit(_) => mark!("edit"),
                LatticeOp::Pack => mark!("pack"),
                LatticeOp::Unpack(_) => mark!("unpack"),
                LatticeOp::Advance { kernel, .. } => kernel.name,
                LatticeOp::Reduce(_) => mark!("reduce"),
                LatticeOp::Measure => mark!("measure"),
                LatticeOp::Download { .. } => mark!("download"),
                LatticeOp::CopyRows { .. } => mark!("copy rows"),
            },
            Op::Buffers(op) => match op {
                BufferOp::Copy { .. } => mark!("copy"),
                BufferOp::Launch(call) => call.kernel.name,
                BufferOp::HostFunction(..) => mark!("host function"),
                BufferOp::Memory(MemoryOp::Allocate(_)) => mark!("allocate"),
                BufferOp::Memory(MemoryOp::Free(_)) => mark!("free"),
                BufferOp::Memory(MemoryOp::SetReleaseThreshold(_)) => mark!("release threshold"),
                BufferOp::Memory(MemoryOp::AdviseReadMostly(_)) => mark!("advise"),
                BufferOp::Memory(MemoryOp::Prefetch(..)) => mark!("prefetch"),
            },
            Op::Order(OrderOp::Synchronize(_)) => mark!("synchronize"),
            Op::Order(OrderOp::Record(_)) => mark!("record"),
            Op::Order(OrderOp::Wait(_)) => "wait",
        }
    }
}

/// The data that a download copies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transfer {
    /// The lattice's bits: current in layout [`Layout::Bits`], else as of the last [`LatticeOp::Pack`].
    Bits,
    /// Some rows of these bits.
    Rows {
        /// The first row.
        first: u32,
        /// At least one.
        count: u32,
    },
    /// The result of the last [`LatticeOp::Reduce`]: bytes, four per word, or counts of a band.
    View,
    /// The cells as one `i32` each; only in layout [`Layout::I32`].
    Cells,
    /// The result of the last [`LatticeOp::Measure`], [`Measure::WORDS`](crate::Measure::WORDS) words.
    Measure,
}

/// A position in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferOffset {
    /// The buffer.
    pub buffer: BufferId,
    /// Offset in bytes.
    pub offset: usize,
}

/// A launch of a kernel that takes buffers instead of lattices.
#[derive(Clone, PartialEq, Debug)]
pub struct BufferLaunch {
    /// The kernel to launch.
    pub kernel: &'static BufferKernel,
    /// Its grid and blocks.
    pub shape: Launch,
    /// Arguments in the order of the kernel's parameters.
    pub arguments: Vec<Argument>,
}

/// An argument of a [`BufferLaunch`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Argument {
    /// An address in a buffer on the stream's device.
    Buffer(BufferOffset),
    /// A number.
    I32(i32),
    /// A number.
    U32(u32),
    /// A number.
    U64(u64),
    /// A number.
    F32(f32),
}

/// An op on the memory of a buffer instead of its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryOp {
    /// Allocates a buffer in [`BufferLocation::Pool`](crate::BufferLocation::Pool), in the order of the
    /// stream. The words are undefined. The same program must free it, and use it in this stream
    /// only.
    Allocate(BufferId),
    /// Frees such a buffer, in the order of the stream.
    Free(BufferId),
    /// Sets how many bytes of freed memory the pool of the stream's device keeps when the host
    /// waits for the device; 0 at first. Takes effect when it is issued.
    SetReleaseThreshold(u64),
    /// Advises the driver that a buffer in [`BufferLocation::Managed`](crate::BufferLocation::Managed) is
    /// hardly written: who reads a page gets a copy of it. Takes effect when it is issued.
    AdviseReadMostly(BufferId),
    /// Moves such a buffer's pages to the device of the stream or to the host, in the order of the
    /// stream.
    Prefetch(BufferId, PageLocation),
}

/// Where the pages of unified memory can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageLocation {
    /// In the memory of the stream's device.
    Device,
    /// In the host's memory.
    Host,
}

/// What the host waits for in [`OrderOp::Synchronize`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All work issued to the step's stream.
    Stream,
    /// All work issued to the step's device.
    Device,
}

/// An op, its stream, and the host thread that issues it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The issuing host thread. Steps of one issuer are issued in order. Steps of different issuers
    /// are not ordered, not even by events: an [`OrderOp::Wait`] may only wait for an event that its own
    /// issuer recorded.
    pub issuer: IssuerId,
    /// The stream.
    pub stream: StreamId,
    /// The op.
    pub op: Op,
}

/// A step of a program on lattices in bands, as one of the bands got it.
#[derive(Clone, Debug)]
pub struct IssuedStep {
    /// The device.
    pub device: DeviceId,
    /// The step, on the program's lattices and in the band's own stream.
    pub step: Step,
    /// The program's stream.
    pub stream: StreamId,
    /// The size of the part that it works on.
    pub size: life::Size,
}

/// Steps in the order in which the host issues them.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The steps.
    pub steps: Vec<Step>,
    /// Whether to return a [`Span`] for every step; costs two events per step.
    pub timed: bool,
    /// Whether every block of the steps' kernels records when and where it ran
    /// ([`BlockTimestamp`]). This adds instructions to the kernels, and such a program cannot be
    /// prepared. On CUDA at most 64 launches per op (the last ones per lattice) and 2 Mi blocks per
    /// program and device are recorded.
    pub block_timestamps: bool,
    /// Whether the bands of a lattice take each step one after the other, so that every span is that of
    /// the step alone. Of no effect where lattices are whole.
    pub band_by_band: bool,
}

impl Program {
    /// Ops of one stream, in order.
    pub fn in_stream(stream: StreamId, ops: impl IntoIterator<Item = Op>) -> Program {
        let mut program = Program::default();
        ops.into_iter().for_each(|op| program.push(stream, op));
        program
    }

    /// The same program with a span for every step.
    pub fn with_spans(self) -> Program {
        Program {
            timed: true,
            ..self
        }
    }

    /// Every slot that the program's downloads write.
    pub fn downloads(&self) -> impl Iterator<Item = (LatticeId, Slot)> + Clone {
        let downloads = self.steps.iter().filter_map(|step| step.op.downloaded());
        downloads.flat_map(|(lattices, slot)| lattices.map(move |id| (LatticeId(id), slot)))
    }

    /// Appends an op for a stream.
    pub fn push(&mut self, stream: StreamId, op: impl Into<Op>) {
        self.push_from(IssuerId(0), stream, op);
    }

    /// Appends an op that another host thread issues.
    pub fn push_from(&mut self, issuer: IssuerId, stream: StreamId, op: impl Into<Op>) {
        let op = op.into();
        self.steps.push(Step { issuer, stream, op });
    }
}

/// An event that [`Engine::poll`](crate::Engine::poll) reports.
#[derive(Clone, Debug)]
pub enum Completion {
    /// A download is complete. Its slots may be read until the next download into them is
    /// submitted.
    Downloaded {
        /// The run it belongs to.
        run: RunId,
        /// The downloaded lattices.
        lattices: Range<u32>,
        /// The slot of each lattice.
        slot: Slot,
    },
    /// Every step of a run is complete.
    Finished {
        /// The run.
        run: RunId,
        /// If the program was timed: one span per step.
        spans: Vec<Span>,
        /// If the program was timed: how long the host spent in the issuing calls, one span per
        /// step, or one of step [`Span::WHOLE`] for a replay. Converted to the device's clock, to
        /// within some microseconds.
        host: Vec<Span>,
        /// If the program has block timestamps: when and where each block of its kernels ran,
        /// sorted by step.
        block_timestamps: Vec<BlockTimestamp>,
    },
}

/// When and where a block ran, recorded by the block itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockTimestamp {
    /// Index of its step in the program.
    pub step: u32,
    /// The SM, numbered across all devices, or the CPU worker.
    pub sm: u32,
    /// Start on the device's clock. Comparable with other block timestamps exactly, and with spans
    /// to within some microseconds.
    pub start: Nanos,
    /// End, on the device's clock.
    pub end: Nanos,
}

/// When a step ran, measured by events before and after it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// Index of its step in the program. With the run's id it identifies the op.
    pub step: u32,
    /// The step's stream.
    pub stream: StreamId,
    /// Start, on the device's clock.
    pub start: Nanos,
    /// End, on the device's clock.
    pub end: Nanos,
}

impl Span {
    /// The step index of a span that covers a whole program.
    pub const WHOLE: u32 = u32::MAX;

    /// Duration of the span.
    pub fn length(self) -> Nanos {
        Nanos(self.end.0 - self.start.0)
    }
}
