//! What an engine does: it runs programs on lattices, in streams.

use crate::{
    Band, BufferId, BufferLocation, Completion, Cut, DeviceId, DeviceInfo, EventId, Feature,
    IssuedStep, LatticeId, Layout, Measure, Nanos, Op, PreparedId, Program, ReduceRegion, Result,
    RunId, Slot, StreamId,
};
use std::sync::Arc;
use std::time::Duration;

/// Runs programs on lattices, in streams.
///
/// One thread owns an engine. Any thread may read pictures through [`Slots`].
pub trait Engine: Send {
    /// `cuda` or `cpu`.
    fn name(&self) -> &'static str;

    /// The devices in use, one entry per context; [`DeviceId`] is the index.
    fn devices(&self) -> &[DeviceInfo];

    /// Creates `count` lattices of one size on a device, in one allocation, each for a band of a torus
    /// if there is one: ops say where a band differs from a whole torus. All cells are dead and the layout is [`Layout::Bits`]. Ids are consecutive, also
    /// across calls.
    fn create(
        &mut self,
        device: DeviceId,
        count: usize,
        size: life::Size,
        band: Option<Band>,
    ) -> Result<()>;

    /// Creates lattices that are whole tori.
    fn create_lattices(&mut self, device: DeviceId, count: usize, size: life::Size) -> Result<()> {
        self.create(device, count, size, None)
    }

    /// Waits until no work runs, then drops all lattices, slots, streams, events, buffers and prepared
    /// programs. Contexts stay, with the functions that were loaded; ids are given anew, and what was
    /// submitted before is never reported. [`Slots`] returned earlier remain readable.
    fn clear(&mut self) -> Result<()>;

    /// Allocates memory for every lattice in `layout`, and frees that of all other layouts except
    /// [`Layout::Bits`]. Waits until no work runs. A lattice whose layout was freed returns to
    /// [`Layout::Bits`]: its cells are those of its last [`LatticeOp::Pack`](crate::LatticeOp::Pack).
    ///
    /// Errors if memory runs out. Other layouts are freed even then; lattices that were in `layout`
    /// before remain in it.
    fn reserve(&mut self, layout: Layout) -> Result<()>;

    /// Reallocates the host slots of every lattice as `spec` says, page-locked where requested and
    /// supported. Waits until no work runs. [`Slots`] returned earlier remain readable.
    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>>;

    /// Creates a stream. A context has one default stream: requesting it again returns the same id.
    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId>;

    /// Gives a stream a name in profilers.
    fn name_stream(&mut self, _stream: StreamId, _name: &str) {}

    /// Creates another context on a device, with its own memory, streams and events. The returned
    /// id is used like a device's, and [`Engine::devices`] lists it from now on.
    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId>;

    /// Errors with [`EngineError::Unsupported`](crate::EngineError::Unsupported) if a device or its driver lacks a feature.
    fn check_feature(&self, _device: DeviceId, _feature: Feature) -> Result<()> {
        Ok(())
    }

    /// Allows or forbids that a device reaches a peer's memory directly. Waits until no work runs.
    /// Returns `false` if it cannot reach it.
    fn set_peer_access(
        &mut self,
        _device: DeviceId,
        _peer: DeviceId,
        _is_allowed: bool,
    ) -> Result<bool> {
        Ok(true)
    }

    /// Creates a zeroed buffer. `bytes` must be a positive multiple of 4.
    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId>;

