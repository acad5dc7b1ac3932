//! Ops and programs as data: what they take and give besides cells, and the completions that engines return.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{bail, invalid};
use crate::kernels::Launch;
use crate::{
    Band, BufferId, BufferKernel, DeviceId, EngineError, EventId, IssuerId, Kernel, LatticeId,
    Layout, Nanos, Result, RowCopy, RunId, Slot, StreamId, SupportKernel,
};
use bytemuck::{Pod, Zeroable};
use lang::mark;
use life::{Lattice, Rule, Size, Soup};

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
    /// [`Size::words`] words. The working layout becomes [`Layout::Bits`].
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
    /// Measures lattices' bits on the device: see [`Measure`]. The device keeps a
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

impl From<MemoryOp> for Op {
    fn from(op: MemoryOp) -> Op {
        BufferOp::Memory(op).into()
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

// Which lattices an op can work on, and in what state it leaves them.

impl LatticeOp {
    /// The support kernel that this op launches on a lattice of this size and in this state. Errors if such a
    /// lattice cannot have the op; its kernel, its slot and other lattices are not checked here.
    pub(crate) fn check(
        &self,
        lattice: LatticeId,
        size: Size,
        state: LatticeState,
    ) -> Result<Option<SupportKernel>> {
        Ok(match self {
            LatticeOp::Upload(words) if words.len() != size.words() => {
                bail!(
                    "an upload of {} words to {lattice:?}, which has {}",
                    words.len(),
                    size.words()
                );
            }
            LatticeOp::Soup(_) => Some(SupportKernel::SOUP),
            LatticeOp::Edit(edits) => {
                WordEdit::check_all(edits, size)?;
                Some(SupportKernel::EDIT)
            }
            LatticeOp::Pack => SupportKernel::pack(state.layout),
            LatticeOp::Unpack(to) if !to.supports(size) => {
                bail!("a lattice of {size} cannot be in layout {to:?}");
            }
            LatticeOp::Unpack(to) if *to != Layout::Bits && *to != state.reserved => {
                bail!("layout {to:?} is not reserved for {lattice:?}");
            }
            LatticeOp::Unpack(to) => SupportKernel::unpack(*to),
            LatticeOp::Reduce(_) => Some(SupportKernel::reduce(state.band.is_some())),
            LatticeOp::Measure => Some(SupportKernel::MEASURE),
            LatticeOp::Upload(_)
            | LatticeOp::Advance { .. }
            | LatticeOp::Download { .. }
            | LatticeOp::CopyRows { .. } => None,
        })
    }

    /// Names what a CUDA graph cannot contain; `None` if a graph can contain this op.
    pub(crate) fn unpreparable(&self) -> Option<&'static str> {
        match self {
            LatticeOp::Upload(_) => Some("an upload (a graph would keep its address)"),
            LatticeOp::Edit(_) => Some("an edit (a graph would keep its address)"),
            LatticeOp::CopyRows { .. } => Some("copying rows between lattices"),
            _ => None,
        }
    }
}

/// The state that a lattice will have once all issued work is done.
///
/// The CPU engine does not need the parities. A CUDA graph does, since its addresses are fixed at
/// capture. Both engines keep the same state and so reject the same programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LatticeState {
    /// The working layout.
    pub layout: Layout,
    /// The layout reserved in addition to [`Layout::Bits`]; [`Layout::Bits`] if none is.
    pub reserved: Layout,
    /// Which of the working layout's two buffers holds the cells: 0 or 1.
    pub parity: u8,
    /// Which bit buffer holds the bits: 0 or 1. In other layouts these are the bits of the last
    /// [`LatticeOp::Pack`].
    pub bits_parity: u8,
    /// Whether the bits equal the cells. False if they are of an earlier generation.
    pub bits_current: bool,
    /// Whether it has been measured at least once.
    pub measured: bool,
    /// Words of the view that the last [`LatticeOp::Reduce`] made; 0 before the first.
    pub view_words: u32,
    /// The rows that it has, if it is no whole torus.
    pub band: Option<Band>,
}

impl LatticeState {
    /// State of a new lattice.
    pub(crate) const NEW: LatticeState = LatticeState {
        layout: Layout::Bits,
        reserved: Layout::Bits,
        parity: 0,
        bits_parity: 0,
        bits_current: true,
        measured: false,
        view_words: 0,
        band: None,
    };

