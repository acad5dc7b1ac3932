//! The interface between programs of GPU work and the engines that run them.
//!
//! Work is data: a [`Program`] is a list of [`Step`]s, each an [`Op`] for a stream. An [`Engine`]
//! runs a program eagerly ([`Engine::submit`]), or prepares it once and replays it
//! ([`Engine::prepare`], a CUDA graph). Ops of one stream run in order. Ops of different streams
//! are ordered only by [`OrderOp::Record`] and [`OrderOp::Wait`], by the default stream, and by replays: a
//! replay starts after all work issued before it and ends before all work issued later. Nothing
//! blocks except [`Engine::synchronize`], [`Engine::wait`], and programs that request it
//! ([`OrderOp::Synchronize`], copies to pageable memory). [`Engine::poll`] returns completed work as
//! [`Completion`]s.
//!
//! One validator (`check`) checks programs for both engines. It tracks the state that every lattice
//! will have once all issued work is done, and lists the memory that a program needs. The engine
//! allocates that memory before it issues the first step, so an invalid program has no effect.
//!
//! There are two engines, [`cuda`] and [`cpu`]. Their kernels have the same names ([`kernels`]) and
//! give bit-identical results.

mod band;
pub mod buffer_kernels;
mod check;
pub mod conformance;
pub mod cpu;
pub mod cuda;
mod device;
mod engine;
mod error;
mod host_memory;
mod ids;
pub mod kernels;
mod ops;
pub mod rule_network;
mod split;

pub use band::{Band, Cut, RowCopy};
pub use buffer_kernels::BufferKernel;
pub use cuda_loader::nvtx;
pub use device::{BufferLocation, DeviceInfo, HostMemory};
pub use engine::{Engine, Occupancy, Priority, Slots, SlotsSpec, StreamKind, StreamSpec};
pub use error::{DriverFault, EngineError, Feature, Loss, MemoryUse, Result};
pub use ids::{
    BufferId, DeviceId, EventId, IssuerId, LatticeId, Nanos, PreparedId, RunId, Slot, StreamId,
};
pub use kernels::{Kernel, Layout, SupportKernel};
pub(crate) use ops::LatticeState;
pub use ops::{
    Argument, BlockTimestamp, BufferLaunch, BufferOffset, BufferOp, Completion, IssuedStep,
    LatticeOp, Measure, MemoryOp, Op, OrderOp, PageLocation, Program, ReduceRegion, Scope, Span,
    Step, Transfer, WordEdit,
};
pub use split::SplitEngine;
