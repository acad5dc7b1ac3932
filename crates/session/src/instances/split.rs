//! Whether lattices lie on one device each, or in bands on all devices.

use crate::{Setup, Split};
use engine::{Band, Cut, Engine, EngineError, SplitEngine};

/// Cells of a lattice from which on several devices step it faster than one: below, the copies of its
/// halos take longer than stepping.
const MIN_CELLS: u64 = 1 << 28;

/// How the lattices of a setup are to be cut, if they are to lie on all of so many devices.
fn cut(setup: &Setup, devices: usize) -> Option<Cut> {
    let cut = Cut::of(setup.size, devices);
    let takes_bands = || {
        let bands = Band::divide(setup.size, devices, cut);
        let mut sizes = bands.iter().map(|band| band.size());
        sizes.all(|size| size.is_ok_and(|size| setup.kernel.supports(size)))
    };
    let is_split = devices > 1
        && match setup.split {
            Split::On => true,
            Split::Off => false,
            Split::Auto => {
                setup.instances < devices && setup.size.cells() >= MIN_CELLS && takes_bands()
            }
        };
    is_split.then_some(cut)
}

/// The engine, without lattices, as a setup wants lattices on its devices. One that has this cut already
/// keeps what it knows of copies between its devices.
pub(super) fn arranged(
    engine: Box<dyn Engine>,
    setup: &Setup,
) -> Result<Box<dyn Engine>, (Box<dyn Engine>, EngineError)> {
    match cut(setup, engine.devices().len()) {
        wanted if wanted == engine.cut() => Ok(engine),
        Some(cut) => Ok(Box::new(SplitEngine::new(engine.unsplit(), cut)?)),
        None => Ok(engine.unsplit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceChoice;
    use engine::kernels;
    use life::Size;

    #[test]
    fn few_large_lattices_are_split() {
        const LARGE: u64 = 1 << 14;
        for (instances, side, split, devices, want) in [
            (1, LARGE, Split::Auto, 2, true),
            (2, LARGE, Split::Auto, 2, false),
            (3, LARGE, Split::Auto, 4, true),
            (1, LARGE, Split::Auto, 1, false),
            (1, LARGE, Split::Off, 2, false),
            (1, LARGE - 1, Split::Auto, 2, false),
            (9, 8, Split::On, 2, true),
            (9, 8, Split::On, 1, false), // all but one GPU are lost
        ] {
            let (size, kernel) = (Size::new(side, side).unwrap(), kernels::find("bits"));
            let setup = Setup {
                split,
                ..Setup::new(instances, size, kernel.unwrap(), DeviceChoice::Cuda)
            };
            let cut = cut(&setup, devices);
            let want = want.then(|| Cut::of(setup.size, devices));
            assert_eq!(cut, want, "{setup:?} on {devices}");
        }
    }
}
