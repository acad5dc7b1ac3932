//! Holds engines and kernels against the reference, bit by bit: the cases that `lifestreams verify`
//! runs on a device, that the tests run on the CPU engine, and from which the kernels' emulator takes
//! its sizes and rules.

mod batches;
mod cases;
mod edits;
mod fixture;
mod lab;
mod measures;
mod rows;
mod rules;
mod seams;
mod soups;
mod views;

use std::time::{Duration, Instant};

use anyhow::Result;
use engine::kernels::{KERNELS, Kernel};
use engine::{Cut, Engine, EngineError};
use session::DeviceChoice;
use session::instances::open_engine;

pub use cases::{AWKWARD, Cases, rules};
pub use fixture::Fixture;
pub use measures::counted;

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Number of cases that were compared.
    pub cases: usize,
    /// Those that differ, described in English.
    pub wrong: Vec<String>,
}

impl Outcome {
    fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.cases += 1;
        if !holds {
            self.wrong.push(what());
        }
    }
}

/// A check that has ended.
#[derive(Debug)]
pub struct Report {
    /// The kernel's name, or what else was checked.
    pub name: &'static str,
    /// Whether each lattice was in bands on several devices, where the name does not say it.
    pub is_split: bool,
    /// What it found; an error for a kernel that the devices cannot run.
    pub outcome: Result<Outcome, EngineError>,
    /// How long it took.
    pub took: Duration,
}

/// Two bands on each device, whose halos have few rows, so that they are copied often.
const TWO_BANDS: Cut = Cut {
    per_device: 2,
    halo: 5,
};

/// A band on each device.
const ONE_BAND: Cut = Cut {
    per_device: 1,
    ..TWO_BANDS
};

/// Checks every kernel on an engine and everything else that it does, then what rounds do that are
/// issued on these devices; `small` takes some seconds, or suits tools that slow every access down.
/// Each check is reported once it has ended.
///
/// # Errors
/// A device cannot be opened, or fails; or `report` fails.
pub fn verify(
    engine: Box<dyn Engine>,
    device: DeviceChoice,
    small: bool,
    report: &mut dyn FnMut(Report) -> Result<()>,
) -> Result<()> {
    let cases = if small {
        Cases::quick()
    } else {
        Cases::thorough()
    };
    let mut fixture = Fixture::new(engine, cases)?;
    verify_ops(&mut fixture, report)?;
    let mut report_split = |it| {
        report(Report {
            is_split: true,
            ..it
        })
    };
    let mut fixture = fixture.split(TWO_BANDS)?;
    verify_ops(&mut fixture, &mut report_split)?;
    let mut fixture = fixture.split(ONE_BAND)?;
    timed("seams, one band a device", report, || {
        fixture.check_seams().map(Ok)
    })?;
    drop(fixture);
    timed("the lab's settings", report, || {
        lab::check_settings(device).map(Ok)
    })?;
    timed("order of ops", report, || {
        lab::check_order(device, small).map(Ok)
    })
}

/// Checks every kernel and every op on the lattices of a fixture.
fn verify_ops(fixture: &mut Fixture, report: &mut dyn FnMut(Report) -> Result<()>) -> Result<()> {
    for kernel in &KERNELS {
        timed(kernel.name, report, || {
            match fixture.validate_device(kernel) {
                Ok(()) => fixture.check_kernel(kernel).map(Ok),
                Err(why) => Ok(Err(why)),
            }
        })?;
    }
    type Check = fn(&mut Fixture) -> Result<Outcome>;
    let checks: [(&'static str, Check); 13] = [
        ("batches", Fixture::check_batches),
        ("rules at random", Fixture::check_rules),
        ("soups", Fixture::check_soups),
        ("rows", Fixture::check_rows),
        ("edits", Fixture::check_edits),
        ("seams", Fixture::check_seams),
        ("measures", Fixture::check_measures),
        ("kernel switches", Fixture::check_switches),
        ("graphs", Fixture::check_graphs),
        ("reduced views", Fixture::check_views),
        ("events across streams", Fixture::check_events),
        ("spans", Fixture::check_spans),
        ("block timestamps", Fixture::check_block_timestamps),
    ];
    for (name, check) in checks {
        // A graph is one device's.
        if name != "graphs" || !fixture.engine.is_split() {
            timed(name, report, || check(fixture).map(Ok))?;
        }
    }
    Ok(())
}

fn timed(
    name: &'static str,
    report: &mut dyn FnMut(Report) -> Result<()>,
    check: impl FnOnce() -> Result<Result<Outcome, EngineError>>,
) -> Result<()> {
    let began = Instant::now();
    let outcome = check()?;
    report(Report {
        name,
        is_split: false,
        outcome,
        took: began.elapsed(),
    })
}

/// The first thing that a kernel gets wrong on small lattices, if there is one.
///
/// # Errors
/// A device cannot be opened, or fails.
pub fn first_wrong(kernel: &'static Kernel, device: DeviceChoice) -> Result<Option<String>> {
    let mut fixture = Fixture::new(open_engine(device)?, Cases::quick())?;
    Ok(fixture.check_kernel(kernel)?.wrong.into_iter().next())
}
