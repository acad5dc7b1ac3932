//! `sync-shared`: the whole lattice is copied to a local array, one byte per cell, stepped there
//! through all generations, and written back.

use super::{Launch, Pair, torus_row};
use crate::cpu::vector;

/// Runs all generations of a launch.
pub(super) fn run(launch: &Launch, cells: &mut Pair<Vec<i32>>) {
    let (width, height) = (launch.size.width() as usize, launch.size.height() as usize);
    let mut from: Vec<u8> = cells.now.iter().map(|&cell| cell as u8).collect();
    let mut to = vec![0; from.len()];
    for _ in launch.generations() {
        let row = |y: usize| &from[y % height * width..][..width];
        vector::vectorize(
            #[inline(always)]
            || {
                for (y, out) in to.chunks_exact_mut(width).enumerate() {
                    let rows = [row(y + height - 1), row(y), row(y + 1)];
                    torus_row(rows, launch.rule.table(), out);
                }
            },
        );
        std::mem::swap(&mut from, &mut to);
    }
    for (cell, byte) in cells.now.iter_mut().zip(from) {
        *cell = byte.into();
    }
}
