//! Macrocells, Golly's format for huge patterns that repeat themselves: a quadtree whose nodes
//! are lines, each made of four lines before it. The last one is the pattern.
//!
//! A line of `.`, `*` and `$` is a square of 8 x 8 cells. `LEVEL NW NE SW SE` is a square of
//! 2^LEVEL x 2^LEVEL cells; a quarter 0 has no live cell. At level 1 the quarters are cell states,
//! as Golly writes them for rules from tables. Nothing is expanded until the pattern is drawn, and
//! then only where there are live cells.

use crate::frame::{Frame, Remarks};
use crate::run::{LiveRuns, Run, far_apart};
use crate::text::{self, Flaw, lines, named, whole, word};
use crate::{Size, memory};
use lang::{Message, message};

/// The highest level of a node: a square of 2^62 cells a side.
pub(crate) const MAX_LEVEL: u8 = 62;

/// Maximum nodes. They take 17 bytes each, and 8 more while they are measured: up to 400 MiB, which
/// a small packed file could otherwise exceed.
pub(crate) const MAX_NODES: usize = 1 << 24;

// Reading a macrocell.

/// Reads the text: the pattern's data and its tree.
pub(crate) fn read(text: &[u8]) -> Result<(Frame, Tree), Flaw> {
    let start = text::start(text);
    // Nodes are counted before any memory is allocated.
    let nodes = lines(text, start).filter(|(_, line)| is_node(line)).count();
    if nodes > MAX_NODES {
        return Err((
            text.len(),
            message!("the macrocell has more than {MAX_NODES} nodes; a smaller pattern is needed"),
        ));
    }
    let mut tree = Tree::with_room_for(nodes).map_err(|flaw| (start, flaw))?;
    let mut frame = Frame::default();
    let mut headed = false;
    let mut last = text.len();
    for (at, line) in lines(text, start).filter(|(_, line)| !line.is_empty()) {
        if !headed {
            if !line.starts_with(b"[M2]") {
                return Err((
                    at,
                    message!(
                        "the first line of a macrocell must start with [M2]; save it so with Golly"
                    ),
                ));
            }
            headed = true;
        } else if let Some(rule) = line.strip_prefix(b"#R") {
            frame.read_rule(rule, at + 2)?;
        } else if let Some(generation) = line.strip_prefix(b"#G") {
            frame.read_generation(generation.trim_ascii());
        } else if is_node(line) {
            read_node(line, &mut tree, &mut frame.remarks)
                .map_err(|(column, flaw)| (at + column, flaw))?;
            last = at;
        }
    }
    if tree.next_number() == 1 {
        return Err((
            text.len(),
            message!("the macrocell has no nodes, so it seems cut short; fetch it again"),
        ));
    }
    let sides = tree.measure().map_err(|flaw| (last, flaw))?;
    if sides
        .into_iter()
        .any(|side| side > i64::from(Size::MAX_SIDE))
    {
        return Err((last, far_apart()));
    }
    frame.fit(sides, tree.corner());
    Ok((frame, tree))
}

fn is_node(line: &[u8]) -> bool {
    !matches!(line, [] | [b'#' | b'[', ..])
}

