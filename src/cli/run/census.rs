//! `run --until-still`: steps lattices until each repeats, and reports when that began.

use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Result;

use super::waiting::Waiting;
use super::{Progress, Report, common, devices};
use crate::cli::failure::Interrupted;
use crate::cli::options::RunArguments;
use crate::cli::text::{print, print_json, say};
use lang::tr;
use life::{Size, grouped};
use model::median;
use model::words;
use session::census::{Census, Outcome};
use session::run::{Entered, Prepare};
use simulation::fastest::{RUN_ROUND, Requested};
use ui::numbers::si;

/// What `--json` prints.
#[derive(serde::Serialize)]
struct CensusReport {
    #[serde(flatten)]
    report: Report,
    rule: String,
    soups_per_second: f64,
    soups: Vec<Soup>,
}

/// A lattice that is done.
#[derive(serde::Serialize)]
struct Soup {
    /// `None` for a pattern.
    seed: Option<u64>,
    instance: usize,
    /// The first generation that comes again, and after how many generations; `None` if none did.
    generation: Option<u64>,
    period: Option<u64>,
    population: u64,
}

pub(super) fn main(arguments: &RunArguments) -> Result<()> {
    let mut setup = common(arguments).setup()?;
    let first = setup.start.generation();
    let seeds = arguments.seeds.clone();
    let all = match &seeds {
        None => setup.instances as u64,
        Some(seeds) => seeds.end - seeds.start,
    };
    setup.instances = setup.instances.min(all.try_into().unwrap_or(usize::MAX));
    let waiting = Waiting::start(tr!("its start"));
    let requested = arguments.common.requested(&setup);
    let requested = Requested {
        // Other lattices are set after every few rounds, for which a graph would have to be prepared anew.
        graphs: requested.graphs.or(Some(false)),
        ..requested
    };
    let max_generations = arguments.generations.unwrap_or(u64::MAX);
    let prepare: Box<Prepare> = Box::new(|instances, setup, _| {
        let plan = instances.start_fastest(setup, &requested, None)?;
        Ok(Entered {
            rounds: plan.rounds(RUN_ROUND),
            plan: Some(plan),
        })
    });
    let mut census = Census::start(setup, seeds, max_generations, prepare)?;
    waiting.step();
    let mut progress = Progress::new(move |done, took| {
        tr!(
            "{done} of {all} lattices, {rate}lattices/s",
            done = grouped(done),
            all = grouped(all),
            rate = si(done as f64 / took.as_secs_f64())
        )
    });
    loop {
        let stepped = census.step(&mut |done| {
            waiting.next(tr!("the next round"));
            progress.set(done as u64);
            if waiting.is_interrupted() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        progress.clear();
        match stepped {
            Ok(()) => break,
            Err(error) if census.can_recover(&error) => {
                waiting.next(tr!("its start"));
                let why = words::reason(&error);
                census.recover(error)?;
                say(&tr!(
                    "the engine was lost ({why}); what was not done begins again on {device}",
                    device = devices(census.run().instances())
                ));
            }
            Err(error) => return Err(error.into()),
        }
    }
    report(census, progress.began.elapsed(), first, all, arguments)
}

/// Prints what a census came to.
fn report(
    census: Census,
    took: Duration,
    first: u64,
    all: u64,
    arguments: &RunArguments,
) -> Result<()> {
    let (run, generations) = (census.run(), census.generations());
    let report = Report::new(run, generations, took, census.interval(), arguments);
    let (size, rule) = (run.setup().size, run.setup().rule);
    let soups: Vec<Soup> = census
        .into_outcomes()
        .into_iter()
        .map(|outcome| Soup::of(outcome, first))
        .collect();
    let done = soups.len() as u64;
    let report = CensusReport {
        report: Report {
            stopped: done < all,
            ..report
        },
        rule: rule.to_string(),
        soups_per_second: done as f64 / took.as_secs_f64(),
        soups,
    };
    if arguments.json {
        print_json(&report)?;
    } else {
        let lines = report.soups.iter().map(Soup::line);
        lines
            .chain([report.summary(size)])
            .try_for_each(|line| print(&line))?;
    }
    if done < all {
        Err(Interrupted(tr!(
            "stopped after {done} of {all} lattices",
            done = grouped(done),
            all = grouped(all)
        ))
        .into())
    } else {
        Ok(())
    }
}

impl CensusReport {
    /// The device, and how long the lattices took.
    fn summary(&self, size: Size) -> String {
        let settled = self.soups.iter().filter_map(|soup| soup.generation);
        let typical = median(settled.clone().map(|generation| generation as f64));
        let typical = typical.map_or(String::new(), |generation| {
            tr!(
                ", half of them by generation {generation}",
                generation = grouped(generation as u64)
            )
        });
        tr!(
            "{device} ({engine}), kernel {kernel}: {settled} of {count} lattices of {size} settled{typical}; {rate}lattices/s, {cells}cell/s",
            device = self.report.device,
            engine = self.report.engine,
            kernel = self.report.kernel,
            settled = settled.count(),
            count = self.soups.len(),
            rate = si(self.soups_per_second),
            cells = si(self.report.cells_per_second)
        )
    }
}

impl Soup {
    /// A lattice whose start was of generation `first`.
    fn of(outcome: Outcome, first: u64) -> Soup {
        Soup {
            seed: outcome.origin.seed,
            instance: outcome.origin.instance,
            generation: outcome.cycle.map(|cycle| first + cycle.generation),
            period: outcome.cycle.map(|cycle| cycle.period),
            population: outcome.population,
        }
    }

    /// When it settled, for people.
    fn line(&self) -> String {
        let name = match self.seed {
            None => tr!("instance {instance}", instance = self.instance),
            Some(seed) => tr!("seed {seed}, instance {instance}", instance = self.instance),
        };
        match (self.generation, self.period) {
            (Some(generation), Some(period)) => tr!(
                "{name}: period {period} from generation {generation} on, {population} alive",
                period = grouped(period),
                generation = grouped(generation),
                population = grouped(self.population)
            ),
            _ => tr!(
                "{name}: not settled, {population} alive",
                population = grouped(self.population)
            ),
        }
    }
}
