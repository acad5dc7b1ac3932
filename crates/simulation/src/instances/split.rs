//! Whether lattices lie on one device each, or in bands on all devices.

use engine::{Band, Engine, EngineError, SplitEngine};
use model::{Setup, Split};

/// Cells of a lattice from which on several devices step it faster than one: below, the copies of its
/// halos take longer than stepping.
const MIN_CELLS: u64 = 1 << 28;

/// Whether the lattices of a setup are to lie on all of so many devices.
fn is_split(setup: &Setup, devices: usize) -> bool {
    let takes_bands = || {
        let bands = Band::divide(setup.size, devices, SplitEngine::HALO);
        let mut sizes = bands.iter().map(|band| band.size());
        sizes.all(|size| size.is_ok_and(|size| setup.kernel.validate_size(size).is_ok()))
    };
    devices > 1
        && match setup.split {
            Split::On => true,
            Split::Off => false,
            Split::Auto => {
                setup.instances < devices && setup.size.cells() >= MIN_CELLS && takes_bands()
            }
        }
}

/// The engine, without lattices, as a setup wants lattices on its devices.
pub(super) fn arranged(
    engine: Box<dyn Engine>,
    setup: &Setup,
) -> Result<Box<dyn Engine>, (Box<dyn Engine>, EngineError)> {
    let engine = engine.unsplit();
    if is_split(setup, engine.devices().len()) {
        return Ok(Box::new(SplitEngine::new(engine, SplitEngine::HALO)?));
    }
    Ok(engine)
}
