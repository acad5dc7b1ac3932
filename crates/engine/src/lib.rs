//! The seam between what is asked and what does it.
//!
//! Work is data: a [`Program`] is a list of [`Step`]s, each an [`Op`] for a stream. An
//! [`Engine`] runs a program eagerly ([`Engine::submit`]) or prepares it once and replays it
//! ([`Engine::prepare`], a CUDA graph). Within a stream, ops run in order; between streams there
//! is no order but what [`Op::Record`] and [`Op::Wait`] make, the default stream, and a replay,
//! which begins behind everything issued before it and ends before everything issued later.
//! Nothing blocks but [`Engine::synchronize`] and [`Engine::wait`], and a program that asks for it
//! ([`Op::Synchronize`], copies to pageable memory); what has happened comes out of
//! [`Engine::poll`] as [`Completion`]s.
//!
//! One validator (`check`) judges programs for both engines. It keeps the state that every lattice
//! will be in once everything issued so far is done, and says which memory a program needs, which
//! is taken before the first step is issued. So a program that is refused leaves no trace.
//!
//! Two engines stand behind the seam: [`cuda`] and [`cpu`], with the same kernels by name
//! ([`kernels`]) and the same results bit by bit.

pub mod called;
mod check;
pub mod cpu;
pub mod cuda;
mod edit;
mod error;
pub mod kernels;
pub mod lesson_kernels;
mod measure;
mod ops;
pub mod probe_kernels;
mod reduce_region;

use std::sync::Arc;
use std::time::Duration;

pub use called::CalledKernel;
pub use edit::WordEdit;
pub use error::EngineError;
pub use kernels::{Kernel, Layout};
pub use measure::Measure;
pub use ops::{
    Argument, BlockTimestamp, BufferId, Call, Completion, DeviceId, EventId, IssuerId, LatticeId,
    Nanos, Op, PreparedId, Program, Region, RunId, Scope, Slot, Span, Step, StreamId, Transfer,
};
pub use reduce_region::ReduceRegion;

/// What an engine's answer is.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Something that runs programs over lattices in streams.
///
/// One thread owns an engine; pictures are read from any thread through [`Slots`].
pub trait Engine: Send {
    /// `cuda` or `cpu`.
    fn name(&self) -> &'static str;

    /// The devices it uses, a context each; [`DeviceId`] indexes them.
    fn devices(&self) -> &[DeviceInfo];

    /// Makes `count` lattices of one size on a device, all in one allocation, dead and in layout
    /// [`Layout::Bits`]. Their ids follow one another, across calls too.
    fn create_lattices(&mut self, device: DeviceId, count: usize, size: life::Size) -> Result<()>;

    /// Makes room for every lattice in a layout, and gives back what other layouts than it and
    /// [`Layout::Bits`] held. Waits until nothing runs. Cells that were only in a layout given
    /// back are lost, and the working layout is then [`Layout::Bits`]: [`Op::Pack`] first. Where
    /// memory runs out, what other layouts held has been given back all the same, and lattices
    /// that were in this layout before are still in it.
    fn reserve(&mut self, layout: Layout) -> Result<()>;

    /// Makes the host slots of every lattice anew: `pictures` slots of `picture_words` each and
    /// `checkpoints` slots of the whole lattice's bits each, and those of measures, page-locked where the engine knows
    /// such memory. Waits until nothing runs. Earlier [`Slots`] stay readable.
    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>>;

    /// Makes a stream.
    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId>;

    /// Makes another context on a device: memory, streams and events of its own. What it answers
    /// is used as a device's id, and stands in [`Engine::devices`] from now on.
    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId>;

    /// Makes a buffer of so many bytes, a multiple of 4, all zero.
    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId>;

    /// Hands over the words of a buffer on the host. Waits until nothing runs.
    fn access(&mut self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()>;

    /// Gives back every buffer, once nothing runs; ids are not used again.
    fn drop_buffers(&mut self) -> Result<()>;

    /// Whether everything that an event's latest mark stands behind is done. Never blocks.
    fn query(&mut self, event: EventId) -> Result<bool>;

    /// How many blocks of an op's kernel a unit of the device holds at once; `None` for an op
    /// without a kernel, and on an engine without such limits.
    fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>>;

    /// Makes an event for [`Op::Record`] and [`Op::Wait`].
    fn create_event(&mut self, device: DeviceId) -> Result<EventId>;

    /// Starts a program; returns as soon as it is queued. One that is refused leaves no trace, nor
    /// does one whose memory cannot be had: it is taken before the first step is issued.
    fn submit(&mut self, program: &Program) -> Result<RunId>;

    /// Readies a program for replay from the lattices' present state (layout and buffer parity);
    /// it takes effect on replay only. Memory that it needs is taken now.
    fn prepare(&mut self, program: &Program) -> Result<PreparedId>;

    /// Starts a prepared program. The lattices must be in the state it was prepared from.
    fn replay(&mut self, prepared: PreparedId) -> Result<RunId>;

    /// Forgets a prepared program.
    fn release(&mut self, prepared: PreparedId);

    /// Which of its buffers hold a lattice's cells and bits, as a small number: a prepared
    /// program fits the one it was prepared from.
    fn parity(&self, lattice: LatticeId) -> u8;

    /// Appends what has completed since the last call. Never blocks.
    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()>;

    /// Sleeps until something may have completed, at most `timeout`.
    fn wait(&mut self, timeout: Duration);

    /// Blocks until everything submitted has completed; [`Engine::poll`] then brings it all.
    fn synchronize(&mut self) -> Result<()>;

    /// What the engine did at its own start and on first uses, for the person who waits.
    fn startup(&self) -> Startup;
}

/// The host memory that downloads land in, shared with the threads that draw.
///
/// A slot is never written while it is read: [`Engine::submit`] refuses a download into a slot
/// in use ([`EngineError::SlotBusy`]), and [`Slots::read`] refuses a slot that a download is
/// bound for.
pub trait Slots: Send + Sync {
    /// Hands the words of a slot to `look`; `false`, and no look, while a download is bound for
    /// it.
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool;

