//! The real window, on a display of its own, driven by synthetic keys: what it shows is what the
//! simulator computes, and every key does what the table says.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;

mod ending;
mod kept;
mod keys;
mod shown;
