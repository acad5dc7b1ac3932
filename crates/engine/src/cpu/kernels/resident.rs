//! `resident`: the lattice is copied close by, stepped there through all generations, and written
//! back to where it came from. Here close by is the cache, where it is anyway; so nothing is
//! copied.

use super::{Launch, Pair, planar};
use crate::cpu::planar_rows::PlanarRows;

/// All generations of a launch.
pub(super) fn run(launch: &Launch, cells: &mut Pair<PlanarRows>) {
    planar::run(launch, cells);
}
