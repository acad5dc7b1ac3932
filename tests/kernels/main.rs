//! The kernels, compiled as C++ and run by the emulator, against the reference; and the PTX with
//! timestamps, assembled by ptxas.
#![allow(unsafe_code)] // calls the emulator's C interface

#[path = "../driver/mod.rs"]
mod driver;
mod emulated;

mod instrumentation;
mod lesson_kernels_emulated;
mod own_kernels;
mod own_workshop;
mod wrong_kernels;
