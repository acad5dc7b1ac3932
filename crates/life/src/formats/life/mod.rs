//! Life 1.05 and 1.06, the formats of early PC programs. 1.05 has blocks of rows, each after a line
//! `#P x y` with its position; 1.06 has a line `x y` for each live cell.
//!
//! Positions may be negative. The pattern extends from the first column and row with a live cell to
//! the last.

mod read;
mod write;

pub use write::{write_105, write_106};

pub(crate) use read::{each_run_105, each_run_106, read_105, read_106, version};
