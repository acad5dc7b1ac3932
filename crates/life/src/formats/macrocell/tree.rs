//! The quadtree of a macrocell, as a list of nodes that is measured and drawn without being
//! expanded.

use crate::memory;
use crate::run::{LiveRuns, Run};
use lang::{Message, message};

/// The level of an 8 x 8 square, which a node stores as bits.
pub(super) const LEAF: u8 = 3;

/// The nodes of a macrocell. Node 0 is an empty square of any level. No other referenced node is
/// empty, so every path down the tree ends at a live cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// For a leaf (or smaller square): rows 0 to 3 and 4 to 7 in the first two words, one byte per
    /// row, the least significant bit leftmost. For other nodes: the quarters NW, NE, SW, SE.
    nodes: Vec<[u32; 4]>,
    levels: Vec<u8>,
    /// Column and row of the pattern's top left in the last node.
    corner: (u64, u64),
    /// Columns and rows of the last node before its middle.
    middle: u64,
}

/// The flaw of too many nodes for this machine's memory.
fn no_memory(nodes: usize) -> Message {
    message!(
        "there is no memory left for the macrocell's {it} nodes; a smaller pattern is needed",
        it = nodes
    )
}

impl Tree {
    /// Allocates a tree for this many nodes besides node 0.
    pub(super) fn with_room_for(nodes: usize) -> Result<Tree, Message> {
        let mut tree = Tree::default();
        // Needed while they are measured.
        if memory::lacks((nodes as u64 + 1) * 25) {
            return Err(no_memory(nodes));
        }
        let reserved = tree.nodes.try_reserve_exact(nodes + 1);
        reserved
            .and_then(|()| tree.levels.try_reserve_exact(nodes + 1))
            .map_err(|_| no_memory(nodes))?;
        tree.push(LEAF, [0; 4]);
        Ok(tree)
    }

    /// Adds a node.
    pub(super) fn push(&mut self, level: u8, node: [u32; 4]) {
        self.nodes.push(node);
        self.levels.push(level);
    }

    /// Adds a node of a level up to [`LEAF`], from four cell states or four nodes.
    pub(super) fn push_small(&mut self, level: u8, quarters: [u32; 4]) {
        let half = 1 << (level - 1);
        let mut rows = [0; 8];
        for (quarter, of) in quarters.into_iter().enumerate() {
            let part = match level {
                1 => [of as u8, 0, 0, 0, 0, 0, 0, 0],
                _ => leaf_rows(self.nodes[of as usize]),
            };
            let (x, y) = (half * (quarter % 2), half * (quarter / 2));
            for (row, bits) in part.into_iter().take(half).enumerate() {
                rows[y + row] |= bits << x;
            }
        }
        self.push(level, leaf(rows));
    }

    /// The number of the next node.
    pub(super) fn next_number(&self) -> usize {
        self.nodes.len()
    }

    /// The level of this node.
    pub(super) fn level(&self, node: usize) -> u8 {
        self.levels[node]
    }

    /// Whether this node has no live cell.
    pub(super) fn is_empty(&self, node: usize) -> bool {
        self.nodes[node] == [0; 4]
    }

    /// Finds the bounding box of the live cells. Returns the pattern's width and height.
    pub(super) fn measure(&mut self) -> Result<[i64; 2], Message> {
        let root = self.nodes.len() - 1;
        if self.is_empty(root) {
            return Ok([0; 2]);
        }
        self.middle = 1 << (self.levels[root] - 1);
        self.levels[root] = self.levels[root].max(LEAF);
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(self.nodes.len())
            .map_err(|_| no_memory(root))?;
        let side = 1 << self.levels[root];
        let mut margin = |axis, is_end| self.margin(&mut memory, Edge { axis, is_end });
        let (left, top) = (margin(COLUMNS, false), margin(ROWS, false));
        let (right, bottom) = (side - margin(COLUMNS, true), side - margin(ROWS, true));
        self.corner = (left, top);
        Ok([(right - left) as i64, (bottom - top) as i64])
    }

    /// Column and row of the pattern's top left, from the middle of the last node on.
    pub(super) fn corner(&self) -> [i64; 2] {
        let (left, top) = self.corner;
        [left, top].map(|at| at as i64 - self.middle as i64)
    }

    /// The number of empty columns or rows at this edge of the last node. Visits all nodes, each
    /// after its quarters; `margins` holds their results.
    fn margin(&self, margins: &mut Vec<u64>, edge: Edge) -> u64 {
        margins.clear();
        for (&node, &level) in self.nodes.iter().zip(&self.levels) {
            let margin = if level <= LEAF {
                u64::from(edge.of_leaf(leaf_rows(node)))
            } else {
                let quarters = |is_end| {
                    let quarters = (0..4).filter(move |i| (i & edge.axis != 0) == is_end);
                    let live = quarters.filter(|i| node[*i] != 0);
                    live.map(|i| margins[node[i] as usize]).min()
                };
                let half = 1 << (level - 1);
                let behind = || quarters(!edge.is_end).map(|margin| margin + half);
                quarters(edge.is_end).or_else(behind).unwrap_or(0)
            };
            margins.push(margin);
        }
        margins.last().copied().unwrap_or(0)
    }

    /// Calls `run` with the live cells. The size found by [`Tree::measure`] must not exceed a
    /// lattice's.
    pub(crate) fn each_run(&self, mut run: impl FnMut(Run)) {
        let root = self.nodes.len() - 1;
        if !self.is_empty(root) {
            self.visit(root, 0, 0, &mut run);
        }
    }

    fn visit(&self, node: usize, x: u64, y: u64, run: &mut impl FnMut(Run)) {
        let quarters = self.nodes[node];
        if self.levels[node] == LEAF {
            for (row, bits) in (y..).zip(leaf_rows(quarters)) {
                for (first, end) in LiveRuns::new(&[bits.into()]) {
                    run(Run {
                        x: (x + u64::from(first) - self.corner.0) as u32,
                        y: (row - self.corner.1) as u32,
                        length: end - first,
                    });
                }
            }
            return;
        }
        let half = 1 << (self.levels[node] - 1);
        let places = [(x, y), (x + half, y), (x, y + half), (x + half, y + half)];
        for (quarter, (x, y)) in quarters.into_iter().zip(places) {
            if quarter != 0 {
                self.visit(quarter as usize, x, y, run);
            }
        }
    }
}

/// The node of these rows of 8 cells.
pub(super) fn leaf(rows: [u8; 8]) -> [u32; 4] {
    let cells = u64::from_le_bytes(rows);
    [cells as u32, (cells >> 32) as u32, 0, 0]
}

fn leaf_rows(node: [u32; 4]) -> [u8; 8] {
    (u64::from(node[0]) | u64::from(node[1]) << 32).to_le_bytes()
}

/// The bit of a quarter's number that tells east from west.
const COLUMNS: usize = 1;

/// The bit of a quarter's number that tells south from north.
const ROWS: usize = 2;

/// A side of a square.
#[derive(Clone, Copy)]
struct Edge {
    /// [`COLUMNS`] for left and right, [`ROWS`] for top and bottom.
    axis: usize,
    /// Whether it is the right or the bottom.
    is_end: bool,
}

impl Edge {
    /// The number of empty columns or rows of a leaf at this edge.
    fn of_leaf(self, rows: [u8; 8]) -> u32 {
        let line = match self.axis {
            COLUMNS => rows.iter().fold(0, |all, row| all | row),
            _ => (0..8).fold(0, |all, row| all | u8::from(rows[row] != 0) << row),
        };
        if self.is_end {
            line.leading_zeros()
        } else {
            line.trailing_zeros()
        }
    }
}
