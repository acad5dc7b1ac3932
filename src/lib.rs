//! lifestreams: N toroidal Game of Life lattices, each in its own CUDA stream, live in one
//! window.
#![deny(unsafe_code)]

pub mod app;
pub mod engine;
pub mod life;
pub mod session;
pub mod view;
