//! Runs CUDA C++ kernels without a GPU: a C++ compiler builds them as they stand ([`translate`]), and
//! an emulator in C++ (`cpp/`) runs their threads one after another, in several orders ([`Order`]).
//!
//! It finds what a GPU may hide: a barrier that only some threads of a block reach, and results that
//! depend on the order of threads or blocks. With it a user's own kernel is checked ([`own`]), in a
//! process of its own, whatever it does.
#![allow(unsafe_code)] // calls compiled kernels; each block says why it is sound

mod compiler;
mod contained;
mod library;
pub mod own;
mod translation;

pub use compiler::Workshop;
pub use library::{BlockOrder, FaultKind, KernelFault, Library, Order, ThreadOrder};
pub use translation::{KernelName, Translation, kernel_names, translate};
