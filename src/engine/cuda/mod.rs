//! The CUDA engine.

pub mod ptx;
