//! `lifestreams verify`: compares every kernel on this device with the reference, bit by bit.

use anyhow::Result;

use super::text::{CheckFailed, print};
use engine::DeviceInfo;
use engine::conformance::Report;
use lang::tr;
use session::DeviceChoice;
use session::instances::open_engine;

pub(super) fn main(small: bool, device: DeviceChoice) -> Result<()> {
    let engine = open_engine(device)?;
    let name = |it: &DeviceInfo| format!("{} ({})", it.name, it.driver);
    let names: Vec<String> = engine.devices().iter().map(name).collect();
    print(&tr!(
        "verifying on {devices} ({engine})",
        devices = names.join(" + "),
        engine = engine.name()
    ))?;
    let mut failures = Vec::new();
    let mut show = |report: Report| show(&report, &mut failures);
    session::conformance::verify(engine, device, small, &mut show)?;
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

fn show(report: &Report, failures: &mut Vec<String>) -> Result<()> {
    let name = if report.is_split {
        tr!("{check}, in bands", check = report.name)
    } else {
        report.name.to_string()
    };
    let outcome = match &report.outcome {
        Ok(outcome) => outcome,
        Err(why) => {
            let left_out = tr!("left out: {why}");
            return print(&format!("{name:<32} {left_out}"));
        }
    };
    let verdict = if outcome.wrong.is_empty() {
        "ok"
    } else {
        "WRONG"
    };
    let ms = report.took.as_secs_f64() * 1e3;
    print(&format!(
        "{name:32} {:5} cases  {verdict}  {ms:8.0} ms",
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
