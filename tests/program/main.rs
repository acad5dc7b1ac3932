//! The whole program as people start it, away from any display: each command, its files, its
//! errors, a terminal, and the CUDA engine over the tests' driver.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../driver/mod.rs"]
mod driver;

mod collection;
mod cuda_engine;
mod documented;
mod faults;
mod headless;
mod lessons;
mod own;
mod perfetto;
mod persistence;
mod refused;
mod run;
mod simulator;
mod terminal;
