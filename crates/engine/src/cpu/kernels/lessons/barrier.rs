//! `barrier`: Life in one block, with or without the barrier between generations.
//!
//! On a GPU thread t has the cells t, t + threads, …. Here a warp has every `warps`-th row as a
//! whole, which shows the same fault. With the barrier, no warp starts a generation before all have
//! finished the previous one. Without it, and with odd warps delayed, even warps run far ahead on a
//! GPU by an unpredictable amount. Here the fault is deterministic: each even warp runs all its
//! generations, then each odd one. They read their neighbours' rows as of the first generation or the
//! last. This order replaces the delay.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// One launch of the kernel.
pub(in crate::cpu) struct Block<'a> {
    /// The two buffers, which alternate as source and destination.
    pub(super) a: &'a [AtomicU32],
    pub(super) b: &'a [AtomicU32],
    pub(super) width: usize,
    pub(super) height: usize,
    /// The rule's table, as from [`Rule::table`](life::Rule::table).
    pub(super) rule: u32,
    pub(super) generations: u32,
    pub(super) barrier: bool,
    /// Warps in the block.
    pub(super) warps: usize,
}

impl Block<'_> {
    pub(super) fn run(&self, stop: &AtomicBool) {
        let generations = || (0..self.generations).take_while(|_| !stop.load(Ordering::Relaxed));
        if self.barrier {
            for generation in generations() {
                (0..self.warps).for_each(|warp| self.step(generation, warp));
            }
        } else {
            let (even, odd) = ((0..self.warps).step_by(2), (1..self.warps).step_by(2));
            for warp in even.chain(odd) {
                generations().for_each(|generation| self.step(generation, warp));
            }
        }
    }

    /// Steps a warp's rows by one generation.
    fn step(&self, generation: u32, warp: usize) {
        let (from, to) = match generation % 2 {
            0 => (self.a, self.b),
            _ => (self.b, self.a),
        };
        let (width, height) = (self.width, self.height);
        for y in (warp..height).step_by(self.warps) {
            let rows = rows(from, width, height, y);
            for x in 0..width {
                let next = next_cell(rows, self.rule, x);
                to[y * width + x].store(next, Ordering::Relaxed);
            }
        }
    }
}

/// Row `y` of a lattice between its neighbours.
fn rows(cells: &[AtomicU32], width: usize, height: usize, y: usize) -> [&[AtomicU32]; 3] {
    let rows = [(y + height - 1) % height, y, (y + 1) % height];
    rows.map(|y| &cells[y * width..][..width])
}

/// The next state of cell `x` of the middle row.
fn next_cell(rows: [&[AtomicU32]; 3], rule: u32, x: usize) -> u32 {
    let width = rows[1].len();
    let columns = [(x + width - 1) % width, x, (x + 1) % width];
    let cell = |row: usize, column: usize| rows[row][columns[column]].load(Ordering::Relaxed) & 1;
    let around = (0..3).map(|row| cell(row, 0) + cell(row, 1) + cell(row, 2));
    let (alive, all) = (cell(1, 1), around.sum::<u32>());
    rule >> (9 * alive + all - alive) & 1
}