    /// Calls `visit` with the words of a host buffer, which it may change; the CUDA engine also
    /// copies a device buffer to the host and back. Waits until no work runs.
    fn access(&mut self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()>;

    /// Drops every buffer once no work runs. Their ids are not reused.
    fn drop_buffers(&mut self) -> Result<()>;

    /// Whether all work before the event's latest record is done. True for an event that was never
    /// recorded. Never blocks.
    fn query(&mut self, event: EventId) -> Result<bool>;

    /// How each lattice is cut into bands that lie on all devices; `None` where each lies on one.
    fn cut(&self) -> Option<Cut> {
        None
    }

    /// Whether each lattice lies on all devices, in bands: then a stream and an event stand for one of
    /// each band.
    fn is_split(&self) -> bool {
        self.cut().is_some()
    }

    /// The number of devices that lattices and streams can be created on, from `DeviceId(0)` on.
    fn places(&self) -> usize {
        if self.is_split() {
            1
        } else {
            self.devices().len()
        }
    }

    /// The sizes of the lattices that kernels step in the place of one of `size`.
    fn stepped_sizes(&self, size: life::Size) -> Vec<life::Size> {
        vec![size]
    }

    /// Words of a host slot for a view of a region.
    fn view_words(&self, region: ReduceRegion) -> usize {
        region.words()
    }

    /// The steps of the timed run that was submitted last as the devices got them, if those are not
    /// the program's. The spans of the run number them.
    fn issued_steps(&self, _run: RunId) -> Option<&[IssuedStep]> {
        None
    }

    /// How far a time on one device's clock can be from the same moment on another's.
    fn clock_error(&self) -> Nanos {
        Nanos(0)
    }

    /// The engine whose devices have whole lattices; without lattices.
    fn unsplit(self: Box<Self>) -> Box<dyn Engine>;

    /// Occupancy of an op's kernel on a device. `None` for an op without a kernel, and on an engine
    /// without such limits.
    fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>>;

    /// Creates an event for [`OrderOp::Record`](crate::OrderOp::Record) and [`OrderOp::Wait`](crate::OrderOp::Wait).
    fn create_event(&mut self, device: DeviceId) -> Result<EventId>;

    /// Starts a program and returns once it is queued. Errors if the program is invalid or memory
    /// for it runs out; nothing has been issued then.
    fn submit(&mut self, program: &Program) -> Result<RunId>;

    /// Loads the functions and allocates the memory that a program needs, without starting it: what
    /// takes long only the first time. [`Engine::submit`] does so too.
    fn load(&mut self, program: &Program) -> Result<()>;

    /// Starts to compile what a program needs for its rules, and returns at once. Until that is done,
    /// [`Engine::submit`] uses functions that take every rule, if they are loaded: those are slower.
    fn compile_in_background(&mut self, program: &Program) -> Result<()>;

    /// Prepares a program for replay from the lattices' current state (layout and buffer parity)
    /// and allocates the memory it needs. The lattices change only on replay.
    fn prepare(&mut self, program: &Program) -> Result<PreparedId>;

    /// Starts a prepared program. Errors if a lattice is not in the state it was prepared from.
    fn replay(&mut self, prepared: PreparedId) -> Result<RunId>;

    /// Frees a prepared program.
    fn release(&mut self, prepared: PreparedId);

    /// Which buffers hold a lattice's cells (bit 0) and bits (bit 1). A prepared program can be
    /// replayed only at the parity it was prepared at.
    fn parity(&self, lattice: LatticeId) -> u8;

    /// Appends everything that completed since the last call. Never blocks.
    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()>;

    /// Sleeps until work may have completed, for at most `timeout`.
    fn wait(&mut self, timeout: Duration);

    /// Blocks until all submitted work is done; [`Engine::poll`] then returns it.
    fn synchronize(&mut self) -> Result<()>;
}

/// Host memory that downloads are copied to, shared with the threads that draw.
///
/// A slot is never written while it is read: [`Engine::submit`] rejects a download into a slot in
/// use ([`EngineError::SlotBusy`](crate::EngineError::SlotBusy)), and [`Slots::read`] rejects a slot with a pending download.
pub trait Slots: Send + Sync {
    /// Calls `visit` with the words of a slot. Returns `false` without a call while a download into
    /// the slot is pending, and may do so before the first one.
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool;

    /// Whether a download into this slot could be submitted now.
    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool;
}

/// Number and size of each lattice's host slots.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SlotsSpec {
    /// Picture slots in page-locked memory: the first slots, from [`Slot`] 0.
    pub pinned: u8,
    /// Picture slots in pageable memory, after the page-locked ones.
    pub pageable: u8,
    /// Size of a picture slot, in 32-bit words.
    pub picture_words: usize,
    /// Page-locked slots for a whole lattice's bits, after the picture slots.
    pub snapshots: u8,
    /// Page-locked slots of [`Measure::WORDS`] words each, after the snapshot slots.
    pub measures: u8,
}

impl SlotsSpec {
    /// Number of slots per lattice.
    pub fn count(self) -> u8 {
        self.pictures() + self.snapshots + self.measures
    }

    /// The slot of measure `index`.
    pub fn measure_slot(self, index: u8) -> Slot {
        Slot(self.pictures() + self.snapshots + index)
    }

    /// Words of a slot, for a lattice of `lattice_words` words.
    pub fn words(self, slot: Slot, lattice_words: usize) -> usize {
        match slot.0 {
            picture if picture < self.pictures() => self.picture_words,
            whole if whole < self.pictures() + self.snapshots => lattice_words,
            _ => Measure::WORDS,
        }
    }

    /// Whether a slot is for a whole lattice.
    pub(crate) fn is_whole(self, slot: Slot) -> bool {
        (self.pictures()..self.pictures() + self.snapshots).contains(&slot.0)
    }

    /// Number of picture slots per lattice.
    pub fn pictures(self) -> u8 {
        self.pinned + self.pageable
    }

    /// Whether a slot is in pageable memory.
    pub(crate) fn is_pageable(self, slot: Slot) -> bool {
        (self.pinned..self.pictures()).contains(&slot.0)
    }
}

/// The properties of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamSpec {
    /// How it is ordered with the default stream.
    pub kind: StreamKind,
    /// Its scheduling priority.
    pub priority: Priority,
}

impl StreamSpec {
    /// A non-blocking stream of normal priority.
    pub const PLAIN: StreamSpec = StreamSpec {
        kind: StreamKind::NonBlocking,
        priority: Priority::Normal,
    };
}

/// How a stream is ordered with the default stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StreamKind {
    /// Not ordered with any other stream.
    NonBlocking,
    /// Waits for work issued before to the default stream, which in turn waits for this stream.
    Blocking,
    /// The context's default (legacy) stream itself. Each context has exactly one.
    Default,
}

/// Scheduling priority of a stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Priority {
    /// The device's lowest priority, which is the default.
    Normal,
    /// The device's highest priority: its pending blocks are scheduled first.
    High,
}

/// How many blocks of a kernel are resident on a device at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Occupancy {
    /// Blocks in the grid of one launch.
    #[serde(skip)]
    pub blocks: u64,
    /// Resident blocks per streaming multiprocessor (SM).
    pub blocks_per_sm: u32,
    /// Number of SMs.
    #[serde(skip)]
    pub sm_count: u32,
    /// Threads per block.
    pub block_threads: u32,
    /// Maximum resident threads per SM.
    pub max_threads_per_sm: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Shared memory per block, in bytes.
    pub shared_bytes: u32,
    /// Local memory per thread, in bytes: arrays with computed indices, and spilled registers.
    pub local_bytes: u32,
}
