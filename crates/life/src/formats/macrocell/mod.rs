//! Macrocells, Golly's format for huge patterns that repeat themselves: a quadtree whose nodes
//! are lines, each made of four lines before it. The last one is the pattern.
//!
//! A line of `.`, `*` and `$` is a square of 8 x 8 cells. `LEVEL NW NE SW SE` is a square of
//! 2^LEVEL x 2^LEVEL cells; a quarter 0 has no live cell. At level 1 the quarters are cell states,
//! as Golly writes them for rules from tables. Nothing is expanded until the pattern is drawn, and
//! then only where there are live cells.

mod read;
mod tree;

pub(crate) use read::read;
pub(crate) use tree::Tree;

/// The highest level of a node: a square of 2^62 cells a side.
pub(crate) const MAX_LEVEL: u8 = 62;

/// Maximum nodes. They take 17 bytes each, and 8 more while they are measured: up to 400 MiB, which
/// a small packed file could otherwise exceed.
pub(crate) const MAX_NODES: usize = 1 << 24;
