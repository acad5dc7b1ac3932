//! Kernels that a user writes: a copy of a rung to begin with ([`skeleton`]), what its source declares
//! ([`OwnKernel`]), and whether it is right ([`Workshop`]), found out in a process of its own.
#![allow(unsafe_code)] // calls compiled kernels; each block says why it is sound

mod cases;
mod checking;
mod child;
pub mod compilers;
mod declarations;
mod device;
mod emulated;
mod emulated_stepper;
mod fault;
mod gpu;
mod layouts;
mod machine;
mod messages;
mod stepping;
mod trust;
mod workshop;

pub use cases::Case;
pub use child::serve;
pub use declarations::{DeclaredRules, OwnKernel, SourceError, rungs, skeleton};
pub use emulator::{CompilerError, CppCompiler};
pub use fault::{Fault, Found, Thread};
pub use gpu::gpu_target;
pub use layouts::{lattice_of, words_of};
pub use machine::Machine;
pub use trust::{is_trusted, trust};
pub use workshop::{CheckError, Facts, LAUNCH_LIMIT, NoWorkshop, Right, Verdict, Workshop};
