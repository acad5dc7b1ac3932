//! The ladder of kernels: what each takes, and the table of kernels/README.md.

use std::path::Path;

use anyhow::Result;
use engine::Layout;
use engine::kernels::{Iteration, KERNELS, Kernel, SupportedSizes};
use ui::ladder::{Ladder, Workload};

use crate::headers;
use crate::numbers::{factor, quantity, whole};
use crate::records::{self, Record};
use crate::text::{Both, Table};

/// What each kernel is and takes.
pub(crate) fn table() -> Result<String> {
    let heads = [
        Both("Kernel", "核函数"),
        Both("Idea", "想法"),
        Both("Takes", "接受"),
        Both("Cells", "细胞"),
        Both("Generations per launch", "每次启动的代数"),
    ];
    let mut table = Table::new(heads.map(Both::get));
    for kernel in &KERNELS {
        let layout = match kernel.layout {
            Layout::I32 => Both("`i32`", "`i32`"),
            Layout::Bits => Both("1 bit", "1 位"),
            Layout::Planar => Both("1 bit, in 32 planes", "1 位，分 32 个平面"),
        };
        let iteration = match kernel.iteration {
            Iteration::Launches => "1".into(),
            Iteration::Steps(most) => most.to_string(),
            Iteration::InKernel => Both("any number", "任意").get().into(),
        };
        let cells = kernel.max_cells.map(|most| match lang::language() {
            lang::Language::English => format!("up to {} cells", whole(most)),
            lang::Language::Chinese => format!("至多 {} 个细胞", whole(most)),
        });
        let takes = match kernel.sides {
            SupportedSizes::Any => cells,
            sides => Some(sides.to_string()),
        };
        table.row([
            format!("`{}`", kernel.name),
            lang::text(kernel.title).to_owned(),
            takes.unwrap_or_else(|| Both("every size", "任意大小").get().into()),
            layout.get().to_owned(),
            iteration,
        ]);
    }
    table.markdown()
}

/// The ladder, a line per rung: its idea, its highest rate, its factor, and what is next.
pub(crate) fn ladder(records: &[Record]) -> Result<String> {
    let record = records::with_ladder(records);
    let ladder = record.and_then(|record| Some((record.device.as_str(), record.ladder.as_ref()?)));
    ladder_table(&headers::next(Path::new(crate::root()))?, ladder)
}

fn ladder_table(next: &[String], ladder: Option<(&str, &Ladder)>) -> Result<String> {
    let mut text = match ladder {
        Some((device, ladder)) => {
            let limit = ladder.limits.cells_per_second();
            let limit = limit.map_or(String::new(), |limit| {
                format!("; the limit is {}", quantity(limit, "cells/s"))
            });
            format!("Measured: {device}, commit {}{limit}.\n\n", ladder.commit)
        }
        None => String::from("Not measured yet: `lifestreams bench ladder --write` does.\n\n"),
    };
    let heads = [
        "Rung",
        "Idea",
        "Highest rate",
        "Against the rung before",
        "What is next",
    ];
    let mut table = Table::new(heads);
    for ((at, kernel), next) in KERNELS.iter().enumerate().zip(next) {
        let [highest, factor] = match ladder {
            Some((_, ladder)) => cells(at, kernel, ladder),
            None => ["not measured", "–"].map(String::from),
        };
        table.row([
            format!("[{file}](ladder/{file}.cu)", file = kernel.file),
            kernel.title.to_owned(),
            highest,
            factor,
            next.clone(),
        ]);
    }
    text += &table.markdown()?;
    Ok(text)
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
    let against = work.and_then(|&work| Some((against(ladder, at, work)?[0].clone(), work)));
    let against = against.map_or("–".into(), |(factor, work)| format!("{factor}, {work}"));
    [highest, against]
}

/// By what factor the rung in this place is faster than the one before and than the first one.
pub(crate) fn against(ladder: &Ladder, at: usize, work: Workload) -> Option<[String; 2]> {
    let below: Vec<&str> = KERNELS[..at].iter().map(|kernel| kernel.name).collect();
    let [(near, before), (_, first)] = ladder.factors(KERNELS[at].name, &below, work)?;
    // The very next one goes without saying.
    let named = if below.last() == Some(&near) {
        String::new()
    } else {
        format!(" `{near}`")
    };
    Some([format!("{}{named}", factor(before)), factor(first)])
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
        let table = ladder_table(&next, Some(("NVIDIA H200", &ladder))).unwrap();
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
