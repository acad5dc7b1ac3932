//! `lifestreams verify`: compares every kernel on this device with the reference, bit by bit.

use std::time::Instant;

use anyhow::Result;

use super::failure::CheckFailed;
use super::options::VerifyArguments;
use super::text::print;
use engine::kernels::{KERNELS, Kernel};
use lang::tr;
use life::{Rule, Size};
use model::DeviceChoice;
use session::instances::open_engine;

mod batches;
mod checks;
mod edits;
mod lab;
mod measures;
mod rows;
mod rules;
mod soups;
mod views;

use checks::Bench;

/// What is checked, and how thoroughly.
struct Cases {
    sizes: Vec<Size>,
    /// The most cells of a lattice, where a kernel takes one that is no larger.
    most_cells: u64,
    rules: Vec<Rule>,
    /// How many more, at random, are stepped by kernels that are compiled for one rule.
    random_rules: usize,
    generations: Vec<u32>,
    seeds: u64,
}

impl Cases {
    fn new(small: bool) -> Cases {
        let size = |&(w, h): &(u64, u64)| Size::new(w, h).expect("a lattice");
        let rule = |text: &&str| text.parse().expect("a rule");
        // Sides shorter than 3, around a word, around a block, long and thin, and large.
        let awkward: &[(u64, u64)] = &[
            (1, 1),
            (1, 2),
            (2, 1),
            (2, 2),
            (3, 3),
            (1, 37),
            (37, 1),
            (2, 40),
            (31, 5),
            (32, 32),
            (33, 7),
            (63, 9),
            (64, 64),
            (65, 11),
            (100, 100),
            (128, 96),
            (129, 65),
            // What the planar rungs take: residents, rings of lanes, windows, planes that overlap.
            (150, 33),
            (70, 90),
            (96, 40),
            (128, 128),
            (256, 33),
            (384, 50),
        ];
        let large: &[(u64, u64)] = &[
            (257, 255),
            (512, 512),
            (1000, 37),
            (37, 1000),
            (5000, 3),
            (3, 5000),
            (1023, 1025),
            (2048, 2048),
            (256, 256),
            (1024, 1024),
            (4096, 128),
            (7936, 61),
        ];
        if small {
            let rules = ["B3/S23", "B0123478/S01234678"];
            return Cases {
                sizes: awkward
                    .iter()
                    .chain(&[(512, 512), (200, 48)])
                    .map(size)
                    .collect(),
                rules: rules.iter().map(rule).collect(),
                random_rules: 12,
                most_cells: 20_000,
                generations: vec![1, 5],
                seeds: 1,
            };
        }
        let rules = [
            "B3/S23",
            "B36/S23",
            "B2/S",
            "B0/S8",
            "B0123478/S01234678",
            "B1357/S02468",
            "B/S",
        ];
        Cases {
            sizes: awkward.iter().chain(large).map(size).collect(),
            rules: rules.iter().map(rule).collect(),
            random_rules: 60,
            most_cells: u64::MAX,
            generations: (1..=65).collect(),
            seeds: 2,
        }
    }
}

/// The most cells times generations that the reference steps for one case.
const REFERENCE_BUDGET: u64 = 20_000_000;

/// Generations after which lattices of every size are compared; after others, small ones alone.
const WITH_LARGE: [u32; 7] = [1, 2, 3, 4, 7, 33, 65];
const SMALL_CELLS: u64 = 20_000;

pub(super) fn main(arguments: &VerifyArguments) -> Result<()> {
    let engine = open_engine(arguments.device)?;
    let names: Vec<String> = engine
        .devices()
        .iter()
        .map(|d| format!("{} ({})", d.name, d.driver))
        .collect();
    print(&tr!(
        "verifying on {devices} ({engine})",
        devices = names.join(" + "),
        engine = engine.name()
    ))?;
    let mut bench = Bench::new(engine, Cases::new(arguments.small))?;
    let mut failures = Vec::new();
    for kernel in &KERNELS {
        if let Err(why) = bench.validate_device(kernel) {
            print(&format!(
                "{:<22} {}",
                kernel.name,
                tr!("left out: {why}", why = why)
            ))?;
            continue;
        }
        let began = Instant::now();
        let outcome = bench.check_kernel(kernel)?;
        report(kernel.name, began, outcome, &mut failures)?;
    }
    type Check = fn(&mut Bench) -> Result<Outcome>;
    let others: [(&str, Check); 11] = [
        ("batches", Bench::check_batches),
        ("rules at random", Bench::check_rules),
        ("soups", Bench::check_soups),
        ("rows", Bench::check_rows),
        ("edits", Bench::check_edits),
        ("measures", Bench::check_measures),
        ("kernel switches", Bench::check_switches),
        ("graphs", Bench::check_graphs),
        ("reduced views", Bench::check_views),
        ("events across streams", Bench::check_events),
        ("spans", Bench::check_spans),
    ];
    for (name, check) in others {
        let began = Instant::now();
        let outcome = check(&mut bench)?;
        report(name, began, outcome, &mut failures)?;
    }
    drop(bench);
    let began = Instant::now();
    let outcome = lab::check_settings(arguments.device)?;
    report("the lab's settings", began, outcome, &mut failures)?;
    let began = Instant::now();
    let outcome = lab::check_order(arguments.device, arguments.small)?;
    report("order of ops", began, outcome, &mut failures)?;
    if failures.is_empty() {
        return print(tr!("everything agrees with the reference"));
    }
    Err(CheckFailed(format!(
        "{} checks failed: {}",
        failures.len(),
        failures.join("; ")
    ))
    .into())
}

/// The first thing that a kernel gets wrong on small lattices, if there is one.
pub(super) fn first_wrong(kernel: &'static Kernel, device: DeviceChoice) -> Result<Option<String>> {
    let mut bench = Bench::new(open_engine(device)?, Cases::new(true))?;
    Ok(bench.check_kernel(kernel)?.wrong.into_iter().next())
}

impl Cases {
    /// Maximum cells of a lattice that is compared after this many generations.
    fn most_cells(&self, generations: u32) -> u64 {
        let some = match WITH_LARGE.contains(&generations) {
            true => u64::MAX,
            false => SMALL_CELLS,
        };
        let budget = REFERENCE_BUDGET / u64::from(generations);
        self.most_cells.min(budget).min(some)
    }
}

#[derive(Default)]
struct Outcome {
    cases: usize,
    wrong: Vec<String>,
}

impl Outcome {
    fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.cases += 1;
        if !holds {
            self.wrong.push(what());
        }
    }
}

fn report(name: &str, began: Instant, outcome: Outcome, failures: &mut Vec<String>) -> Result<()> {
    let verdict = if outcome.wrong.is_empty() {
        "ok"
    } else {
        "WRONG"
    };
    let ms = began.elapsed().as_secs_f64() * 1e3;
    print(&format!(
        "{name:22} {:5} cases  {verdict}  {ms:8.0} ms",
        outcome.cases
    ))?;
    for wrong in outcome.wrong.iter().take(5) {
        print(&format!("    {wrong}"))?;
    }
    if let Some(first) = outcome.wrong.first() {
        failures.push(format!("{name}: {first}"));
    }
    Ok(())
}
