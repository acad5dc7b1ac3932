//! The CUDA engine in this process over the tests' driver, and that driver itself.
#![allow(unsafe_code)] // sets the environment, and calls C functions by name

#[path = "../driver/mod.rs"]
mod driver;

mod compiling;
mod cuda_lab;
mod fake_driver;
mod incompatible;
mod kernels;
mod lesson_ops;
mod ops;
mod own_kernels;
mod several_gpus;
