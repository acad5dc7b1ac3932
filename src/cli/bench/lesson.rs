//! Every lesson, its parts' times and the factors between them, as the lesson itself measures
//! them.

use anyhow::{Result, bail};

use super::Table;
use crate::lesson::{self, LESSONS, Outcome};
use crate::session::DeviceChoice;

pub(super) fn table(device: DeviceChoice) -> Result<Table> {
    let mut table = Table::new("lesson", "lessons, each checked");
    for lesson in LESSONS {
        let outcome = lesson::run(lesson, device, &mut |_| {})?;
        if let Some(wrong) = outcome.checks.iter().find(|check| !check.passed) {
            bail!(
                "lesson {}: not as it should be: {}",
                lesson.name,
                wrong.what
            );
        }
        add(&mut table, &outcome);
    }
    Ok(table)
}

fn add(table: &mut Table, outcome: &Outcome) {
    let name = outcome.lesson;
    for part in &outcome.parts {
        if let Some(ms) = part.time_ms {
            table.add(format!("{name}: {}", part.title), "ms", &[ms]);
        } else if let Some(first) = part.figures.first() {
            let what = format!("{name}: {}, {}", part.title, first.label);
            table.add(what, first.unit, &[first.value]);
        }
    }
    for factor in &outcome.factors {
        table.add(
            format!("{name}: {}", factor.label),
            "times",
            &[factor.value],
        );
    }
}
