use std::collections::HashMap;

use super::*;
use crate::run::Entered;
use engine::kernels;
use life::reference;
use model::DeviceChoice;
use simulation::fastest::RoundLength;

/// A census of these lattices on the CPU.
fn census(side: u64, instances: usize, seeds: Option<Range<u64>>, max: u64) -> Vec<Outcome> {
    let size = Size::new(side, side).unwrap();
    let bits = kernels::find("bits").unwrap();
    let mut setup = Setup::new(instances, size, bits, DeviceChoice::Cpu);
    setup.start = Start::soup(0.4, 7);
    let prepare = |instances: &mut simulation::instances::Instances, setup: &mut Setup, _| {
        instances.start(setup)?;
        Ok(Entered {
            rounds: RoundLength::fixed(setup.kernel, 40),
            plan: None,
        })
    };
    let mut census = Census::start(setup, seeds, max, Box::new(prepare)).unwrap();
    census.step(&mut |_| ControlFlow::Continue(())).unwrap();
    census.into_outcomes()
}

/// The same by looking every generation up among all before it.
fn expected(side: u64, origin: Origin) -> Outcome {
    let size = Size::new(side, side).unwrap();
    let mut lattice = life::soup(size, 0.4, origin.seed.unwrap(), origin.instance as u64);
    let mut seen = HashMap::new();
    let mut populations = Vec::new();
    for now in 0u64.. {
        populations.push(lattice.population());
        if let Some(generation) = seen.insert(lattice.words().to_vec(), now) {
            return Outcome {
                origin,
                cycle: Some(Cycle {
                    generation,
                    period: now - generation,
                }),
                population: populations[generation as usize],
            };
        }
        lattice = reference::step(&lattice, Rule::LIFE);
    }
    unreachable!("every lattice repeats")
}

#[test]
fn every_soup_s_generation_and_period_are_exact() {
    // Sides whose interval is no multiple of a common period, too, and gliders that go around.
    for side in [5, 11, 16, 32] {
        let found = census(side, 3, Some(20..60), u64::MAX);
        let wanted = (20..60).map(|seed| expected(side, Origin::of_seed(seed)));
        assert_eq!(found, wanted.collect::<Vec<_>>(), "{side}");
    }
    let found = census(24, 5, None, u64::MAX);
    let of_instance = |instance| Origin {
        seed: Some(7),
        instance,
    };
    let wanted = (0..5).map(|instance| expected(24, of_instance(instance)));
    assert_eq!(found, wanted.collect::<Vec<_>>());
}

#[test]
fn a_soup_that_does_not_repeat_in_time_is_given_up() {
    let found = census(32, 4, Some(0..9), 10);
    assert_eq!(found.len(), 9);
    assert!(found.iter().all(|outcome| outcome.cycle.is_none()));
    let size = Size::new(32, 32).unwrap();
    for (seed, outcome) in (0..).zip(&found) {
        let later = reference::run(&life::soup(size, 0.4, seed, 0), Rule::LIFE, 10);
        assert_eq!(outcome.population, later.population(), "{seed}");
    }
    assert!(census(32, 4, Some(5..5), 10).is_empty());
}

#[test]
fn looks_are_as_far_apart_as_fits_the_torus() {
    let of = |width, height| interval(Size::new(width, height).unwrap());
    assert_eq!(of(64, 64), 64);
    assert_eq!(of(1, 1), 64);
    assert_eq!(of(5, 5), 70);
    assert_eq!(of(100, 60), 300);
    assert_eq!(of(1024, 1024), 1024);
    assert_eq!(of(1000, 1001), 256);
}
