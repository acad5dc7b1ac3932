//! What a key does to the time of a round, as the window says it: ten presses of each, at 60 rounds
//! per second, one in flight.

use std::time::Duration;

use anyhow::{Result, bail};

use super::{Table, setup};
use crate::cli::setup::DEFAULT_SIDE;
use crate::cli::text::print;
use model::{DeviceChoice, Effect, Finding, Pace, SessionAction, Setup, Status, Switch};
use session::Session;

/// Presses of each key whose effect is measured.
const PRESSES: usize = 10;

pub(super) fn table(device: DeviceChoice, quiet: bool) -> Result<Table> {
    let mut table = Table::new(
        "effect",
        "Time per round after a key relative to the time before, one round in flight, ten presses each",
    );
    let side = DEFAULT_SIDE;
    let setup = setup("sync-global", 16, side, device)?;
    let session = open(&setup)?;
    let changes = [
        Switch::Streams,
        Switch::HostMemory,
        Switch::Order,
        Switch::Graphs,
    ]
    .map(|switch| {
        let switches = session.status().setting.switches;
        let now = switch.position(switches, setup.kernel);
        let there = (now + 1) % switch.choices(switches, setup.kernel).len();
        let set = |to: usize| SessionAction::SetSwitch(switch, to as u8);
        [set(there), set(now)]
    });
    let kernels = [SessionAction::NextKernel, SessionAction::PreviousKernel];
    for [there, back] in changes.into_iter().chain([kernels]) {
        let mut found = Vec::new();
        for _ in 0..PRESSES {
            found.push(pressed(&session, there)?);
            pressed(&session, back)?;
        }
        if !quiet {
            for effect in &found {
                print(&format!("  {}", effect.in_words()))?;
            }
        }
        let of = |wanted: fn(&Finding) -> bool| {
            let findings = found.iter().filter_map(|effect| effect.finding);
            findings.filter(&wanted).count()
        };
        if !quiet {
            print(&format!(
                "  faster {}, slower {}, no difference {}, not resolved {}",
                of(Finding::is_faster),
                of(Finding::is_slower),
                of(|finding| matches!(finding, Finding::NoDifference { .. })),
                of(|finding| matches!(finding, Finding::NotResolved { .. })),
            ))?;
        }
        let what = format!("16 × {side}², {}", found[0].what);
        let ratios: Vec<f64> = found.iter().filter_map(factor).collect();
        table.add(what, "times", &ratios);
    }
    Ok(table)
}

/// A session at 60 rounds per second.
pub(super) fn open(setup: &Setup) -> Result<Session> {
    let setup = Setup {
        pace: Pace::PerSecond(60.0),
        ..setup.clone()
    };
    Ok(Session::start(setup, || {})?)
}

/// The effect of an action, once it is found.
pub(super) fn pressed(session: &Session, action: SessionAction) -> Result<Effect> {
    let setting = |status: &Status| (status.setting.switches, status.setting.kernel.name);
    let before = setting(&session.status());
    session.act(action);
    loop {
        std::thread::sleep(Duration::from_millis(10));
        let status = session.status();
        if let Some(why) = status.gives_up() {
            bail!("{why}");
        }
        if setting(&status) == before {
            continue;
        }
        let effect = status.lab.last_effect.as_ref();
        if let Some(effect) = effect.filter(|effect| effect.finding.is_some()) {
            return Ok(effect.clone());
        }
    }
}

/// The time per round after a change, as a multiple of the time before.
pub(super) fn factor(effect: &Effect) -> Option<f64> {
    let [before, after] = effect.round_us;
    Some(after? / before?)
}
