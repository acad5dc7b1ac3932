//! A census: steps soups until each repeats, and finds when that began and with which period.
//!
//! Instances are stepped in long rounds, and looked at every so many generations: their hashes say which
//! of them repeat. Of such a lattice the host then steps copies by themselves, which gives its exact
//! generation and period; and the instance goes on with the next soup.

use std::ops::{ControlFlow, Range};

use engine::cpu::Stepper;
use engine::{EngineError, Measure, Result};
use life::{Lattice, Rule, Size};
use model::{Settled, Setup, Start};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simulation::instances::{Event, read_lattice};
use simulation::{start_cells, start_lattice};

use crate::run::{Prepare, Recovery, Run};
use crate::settling::Detector;

/// Copies of each lattice on the host, from the latest looks: the present one, and those back to one from
/// before a repeat. A glider's way around a square torus takes four looks.
const COPIES: u8 = 6;

/// A soup, or another start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin {
    /// The seed, unless the cells are a pattern's.
    pub seed: Option<u64>,
    /// The number of the soup among those of its seed, or of the pattern.
    pub instance: usize,
}

/// A lattice that is done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Outcome {
    /// What it started from.
    pub origin: Origin,
    /// When it began to repeat; `None` if it did not within the generations asked for.
    pub cycle: Option<Cycle>,
    /// Live cells when it began to repeat, or else at the end.
    pub population: u64,
}

/// When a lattice begins to repeat.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cycle {
    /// The first generation whose cells come again.
    pub generation: u64,
    /// After how many generations they do so first.
    pub period: u64,
}

/// An instance and what it is stepping.
struct Case {
    origin: Origin,
    /// The look at which its lattice was set.
    began: u64,
    detector: Detector,
    /// Whether its hash came again with other cells: then it is not known which copies are from before
    /// a repeat.
    has_collided: bool,
}

/// A lattice whose hash came again.
struct Repeat {
    instance: usize,
    /// The cells, from which on the lattice repeats.
    now: Lattice,
    /// A multiple of its period.
    every: u64,
    /// Its cells at an earlier generation, which the repeat does not reach.
    before: (u64, Lattice),
}

/// See the module's documentation.
pub struct Census<'a> {
    run: Run<'a>,
    /// The seeds that no instance has stepped yet.
    seeds: Range<u64>,
    /// What each instance steps; `None` if there is no soup left for it.
    cases: Vec<Option<Case>>,
    /// Whether the lattices are those of the cases.
    is_set: bool,
    looks: u64,
    interval: u64,
    max_generations: u64,
    outcomes: Vec<Outcome>,
    /// Threads that find the cycles of lattices.
    pool: ThreadPool,
}

