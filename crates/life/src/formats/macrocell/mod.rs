//! Macrocells, Golly's format for huge patterns that repeat themselves: a quadtree whose nodes
//! are lines, each made of four lines before it. The last one is the pattern.
//!
//! A line of `.`, `*` and `$` is a square of 8 x 8 cells. `LEVEL NW NE SW SE` is one of
//! 2^LEVEL x 2^LEVEL, where 0 stands for a quarter with no live cell; of level 1 the quarters are
//! cells, 0 or 1, as Golly writes them for rules that it takes from a table. Nothing is expanded until
//! the pattern is drawn, and then only where something lives.

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
pub const HIGHEST_LEVEL: u8 = 62;

/// The most nodes that are read; they take 17 bytes each, and 8 more while they are measured: 400
/// MiB, which a line of two bytes can ask for, and of which a thousand can come out of one packed.
pub const MAX_NODES: usize = 1 << 24;

/// What is wrong at one place of a macrocell.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MacrocellFault {
    /// The first line is another one.
    #[error("{}", tr!("the first line of a macrocell must start with [M2]; save it so with Golly"))]
    Version,
    /// A cell of no state.
    #[error("{}", tr!("a cell's state must be from 0 to 255"))]
    States,
    /// A line that is no node.
    #[error("{}", tr!("a line must be a square of cells in . * $ or a node of five numbers, its level and its quarters, such as '4 0 1 2 3'"))]
    Node,
    /// A level out of range.
    #[error("{}", tr!("a node's level must be from 1 to {HIGHEST_LEVEL}", HIGHEST_LEVEL = HIGHEST_LEVEL))]
    Level,
    /// A quarter that is no earlier node.
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
    /// A character that a square of cells does not have.
    #[error("{}", tr!("unknown {it}; a square of cells has . (dead), * (alive) and $ (end of a row)", it = .0))]
    Letter(Shown),
    /// More than eight cells in a row, or more than eight rows.
    #[error("{}", tr!("a square has more than 8 x 8 cells; the file seems changed, fetch it again"))]
    Square,
    /// The rule's line is wrong.
    #[error(transparent)]
    Rule(#[from] RleFault),
    /// Nothing but comments.
    #[error("{}", tr!("the macrocell has no nodes, so it seems cut short; fetch it again"))]
    Empty,
    /// More nodes than are read.
    #[error("{}", tr!("the macrocell has more than {MAX_NODES} nodes; a smaller pattern is needed", MAX_NODES = MAX_NODES))]
    Many,
    /// No memory for its nodes.
    #[error("{}", tr!("there is no memory left for the macrocell's {it} nodes; a smaller pattern is needed", it = .0))]
    Memory(usize),
    /// Live cells too far from one another.
    #[error("{}", tr!("live cells lie more than {max} cells apart, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE))]
    Far,
}
