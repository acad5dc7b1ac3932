//! The lattices of a start.

use std::sync::Arc;

use life::{Lattice, MemoryError, Size, soup};
use model::Start;

/// The lattice that a start gives to an instance, of `size` cells; a smaller lattice of the start is
/// centred in it.
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
