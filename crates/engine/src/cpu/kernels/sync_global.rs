//! `sync-global`: one call steps all generations. The end of each generation takes the place of the
//! barrier.

use super::{Launch, Pair, global};

/// Runs all generations of a launch.
pub(super) fn run(launch: &Launch, cells: &mut Pair<Vec<i32>>) {
    for _ in launch.generations() {
        global::step(launch.size, launch.rule, &cells.now, &mut cells.next);
        cells.flip();
    }
}
