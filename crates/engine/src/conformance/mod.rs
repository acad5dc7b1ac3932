//! Holds engines and kernels against the reference, bit by bit: the cases that `lifestreams verify`
//! runs on a device, and the tests on the CPU engine and on the CUDA engine over a driver of their own.

mod batches;
mod blocks;
mod cases;
mod edits;
mod expected;
mod fixture;
mod measures;
mod rows;
mod rules;
mod seams;
mod soups;
#[cfg(test)]
mod tests;
mod views;

use std::time::{Duration, Instant};

use crate::kernels::KERNELS;
use crate::{Cut, Engine, EngineError, Result};

pub use cases::{Cases, Outcome, rules};
pub use expected::{counted, reduced};
pub use fixture::Fixture;

/// A check that has ended.
#[derive(Debug)]
pub struct Report {
    /// The kernel's name, or what else was checked.
    pub name: &'static str,
    /// Whether each lattice was in bands on several devices, where the name does not say it.
    pub is_split: bool,
    /// What it found; an error for a kernel that the devices cannot run.
    pub outcome: Result<Outcome>,
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

/// Checks every kernel on an engine and everything else that it does; each check is reported once it
/// has ended.
///
/// # Errors
/// A device fails, or `report` does.
pub fn verify<E: From<EngineError>>(
    engine: Box<dyn Engine>,
    cases: Cases,
    report: &mut dyn FnMut(Report) -> Result<(), E>,
) -> Result<(), E> {
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
        Ok(Ok(fixture.check_seams()?))
    })
}

/// Checks every kernel and every op on the lattices of a fixture.
fn verify_ops<E: From<EngineError>>(
    fixture: &mut Fixture,
    report: &mut dyn FnMut(Report) -> Result<(), E>,
) -> Result<(), E> {
    for kernel in &KERNELS {
        timed(kernel.name, report, || {
            match fixture.validate_device(kernel) {
                Ok(()) => Ok(Ok(fixture.check_kernel(kernel)?)),
                Err(why) => Ok(Err(why)),
            }
        })?;
    }
    type Check = fn(&mut Fixture) -> Result<Outcome>;
    let checks: [(&'static str, Check); 14] = [
        ("batches", Fixture::check_batches),
        ("shapes of blocks", Fixture::check_blocks),
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
            timed(name, report, || Ok(Ok(check(fixture)?)))?;
        }
    }
    Ok(())
}

/// Reports what a check found, and how long it took.
///
/// # Errors
/// The check cannot be made, or `report` fails.
pub fn timed<E>(
    name: &'static str,
    report: &mut dyn FnMut(Report) -> Result<(), E>,
    check: impl FnOnce() -> Result<Result<Outcome>, E>,
) -> Result<(), E> {
    let began = Instant::now();
    let outcome = check()?;
    report(Report {
        name,
        is_split: false,
        outcome,
        took: began.elapsed(),
    })
}
