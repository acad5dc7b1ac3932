//! The whole program as people start it, away from any display: each command, its files, its
//! errors, a terminal, and the CUDA engine over the tests' driver.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../driver/mod.rs"]
mod driver;
#[path = "../common/traced.rs"]
mod traced;

mod around;
mod bad_input;
mod collection;
mod cuda_engine;
mod cuda_ladder;
mod documented;
mod fastest;
mod headless;
mod kernel;
mod kernel_file;
mod lecture;
mod lessons;
mod little_memory;
mod oracle;
mod patterns;
mod perfetto;
mod persistence;
mod round;
mod saving;
mod simulator;
mod terminal;
