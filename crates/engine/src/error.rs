//! Engine errors, each worded for people. An enum stays where code decides by it.

use std::fmt;

use lang::{Message, message, tr};
use life::memory::remedy;
use life::{Size, counted_lattices};

use crate::{BufferLocation, HostMemory, Layout};

/// The result of an engine call.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// An engine error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// CUDA is unavailable.
    #[error("{0}")]
    NoCuda(Message),
    /// The GPU exists but cannot be used.
    #[error("{0}")]
    UnusableGpu(Message),
    /// There is no such device, or the kernel cannot run there or in such blocks.
    #[error("{0}")]
    Unavailable(Message),
    /// Memory ran out.
    #[error("{}", tr!(
        "out of {place} memory: {needed_mib} MiB for {what}; {}",
        remedy(*.fits),
        place = match .place {
            BufferLocation::Device | BufferLocation::Pool => tr!("device"),
            BufferLocation::Managed => tr!("unified"),
            BufferLocation::Host(HostMemory::Pinned) => tr!("page-locked host"),
            BufferLocation::Host(HostMemory::Pageable) => tr!("host"),
        }
    ))]
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
    #[error("{}", tr!(
        "cannot start a thread; raise the process limit (ulimit -u) or close other programs"
    ))]
    NoThread,
    /// The kernel does not support the lattice's size.
    #[error("{0}")]
    UnsupportedSize(Message),
    /// The driver does not load the code of a kernel of a user's own.
    #[error("{0}")]
    OwnCodeRefused(Message),
    /// The device or its driver lacks a [`Feature`].
    #[error("{0}")]
    Unsupported(Message),
    /// The engine is lost, with its lattices.
    #[error("{}", match .0 {
        Loss::OwnKernel(it) => tr!("your kernel failed: {it}"),
        _ => tr!("the engine is lost ({it}); every lattice must be restored", it = self.reason()),
    })]
    ContextLost(Loss),
    /// Work that changes cells failed partway: an unknown part of the lattices was stepped. The
    /// context is intact.
    #[error("{}", tr!(
        "work on the lattices failed midway ({it}); every lattice must be restored",
        it = .0
    ))]
    PartiallyApplied(Message),
    /// A driver call failed for lack of device memory.
    #[error("{}", tr!(
        "out of device memory in {call}; use fewer --instances, a smaller --size or --kernel bits",
        call = .0
    ))]
    DriverOutOfMemory(&'static str),
    /// A driver call failed.
    #[error("{}", tr!(
        "{call} failed: {reason}; check nvidia-smi, or use --device cpu",
        call = .0.call,
        reason = .0.reason()
    ))]
    Driver(DriverFault),
    /// A download into a slot that is being read or has a pending download.
    #[error("{}", tr!("internal: {it}", it = "a host slot is in use"))]
    SlotBusy,
    /// A program that contradicts the engine's state, which is a bug in the caller: what is wrong.
    #[error("{}", tr!("internal: {it}", it = .0))]
    InvalidProgram(Message),
}

/// How an engine was lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Loss {
    /// A kernel of a user's own failed on the CPU, or seems to run without an end on a GPU.
    OwnKernel(OwnStepError),
    /// A driver call destroyed the context.
    Driver(DriverFault),
    /// An op or a thread of the engine failed.
    Engine(Message),
}

