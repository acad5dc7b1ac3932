//! The engines in this process: the CPU engine, and the CUDA engine over the tests' driver, which do the same;
//! and that driver itself.
#![allow(unsafe_code)] // sets the environment, and calls C functions by name

#[path = "../driver/mod.rs"]
mod driver;

mod buffers;
mod cuda_lab;
mod fake_driver;
mod incompatible;
mod kernels;
mod lesson_kernels;
mod ops;
mod order;
mod own_kernels;
