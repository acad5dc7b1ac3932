//! Every lesson, its parts' times and the factors between them, as the lesson itself measures
//! them. They run in a process of their own: the driver reads once, at its start, how many
//! connections there are, and lessons use another number than the other tables.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::Table;
use session::DeviceChoice;

/// The part of a lesson's outcome that is read.
#[derive(Deserialize)]
struct Outcome {
    lesson: String,
    parts: Vec<Part>,
    factors: Vec<Factor>,
    windows: Option<Windows>,
}

#[derive(Deserialize)]
struct Windows {
    count: usize,
}

#[derive(Deserialize)]
struct Part {
    title: String,
    time_ms: Option<f64>,
    figures: Vec<Figure>,
}

#[derive(Deserialize)]
struct Figure {
    label: String,
    value: f64,
    unit: String,
}

#[derive(Deserialize)]
struct Factor {
    label: String,
    value: f64,
    /// `None` if there were too few rounds.
    interval: Option<[f64; 2]>,
}

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
    let outcomes: Vec<Outcome> = serde_json::from_slice(&output.stdout)?;
    let mut table = Table::new("lesson", "lessons, each checked");
    outcomes.iter().for_each(|outcome| add(&mut table, outcome));
    Ok(table)
}

fn add(table: &mut Table, outcome: &Outcome) {
    let name = &outcome.lesson;
    for part in &outcome.parts {
        if let Some(ms) = part.time_ms {
            table.add(format!("{name}: {}", part.title), "ms", &[ms]);
        } else if let Some(first) = part.figures.first() {
            let what = format!("{name}: {}, {}", part.title, first.label);
            table.add(what, &first.unit, &[first.value]);
        }
    }
    for factor in &outcome.factors {
        let what = format!("{name}: {}", factor.label);
        let interval = factor.interval.unwrap_or([factor.value; 2]);
        let windows = outcome.windows.as_ref().map_or(1, |windows| windows.count);
        table.add_windows(what, "times", factor.value, interval, windows);
    }
}
