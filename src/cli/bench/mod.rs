//! `lifestreams bench`: measures on this machine, prints tables, keeps records.
//!
//! Everything is measured on random cells, after a warm-up, several times; a row shows the
//! median, and the lowest and highest run. `verify` checks the results; the [`ladder`] does so first.

mod default;
mod frame;
pub(super) mod ladder;
mod record;
mod recording;

use std::time::{Duration, Instant};

use anyhow::Result;

use super::options::{BenchArguments, TABLES};
use super::text::{print_text, say};
use engine::{Kernel, Layout, Transfer, kernels};
use experiment::{Executor, Plan, Round, Turn};
use lang::numbers::quantity;
use life::Size;
use session::instances::{Event, Sim, open_engine, starts};
use session::trace::TimedRound;
use session::{
    DeviceChoice, PicturePlan, Request, Setting, Setup, Share, Switches, TransferChoice,
};
use ui::LectureStep;

use record::Table;
pub use record::{Record, Row};

/// Runs of each measurement.
const RUNS: usize = 5;

/// How long a run takes at least.
const RUN: Duration = Duration::from_millis(250);

/// Every step of the lectures that come with the program.
type ShippedSteps = fn(DeviceChoice) -> Result<Vec<LectureStep>>;

/// Says how far a measurement is.
type Tell<'a> = &'a dyn Fn(&str) -> Result<()>;

pub(super) fn main(arguments: &BenchArguments, shipped_steps: ShippedSteps) -> Result<()> {
    let (device, small) = (arguments.device, arguments.small);
    let adapter = arguments.adapter.as_deref();
    if arguments.is_recording() {
        let steps = shipped_steps(device)?;
        return recording::main(device, &steps, arguments.write.as_deref(), small);
    }
    let mut record = Record::of(device, adapter)?;
    if let Some(folder) = &arguments.write {
        life::check_writable(record.path(folder))?;
    }
    let tell: Tell = if arguments.json {
        &|_| Ok(())
    } else {
        &print_text
    };
    tell(&record.title())?;
    let is_wanted =
        |name: &&str| arguments.names.is_empty() || arguments.names.iter().any(|it| it == name);
    for name in TABLES.into_iter().filter(is_wanted) {
        let mut add = |table: Table| {
            tell(&table.shown())?;
            record.add(table);
            anyhow::Ok(())
        };
        match name {
            "default" => add(default::table(device, small, tell)?)?,
            "frame" => frame::tables(device, adapter, &mut add)?,
            "effect" => add(frame::effects(device)?)?,
            _ => measure_ladder(arguments, &mut record, tell)?,
        }
    }
    if let Some(folder) = &arguments.write {
        let path = record.write(folder)?;
        tell(&format!("written to {}", path.display()))?;
        tell("in a checkout, `cargo xtask docs` renews the documents from it")?;
    }
    if arguments.json {
        print_text(&serde_json::to_string_pretty(&record)?)?;
    }
    Ok(())
}

/// The ladder. It is recorded and told rung by rung, so that results remain however this process ends.
fn measure_ladder(arguments: &BenchArguments, record: &mut Record, tell: Tell) -> Result<()> {
    ladder::measure(arguments.device, arguments.small, &mut |ladder, kernel| {
        record.ladder = Some(ladder.clone());
        if let Some(folder) = &arguments.write {
            record.write(folder)?;
        }
        for rate in ladder.rates.iter().filter(|it| it.kernel == kernel.name) {
            let (work, rule, how) = (rate.work, &rate.rule, &rate.how);
            let reached = quantity(rate.median, "cells/s");
            tell(&format!(
                "ladder: {}: {work}, {rule}, {how}: {reached}",
                kernel.name
            ))?;
        }
        for left in ladder.left_out.iter().filter(|it| it.kernel == kernel.name) {
            let work = left.work.map_or(String::new(), |work| format!("{work}: "));
            tell(&format!(
                "ladder: {}: {work}not measured: {}",
                kernel.name, left.why
            ))?;
        }
        Ok(())
    })
}

/// A setup to measure.
fn setup(kernel: &str, instances: usize, side: u64, device: DeviceChoice) -> Result<Setup> {
    let kernel = kernels::find(kernel).expect("a kernel of the table");
    let size = Size::new(side, side)?;
    Ok(Setup::new(instances, size, kernel, device))
}

/// The setup's lattices, uploaded, and their rounds, which download pictures of bits.
pub(super) fn with_pictures(setup: &Setup) -> Result<(Sim, Share)> {
    let mut sim = Sim::new(open_engine(setup.device)?, setup, 0)?;
    sim.set_lattices(starts(setup, 0..setup.instances)?)?;
    sim.finish()?;
    let share = sim.all(&setup.setting, Some(PicturePlan::BITS));
    sim.ensure(std::slice::from_ref(&share))?;
    Ok((sim, share))
}