    /// The state after an op. The op must be compatible with this state.
    #[must_use]
    pub(crate) fn after(mut self, op: &LatticeOp) -> LatticeState {
        match op {
            LatticeOp::Upload(_) | LatticeOp::Soup(_) => {
                (self.layout, self.bits_current) = (Layout::Bits, true);
                (self.parity, self.bits_parity) = (0, 0);
            }
            LatticeOp::Edit(_) | LatticeOp::CopyRows { .. } => {
                self.bits_current &= self.layout == Layout::Bits;
            }
            LatticeOp::Pack => {
                if self.layout != Layout::Bits {
                    (self.bits_parity, self.bits_current) = (0, true);
                }
            }
            LatticeOp::Unpack(to) => {
                (self.layout, self.bits_current) = (*to, true);
                self.parity = match to {
                    Layout::Bits => self.bits_parity,
                    Layout::I32 | Layout::Planar => 0,
                };
            }
            LatticeOp::Advance {
                kernel,
                generations,
                ..
            } => {
                self.parity ^= u8::from(kernel.swaps_buffers(*generations));
                match self.layout {
                    Layout::Bits => self.bits_parity = self.parity,
                    Layout::I32 | Layout::Planar => self.bits_current &= *generations == 0,
                }
            }
            LatticeOp::Reduce(region) => self.view_words = self.words_of_view(*region) as u32,
            LatticeOp::Measure => self.measured = true,
            LatticeOp::Download { .. } => {}
        }
        self
    }

    /// Words of a view of the lattice: a byte per pixel, or of a band a count.
    pub(crate) fn words_of_view(self, region: ReduceRegion) -> usize {
        match self.band {
            None => region.words(),
            Some(_) => 4 * region.words(),
        }
    }

    /// Whether an op changes cells, so that its result must not be kept if it fails halfway.
    pub(crate) fn is_changed_by(self, op: &LatticeOp) -> bool {
        match op {
            LatticeOp::Upload(_)
            | LatticeOp::Soup(_)
            | LatticeOp::Edit(_)
            | LatticeOp::CopyRows { .. }
            | LatticeOp::Advance { .. } => true,
            LatticeOp::Unpack(_) => !self.bits_current,
            _ => false,
        }
    }

    /// Updates the state after an attempt to reserve memory for `layout`; `allocated` says whether
    /// it succeeded.
    pub(crate) fn reserve(&mut self, layout: Layout, allocated: bool) {
        self.reserved = if allocated { layout } else { Layout::Bits };
        if self.layout != self.reserved {
            self.layout = Layout::Bits;
            self.parity = self.bits_parity;
            self.bits_current = true;
        }
    }

    /// Whether both states have cells and bits in the same buffers.
    #[inline]
    pub(crate) fn has_buffers_of(self, other: LatticeState) -> bool {
        let buffers = |state: LatticeState| (state.layout, state.parity, state.bits_parity);
        buffers(self) == buffers(other)
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
    /// The result of the last [`LatticeOp::Measure`], [`Measure::WORDS`] words.
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
    pub size: Size,
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

// What ops on lattices take and give besides cells.

/// Four numbers that describe a lattice: enough to plot its history and to recognise a repeated
/// state.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Pod, Zeroable)]
pub struct Measure {
    /// Live cells.
    pub population: u64,
    /// Cells alive now but not at the previous measure; all live cells at the first one.
    pub births: u64,
    /// Cells alive at the previous measure but not now.
    pub deaths: u64,
    /// The sum of [`Measure::mixed`] over all words of the bits, modulo 2^64. Equal lattices have
    /// equal hashes on every engine; different ones of the same size almost certainly differ. Not
    /// cryptographic.
    pub hash: u64,
}

impl Measure {
    /// Size of a download in 32-bit words: the fields in order, each with its low word first.
    pub const WORDS: usize = 8;

    /// The contribution of word `index` of a lattice's bits to the hash.
    #[inline(always)]
    pub const fn mixed(index: u64, word: u32) -> u64 {
        const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
        let x = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word as u64;
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        x ^ x >> 32
    }

    /// Adds a row of words, the first of which is word `index` of the lattice. `before` holds the
    /// row at the previous measure and is replaced.
    #[inline(always)]
    pub(crate) fn add(&mut self, index: u64, words: &[u32], before: &mut [u32]) {
        let (mut population, mut births, mut deaths) = (0, 0, 0);
        for ((now, then), index) in words.iter().zip(before).zip(index..) {
            population += now.count_ones();
            births += (now & !*then).count_ones();
            deaths += (*then & !now).count_ones();
            self.hash = self.hash.wrapping_add(Measure::mixed(index, *now));
            *then = *now;
        }
        self.population += u64::from(population);
        self.births += u64::from(births);
        self.deaths += u64::from(deaths);
    }

    /// The measure of two parts of a lattice together.
    pub(crate) fn plus(self, other: Measure) -> Measure {
        Measure {
            population: self.population + other.population,
            births: self.births + other.births,
            deaths: self.deaths + other.deaths,
            hash: self.hash.wrapping_add(other.hash),
        }
    }

    /// Reads a measure from the words of a host slot.
    pub fn from_words(words: &[u32]) -> Measure {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[..Measure::WORDS]))
    }

