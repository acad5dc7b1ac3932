//! Finds which kernel `--kernel auto` should take on this device, and which kernel and submission
//! `run`, by timing them all on works of many kinds; `--write` keeps the answers in the table that
//! the program is built with.

use std::path::{Path, PathBuf};

use anyhow::Result;

use std::time::Duration;

use super::{Record, Table, fits, setup};
use crate::cli::text::say;
use life::{Rule, Size, write_atomically};
use model::{DeviceChoice, PicturePlan, Setup, Streams, Switches};
use session::fastest::{
    DevicePicks, PickTable, RecordedCandidate, RecordedRounds, RecordedRun, Requested, Timed,
};
use session::instances::{Instances, TimingBudget, open_engine};

/// Sides of the lattices, and how many of them there are.
const SIDES: [u64; 9] = [32, 64, 128, 256, 512, 1024, 2048, 4096, 16_384];
const INSTANCES: [usize; 3] = [1, 16, 256];

/// Generations per round: as the window has it at first, and many.
const GENERATIONS: [u32; 2] = [1, 64];

/// The most cells of all lattices together.
const MAX_CELLS: u64 = 1 << 30;

/// Sizes of the lattices of runs, and how many of them there are: steps of about 4, and odd sizes,
/// which fewer kernels take.
const RUN_SIZES: [(u64, u64); 15] = [
    (32, 32),
    (64, 64),
    (100, 100),
    (128, 128),
    (256, 256),
    (500, 500),
    (512, 512),
    (1000, 600),
    (1024, 1024),
    (1000, 1000),
    (2048, 2048),
    (5000, 3000),
    (4096, 4096),
    (16_384, 16_384),
    (65_536, 65_536),
];
const RUN_INSTANCES: [usize; 6] = [1, 4, 16, 64, 256, 1056];

/// The most cells of all lattices of a run together.
const MAX_RUN_CELLS: u64 = 1 << 32;

/// How long what may be the fastest is timed.
const BUDGET: TimingBudget = TimingBudget {
    each: Duration::from_millis(40),
    all: Duration::from_secs(5),
};

/// Everything that was measured.
pub(super) struct Measured {
    works: Vec<RecordedRounds>,
    runs: Vec<RecordedRun>,
}

pub(super) fn measure(device: DeviceChoice) -> Result<(Table, Measured)> {
    let title = "the fastest kernel of those that can be, rounds with their downloads";
    let mut table = Table::new("auto", title);
    let works = works(device, &mut table)?;
    let runs = runs(device)?;
    Ok((table, Measured { works, runs }))
}

/// Rounds as a window makes them.
fn works(device: DeviceChoice, table: &mut Table) -> Result<Vec<RecordedRounds>> {
    let mut works = Vec::new();
    for side in SIDES {
        for instances in INSTANCES {
            let setup = setup("bits", instances, side, device)?;
            if setup.size.cells() * instances as u64 > MAX_CELLS || !fits(&setup)? {
                continue;
            }
            let mut instances = started(&setup)?;
            instances.set_picture(Some(PicturePlan::BITS))?;
            for generations in GENERATIONS {
                let requested = Requested::all_but_the_kernel(setup.switches, generations);
                let timed = instances.time(&requested, BUDGET)?;
                let Some(best) = timed.first() else { continue };
                let what = format!(
                    "{instances} × {side}², {generations} per round: `{}`",
                    best.candidate.kernel.name,
                    instances = setup.instances,
                );
                let rounds_per_second = best.generations_per_second / f64::from(generations);
                table.add(what, "rounds/s", &[rounds_per_second]);
                works.push(RecordedRounds {
                    cells: setup.size.cells(),
                    instances: setup.instances,
                    generations,
                    kernels: timed.iter().map(name).collect(),
                });
            }
        }
    }
    Ok(works)
}

fn name(timed: &Timed) -> String {
    timed.candidate.kernel.name.into()
}

/// Runs, by B3/S23 and by another rule.
fn runs(device: DeviceChoice) -> Result<Vec<RecordedRun>> {
    let mut runs = Vec::new();
    for rule in [Rule::LIFE, "B36/S23".parse()?] {
        for (width, height) in RUN_SIZES {
            for instances in RUN_INSTANCES {
                let setup = Setup {
                    size: Size::new(width, height)?,
                    rule,
                    switches: Switches {
                        streams: Streams::One,
                        ..Switches::DEFAULT
                    },
                    ..setup("bits", instances, width, device)?
                };
                if setup.size.cells() * instances as u64 > MAX_RUN_CELLS || !fits(&setup)? {
                    continue;
                }
                // A failure is not the end: what comes behind may yet be measured.
                match run(&setup) {
                    Ok(run) => runs.push(run),
                    Err(error) => {
                        say(&format!("left out: {instances} × {}: {error}", setup.size));
                    }
                }
            }
        }
    }
    Ok(runs)
}

fn run(setup: &Setup) -> Result<RecordedRun> {
    let timed = started(setup)?.time(&Requested::NOTHING, BUDGET)?;
    let cells = setup.size.cells() as f64 * setup.instances as f64;
    // A similar size may have other kernels; of each, the fastest submission is enough.
    let is_first = |at: usize| {
        let kernel = timed[at].candidate.kernel;
        timed[..at]
            .iter()
            .all(|faster| faster.candidate.kernel != kernel)
    };
    let fastest = (0..timed.len()).filter(|&at| is_first(at));
    let recorded = |one: &Timed| RecordedCandidate {
        kernel: name(one),
        streams: one.candidate.streams,
        graphs: one.candidate.graphs,
        cells_per_second: (one.generations_per_second * cells).round(),
    };
    Ok(RecordedRun {
        width: setup.size.width(),
        height: setup.size.height(),
        instances: setup.instances,
        is_life: setup.rule == Rule::LIFE,
        fastest: fastest.map(|at| recorded(&timed[at])).collect(),
    })
}

fn started(setup: &Setup) -> Result<Instances> {
    let mut instances = Instances::new(open_engine(setup.device)?, setup, 0)?;
    instances.start(&mut setup.clone())?;
    Ok(instances)
}

/// Puts what was measured into the table in a folder.
pub(super) fn write(folder: &Path, record: &Record, measured: Measured) -> Result<PathBuf> {
    let path = folder.join(PickTable::FILE);
    let old = std::fs::read_to_string(&path).ok();
    let mut table: PickTable = match old {
        Some(text) => serde_json::from_str(&text)?,
        None => PickTable::default(),
    };
    table.renew(DevicePicks {
        device: record.device.clone(),
        commit: record.origin.commit.clone(),
        works: measured.works,
        runs: measured.runs,
    });
    let text = table.to_json()?;
    if let Some(within) = path.parent() {
        std::fs::create_dir_all(within)?;
    }
    write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_recorded_with_each_kernel_once_the_fastest_first() {
        let setup = Setup {
            size: Size::new(96, 64).unwrap(),
            rule: "B36/S23".parse().unwrap(),
            ..setup("bits", 3, 96, DeviceChoice::Cpu).unwrap()
        };
        let run = run(&setup).unwrap();
        assert_eq!((run.width, run.height, run.instances), (96, 64, 3));
        assert!(!run.is_life);
        let rates: Vec<f64> = run.fastest.iter().map(|one| one.cells_per_second).collect();
        assert!(
            rates.len() > 2 && rates.is_sorted_by(|a, b| a >= b),
            "{run:?}"
        );
        let mut kernels: Vec<&String> = run.fastest.iter().map(|one| &one.kernel).collect();
        kernels.sort();
        kernels.dedup();
        assert_eq!(kernels.len(), rates.len(), "{run:?}");
    }
}
