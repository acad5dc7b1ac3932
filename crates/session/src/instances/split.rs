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
    use crate::instances::Sim;
    use crate::round::Setting;
    use crate::{DeviceChoice, Start};
    use engine::cpu::CpuEngine;
    use engine::{DeviceId, LatticeOp, Op, OrderOp, Program, StreamSpec, kernels};
    use life::{Size, reference};

    fn setup(instances: usize, side: u64, split: Split) -> Setup {
        let (size, kernel) = (Size::new(side, side).unwrap(), kernels::find("bits"));
        Setup {
            split,
            start: Start::soup(0.4, 3),
            ..Setup::new(instances, size, kernel.unwrap(), DeviceChoice::Cpu)
        }
    }

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
            let setup = setup(instances, side, split);
            let cut = cut(&setup, devices);
            let want = want.then(|| Cut::of(setup.size, devices));
            assert_eq!(cut, want, "{setup:?} on {devices}");
        }
    }

    #[test]
    fn bands_take_a_step_one_after_the_other() {
        let engine = Box::new(CpuEngine::without_threads(3));
        let mut setup = setup(1, 40, Split::On);
        let mut instances = Sim::new(engine, &setup, 1).unwrap();
        instances.start(&mut setup, None).unwrap();
        let stream = instances
            .engine
            .create_stream(DeviceId(0), StreamSpec::PLAIN);
        let program = Program {
            timed: true,
            band_by_band: true,
            ..Program::in_stream(stream.unwrap(), [LatticeOp::Measure.on(0..1)])
        };
        let run = instances.engine.submit(&program).unwrap();
        let steps = instances.engine.issued_steps(run).unwrap();
        let name = |it: &engine::IssuedStep| match it.step.op {
            Op::Lattices(_, LatticeOp::Measure) => 'm',
            Op::Order(OrderOp::Record(_)) => 'r',
            Op::Order(OrderOp::Wait(_)) => 'w',
            _ => '?',
        };
        assert_eq!(steps.iter().map(name).collect::<String>(), "mrwmrwm");
        for next in steps.windows(2).filter(|it| name(&it[0]) == 'w') {
            assert_eq!(next[0].step.stream, next[1].step.stream);
        }
    }

    #[test]
    fn split_lattices_become_whole_and_split_again() {
        // It is cut otherwise than these lattices are going to be.
        let engine = Box::new(CpuEngine::without_threads(3));
        let engine = Box::new(
            SplitEngine::new(engine, Cut::DEFAULT)
                .map_err(|(_, why)| why)
                .unwrap(),
        );
        let mut setup = setup(2, 40, Split::On);
        let mut instances = Sim::new(engine, &setup, 1).unwrap();
        for (split, side) in [
            (Split::On, 40),
            (Split::On, 33),
            (Split::Off, 33),
            (Split::On, 9),
        ] {
            setup = Setup {
                split,
                size: Size::new(side, side).unwrap(),
                ..setup
            };
            instances = instances.replaced(&setup).map_err(|(_, why)| why).unwrap();
            assert_eq!(instances.engine().is_split(), split == Split::On);
            instances.start(&mut setup, None).unwrap();
            let share = instances.all(&Setting::of(&setup), None);
            instances.run(&share, 130, 130, None).unwrap();
            for (i, found) in instances.fetch().unwrap().iter().enumerate() {
                let start = crate::instances::start_lattice(&setup, i).unwrap();
                assert_eq!(*found, reference::run(&start, setup.rule, 130), "{split:?}");
            }
        }
    }
}
