//! Engine errors. Messages name the remedy.

use crate::{LatticeId, Slot};
use lang::tr;
use life::Size;
use life::memory::remedy;

impl EngineError {
    /// Whether the lattices are lost and must be restored.
    pub fn loses_lattices(&self) -> bool {
        matches!(
            self,
            EngineError::ContextLost(_) | EngineError::PartiallyApplied(_)
        )
    }

    /// What happened, without what it means for the lattices.
    pub fn reason(&self) -> String {
        match self {
            EngineError::ContextLost(why) | EngineError::PartiallyApplied(why) => why.clone(),
            other => other.to_string(),
        }
    }

    /// Whether a device failed, or has too little memory, at work that another device may do.
    pub fn is_of_device(&self) -> bool {
        matches!(
            self,
            EngineError::NoCuda(_)
                | EngineError::UnusableGpu(_)
                | EngineError::OutOfMemory { .. }
                | EngineError::DriverOutOfMemory(_)
                | EngineError::Driver { .. }
                | EngineError::ContextLost(_)
                | EngineError::PartiallyApplied(_)
        )
    }
}

/// An engine error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// CUDA is unavailable: no driver, no device, or one that is too old.
    #[error("{0}")]
    NoCuda(String),
    /// The requested CUDA device does not exist.
    #[error("{}", tr!("no CUDA device {requested}: this machine has {present}; 'lifestreams devices' lists them", requested = .requested, present = .present))]
    NoSuchDevice {
        /// The requested ordinal.
        requested: u32,
        /// The number of devices.
        present: u32,
    },
    /// Memory ran out.
    #[error("{}", tr!("out of {place} memory: {needed_mib} MiB for {what}; {}", remedy(*.fits), place = .place, what = .what, needed_mib = .needed_mib))]
    OutOfMemory {
        /// `device` or `page-locked host`.
        place: &'static str,
        /// What the memory was for.
        what: String,
        /// Its size in MiB.
        needed_mib: u64,
        /// The largest square of which so many lattices fit, if that is known.
        fits: Option<Size>,
    },
    /// The host has too little memory for the lattices.
    #[error(transparent)]
    Memory(#[from] life::MemoryError),
    /// The system cannot start another thread.
    #[error("{}", tr!("cannot start a thread; raise the process limit (ulimit -u) or close other programs"))]
    NoThread,
    /// The kernel does not support the lattice's size.
    #[error("{}", tr!("kernel '{kernel}' supports {limit}, not {size}; use --kernel {instead}", kernel = .kernel, limit = .limit, size = .size, instead = .instead))]
    UnsupportedSize {
        /// The kernel's name.
        kernel: &'static str,
        /// The kernel's limit in words.
        limit: String,
        /// The lattice's size.
        size: Size,
        /// A kernel that supports the size.
        instead: &'static str,
    },
    /// The device lacks a feature that the kernel uses.
    #[error("{}", tr!("kernel '{kernel}' needs {needed} SMs for lattices of {size}, and {device} has {has}; --kernel {instead} runs there", kernel = .kernel, needed = .needed, size = .size, device = .device, has = .has, instead = .instead))]
    TooFewSms {
        /// The kernel's name.
        kernel: &'static str,
        /// The minimum number of SMs.
        needed: u32,
        /// The lattices' size.
        size: Size,
        /// The device's name.
        device: String,
        /// The device's number of SMs.
        has: u32,
        /// A kernel that the device can run.
        instead: &'static str,
    },
    /// The GPU exists but cannot be used.
    #[error("{0}")]
    UnusableGpu(String),
    /// The kernel does not support the block shape.
    #[error("{}", tr!("kernel '{kernel}' takes blocks of {shapes}, not {block}", kernel = .kernel, shapes = .shapes, block = .block))]
    BadBlock {
        /// The kernel.
        kernel: &'static str,
        /// The requested shape.
        block: String,
        /// The supported shapes.
        shapes: String,
    },
    /// A driver error that destroys the context.
    #[error("{}", tr!("the engine is lost ({it}); every lattice must be restored", it = .0))]
    ContextLost(String),
    /// Work that changes cells failed partway: an unknown part of the lattices was stepped. The
    /// context is intact.
    #[error("{}", tr!("work on the lattices failed midway ({it}); every lattice must be restored", it = .0))]
    PartiallyApplied(String),
    /// A driver call failed for lack of device memory.
    #[error("{}", tr!("out of device memory in {call}; use fewer --instances, a smaller --size or --kernel bits", call = .0))]
    DriverOutOfMemory(&'static str),
    /// A driver call failed.
    #[error("{}", tr!("{call} failed: {reason}; check nvidia-smi, or use --device cpu", call = .call, reason = .reason))]
    Driver {
        /// The driver function.
        call: &'static str,
        /// The driver's message.
        reason: String,
    },
    /// A download into a slot that is being read or has a pending download.
    #[error("slot {1:?} of lattice {0:?} is in use")]
    SlotBusy(LatticeId, Slot),
    /// A program that contradicts the engine's state, which is a bug in the caller.
    #[error("{}", tr!("internal: {it}", it = .0))]
    InvalidProgram(String),
}
