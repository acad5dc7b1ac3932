//! Life 1.05 and 1.06, the formats of the first programs on PCs. 1.05 has blocks of rows, each
//! after a line `#P x y` that says where it lies; 1.06 has a line `x y` for each live cell.
//!
//! Places may be negative, and only those of live cells count: the pattern reaches from the
//! first column and row with a live cell to the last.

mod read;
mod write;

pub use write::{write_105, write_106};

pub(crate) use read::{Corner, each_run_105, each_run_106, read_105, read_106, version};

use crate::Size;
use crate::rle::RleFault;
use crate::text::Shown;
use lang::tr;

/// What is wrong at one place of a Life 1.05 or 1.06 pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LifeFault {
    /// Another version than the two that exist.
    #[error("{}", tr!("this is neither Life 1.05 nor 1.06; its first line must be '#Life 1.05' or '#Life 1.06'"))]
    Version,
    /// A block without its place.
    #[error("{}", tr!("a block's place must be its left column and its top row, such as '#P -1 -1'"))]
    Block,
    /// A character that a block's row does not have.
    #[error("{}", tr!("unknown {it}; a row has . (dead) and * (alive), and a block of rows starts with a line such as '#P -1 -1'", it = .0))]
    Letter(Shown),
    /// A line that is no cell.
    #[error("{}", tr!("a line of Life 1.06 must be the column and the row of a live cell, such as '-1 2'"))]
    Cell,
    /// The rule's line is wrong.
    #[error(transparent)]
    Rule(#[from] RleFault),
    /// Live cells too far from one another.
    #[error("{}", tr!("live cells lie more than {max} cells apart, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE))]
    Far,
}