/// Compares the time of a round, in milliseconds, with a setting (subject 0) and with the same of another
/// kernel and other switches (subject 1), with one round in flight: rounds of both step the same lattices in
/// turn, in windows some seconds apart, as in lessons.
///
/// # Errors
/// There is no room for both on the device, or the engine fails.
pub(super) fn compare(
    sim: &mut Sim,
    before: &Setting,
    (kernel, switches): (&'static Kernel, Switches),
    plan: Plan,
) -> Result<Executor> {
    let after = Setting {
        kernel,
        ..before.with_switches(switches)
    };
    let shares = [before, &after].map(|setting| sim.all(setting, Some(picture(setting))));
    sim.finish()?;
    sim.ensure(&shares)?;
    let mut executor = Executor::new(2, 7, plan);
    execute(&mut executor, &mut |subject| {
        sim.enter(&shares[subject])?;
        sim.finish()?;
        let before = platform::usage();
        let (took, _) = round(sim, &shares[subject], Request::of(1))?;
        let used = platform::usage();
        Ok(Round {
            time: took.as_secs_f64() * 1e3,
            lasted: took,
            cpu: used.cpu - before.cpu,
            is_preempted: used.is_preempted_since(before),
        })
    })?;
    Ok(executor)
}

/// Pictures of all lattices, as cells if the setting wants those.
fn picture(setting: &Setting) -> PicturePlan {
    let is_of_cells =
        setting.switches.transfer == TransferChoice::Cells && setting.kernel.layout == Layout::I32;
    PicturePlan {
        transfer: if is_of_cells {
            Transfer::Cells
        } else {
            Transfer::Bits
        },
        ..PicturePlan::BITS
    }
}

/// Makes the rounds that an executor asks for, each by `round`, until it is done.
fn execute(executor: &mut Executor, round: &mut dyn FnMut(usize) -> Result<Round>) -> Result<()> {
    loop {
        match executor.next_turn() {
            Turn::Round(subject) => {
                executor.record(round(subject)?, Instant::now());
            }
            Turn::Wait(time) => std::thread::sleep(time),
            Turn::Done => return Ok(()),
        }
    }
}

/// Issues a round and waits for its end. Returns how long it took; if it was timed, how, and its launches per
/// instance.
fn round(
    sim: &mut Sim,
    share: &Share,
    request: Request,
) -> Result<(Duration, Option<(TimedRound, u32)>)> {
    let mut ended = Default::default();
    let one = |issued| (issued == 0).then_some(request);
    rounds(sim, share, one, |event| {
        if let Event::Round { took, timed, round } = event {
            ended = (took, timed.map(|timed| (timed, round.launches())));
        }
    })?;
    Ok(ended)
}

/// Issues the rounds that `next` returns for the number of rounds issued so far, and handles all events until
/// it returns none and the last round has ended.
fn rounds(
    sim: &mut Sim,
    share: &Share,
    next: impl Fn(u64) -> Option<Request>,
    mut hear: impl FnMut(Event),
) -> Result<()> {
    let (mut issued, mut done) = (0, 0);
    loop {
        let request = next(issued);
        if let Some(request) = request
            && sim.issue(share, request, |_| false)?
        {
            issued += 1;
        }
        sim.poll(|event| {
            done += u64::from(matches!(event, Event::Round { .. }));
            hear(event);
        })?;
        if request.is_none() && done == issued {
            return Ok(());
        }
        if request.is_none() || sim.depth() > 1 {
            sim.wait(Duration::from_millis(1));
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Limits;

    #[test]
    fn both_settings_are_measured_in_every_window() {
        let setup = setup("bits", 4, 64, DeviceChoice::Cpu).unwrap();
        let (mut sim, share) = with_pictures(&setup).unwrap();
        let limits = Limits {
            window: Duration::ZERO,
            ..Limits::three_windows(Duration::from_millis(1))
        };
        let changed = (kernels::find("global").unwrap(), setup.setting.switches);
        let executor = compare(&mut sim, &share.setting, changed, Plan::Windows(limits)).unwrap();
        let mut table = Table::new("effect", &frame::apart(&limits));
        table.add_time("before".into(), &executor, 0);
        table.add_time("after".into(), &executor, 1);
        table.add_factor("the factor".into(), &executor);
        let [before, after, factor] = [0, 1, 2].map(|row| table.rows[row].median);
        assert!((factor * before / after - 1.0).abs() < 1e-9, "{table:?}");
        let text = table.shown();
        let title = "compared in 3 windows 0.001 s apart";
        assert!(
            text.contains(title) && text.matches("; 3 windows").count() == 3,
            "{text}"
        );
    }
}
