//! The lattices of a start.

use std::sync::Arc;

use crate::Start;
use life::{Lattice, MemoryError, Size, Soup};

/// The cells that an instance is set to. A soup is made where they are needed: by the engine, on its
/// device.
#[derive(Clone, Debug)]
pub enum NewCells {
    /// A lattice on the host.
    Lattice(Arc<Lattice>),
    /// A soup.
    Soup(Soup),
}

impl NewCells {
    /// The cells as a lattice of `size` on the host.
    pub fn lattice(self, size: Size) -> Arc<Lattice> {
        match self {
            NewCells::Lattice(lattice) => lattice,
            NewCells::Soup(soup) => Arc::new(soup.lattice(size)),
        }
    }
}

impl From<Arc<Lattice>> for NewCells {
    fn from(lattice: Arc<Lattice>) -> NewCells {
        NewCells::Lattice(lattice)
    }
}

/// The cells that a start gives to an instance, of `size` cells: a lattice of the start that has
/// another size is enlarged or reduced about its middle.
///
/// # Errors
/// The host has no memory for them.
pub fn start_cells(start: &Start, size: Size, instance: usize) -> Result<NewCells, MemoryError> {
    match *start {
        Start::Soup { density, seed } => Ok(NewCells::Soup(Soup {
            density,
            seed,
            instance: instance as u64,
        })),
        Start::Lattices { ref lattices, .. } => {
            let lattice = &lattices[instance % lattices.len()];
            if lattice.size() == size {
                return Ok(lattice.clone().into());
            }
            Ok(Arc::new(lattice.resized(size)?).into())
        }
    }
}

/// The same as a lattice on the host.
///
/// # Errors
/// The host has no memory for it.
pub fn start_lattice(
    start: &Start,
    size: Size,
    instance: usize,
) -> Result<Arc<Lattice>, MemoryError> {
    Ok(start_cells(start, size, instance)?.lattice(size))
}