    /// The measure as the words of a host slot.
    pub fn to_words(self) -> [u32; Measure::WORDS] {
        bytemuck::cast(self)
    }
}

// The region of a lattice that [`LatticeOp::Reduce`] reduces, in integers, so that
// every engine computes the same bytes.

/// A rectangle of a lattice and its division into pixels.
///
/// Cell coordinates are fixed-point with 16 fractional bits and wrap around the torus. Pixel column
/// `i` covers the cells from `(x0 + i * step) >> 16` up to but excluding `(x0 + (i + 1) * step) >>
/// 16`: at least one cell, and at most the whole row, each cell once. Rows likewise. A pixel's byte
/// is `255 * alive / covered`, rounded to the nearest integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReduceRegion {
    /// Left edge, in fixed-point cells.
    pub x0: i64,
    /// Top edge, in fixed-point cells.
    pub y0: i64,
    /// Cells per pixel in both directions, fixed-point.
    pub step: i64,
    /// Width in pixels; a multiple of 4, so that a row is whole words.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl ReduceRegion {
    /// One cell in fixed point.
    pub const ONE: i64 = 1 << 16;

    /// So many columns and rows from the corner on, a pixel for each cell.
    pub const fn of_cells(width: u32, height: u32) -> ReduceRegion {
        ReduceRegion {
            x0: 0,
            y0: 0,
            step: ReduceRegion::ONE,
            width,
            height,
        }
    }

    /// Size of the reduced bytes, in 32-bit words.
    pub const fn words(self) -> usize {
        self.width as usize / 4 * self.height as usize
    }

    /// The byte of a pixel that covers so many cells.
    pub(crate) const fn density(alive: u64, covered: u64) -> u8 {
        ((255 * alive + covered / 2) / covered) as u8
    }

    /// How many cells each pixel column covers in a row of a lattice of this width.
    pub(crate) fn widths(self, width: u32) -> Vec<u64> {
        let widths = (0..self.width).map(|i| length(self.columns(i), width));
        widths.collect()
    }

    /// Writes the bytes of pixel row `j`, four per word, from the live cells of its pixels and from
    /// [`ReduceRegion::widths`].
    pub(crate) fn put_line(
        self,
        j: u32,
        alive: &[u64],
        widths: &[u64],
        height: u32,
        line: &mut [u32],
    ) {
        let tall = length(self.rows(j), height);
        for (word, pixels) in line.iter_mut().zip((0..).step_by(4)) {
            let byte =
                |k: usize| ReduceRegion::density(alive[pixels + k], widths[pixels + k] * tall);
            *word = u32::from_le_bytes(std::array::from_fn(byte));
        }
    }

    /// The reduced bytes, four per word, of a lattice of this size with so many live cells in each
    /// pixel.
    pub(crate) fn bytes_of(self, alive: &[u64], size: Size) -> Vec<u32> {
        let widths = self.widths(size.width);
        let mut words = vec![0; self.words()];
        let lines = words.chunks_exact_mut(self.width as usize / 4);
        for ((j, line), alive) in (0..).zip(lines).zip(alive.chunks_exact(widths.len())) {
            self.put_line(j, alive, &widths, size.height, line);
        }
        words
    }

    /// The half-open range of cell columns that pixel column `i` covers, before wrapping. It may be
    /// longer than a row; each cell then counts once.
    pub const fn columns(self, i: u32) -> (i64, i64) {
        Self::covered(self.x0, self.step, i)
    }

    /// The half-open range of cell rows that pixel row `j` covers, likewise.
    pub const fn rows(self, j: u32) -> (i64, i64) {
        Self::covered(self.y0, self.step, j)
    }

    const fn covered(origin: i64, step: i64, i: u32) -> (i64, i64) {
        let from = (origin + i as i64 * step) >> 16;
        let to = (origin + (i as i64 + 1) * step) >> 16;
        (from, if to > from { to } else { from + 1 })
    }

    /// The pixel column at fixed-point coordinate `x` of a lattice `width` cells wide, or `None`
    /// outside the region.
    pub fn column_at(self, x: i64, width: u32) -> Option<u32> {
        self.pixel_at(x, self.x0, width)
            .filter(|column| *column < self.width)
    }

    /// The pixel row at fixed-point coordinate `y` of a lattice `height` cells high, or `None`
    /// outside the region.
    pub fn row_at(self, y: i64, height: u32) -> Option<u32> {
        self.pixel_at(y, self.y0, height)
            .filter(|row| *row < self.height)
    }

    fn pixel_at(self, at: i64, origin: i64, side: u32) -> Option<u32> {
        let turn = i64::from(side) * ReduceRegion::ONE;
        let ahead = (at.rem_euclid(turn) - origin.rem_euclid(turn)).rem_euclid(turn);
        u32::try_from(ahead / self.step).ok()
    }

    /// Errors if the region cannot be reduced.
    pub(crate) fn check(self) -> Result<(), EngineError> {
        let reach = |origin: i64, pixels: u32| {
            self.step
                .checked_mul(pixels.into())
                .and_then(|length| origin.checked_add(length))
                .is_some()
        };
        let sensible = self.width > 0
            && self.width.is_multiple_of(4)
            && (1..=65_535).contains(&self.height) // the limit of a grid's y dimension
            && (1..=1 << 41).contains(&self.step)
            && u32::try_from(self.words()).is_ok()
            && reach(self.x0, self.width)
            && reach(self.y0, self.height);
        if sensible {
            Ok(())
        } else {
            Err(invalid!("{self:?} cannot be reduced"))
        }
    }
}

