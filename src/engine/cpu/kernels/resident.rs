//! `resident`: the lattice is copied close by, stepped there through all generations, and written
//! back to where it came from.

use super::{Launch, Pair, planar};

/// All generations of a launch.
pub(super) fn run(launch: &Launch, cells: &mut Pair<Vec<u32>>) {
    let mut from = cells.now.clone();
    let mut to = vec![0; from.len()];
    for _ in launch.generations() {
        planar::step(launch.size, launch.rule, 1, &from, &mut to);
        std::mem::swap(&mut from, &mut to);
    }
    cells.now.copy_from_slice(&from);
}
