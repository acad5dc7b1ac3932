//! Users' kernels, compiled as C++ and run by the emulator; and the PTX with timestamps, assembled by ptxas.

#[path = "../driver/mod.rs"]
mod driver;
mod instrumentation;
mod own_kernels;
mod wrong_kernels;
