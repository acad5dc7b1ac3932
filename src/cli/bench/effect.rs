//! What a change of a switch or of the kernel does to the time of a round: rounds of both settings step
//! the same lattices in turn, in windows some seconds apart, as in lessons.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Table, Tell, setup, with_pictures};
use crate::cli::setup::DEFAULT_SIDE;
use engine::{Kernel, Layout, Transfer, kernels};
use experiment::{Executor, Limits, Plan, Round, Turn};
use lang::Message;
use session::instances::{Event, Sim};
use session::{
    DeviceChoice, Effect, Finding, PicturePlan, Request, Setting, Share, Source, Switch, Switches,
    TransferChoice,
};

pub(super) fn table(device: DeviceChoice, tell: Tell) -> Result<Table> {
    let setup = setup("sync-global", 16, DEFAULT_SIDE, device)?;
    let limits = lesson::limits();
    let title = format!(
        "Time per round after a change relative to the time before, one round in flight, {}",
        apart(&limits)
    );
    let mut table = Table::new("effect", &title);
    let mut changes = Vec::new();
    for switch in [
        Switch::Streams,
        Switch::HostMemory,
        Switch::Order,
        Switch::Graphs,
    ] {
        let choice = switch.next(setup.setting.switches, setup.setting.kernel);
        let choice = choice.map_err(anyhow::Error::msg)?;
        changes.push((choice.effect, (setup.setting.kernel, choice.switches)));
    }
    let bits = kernels::find("bits").expect("a kernel of the table");
    let instead = format!(
        "kernel {} instead of {}",
        bits.name, setup.setting.kernel.name
    );
    changes.push((instead, (bits, setup.setting.switches)));
    let (mut sim, share) = with_pictures(&setup)?;
    for (what, changed) in changes {
        let executor = compare(&mut sim, &share.setting, changed, Plan::Windows(limits))?;
        table.add_factor(format!("16 × {DEFAULT_SIDE}², {what}"), &executor);
        tell(&format!("  {}", in_words(what, &executor)))?;
    }
    Ok(table)
}

/// In how many windows settings are compared, and how far apart.
pub(super) fn apart(limits: &Limits) -> String {
    let Limits { windows, apart, .. } = limits;
    format!(
        "compared in {windows} windows {} s apart",
        apart.as_secs_f64()
    )
}

/// What was changed, the times of a round before and after, and how they compare.
fn in_words(what: String, executor: &Executor) -> String {
    let times = executor.times();
    let found = executor.across_windows(0, 1);
    let effect = Effect {
        what: Message::new(move || what.clone()),
        round_us: [0, 1].map(|at| times.map(|times| times[at] * 1e3)),
        finding: Some(found.map_or(Finding::NotResolved { at_most: None }, |found| found.1)),
        source: Source::MeasuredHere(executor.load),
    };
    effect.in_words()
}

/// Compares the time of a round, in milliseconds, with a setting (subject 0) and with the same of another
/// kernel and other switches (subject 1), with one round in flight.
///
/// # Errors
/// There is no room for both on the device, or the engine fails.
pub(in crate::cli) fn compare(
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
        let took = round(sim, &shares[subject], 1)?;
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
pub(super) fn execute(
    executor: &mut Executor,
    round: &mut dyn FnMut(usize) -> Result<Round>,
) -> Result<()> {
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

/// Issues a round of so many generations and waits for its end. Returns how long it took.
pub(super) fn round(sim: &mut Sim, share: &Share, generations: u32) -> Result<Duration> {
    let mut ended = Duration::ZERO;
    let issue = &mut |sim: &mut Sim| sim.issue(share, Request::of(generations), |_| false);
    wait_for(sim, issue, &mut |event| match event {
        Event::Round { took, .. } => {
            ended = took;
            true
        }
        _ => false,
    })?;
    Ok(ended)
}

/// Issues something as soon as that is possible, and takes events until `is_last` says so of one.
pub(super) fn wait_for(
    sim: &mut Sim,
    issue: &mut dyn FnMut(&mut Sim) -> engine::Result<bool>,
    is_last: &mut dyn FnMut(Event) -> bool,
) -> Result<()> {
    let (mut is_issued, mut is_over) = (false, false);
    loop {
        is_issued = is_issued || issue(sim)?;
        sim.poll(|event| is_over |= is_last(event))?;
        if is_over {
            return Ok(());
        }
        sim.wait(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_settings_are_measured_in_every_window() {
        let setup = setup("bits", 4, 64, DeviceChoice::Cpu).unwrap();
        let (mut sim, share) = with_pictures(&setup).unwrap();
        let limits = Limits {
            window: Duration::ZERO,
            ..Limits::three_windows(Duration::from_millis(1))
        };
        let slow = kernels::find("global").unwrap();
        let changed = (slow, setup.setting.switches);
        let executor = compare(&mut sim, &share.setting, changed, Plan::Windows(limits)).unwrap();
        let mut table = Table::new("effect", &apart(&limits));
        table.add_time("before".into(), &executor, 0);
        table.add_time("after".into(), &executor, 1);
        table.add_factor("the factor".into(), &executor);
        let [before, after, factor] = &table.rows[..] else {
            panic!("three rows: {table:?}")
        };
        assert!(
            (factor.median / (after.median / before.median) - 1.0).abs() < 1e-9,
            "{factor:?}"
        );
        let text = table.shown();
        assert!(
            text.contains("compared in 3 windows 0.001 s apart"),
            "{text}"
        );
        assert_eq!(text.matches("; 3 windows").count(), 3, "{text}");
    }
}
