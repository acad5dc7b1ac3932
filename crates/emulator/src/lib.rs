//! Runs CUDA C++ kernels without a GPU: a C++ compiler builds them as they stand ([`translate`]), and
//! an emulator in C++ (`cpp/`) runs their threads one after another, in several orders ([`Order`]).
//!
//! It finds what a GPU may hide: a barrier that only some threads of a block reach, and results that
//! depend on the order of threads or blocks.
#![allow(unsafe_code)] // calls compiled kernels; each block says why it is sound

mod compiler;
mod library;
mod translation;

pub use compiler::{
    CompilerError, CppCompiler, HEADERS, NotCompiled, SOURCE_NAME, compiler_errors, find_program,
};
pub use library::{BlockOrder, FaultKind, KernelFault, Library, Order, ThreadOrder};
pub use translation::{KernelName, Translation, kernel_names, stray_character, translate};
