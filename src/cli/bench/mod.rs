//! `lifestreams bench`: measures on this machine, prints tables, keeps records.
//!
//! Everything is measured on random cells, after a warm-up, several times; a row shows the
//! median, and the lowest and highest run. `verify` checks the results; the [`ladder`] does so first.

mod default;
mod frame;
pub(super) mod ladder;
pub(super) mod measure;
mod recording;

use anyhow::Result;

use super::lecture;
use super::options::{BenchArguments, TABLES};
use super::text::print_text;
use lang::numbers::quantity;
use measure::{Record, Table, Tell};

pub(super) fn main(arguments: &BenchArguments) -> Result<()> {
    let (device, small) = (arguments.device, arguments.small);
    let adapter = arguments.adapter.as_deref();
    if arguments.is_recording() {
        let lectures = lecture::shipped(device)?.into_iter();
        let steps = Vec::from_iter(lectures.flat_map(|it| it.steps));
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
    tell(&record.origin.title(&record.device))?;
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
            let (work, how) = (rate.work, &rate.how);
            let reached = quantity(rate.median, "cells/s");
            tell(&format!(
                "ladder: {}: {work}, {how}: {reached}",
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
