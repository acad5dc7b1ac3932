//! `resident`: on a GPU the lattice is kept in registers through all generations. On a CPU it stays
//! in the cache anyway, so this is the `planar` kernel.

use super::{Launch, Pair, planar};
use crate::cpu::planar_rows::PlanarRows;

/// Runs all generations of a launch.
pub(super) fn run(launch: &Launch, cells: &mut Pair<PlanarRows>) {
    planar::run(launch, cells);
}
