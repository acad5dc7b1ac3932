//! Kernels that a user writes: a copy of a rung to begin with ([`skeleton`]), what its source declares
//! ([`OwnKernel`]), and whether it is right ([`check`]), found out in a process of its own.
#![allow(unsafe_code)] // calls compiled kernels; each block says why it is sound

mod cases;
mod check;
mod child;
mod declarations;
mod fault;
mod stepping;

pub use cases::Case;
pub use check::{CheckError, LAUNCH_LIMIT, Verdict, check};
pub use child::serve;
pub use declarations::{DeclaredRules, OwnKernel, SourceError, rungs, skeleton};
pub use emulator::{CompilerError, Workshop};
pub use fault::{Fault, Found, Thread};
