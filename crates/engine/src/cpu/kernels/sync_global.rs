//! `sync-global`: one call steps all generations; the end of each is the barrier between
//! reading and writing.

use super::{Launch, Pair, global};

/// All generations of a launch.
pub(super) fn run(launch: &Launch, cells: &mut Pair<Vec<i32>>) {
    for _ in launch.generations() {
        global::step(launch.size, launch.rule, &cells.now, &mut cells.next);
        cells.flip();
    }
}