impl<'a> Census<'a> {
    /// Opens the setup's devices for a census of the setup's lattices or, where there are seeds, of one
    /// soup for each. A lattice is given up after `max_generations`, at the next look.
    ///
    /// # Errors
    /// A device cannot be used, or it or the host has too little memory.
    pub fn start(
        setup: Setup,
        seeds: Option<Range<u64>>,
        max_generations: u64,
        prepare: Box<Prepare<'a>>,
    ) -> Result<Census<'a>> {
        let count = setup.instances as u64;
        let of_seeds =
            |seeds: &Range<u64>| seeds.start..seeds.end.min(seeds.start.saturating_add(count));
        let seed = match setup.start {
            Start::Soup { seed, .. } => Some(seed),
            Start::Lattices { .. } => None,
        };
        let of_start = |instance| Origin { seed, instance };
        let first: Vec<Origin> = match &seeds {
            Some(seeds) => of_seeds(seeds).map(Origin::of_seed).collect(),
            None => (0..setup.instances).map(of_start).collect(),
        };
        let seeds = seeds.map_or(0..0, |seeds| of_seeds(&seeds).end..seeds.end);
        let cases = first.into_iter().map(|origin| Some(Case::new(origin, 0)));
        let pool = ThreadPoolBuilder::new().build();
        Ok(Census {
            pool: pool.map_err(|_| EngineError::NoThread)?,
            cases: cases.collect(),
            seeds,
            is_set: false,
            looks: 0,
            interval: interval(setup.size).min(max_generations.max(1)),
            max_generations,
            outcomes: Vec::new(),
            run: Run::with_slots(COPIES, setup, max_generations, prepare)?,
        })
    }

    /// Steps until every lattice is done. Asks `goes_on` after each round, with the number of lattices that
    /// are done; once it breaks, no other round is issued.
    ///
    /// # Errors
    /// What the engine says: see [`recover`](Self::recover).
    pub fn step(&mut self, goes_on: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Result<()> {
        if !self.is_set {
            let cases = self.cases.iter().enumerate();
            let unfinished =
                cases.filter_map(|(instance, case)| case.is_some().then_some(instance));
            self.set(unfinished.collect())?;
            self.is_set = true;
        }
        while self.cases.iter().any(Option::is_some) {
            let done = self.outcomes.len();
            let mut is_stopped = false;
            let (instances, rounds) = self.run.stepping();
            instances.run_rounds(self.interval, rounds, false, &mut |event| {
                is_stopped |= matches!(event, Event::Round { .. }) && goes_on(done).is_break();
                if is_stopped {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            if is_stopped {
                break;
            }
            self.look()?;
        }
        Ok(())
    }

    /// Looks at every lattice, notes those that are done, and begins the next soups in their place.
    fn look(&mut self) -> Result<()> {
        self.looks += 1;
        let rule = self.run.setup().rule;
        let (instances, _) = self.run.stepping();
        instances.issue_snapshot(copy_of(self.looks))?;
        let measures = instances.measure_bits()?;
        let mut repeats = Vec::new();
        for (instance, measure) in measures.iter().enumerate() {
            repeats.extend(self.repeat(instance, *measure, rule)?);
        }
        let cycle = |repeat: &Repeat| Ok((repeat.instance, repeat.cycle(rule)?));
        let cycles = || repeats.par_iter().map(cycle).collect::<Result<_>>();
        let cycles: Vec<_> = self.pool.install(cycles)?;
        let mut free = Vec::new();
        for (instance, cycle) in cycles {
            let case = self.cases[instance].as_mut().expect("it was looked at");
            match cycle {
                None => {
                    case.detector.reset();
                    case.has_collided = true;
                }
                Some((cycle, population)) => {
                    free.push(instance);
                    self.outcomes.push(Outcome {
                        origin: case.origin,
                        cycle: Some(cycle),
                        population,
                    });
                    self.cases[instance] = None;
                }
            }
        }
        for (instance, measure) in measures.iter().enumerate() {
            let (looks, interval) = (self.looks, self.interval);
            let is_over = |case: &mut Case| case.age(looks, interval) >= self.max_generations;
            if let Some(case) = self.cases[instance].take_if(is_over) {
                free.push(instance);
                self.outcomes.push(Outcome {
                    origin: case.origin,
                    cycle: None,
                    population: measure.population,
                });
            }
        }
        free.retain(|&instance| {
            let next = self.seeds.next().map(Origin::of_seed);
            self.cases[instance] = next.map(|origin| Case::new(origin, self.looks));
            self.cases[instance].is_some()
        });
        self.set(free)
    }

    /// An instance's lattice with what is needed to find its cycle, if its hash came again.
    fn repeat(&mut self, instance: usize, measure: Measure, rule: Rule) -> Result<Option<Repeat>> {
        let Some(case) = &mut self.cases[instance] else {
            return Ok(None);
        };
        let age = case.age(self.looks, self.interval);
        let every = match case.detector.add(age, measure, rule) {
            None => return Ok(None),
            Some(Settled::Dead) => 0,
            Some(Settled::Still) => 1,
            Some(Settled::Period(every) | Settled::Repeats(every)) => every,
        };
        let (began, origin, has_collided) = (case.began, case.origin, case.has_collided);
        let setup = self.run.setup();
        let (size, instances) = (setup.size, self.run.instances());
        let copy = |look: u64| {
            let slot = instances.snapshot_slot(copy_of(look));
            read_lattice(&**instances.slots(), instance, slot, size)
        };
        let back = every / self.interval + 1;
        let look = self.looks.saturating_sub(back);
        let before = if !has_collided && look > began && back < u64::from(COPIES) {
            (self.interval * (look - began), copy(look)?)
        } else {
            let lattice = start_lattice(&origin.start(setup), size, origin.instance)?;
            (0, Lattice::clone(&lattice))
        };
        Ok(Some(Repeat {
            instance,
            now: copy(self.looks)?,
            every: every.max(1),
            before,
        }))
    }

    /// Sets these instances to the starts of their cases.
    fn set(&mut self, instances: Vec<usize>) -> Result<()> {
        if instances.is_empty() {
            return Ok(());
        }
        let setup = self.run.setup();
        let cells = |instance: usize| {
            let origin = self.cases[instance].as_ref().expect("it has one").origin;
            let cells = start_cells(&origin.start(setup), setup.size, origin.instance)?;
            Ok((instance, cells))
        };
        let cells = instances.into_iter().map(cells).collect::<Result<_>>()?;
        self.run.stepping().0.set_lattices(cells)
    }

    /// Whether another device may go on after this error.
    pub fn can_recover(&self, error: &EngineError) -> bool {
        self.run.can_recover(error)
    }

    /// After such an error of the engine, opens the devices that are left. The lattices that are not
    /// done begin again there.
    ///
    /// # Errors
    /// No device is left. Nothing can be stepped then.
    pub fn recover(&mut self, error: EngineError) -> Result<Recovery> {
        let recovery = self.run.recover(error)?;
        self.is_set = false;
        for case in self.cases.iter_mut().flatten() {
            *case = Case::new(case.origin, self.looks);
        }
        Ok(recovery)
    }

    /// The run that steps the lattices.
    pub fn run(&self) -> &Run<'a> {
        &self.run
    }

    /// Generations between two looks.
    pub fn interval(&self) -> u64 {
        self.interval
    }

    /// Generations that every instance was stepped.
    pub fn generations(&self) -> u64 {
        self.looks * self.interval
    }

    /// The lattices that are done, by their origin.
    pub fn into_outcomes(mut self) -> Vec<Outcome> {
        self.outcomes.sort_unstable();
        self.outcomes
    }
}

impl Origin {
    fn of_seed(seed: u64) -> Origin {
        Origin {
            seed: Some(seed),
            instance: 0,
        }
    }

    /// The setup's start, of this seed.
    fn start(self, setup: &Setup) -> Start {
        match (setup.start.clone(), self.seed) {
            (Start::Soup { density, .. }, Some(seed)) => Start::Soup { density, seed },
            (start, _) => start,
        }
    }
}

impl Case {
    fn new(origin: Origin, began: u64) -> Case {
        Case {
            origin,
            began,
            detector: Detector::eager(),
            has_collided: false,
        }
    }

    /// Generations that its lattice has been stepped.
    fn age(&self, looks: u64, interval: u64) -> u64 {
        interval * (looks - self.began)
    }
}

impl Repeat {
    /// When the lattice begins to repeat, and its population then; `None` if it does not.
    fn cycle(&self, rule: Rule) -> Result<Option<(Cycle, u64)>> {
        let start = Stepper::new(&self.now, rule)?;
        let mut stepper = Stepper::new(&self.now, rule)?;
        let returns = |_: &u64| {
            stepper.step();
            stepper == start
        };
        let Some(period) = (1..=self.every).find(returns) else {
            return Ok(None);
        };
        let (mut generation, before) = (self.before.0, &self.before.1);
        let mut one = Stepper::new(before, rule)?;
        let mut ahead = Stepper::new(before, rule)?;
        (0..period).for_each(|_| ahead.step());
        while one != ahead {
            one.step();
            ahead.step();
            generation += 1;
        }
        let cycle = Cycle { generation, period };
        Ok(Some((cycle, one.population())))
    }
}

/// The whole-lattice slot of a look's copies.
fn copy_of(look: u64) -> u8 {
    (look % u64::from(COPIES)) as u8
}

/// Generations between two looks. Mostly they are a multiple of a quarter of the time in which a glider
/// goes around the torus, and of the period of nearly everything else: such a lattice is seen to repeat
/// after few looks.
fn interval(size: Size) -> u64 {
    const SHORT: u64 = 64;
    const LONG: u64 = 1024;
    let (width, height) = (u64::from(size.width()), u64::from(size.height()));
    let way = width / greatest_divisor(width, height) * height;
    let way = way << (way % 2);
    match way {
        0..=SHORT => SHORT.next_multiple_of(way),
        way if way <= LONG => way,
        _ => 4 * SHORT,
    }
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests;
