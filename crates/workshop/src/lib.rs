//! Kernels that a user writes: a copy of a rung to begin with ([`skeleton`]), what its source declares
//! ([`OwnKernel`]), and whether it is right ([`Workshop`]), found out in a process of its own.
//!
//! A GPU runs what NVRTC makes of it. Without one, a C++ compiler builds it as it stands ([`translate`]), and
//! an emulator in C++ (`cpp/`) runs its threads one after another.
#![allow(unsafe_code)] // calls compiled kernels and NVRTC; each block says why it is sound

mod case;
mod check;
mod child;
mod compiler;
mod declarations;
mod emulator;
mod fault;
mod gpu;
mod nvrtc;
mod translation;
mod workshop;

pub use case::Case;
pub use check::{lattice_of, words_of};
pub use child::{Machine, serve};
pub use compiler::CppCompiler;
pub use declarations::{OwnKernel, SourceError, rungs, skeleton};
pub use fault::{CompilerError, Failure, Fault, Found, Thread, Unchecked};
pub use nvrtc::{GpuCompiler, PACKAGE, search};
pub use translation::{kernel_names, translate};
pub use workshop::{LAUNCH_LIMIT, Right, Verdict, Workshop, is_trusted, trust};
