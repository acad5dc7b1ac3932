//! Every lesson, its parts' times and the factors between them, as the lesson itself measures
//! them. They run in a process of their own: the driver reads once, at its start, how many
//! connections there are, and lessons use another number than the other tables.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Table;
use session::DeviceChoice;

pub(super) fn table(device: DeviceChoice) -> Result<Table> {
    let program = std::env::current_exe().context("lifestreams cannot run itself again")?;
    let output = Command::new(program)
        .args(["lesson", "all", "--json", "--device", &device.to_string()])
        .output()
        .context("lifestreams cannot run itself again")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("the lessons: {}", said.trim());
    }
    let outcomes: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let mut table = Table::new("lesson", "lessons, each checked");
    let added = outcomes.iter().try_for_each(|it| add(&mut table, it));
    added.context("a lesson's outcome is written otherwise")?;
    Ok(table)
}

fn add(table: &mut Table, outcome: &Value) -> Option<()> {
    let name = outcome["lesson"].as_str()?;
    for part in outcome["parts"].as_array()? {
        let title = part["title"].as_str()?;
        if let Some(ms) = part["time_ms"].as_f64() {
            table.add(format!("{name}: {title}"), "ms", &[ms]);
        } else if let Some(first) = part["figures"].get(0) {
            let what = format!("{name}: {title}, {}", first["label"].as_str()?);
            table.add(what, first["unit"].as_str()?, &[first["value"].as_f64()?]);
        }
    }
    for factor in outcome["factors"].as_array()? {
        let what = format!("{name}: {}", factor["label"].as_str()?);
        let value = factor["value"].as_f64()?;
        // None if there were too few rounds.
        let end = |at: usize| factor["interval"][at].as_f64().unwrap_or(value);
        let windows = outcome["windows"]["count"].as_u64().unwrap_or(1);
        table.add_windows(what, "times", value, [end(0), end(1)], windows as usize);
    }
    Some(())
}
