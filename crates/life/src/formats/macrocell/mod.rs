//! Macrocells, Golly's format for huge patterns that repeat themselves: a quadtree whose nodes
//! are lines, each made of four lines before it. The last one is the pattern.
//!
//! A line of `.`, `*` and `$` is a square of 8 x 8 cells. `LEVEL NW NE SW SE` is a square of
//! 2^LEVEL x 2^LEVEL cells; a quarter 0 has no live cell. At level 1 the quarters are cell states,
//! as Golly writes them for rules from tables. Nothing is expanded until the pattern is drawn, and
//! then only where there are live cells.

mod read;
mod tree;
mod write;

pub use write::write;

pub(crate) use read::read;
pub(crate) use tree::Tree;

use crate::Size;
use crate::rle::RleFault;
use crate::text::Shown;
use lang::tr;

/// The highest level of a node: a square of 2^62 cells a side.
pub const MAX_LEVEL: u8 = 62;

/// Maximum nodes. They take 17 bytes each, and 8 more while they are measured: up to 400 MiB, which
/// a small packed file could otherwise exceed.
pub const MAX_NODES: usize = 1 << 24;

/// An error in a macrocell.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MacrocellFault {
    /// A wrong first line.
    #[error("{}", tr!("the first line of a macrocell must start with [M2]; save it so with Golly"))]
    Version,
    /// An invalid cell state.
    #[error("{}", tr!("a cell's state must be from 0 to 255"))]
    States,
    /// A line that is not a node.
    #[error("{}", tr!("a line must be a square of cells in . * $ or a node of five numbers, its level and its quarters, such as '4 0 1 2 3'"))]
    Node,
    /// A level out of range.
    #[error("{}", tr!("a node's level must be from 1 to {MAX_LEVEL}", MAX_LEVEL = MAX_LEVEL))]
    Level,
    /// A quarter that is not an earlier node.
    #[error("{}", tr!("there is no node {it} before this line; the file seems changed or cut, fetch it again", it = .0))]
    Quarter(i64),
    /// A quarter of the wrong size.
    #[error("{}", tr!("node {node} is of level {found}, but a quarter here must be of level {wanted}; the file seems changed, fetch it again", node = .node, found = .found, wanted = .wanted))]
    QuarterLevel {
        /// The quarter's number.
        node: i64,
        /// Its level.
        found: u8,
        /// The level it must have.
        wanted: u8,
    },
    /// An invalid character in a square of cells.
    #[error("{}", tr!("unknown {it}; a square of cells has . (dead), * (alive) and $ (end of a row)", it = .0))]
    Letter(Shown),
    /// More than eight cells in a row, or more than eight rows.
    #[error("{}", tr!("a square has more than 8 x 8 cells; the file seems changed, fetch it again"))]
    Square,
    /// An invalid rule.
    #[error(transparent)]
    Rule(#[from] RleFault),
    /// No nodes.
    #[error("{}", tr!("the macrocell has no nodes, so it seems cut short; fetch it again"))]
    Empty,
    /// Too many nodes.
    #[error("{}", tr!("the macrocell has more than {MAX_NODES} nodes; a smaller pattern is needed", MAX_NODES = MAX_NODES))]
    Many,
    /// Not enough memory for the nodes.
    #[error("{}", tr!("there is no memory left for the macrocell's {it} nodes; a smaller pattern is needed", it = .0))]
    Memory(usize),
    /// Live cells too far apart for a lattice.
    #[error("{}", tr!("live cells lie more than {max} cells apart, the longest side of a lattice; a smaller pattern is needed", max = Size::MAX_SIDE))]
    Far,
}
