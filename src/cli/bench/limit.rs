//! How close the CPU engine's rungs come to the limit of the cores' vector units.
//!
//! Both are measured in turns, since a shared machine's speed varies: a share is that of the limit
//! measured just before, on one thread or on all at once.

use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{RUN, RUNS, Table, open_instances, setup};
use crate::cli::failure::BadArguments;
use engine::EngineError;
use engine::cpu::limit;
use life::Rule;
use model::{DeviceChoice, Setup};
use simulation::instances::Instances;

/// Generations of a launch: enough for passes as deep as a kernel likes.
const LAUNCH: u32 = 48;

/// How long the limit is measured before each run.
const LIMIT_RUN: Duration = Duration::from_millis(50);

/// A lattice to step.
struct Case {
    what: String,
    cells: f64,
    /// Threads of the engine: all if `None`.
    threads: Option<NonZero<usize>>,
    instances: Instances,
    /// Launches of a run.
    launches: u64,
    rates: Vec<f64>,
    /// The rates as percentages of the limit of as many threads.
    shares: Vec<f64>,
}

pub(super) fn table(device: DeviceChoice) -> Result<Table> {
    if super::named(device)?.0 != "cpu" {
        let what = "bench limit measures the CPU; use --device cpu";
        return Err(BadArguments(what.into()).into());
    }
    let one = Some(NonZero::<usize>::MIN);
    let highlife: Rule = "B36/S23".parse()?;
    let mut cases = Vec::new();
    for (kernel, side, rule, threads) in [
        ("bits", 2048, Rule::LIFE, one),
        ("planar", 2048, Rule::LIFE, one),
        ("multistep", 2048, Rule::LIFE, one),
        ("multistep", 2048, highlife, one),
        ("multistep", 16_384, Rule::LIFE, one),
        ("multistep", 2048, Rule::LIFE, None),
        ("multistep", 16_384, Rule::LIFE, None),
    ] {
        let setup = Setup {
            rule,
            ..setup(kernel, 1, side, DeviceChoice::Cpu)?
        };
        let what = format!("`{kernel}`, {side}², {rule}, {}", counted(threads));
        cases.push(Case::new(what, &setup, threads)?);
    }
    let (mut limits, mut all_limits, mut other_rule_rate) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        for case in &mut cases {
            let cells = if case.threads == one {
                let limit = limit::measure(LIMIT_RUN);
                limits.push(limit);
                limit.cells
            } else {
                let cells = limit_of_all_threads()?;
                all_limits.push(cells);
                cells
            };
            let rate = case.run()?;
            case.rates.push(rate);
            case.shares.push(100.0 * rate / cells);
        }
        let latest = |at: usize| cases[at].rates[cases[at].rates.len() - 1];
        other_rule_rate.push(latest(2) / latest(3));
    }
    let title = "One lattice on the CPU, and the limit of a core";
    let mut table = Table::new("limit", title);
    let set = limits[0].instruction_set;
    let instructions = limits.iter().map(|limit| limit.instructions);
    let what = format!("{set}, logic instructions, one thread");
    table.add(what, "/s", &instructions.collect::<Vec<_>>());
    let cells: Vec<f64> = limits.iter().map(|limit| limit.cells).collect();
    let what = format!(
        "the limit, at {} of them per vector",
        limits[0].instructions_per_vector
    );
    table.add(format!("{what}, {}", counted(one)), "cells/s", &cells);
    table.add(format!("{what}, {}", counted(None)), "cells/s", &all_limits);
    for case in &cases {
        table.add(case.what.clone(), "cells/s", &case.rates);
        let whose = match case.threads {
            Some(_) => "one thread's",
            None => "all threads'",
        };
        let what = format!("{}: share of {whose} limit", case.what);
        table.add(what, "%", &case.shares);
    }
    let what = "`multistep`, 2048², B3/S23 against any rule";
    table.add(what, "times", &other_rule_rate);
    Ok(table)
}

/// A case's threads, in words.
fn counted(threads: Option<NonZero<usize>>) -> &'static str {
    match threads {
        Some(_) => "one thread",
        None => "all threads",
    }
}

/// The limit of all threads at once, in cells·generations per second.
fn limit_of_all_threads() -> Result<f64> {
    let count = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let measure = || limit::measure(LIMIT_RUN).cells;
        let start = |_| thread::Builder::new().spawn_scoped(scope, measure);
        let threads = (0..count).map(start).collect::<Result<Vec<_>, _>>();
        let threads = threads.map_err(|_| EngineError::NoThread)?;
        let cells = threads.into_iter().map(|thread| thread.join());
        Ok(cells.map(|cells| cells.expect("a measured limit")).sum())
    })
}

impl Case {
    fn new(what: String, setup: &Setup, threads: Option<NonZero<usize>>) -> Result<Case> {
        let mut case = Case {
            what,
            cells: setup.size.cells() as f64,
            threads,
            instances: open_instances(setup, threads)?,
            launches: 1,
            rates: Vec::new(),
            shares: Vec::new(),
        };
        case.run()?; // what is done once only
        let seconds = case.cells * f64::from(LAUNCH) / case.run()?;
        case.launches = (RUN.as_secs_f64() / seconds).ceil() as u64;
        Ok(case)
    }

    /// Steps; cells·generations per second.
    fn run(&mut self) -> Result<f64> {
        let generations = self.launches * u64::from(LAUNCH);
        let began = Instant::now();
        self.instances.run(generations, LAUNCH, None)?;
        Ok(self.cells * generations as f64 / began.elapsed().as_secs_f64())
    }
}
