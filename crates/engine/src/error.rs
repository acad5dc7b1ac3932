//! Engine errors, as data. Their `Display` is a short phrase for logs and tests; the crate `model` has
//! the sentences that people read.

use crate::kernels::OwnStepError;
use crate::program_error::ProgramError;
use crate::{BufferLocation, LatticeId, Layout, Slot};
use life::Size;

/// An engine error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// CUDA is unavailable.
    #[error("no CUDA: {0:?}")]
    NoCuda(NoCuda),
    /// The requested CUDA device does not exist.
    #[error("no CUDA device {requested} of {present}")]
    NoSuchDevice {
        /// The requested ordinal.
        requested: u32,
        /// The number of devices.
        present: u32,
    },
    /// Memory ran out.
    #[error("out of memory: {needed_mib} MiB for {what:?} in {place:?}")]
    OutOfMemory {
        /// The memory that ran out.
        place: BufferLocation,
        /// What it was for.
        what: MemoryUse,
        /// Its size in MiB.
        needed_mib: u64,
        /// The largest square of which so many lattices fit, if that is known.
        fits: Option<Size>,
    },
    /// The host has too little memory for the lattices.
    #[error(transparent)]
    Memory(#[from] life::MemoryError),
    /// The system cannot start another thread.
    #[error("cannot start a thread")]
    NoThread,
    /// The kernel does not support the lattice's size.
    #[error("kernel '{kernel}' does not support {size}: {limit:?}")]
    UnsupportedSize {
        /// The kernel's name.
        kernel: &'static str,
        /// The kernel's limit.
        limit: SizeLimit,
        /// The lattice's size.
        size: Size,
        /// A kernel that supports the size.
        instead: &'static str,
    },
    /// The device lacks a feature that the kernel uses.
    #[error("kernel '{kernel}' needs {needed} SMs for {size}, {device} has {has}")]
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
    /// A kernel of a user's own was not compiled for the device.
    #[error("no code of an own kernel, for a GPU: {is_gpu}")]
    NoOwnCode {
        /// Whether the device is a GPU; otherwise it is the CPU.
        is_gpu: bool,
    },
    /// The driver does not load the code of a kernel of a user's own.
    #[error("the code of an own kernel is not loaded: {0}")]
    OwnCodeRefused(DriverFault),
    /// The GPU exists but cannot be used.
    #[error("unusable GPU: {0:?}")]
    UnusableGpu(UnusableGpu),
    /// The kernel does not support the block shape.
    #[error("kernel '{kernel}' has no blocks of {}x{}", .block.0, .block.1)]
    BadBlock {
        /// The kernel.
        kernel: &'static str,
        /// The requested shape.
        block: (u32, u32),
        /// The supported shapes.
        shapes: &'static [(u32, u32)],
    },
    /// The device or its driver lacks a feature.
    #[error("no {0:?}: {1:?}")]
    Unsupported(Feature, Missing),
    /// The engine is lost, with its lattices.
    #[error("engine lost: {0}")]
    ContextLost(Loss),
    /// Work that changes cells failed partway: an unknown part of the lattices was stepped. The
    /// context is intact.
    #[error("partly done: {0}")]
    PartiallyApplied(Box<EngineError>),
    /// A driver call failed for lack of device memory.
    #[error("out of device memory in {0}")]
    DriverOutOfMemory(&'static str),
    /// A driver call failed.
    #[error("{0}")]
    Driver(DriverFault),
    /// A download into a slot that is being read or has a pending download.
    #[error("slot {1:?} of lattice {0:?} is in use")]
    SlotBusy(LatticeId, Slot),
    /// A program that contradicts the engine's state, which is a bug in the caller.
    #[error("invalid program: {0}")]
    InvalidProgram(ProgramError),
}

impl EngineError {
    /// Whether the lattices are lost and must be restored.
    pub fn loses_lattices(&self) -> bool {
        matches!(
            self,
            EngineError::ContextLost(_) | EngineError::PartiallyApplied(_)
        )
    }

    /// Whether the host or a device has too little memory.
    pub fn lacks_memory(&self) -> bool {
        matches!(
            self,
            EngineError::Memory(_)
                | EngineError::OutOfMemory { .. }
                | EngineError::DriverOutOfMemory(_)
        )
    }

    /// Whether a device failed, or has too little memory, at work that another device may do.
    pub fn is_of_device(&self) -> bool {
        matches!(
            self,
            EngineError::NoCuda(_)
                | EngineError::UnusableGpu(_)
                | EngineError::OutOfMemory { .. }
                | EngineError::DriverOutOfMemory(_)
                | EngineError::Driver(_)
                | EngineError::ContextLost(_)
                | EngineError::PartiallyApplied(_)
        )
    }
}

impl From<ProgramError> for EngineError {
    fn from(error: ProgramError) -> EngineError {
        EngineError::InvalidProgram(error)
    }
}

/// A driver call that failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{call}: CUDA error {code}")]
pub struct DriverFault {
    /// The driver's function.
    pub call: &'static str,
    /// Its result.
    pub code: u32,
    /// The driver's description of the result.
    pub text: Option<String>,
}

/// Why CUDA is unavailable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoCuda {
    /// The driver's library cannot be opened, for this reason.
    NoDriver(&'static str),
    /// The driver, which is this file, does not start.
    DriverFails(DriverFault, &'static str),
    /// The driver supports an unknown version of CUDA.
    UnknownVersion,
    /// The driver supports this version of CUDA at most, as major and minor.
    OldDriver(i32, i32),
    /// No GPU is visible.
    NoGpu,
}

/// Why a GPU cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnusableGpu {
    /// A driver call fails at the start.
    Fails(DriverFault),
    /// A driver call finds no memory at the start, before anything is allocated.
    Full(&'static str),
    /// The compute capability of this device is below the one that is needed.
    Old {
        /// The device's name.
        device: String,
        /// Its compute capability.
        has: (u32, u32),
        /// The least one that is needed.
        needed: (u32, u32),
    },
}

/// How an engine was lost.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Loss {
    /// A driver call destroyed the context.
    #[error("{0}")]
    Driver(DriverFault),
    /// An op panicked, with this message.
    #[error("{0} panicked: {1}")]
    Panic(&'static str, String),
    /// An op failed.
    #[error("{0} failed: {1}")]
    Op(&'static str, Box<EngineError>),
    /// A thread of the engine panicked.
    #[error("a thread panicked")]
    Thread,
    /// A kernel of a user's own failed on the CPU.
    #[error("own kernel: {0}")]
    OwnKernel(OwnStepError),
    /// An error after which the lattices cannot be known.
    #[error("{0}")]
    Error(Box<EngineError>),
    /// No snapshot of the lattices is left.
    #[error("no snapshot is left")]
    NoSnapshot,
}

/// A feature that some drivers and devices lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// [`BufferLocation::Pool`].
    MemoryPools,
    /// [`BufferLocation::Managed`], with page faults on the device.
    ManagedMemory,
    /// [`Op::While`](crate::Op::While).
    WhileGraphs,
    /// Copies between two devices.
    PeerCopies,
    /// Lattices in bands on several devices.
    Bands,
}

/// What is missing for a [`Feature`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// The device does not support it.
    Device,
    /// There is only one device.
    SecondDevice,
    /// The driver lacks this function.
    Function(&'static str),
    /// The driver supports an older CUDA than this one, as major and minor.
    Cuda(i32, i32),
}

/// What memory is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryUse {
    /// So many lattices in a layout.
    Lattices(usize, Layout),
    /// The edits of a group.
    Edits,
    /// Reduced views.
    Views,
    /// Measures of lattices.
    Measures,
    /// Mail between blocks.
    Mail,
    /// A buffer.
    Buffer,
    /// Block timestamps.
    BlockTimestamps,
    /// A host slot for so many lattices.
    Slot(usize),
}

/// The limit of the sizes that a kernel supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeLimit {
    /// At most so many cells.
    Cells(u64),
    /// The sides.
    Sides(crate::kernels::SupportedSizes),
}
