//! Kernels that a user writes: a copy of a rung to begin with ([`skeleton`]), what its source declares
//! ([`OwnKernel`]), and whether it is right ([`Workshop`]), found out in a process of its own.
//!
//! A GPU runs what NVRTC makes of it. Without one, a C++ compiler builds it as it stands ([`translate`]), and
//! an emulator in C++ (`cpp/`) runs its threads one after another.
#![allow(unsafe_code)] // calls compiled kernels and NVRTC; each block says why it is sound

mod case;
mod cases;
mod check;
mod child;
mod compiler;
mod declarations;
mod emulator;
mod fault;
mod folders;
mod gpu;
mod layouts;
mod nvrtc;
mod translation;
mod trust;
mod workshop;

pub use case::Case;
pub use child::{Machine, serve};
pub use compiler::CppCompiler;
pub use declarations::{OwnKernel, SourceError, rungs, skeleton};
pub use fault::{CompilerError, Failure, Fault, Found, Thread, Unchecked};
pub use gpu::Facts;
pub use layouts::{lattice_of, words_of};
pub use nvrtc::{GpuCompiler, PACKAGE, search};
pub use translation::{kernel_names, translate};
pub use trust::{is_trusted, trust};
pub use workshop::{LAUNCH_LIMIT, Right, Verdict, Workshop};
