//! `lifestreams bench`: measures on this machine, prints tables, keeps records.
//!
//! Everything is measured on random cells, after a warm-up, several times; a row shows the
//! median, and the lowest and highest run. `verify` checks the results; the [`ladder`] does so first.

mod default;
mod effect;
mod frame;
mod interface;
pub(super) mod ladder;
mod lesson;
mod record;
mod recorded_rounds;
mod recording;
mod split;

use std::time::{Duration, Instant};

use anyhow::Result;

use super::options::{BenchArguments, TABLES};
use super::text::{print, print_text, say};
use engine::kernels;
use lang::numbers::quantity;
use life::Size;
use session::instances::{Sim, open_engine, starts};
use session::{DeviceChoice, PicturePlan, Setting, Setup, Share};
use ui::LectureStep;
use window::list_adapters;

pub(super) use effect::compare;
pub use ladder::{factors_in_words, policy as ladder_policy};
pub use record::{Origin, Record, Row, Table};

/// What stands between the names of several devices in a record's.
const DEVICES_JOINED_BY: &str = " + ";

/// Runs of each measurement.
const RUNS: usize = 5;

/// How long a run takes at least.
const RUN: Duration = Duration::from_millis(250);

/// Every step of the lectures that come with the program.
type ShippedSteps = fn(DeviceChoice) -> Result<Vec<LectureStep>>;

pub(super) fn main(arguments: &BenchArguments, shipped_steps: ShippedSteps) -> Result<()> {
    if let Some(kernel) = arguments.rung {
        return ladder::measure_rung(kernel, arguments.device, arguments.small);
    }
    let (device, adapter) = (arguments.device, arguments.adapter.as_deref());
    if arguments.is_recording() {
        let steps = shipped_steps(device)?;
        return recording::main(device, &steps, arguments.write.as_deref(), arguments.small);
    }
    let mut record = Record::of(device, adapter)?;
    if let Some(folder) = &arguments.write {
        life::check_writable(record.path(folder))?;
    }
    let quiet = arguments.json;
    if !quiet {
        print(&record.title())?;
    }
    let is_named = |name: &str| arguments.names.iter().any(|n| n == name);
    let draws = !list_adapters().is_empty();
    let several = record.device.contains(DEVICES_JOINED_BY);
    // What is not possible here is an error only if it was asked for by name.
    let wanted = |name: &str| match name {
        _ if !arguments.names.is_empty() => is_named(name),
        "split" => several,
        "ui" => draws,
        _ => true,
    };
    if !draws && wanted("frame") {
        say("what is drawn is left out: there is no graphics driver (see `lifestreams devices`)");
    }
    for name in TABLES.into_iter().filter(|name| wanted(name)) {
        let table = match name {
            "default" => default::table(device, arguments.small, quiet)?,
            "split" => split::table(arguments.small)?,
            "frame" => frame::table(device, adapter)?,
            "ui" => interface::table(device, adapter)?,
            "effect" => effect::table(device, quiet)?,
            "lesson" => lesson::table(device)?,
            _ => {
                measure_ladder(arguments, &mut record)?;
                continue;
            }
        };
        if !quiet {
            print_text(&table.shown())?;
        }
        record.add(table);
    }
    if let Some(folder) = &arguments.write {
        let path = record.write(folder)?;
        if !quiet {
            print(&format!("written to {}", path.display()))?;
            print("in a checkout, `cargo xtask docs` renews the documents from it")?;
        }
    }
    if quiet {
        print_text(&serde_json::to_string_pretty(&record)?)
    } else {
        Ok(())
    }
}

/// The ladder. It is recorded rung by rung, so that results remain however this process ends.
fn measure_ladder(arguments: &BenchArguments, record: &mut Record) -> Result<()> {
    let quiet = arguments.json;
    let ladder = ladder::measure(arguments.device, arguments.small, &mut |ladder, kernel| {
        record.ladder = Some(ladder.clone());
        if let Some(folder) = &arguments.write {
            record.write(folder)?;
        }
        if quiet {
            return Ok(());
        }
        let said = match ladder.best(kernel.name) {
            Some(rate) => format!("{}, {}", quantity(rate.median, "cells/s"), rate.work),
            None => "nothing measured".into(),
        };
        print(&format!("ladder: {}: {said}", kernel.name))
    })?;
    if !quiet {
        print_text(&ladder::text(&ladder))?;
    }
    record.ladder = Some(ladder);
    Ok(())
}

/// A setup to measure.
fn setup(kernel: &str, instances: usize, side: u64, device: DeviceChoice) -> Result<Setup> {
    let kernel = kernels::find(kernel).expect("a kernel of the table");
    Ok(Setup::new(
        instances,
        Size::new(side, side)?,
        kernel,
        device,
    ))
}

/// The setup's lattices, uploaded, and their rounds, which download pictures of bits.
pub(super) fn with_pictures(setup: &Setup) -> Result<(Sim, Share)> {
    let mut sim = Sim::new(open_engine(setup.device)?, setup, 0)?;
    sim.set_lattices(starts(setup, 0..setup.instances)?)?;
    sim.finish()?;
    let share = sim.all(&Setting::of(setup), Some(PicturePlan::BITS));
    sim.ensure(std::slice::from_ref(&share))?;
    Ok((sim, share))
}

/// Whether a device surely has the memory for a setup (its bits and another layout's, both twice,
/// in half of it); says on stderr what is left out.
fn fits(setup: &Setup) -> Result<bool> {
    let engine = open_engine(setup.device)?;
    let bytes = 16 * setup.size.words() as u64 * setup.instances as u64;
    let memory = engine.devices().first().and_then(|device| device.memory);
    let fits = memory.is_some_and(|memory| bytes < memory / 2);
    if !fits {
        let (instances, size) = (setup.instances, setup.size);
        say(&format!(
            "left out: {instances} × {size}, too large for this device"
        ));
    }
    Ok(fits)
}

/// Measures how often a second something is done: `work(n)` does it n times.
fn rate(mut work: impl FnMut(u64) -> Result<()>) -> Result<[f64; RUNS]> {
    let mut timed = |n: u64| -> Result<f64> {
        let began = Instant::now();
        work(n)?;
        Ok(began.elapsed().as_secs_f64())
    };
    let mut count = 1;
    loop {
        let seconds = timed(count)?;
        if seconds >= RUN.as_secs_f64() {
            break;
        }
        let more = (RUN.as_secs_f64() * 1.1 / seconds.max(1e-6)).clamp(2.0, 100.0);
        count = (count as f64 * more) as u64;
    }
    let mut rates = [0.0; RUNS];
    for rate in &mut rates {
        *rate = count as f64 / timed(count)?;
    }
    Ok(rates)
}

/// The device's name and its driver, as records have them.
fn named(device: DeviceChoice) -> Result<(&'static str, String, String)> {
    let engine = open_engine(device)?;
    let devices = engine.devices();
    let join = |part: fn(&engine::DeviceInfo) -> String| {
        let parts: Vec<_> = devices.iter().map(part).collect();
        parts.join(DEVICES_JOINED_BY)
    };
    Ok((
        engine.name(),
        join(|d| d.name.clone()),
        join(|d| d.driver.clone()),
    ))
}

/// The median of some runs, the lowest and the highest.
pub(super) fn spread(runs: &[f64]) -> [f64; 3] {
    let mut sorted = runs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    [
        sorted[sorted.len() / 2],
        sorted[0],
        sorted[sorted.len() - 1],
    ]
}
