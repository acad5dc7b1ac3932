//! The lattices that a start gives to its instances.

use std::sync::Arc;

use life::{Lattice, MemoryError, Size, soup};
use model::Start;

/// An instance's lattice of a start; where the start has smaller lattices, it lies in the middle.
///
/// # Errors
/// The host has no memory for it.
pub(crate) fn start_lattice(
    start: &Start,
    size: Size,
    instance: usize,
) -> Result<Arc<Lattice>, MemoryError> {
    match start {
        Start::Soup { density, seed } => Ok(Arc::new(soup(size, *density, *seed, instance as u64))),
        Start::Lattices { lattices, .. } => {
            let lattice = &lattices[instance % lattices.len()];
            if lattice.size() == size {
                return Ok(lattice.clone());
            }
            Ok(Arc::new(lattice.in_the_middle_of(size)?))
        }
    }
}
