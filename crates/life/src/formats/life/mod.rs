//! Life 1.05 and 1.06, the formats of early PC programs. 1.05 has blocks of rows, each after a line
//! `#P x y` with its position; 1.06 has a line `x y` for each live cell.
//!
//! Positions may be negative. The pattern extends from the first column and row with a live cell to
//! the last.

mod read;
mod write;

pub use write::{write_105, write_106};

pub(crate) use read::{each_run_105, each_run_106, read_105, read_106, version};

use crate::Size;
use crate::rle::RleFault;
use crate::text::Shown;
use lang::tr;

/// An error in a Life 1.05 or 1.06 pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LifeFault {
    /// An unknown version.
    #[error("{}", tr!("this is neither Life 1.05 nor 1.06; its first line must be '#Life 1.05' or '#Life 1.06'"))]
    Version,
    /// A block without a position.
    #[error("{}", tr!("a block's place must be its left column and its top row, such as '#P -1 -1'"))]
    Block,
    /// An invalid character in a block's row.
    #[error("{}", tr!("unknown {it}; a row has . (dead) and * (alive), and a block of rows starts with a line such as '#P -1 -1'", it = .0))]
    Letter(Shown),
    /// A line that is not a cell.
    #[error("{}", tr!("a line of Life 1.06 must be the column and the row of a live cell, such as '-1 2'"))]
    Cell,
    /// An invalid rule.
    #[error(transparent)]
    Rule(#[from] RleFault),
    /// Live cells too far apart for a lattice.
    #[error("{}", tr!("live cells lie more than {max} cells apart, the longest side of a lattice; a smaller pattern is needed", max = Size::MAX_SIDE))]
    Far,
}
