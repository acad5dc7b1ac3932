//! The seam between what is asked and what does it.
//!
//! Work is data: a [`Program`] is a list of [`Step`]s, each an [`Op`] for a stream. An
//! [`Engine`] runs a program eagerly ([`Engine::submit`]) or prepares it once and replays it
//! ([`Engine::prepare`], a CUDA graph). Within a stream, ops run in order; between streams there
//! is no order but what [`Op::Record`] and [`Op::Wait`] make. Nothing blocks but
//! [`Engine::synchronize`] and [`Engine::wait`]; what has happened comes out of
//! [`Engine::poll`] as [`Completion`]s.
//!
//! Two engines stand behind the seam: [`cuda`] and [`cpu`], with the same kernels by name
//! ([`kernels`]) and the same results bit by bit.

pub mod cpu;
pub mod cuda;
mod error;
pub mod kernels;
mod ops;
mod viewport;

use std::sync::Arc;
use std::time::Duration;

pub use error::EngineError;
pub use kernels::{Kernel, Layout};
pub use ops::{
    Completion, DeviceId, EventId, LatticeId, Nanos, Op, PreparedId, Program, RunId, Slot, Span,
    Step, StreamId, Transfer,
};
pub use viewport::Viewport;

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
    fn create_lattices(
        &mut self,
        device: DeviceId,
        count: usize,
        size: crate::life::Size,
    ) -> Result<()>;

    /// Makes room for every lattice in a layout, and gives back what other layouts than it and
    /// [`Layout::Bits`] held. Waits until nothing runs. Cells that were only in a layout given
    /// back are lost: [`Op::Pack`] first.
    fn reserve(&mut self, layout: Layout) -> Result<()>;

    /// Makes the host slots of every lattice anew: `pictures` slots of `picture_words` each and
    /// `checkpoints` slots of the whole lattice's bits each, page-locked where the engine knows
    /// such memory. Waits until nothing runs. Earlier [`Slots`] stay readable.
    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>>;

    /// Makes a stream that does not wait for the default stream.
    fn create_stream(&mut self, device: DeviceId) -> Result<StreamId>;

    /// Makes an event for [`Op::Record`] and [`Op::Wait`].
    fn create_event(&mut self, device: DeviceId) -> Result<EventId>;

    /// Starts a program; returns as soon as it is queued.
    fn submit(&mut self, program: &Program) -> Result<RunId>;

    /// Readies a program for replay from the lattices' present state (layout and buffer parity);
    /// it takes effect on replay only.
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
    fn read(&self, lattice: LatticeId, slot: Slot, look: &mut dyn FnMut(&[u32])) -> bool;

    /// Whether a download could be bound for this slot now.
    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool;
}

/// How many host slots a lattice has, and of what size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotsSpec {
    /// Slots for pictures; [`Slot`] 0 and up.
    pub pictures: u8,
    /// Words of a picture slot.
    pub picture_words: usize,
    /// Slots for whole lattices, behind the picture slots.
    pub checkpoints: u8,
}

/// A device as people know it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct DeviceInfo {
    /// Its name, such as `NVIDIA H200`.
    pub name: String,
    /// What drives it, such as `CUDA driver 13.0, sm_90` or `8 threads`.
    pub driver: String,
    /// Streaming multiprocessors, or CPU threads.
    pub units: u32,
    /// Its memory in bytes, where known.
    pub memory: Option<u64>,
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
