//! The ladder of kernels: what each takes, and the table of kernels/README.md.

use std::path::Path;

use anyhow::Result;
use engine::Layout;
use engine::kernels::{Iteration, KERNELS, Kernel, SupportedSizes};
use lang::numbers::{grouped, quantity};
use lifestreams::cli::factors_in_words;
use ui::ladder::{Ladder, Workload};

use crate::headers;
use crate::records::{self, Record};
use crate::text::markdown;

/// What each kernel is and takes.
pub(crate) fn table() -> Result<String> {
    let row = |kernel: &Kernel| {
        let layout = match kernel.layout {
            Layout::I32 => "`i32`",
            Layout::Bits => "1 bit",
            Layout::Planar => "1 bit, in 32 planes",
        };
        let iteration = match kernel.iteration {
            Iteration::Launches => "1".into(),
            Iteration::Steps(most) => most.to_string(),
            Iteration::InKernel => "any number".into(),
        };
        let takes = match (kernel.sides, kernel.max_cells) {
            (SupportedSizes::Any, Some(most)) => format!("up to {} cells", grouped(most)),
            (SupportedSizes::Any, None) => "every size".into(),
            (sides, _) => sides.to_string(),
        };
        let name = format!("`{}`", kernel.name);
        [name, kernel.title.into(), takes, layout.into(), iteration]
    };
    let heads = ["Kernel", "Idea", "Takes", "Cells", "Generations per launch"];
    markdown(&heads, KERNELS.iter().map(row))
}

/// The ladder, a line per rung: its idea, its highest rate, its factor, and what is next.
pub(crate) fn ladder(records: &[Record]) -> Result<String> {
    let record = records::with_ladder(records)?;
    let next = headers::next(Path::new(crate::root()))?;
    ladder_table(
        &next,
        &record.device,
        record.ladder.as_ref().expect("it has one"),
    )
}

fn ladder_table(next: &[String], device: &str, ladder: &Ladder) -> Result<String> {
    let limit = ladder.limits.cells_per_second();
    let limit = limit.map_or(String::new(), |limit| {
        format!("; the limit is {}", quantity(limit, "cells/s"))
    });
    let heads = [
        "Rung",
        "Idea",
        "Highest rate",
        "Against the rung before",
        "What is next",
    ];
    let rows = KERNELS.iter().zip(next).enumerate();
    let rows = rows.map(|(at, (kernel, next))| {
        let [highest, factor] = cells(at, kernel, ladder);
        let file = format!("[{file}](ladder/{file}.cu)", file = kernel.file);
        [file, kernel.title.into(), highest, factor, next.clone()]
    });
    let table = markdown(&heads, rows)?;
    Ok(format!(
        "Measured: {device}, commit {}{limit}.\n\n{table}",
        ladder.commit
    ))
}

/// What a rung reaches at most, and its factor with the first work that the rung before has done
/// too.
fn cells(at: usize, kernel: &Kernel, ladder: &Ladder) -> [String; 2] {
    let Some(best) = ladder.best(kernel.name) else {
        return ["not measured", "–"].map(String::from);
    };
    let stale = match ladder.sources.get(kernel.name) {
        Some(source) if *source == kernel.source() => "",
        _ => " (before it was changed)",
    };
    let highest = format!("{}{stale}, {}", quantity(best.median, "cells/s"), best.work);
    let before = at.checked_sub(1).map(|before| KERNELS[before].name);
    let together = |work: &&Workload| {
        let both = [Some(kernel.name), before].into_iter().flatten();
        both.into_iter()
            .all(|name| ladder.rate(name, **work).is_some())
    };
    let work = ladder.works.iter().find(together);
    let work = work.or_else(|| ladder.works.iter().find(|&&work| work == best.work));
    let against =
        work.and_then(|&work| Some((factors_in_words(ladder, at, work)?[0].clone(), work)));
    let against = against.map_or("–".into(), |(factor, work)| format!("{factor}, {work}"));
    [highest, against]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::ladder::fixtures;

    #[test]
    fn the_ladders_table_has_a_line_per_rung() {
        let ladder = fixtures::ladder();
        let next: Vec<String> = KERNELS
            .iter()
            .map(|kernel| format!("after {}", kernel.name))
            .collect();
        let table = ladder_table(&next, "NVIDIA H200", &ladder).unwrap();
        let rows = table.lines().filter(|line| line.starts_with("| ["));
        let rows: Vec<&str> = rows.collect();
        assert_eq!(rows.len(), KERNELS.len());
        assert!(
            rows[0].contains("| 80.0 Gcell/s (before it was changed), 1 × 16384² | – |"),
            "{table}"
        );
        assert!(
            rows[1].contains("| 2.50×, 16 × 1024² | after shared |"),
            "{table}"
        );
    }
}