/// The cells of a range that may be longer than a side of the torus; each counts once.
fn length((from, to): (i64, i64), side: u32) -> u64 {
    (to - from).min(side.into()) as u64
}

// Edits of a lattice, as a list of changed words.

/// New states for cells of one word of a lattice's bits, in the layout that crosses the bus.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
pub struct WordEdit {
    /// Index of the word in the lattice's bits, row by row.
    pub word: u32,
    /// The cells to set.
    pub mask: u32,
    /// Their new states. Bits outside the mask are ignored.
    pub bits: u32,
}

impl WordEdit {
    /// Maximum edits per copy; longer lists take several copies. Small enough that the driver reads
    /// the copy out of pageable memory before the call returns.
    pub const MAX_PER_COPY: usize = 4096;

    /// Errors if an edit lies outside the lattice, or the edits are not in ascending order of
    /// words, each word once.
    pub fn check_all(edits: &[WordEdit], size: Size) -> Result<()> {
        if !edits.is_sorted_by(|a, b| a.word < b.word) {
            bail!("the words of the edits are not in order, each once",);
        }
        let per_row = size.words_per_row();
        let beyond = |edit: &&WordEdit| {
            let word = edit.word as usize;
            let last = (word + 1).is_multiple_of(per_row);
            word >= size.words() || last && edit.mask & !size.last_word_mask() != 0
        };
        match edits.iter().find(beyond) {
            Some(edit) => Err(invalid!("{edit:?} lies outside a {size} lattice")),
            None => Ok(()),
        }
    }

    /// The edits that turn `before` into `after`, a lattice of the same size.
    pub fn between(before: &Lattice, after: &Lattice) -> Vec<WordEdit> {
        let words = (0..).zip(before.words().iter().zip(after.words()));
        let changed = words.filter(|(_, (before, after))| before != after);
        let edit = |(word, (before, after)): (u32, (&u32, &u32))| WordEdit {
            word,
            mask: before ^ after,
            bits: *after,
        };
        changed.map(edit).collect()
    }

    /// Applies the edit to its word.
    pub fn apply(self, word: &mut u32) {
        *word = *word & !self.mask | self.bits & self.mask;
    }

    /// The edited cells: column within the word, and new state.
    pub(crate) fn cells(self) -> impl Iterator<Item = (u32, bool)> {
        let set = (0..32).filter(move |bit| self.mask >> bit & 1 == 1);
        set.map(move |bit| (bit, self.bits >> bit & 1 == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_knows_where_a_word_is() {
        assert_ne!(Measure::mixed(0, 1), Measure::mixed(1, 1));
        assert_ne!(Measure::mixed(1, 1), Measure::mixed(1, 2));
        // A fixed value, since other programs may compare hashes.
        assert_eq!(Measure::mixed(0, 0), 0x4e17_cf67_001b_3979);
    }
}
