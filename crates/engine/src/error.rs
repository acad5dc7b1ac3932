//! What can go wrong in an engine, each with its remedy.

use crate::{LatticeId, Slot};
use lang::tr;
use life::Size;

impl EngineError {
    /// Whether the lattices are gone with it, and must be restored.
    pub fn loses_lattices(&self) -> bool {
        matches!(self, EngineError::ContextLost(_) | EngineError::HalfDone(_))
    }
}

/// Why an engine could not do something.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no CUDA here: no driver, no device, or one too old.
    #[error("{0}")]
    NoCuda(String),
    /// A device that is not there.
    #[error("{}", tr!("no CUDA device {asked}: this machine has {present}; 'lifestreams devices' lists them", asked = .asked, present = .present))]
    NoSuchDevice {
        /// The ordinal asked for.
        asked: u32,
        /// How many there are.
        present: u32,
    },
    /// Memory ran out.
    #[error("{}", tr!("out of {place} memory: {what} needs {needed_mib} MiB; use fewer --instances, a smaller --size or --kernel bits", place = .place, what = .what, needed_mib = .needed_mib))]
    OutOfMemory {
        /// `device` or `page-locked host`.
        place: &'static str,
        /// What was to be allocated.
        what: String,
        /// Its size in MiB.
        needed_mib: u64,
    },
    /// The host has no memory for lattices.
    #[error(transparent)]
    Memory(#[from] life::MemoryError),
    /// The system gives no thread.
    #[error("{}", tr!("no thread can be started here; raise the limit on processes (ulimit -u), or end other programs"))]
    NoThread,
    /// A lattice that a kernel cannot take.
    #[error("{}", tr!("kernel '{kernel}' takes {limit}, not {size}; --kernel {instead} does", kernel = .kernel, limit = .limit, size = .size, instead = .instead))]
    TooLarge {
        /// The kernel asked for.
        kernel: &'static str,
        /// Its limit in words.
        limit: String,
        /// The size asked for.
        size: Size,
        /// One that takes it.
        instead: &'static str,
    },
    /// A device that lacks what a kernel is made of.
    #[error("{}", tr!("kernel '{kernel}' needs compute capability {}.{}, and {device} has {}.{}; --kernel {instead} runs there", .needed.0, .needed.1, .has.0, .has.1, kernel = .kernel, device = .device, instead = .instead))]
    TooOldDevice {
        /// The kernel asked for.
        kernel: &'static str,
        /// What it needs at least.
        needed: (u32, u32),
        /// The device's name.
        device: String,
        /// What it has.
        has: (u32, u32),
        /// One that it can run.
        instead: &'static str,
    },
    /// A GPU that is there and cannot be used.
    #[error("{0}")]
    UnusableGpu(String),
    /// A shape of block that a kernel does not take.
    #[error("{}", tr!("kernel '{kernel}' takes blocks of {shapes}, not {block}", kernel = .kernel, shapes = .shapes, block = .block))]
    BadBlock {
        /// The kernel.
        kernel: &'static str,
        /// What was asked for.
        block: String,
        /// What it takes.
        shapes: String,
    },
    /// The driver failed in a way that the context does not survive.
    #[error("{}", tr!("the engine is lost ({it}); every lattice must be restored", it = .0))]
    ContextLost(String),
    /// Work that changes cells failed on its way: some lattices have been stepped and others not, and
    /// nobody knows which. The context itself goes on.
    #[error("{}", tr!("work on the lattices failed midway ({it}); every lattice must be restored", it = .0))]
    HalfDone(String),
    /// The driver refused a call for want of memory.
    #[error("{}", tr!("out of device memory in {call}; use fewer --instances, a smaller --size or --kernel bits", call = .0))]
    DriverOutOfMemory(&'static str),
    /// The driver refused a call.
    #[error("{}", tr!("{call} failed: {reason}; check nvidia-smi, or use --device cpu", call = .call, reason = .reason))]
    Driver {
        /// The function.
        call: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// A slot that is read or already bound was to be written.
    #[error("slot {1:?} of lattice {0:?} is in use")]
    SlotBusy(LatticeId, Slot),
    /// A program that contradicts the engine's state: a defect of this program.
    #[error("{}", tr!("internal: {it}", it = .0))]
    BadProgram(String),
}
