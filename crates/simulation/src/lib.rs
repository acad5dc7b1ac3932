//! N instances of the Game of Life on an engine, without a thread or a clock of their own.
//!
//! [`instances`] holds the lattices and their engine: it issues rounds and changes settings without
//! losing a cell. [`round`] says what a round does, [`fastest`] how it is done in the least time. The
//! session steps instances on its thread; the bench, `verify` and the lessons use them directly.

pub mod fastest;
pub mod instances;
#[cfg(any(test, feature = "testing"))]
pub mod reference_kernel;
pub mod round;
#[cfg(any(test, feature = "testing"))]
pub mod scripted_engine;
mod start;

pub use start::{NewCells, start_cells, start_lattice};