/// Why a kernel of a user's own came to no result on the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OwnStepError {
    /// It took too long.
    #[error("{}", tr!("it took too long"))]
    TooLong,
    /// It crashed: it reached beyond its memory, or divided by 0.
    #[error("{}", tr!("it crashed"))]
    Crashed,
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

    /// What happened, without what it means for the lattices.
    pub fn reason(&self) -> Message {
        match self {
            EngineError::ContextLost(Loss::Engine(why)) | EngineError::PartiallyApplied(why) => {
                why.clone()
            }
            EngineError::ContextLost(Loss::Driver(fault)) => Message::of(fault),
            EngineError::ContextLost(Loss::OwnKernel(why)) => Message::of(why),
            other => Message::of(other),
        }
    }

    /// The engine is lost for this reason.
    pub fn lost(why: Message) -> EngineError {
        EngineError::ContextLost(Loss::Engine(why))
    }

    /// An error after which the lattices cannot be known.
    pub fn into_lost(self) -> EngineError {
        match self {
            lost @ EngineError::ContextLost(_) => lost,
            other => EngineError::lost(other.reason()),
        }
    }

    /// The engine is lost, since an op failed.
    pub fn failed_op(op: &'static str, why: impl fmt::Display) -> EngineError {
        EngineError::lost(message!("{op} failed: {why}", op = lang::text(op)))
    }

    /// The engine is lost, since its thread panicked.
    pub fn thread_panicked() -> EngineError {
        EngineError::lost(message!("internal: its thread panicked"))
    }

    /// CUDA device `requested` does not exist, where there are `present`.
    pub fn no_such_device(requested: u32, present: u32) -> EngineError {
        EngineError::Unavailable(message!(
            "no CUDA device {requested}: this machine has {present}; 'lifestreams devices' lists them"
        ))
    }

    /// The feature takes two devices, and there is only one.
    pub fn no_second_device(feature: Feature) -> EngineError {
        EngineError::Unsupported(message!(
            "there is only one GPU here, and {feature} need two"
        ))
    }
}

/// The error for a program that contradicts the engine's state. The phrase is for whoever mends it.
macro_rules! invalid {
    ($($phrase:tt)*) => {
        $crate::EngineError::InvalidProgram(format!($($phrase)*).into())
    };
}

/// Returns that error.
macro_rules! bail {
    ($($phrase:tt)*) => {
        return Err($crate::error::invalid!($($phrase)*))
    };
}

pub(crate) use {bail, invalid};

/// What was found by an id that must be known.
pub(crate) fn known<T>(found: Option<T>, id: impl fmt::Debug) -> Result<T> {
    found.ok_or_else(|| invalid!("there is no {id:?}"))
}

/// A driver call that failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{call}: {}", self.reason())]
pub struct DriverFault {
    /// The driver's function.
    pub call: &'static str,
    /// Its result.
    pub code: u32,
    /// The driver's description of the result.
    pub text: Option<String>,
}

impl DriverFault {
    /// The driver's text for the result, with the number.
    pub(crate) fn reason(&self) -> String {
        match &self.text {
            Some(text) => format!("{text} (CUDA error {})", self.code),
            None => format!("CUDA error {}", self.code),
        }
    }
}

/// A feature that some drivers and devices lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// [`BufferLocation::Pool`].
    MemoryPools,
    /// [`BufferLocation::Managed`], with page faults on the device.
    ManagedMemory,
    /// Copies between two devices.
    PeerCopies,
    /// Lattices in bands on several devices.
    Bands,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::MemoryPools => tr!("stream-ordered allocation"),
            Feature::ManagedMemory => tr!("page faults in unified memory"),
            Feature::PeerCopies => tr!("copies between GPUs"),
            Feature::Bands => tr!("lattices in bands"),
        })
    }
}

/// What memory is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryUse {
    /// The cells of so many lattices in a layout.
    Lattices(Layout, usize),
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

impl fmt::Display for MemoryUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            MemoryUse::Lattices(layout, count) => {
                let lattices = counted_lattices(count);
                match layout {
                    Layout::Bits => tr!("{lattices} in bits"),
                    Layout::I32 => tr!("{lattices} at 4 bytes per cell"),
                    Layout::Planar => tr!("{lattices} in planar words"),
                }
            }
            MemoryUse::Edits => tr!("the edits").into(),
            MemoryUse::Views => tr!("the reduced views").into(),
            MemoryUse::Measures => tr!("the measures of lattices").into(),
            MemoryUse::Mail => tr!("mail between blocks").into(),
            MemoryUse::Buffer => tr!("a buffer").into(),
            MemoryUse::BlockTimestamps => tr!("the block timestamps of a program's kernels").into(),
            MemoryUse::Slot(count) => {
                let lattices = counted_lattices(count);
                tr!("a host slot for {lattices}")
            }
        })
    }
}