/// Reads one line. An error's offset is relative to the line.
fn read_node(line: &[u8], tree: &mut Tree, remarks: &mut Remarks) -> Result<(), Flaw> {
    if matches!(line[0], b'.' | b'*' | b'$') {
        tree.push(LEAF, leaf(read_square(line)?));
        return Ok(());
    }
    let mut at = 0;
    let mut number = || -> Result<(usize, i64), Flaw> {
        let (from, word) = word(line, &mut at).ok_or_else(|| (line.len(), no_node()))?;
        let number = whole(word).ok_or_else(|| (from, no_node()))?;
        Ok((from, number))
    };
    let (from, level) = number()?;
    let level = match u8::try_from(level) {
        Ok(level @ 1..=MAX_LEVEL) => level,
        _ => {
            return Err((
                from,
                message!("a node's level must be from 1 to {MAX_LEVEL}"),
            ));
        }
    };
    let mut node = [0; 4];
    for quarter in &mut node {
        let (from, named) = number()?;
        *quarter = match level {
            // A cell's state.
            1 => u8::try_from(named)
                .map(|state| u32::from(remarks.see(state)))
                .map_err(|_| (from, message!("a cell's state must be from 0 to 255")))?,
            _ => read_quarter(tree, level - 1, named).map_err(|flaw| (from, flaw))?,
        };
    }
    if let Some((from, _)) = word(line, &mut at) {
        return Err((from, no_node()));
    }
    match level {
        // Smaller than 8 x 8 cells, so stored in the top left of such a square.
        1..=LEAF => tree.push_small(level, node),
        _ => tree.push(level, node),
    }
    Ok(())
}

/// The flaw of a line that is no node.
fn no_node() -> Message {
    message!(
        "a line must be a square of cells in . * $ or a node of five numbers, its level and its quarters, such as '4 0 1 2 3'"
    )
}

/// The number of a quarter, 0 if it is empty.
fn read_quarter(tree: &Tree, wanted: u8, named: i64) -> Result<u32, Message> {
    let number = usize::try_from(named).ok();
    let number = number.filter(|number| *number < tree.next_number());
    let number = number.ok_or_else(|| {
        message!(
            "there is no node {it} before this line; the file seems changed or cut, fetch it again",
            it = named
        )
    })?;
    let found = tree.level(number);
    if number != 0 && found != wanted {
        return Err(message!(
            "node {node} is of level {found}, but a quarter here must be of level {wanted}; the file seems changed, fetch it again",
            node = named
        ));
    }
    Ok(if tree.is_empty(number) {
        0
    } else {
        number as u32
    })
}

/// The rows of a square of 8 x 8 cells.
fn read_square(line: &[u8]) -> Result<[u8; 8], Flaw> {
    let too_large =
        || message!("a square has more than 8 x 8 cells; the file seems changed, fetch it again");
    let mut rows = [0; 8];
    let (mut x, mut y) = (0, 0);
    for (at, &letter) in line.iter().enumerate() {
        match letter {
            b'$' => (x, y) = (0, y + 1),
            b'.' | b'*' if x < 8 && y < 8 => {
                rows[y] |= u8::from(letter == b'*') << x;
                x += 1;
            }
            b'.' | b'*' => return Err((at, too_large())),
            other => {
                return Err((
                    at,
                    message!(
                        "unknown {it}; a square of cells has . (dead), * (alive) and $ (end of a row)",
                        it = named(other)
                    ),
                ));
            }
        }
        if y > 8 {
            return Err((at, too_large()));
        }
    }
    Ok(rows)
}

// The quadtree of a macrocell, as a list of nodes that is measured and drawn without being
// expanded.

/// The level of an 8 x 8 square, which a node stores as bits.
const LEAF: u8 = 3;

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
    fn with_room_for(nodes: usize) -> Result<Tree, Message> {
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
    fn push(&mut self, level: u8, node: [u32; 4]) {
        self.nodes.push(node);
        self.levels.push(level);
    }

    /// Adds a node of a level up to [`LEAF`], from four cell states or four nodes.
    fn push_small(&mut self, level: u8, quarters: [u32; 4]) {
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
    fn next_number(&self) -> usize {
        self.nodes.len()
    }

    /// The level of this node.
    fn level(&self, node: usize) -> u8 {
        self.levels[node]
    }

    /// Whether this node has no live cell.
    fn is_empty(&self, node: usize) -> bool {
        self.nodes[node] == [0; 4]
    }

    /// Finds the bounding box of the live cells. Returns the pattern's width and height.
    fn measure(&mut self) -> Result<[i64; 2], Message> {
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
    fn corner(&self) -> [i64; 2] {
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
fn leaf(rows: [u8; 8]) -> [u32; 4] {
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