    /// Whether a download could be bound for this slot now.
    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool;
}

/// How many host slots a lattice has, and of what size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotsSpec {
    /// Slots for pictures in page-locked memory; [`Slot`] 0 and up.
    pub pinned: u8,
    /// Slots for pictures in pageable memory, behind those.
    pub pageable: u8,
    /// Words of a picture slot.
    pub picture_words: usize,
    /// Page-locked slots for whole lattices, behind the picture slots.
    pub checkpoints: u8,
    /// Page-locked slots of [`Measure::WORDS`] words each, behind those.
    pub measures: u8,
}

impl SlotsSpec {
    /// All slots of a lattice.
    pub fn count(self) -> u8 {
        self.pictures() + self.checkpoints + self.measures
    }

    /// The slot of a lattice for its measure `index`.
    pub fn measure_slot(self, index: u8) -> Slot {
        Slot(self.pictures() + self.checkpoints + index)
    }

    /// Words of a slot of a lattice of so many.
    pub fn words(self, slot: Slot, lattice_words: usize) -> usize {
        match slot.0 {
            picture if picture < self.pictures() => self.picture_words,
            whole if whole < self.pictures() + self.checkpoints => lattice_words,
            _ => Measure::WORDS,
        }
    }

    /// The picture slots of a lattice.
    pub fn pictures(self) -> u8 {
        self.pinned + self.pageable
    }

    /// Whether a slot is in pageable memory.
    pub(crate) fn is_pageable(self, slot: Slot) -> bool {
        (self.pinned..self.pictures()).contains(&slot.0)
    }
}

/// How memory of the host is allocated.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum HostMemory {
    /// Page-locked: the device copies by itself, and the call returns at once.
    Pinned,
    /// Pageable: the driver copies through page-locked memory of its own, and the call waits.
    Pageable,
}

/// Where a buffer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferLocation {
    /// On the device.
    Device,
    /// On the host.
    Host(HostMemory),
}

/// What a stream is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamSpec {
    /// How it stands to the default stream.
    pub kind: StreamKind,
    /// Which work goes first.
    pub priority: Priority,
}

impl StreamSpec {
    /// A stream that waits for no other.
    pub const PLAIN: StreamSpec = StreamSpec {
        kind: StreamKind::NonBlocking,
        priority: Priority::Normal,
    };
}

/// How a stream stands to the default stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StreamKind {
    /// It waits for no other stream.
    NonBlocking,
    /// It waits for what the default stream was given before, and the default stream for it.
    Blocking,
    /// The context's default (legacy) stream itself: there is one, however often it is asked for.
    Default,
}

/// Which work goes first where several streams have some.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Priority {
    /// The device's lowest, and what streams have that ask for nothing.
    Normal,
    /// The device's highest: its blocks go first as soon as others end.
    High,
}

/// How many blocks of a kernel a device holds at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Occupancy {
    /// Blocks of one launch.
    pub blocks: u64,
    /// Blocks that a streaming multiprocessor holds at once.
    pub blocks_per_unit: u32,
    /// Streaming multiprocessors.
    pub units: u32,
    /// Threads of a block.
    pub block_threads: u32,
    /// The most threads that a streaming multiprocessor holds at once.
    pub max_threads_per_unit: u32,
}

/// A device as people know it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct DeviceInfo {
    /// Its name, such as `NVIDIA H200`.
    pub name: String,
    /// What drives it, such as `CUDA driver 13.0, sm_90` or `8 threads`.
    pub driver: String,
    /// Its compute capability, where it has one.
    pub capability: Option<(u32, u32)>,
    /// Streaming multiprocessors, or CPU threads.
    pub units: u32,
    /// Its memory in bytes, where known.
    pub memory: Option<u64>,
    /// Its last cache before memory in bytes, where known: a GPU's L2.
    pub cache: Option<u64>,
    /// Engines that copy over the bus at the same time, in whichever direction.
    pub copy_engines: u32,
    /// Whether the system ends kernels that run for seconds, as it does where a GPU also drives a
    /// display.
    pub kernel_time_limit: bool,
    /// PCI bus id such as `0000:17:00.0`, to tell whether it also draws.
    pub pci_bus_id: Option<String>,
}

/// What an engine spent before it could work.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize)]
pub struct Startup {
    /// Driver and contexts, in milliseconds.
    pub driver_ms: f64,
    /// Modules loaded so far (PTX compiled by the driver), in milliseconds.
    pub modules_ms: f64,
}
