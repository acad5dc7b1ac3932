//! What the bench recorded, as tables for people.
//!
//! A record has a row per figure. Rows with the same beginning become one table, with a line per work and a
//! column per way.

use anyhow::{Context, Result};
use engine::kernels::KERNELS;
use lang::Language;
use lang::numbers::{digits, quantity};
use lifestreams::cli::{Record, Row, ladder_policy, pivot};
use ui::ladder::Ladder;

use crate::documents::{markdown, with_ladder};

/// How rows begin that belong together, and their title; the others stand below that of their table.
const TITLES: [(&str, &str); 3] = [
    ("a round of ", "Time per round, one round in flight"),
    ("rounds of ", "Rounds per second, two rounds in flight"),
    ("frames of ", "Frames per second"),
];

/// What a newcomer should know first.
pub(crate) fn headline(records: &[Record]) -> Result<String> {
    const ROUND: &str = "a round of 16 × 1024², `sync-global`";
    let record = with_ladder(records)?;
    let rows: Vec<&Row> = record.tables.iter().flat_map(|table| &table.rows).collect();
    let of = |how: &str| {
        let what = format!("{ROUND}, {how}");
        let row = rows.iter().find(|row| row.what == what);
        let device = &record.device;
        row.with_context(|| {
            format!("the record of {device} lacks '{what}': `lifestreams bench frame --write`")
        })
    };
    let (each, one) = (of("a stream each")?, of("one stream for all")?);
    let by = digits(of("the factor of streams")?.median);
    let [each, one] = [each, one].map(|row| quantity(row.median, &row.unit));
    let ladder = record.ladder.as_ref().context("there is no ladder")?;
    let best = KERNELS.iter().filter_map(|kernel| ladder.best(kernel.name));
    let best = best.max_by(|a, b| a.median.total_cmp(&b.median));
    let best = best.context("the ladder has no rate")?;
    let limit = ladder.limits.cells_per_second();
    let share = digits(100.0 * best.median / limit.context("the ladder has no limit")?);
    let (device, rate, kernel) = (
        &record.device,
        quantity(best.median, "cells/s"),
        &best.kernel,
    );
    Ok(match lang::language() {
        Language::English => {
            let said = format!(
                "On an {device}, a round of sixteen lattices of 1024² cells takes {each} with one \
                 stream each, and {one} with one stream for all: {by}× slower. The fastest kernel, \
                 `{kernel}`, reaches {rate}, {share} % of what the GPU's logic units can do."
            );
            textwrap::fill(&said, 100) + "\n"
        }
        Language::Chinese => format!(
            "在 {device} 上，十六个 1024² 的世界推进一轮，各用一个流需 {each}，共用一个流需 {one}，\
             是前者的 {by} 倍。最快的核函数 `{kernel}` 达到 {rate}，是 GPU 逻辑单元极限的 {share} %。\n"
        ),
    })
}

/// The record of the GPU with the most measurements, but for what stands on the page of lessons.
pub(crate) fn tables(records: &[Record]) -> Result<String> {
    let record = with_ladder(records)?;
    let mut text = String::new();
    for table in record.tables.iter().filter(|it| it.name != "lesson") {
        let origin = table.origin.title(&record.device);
        let mut rest: Vec<&Row> = table.rows.iter().collect();
        for (start, title) in TITLES.into_iter().chain([("", &*table.title)]) {
            let (of, others) = rest
                .into_iter()
                .partition(|row| row.what.starts_with(start));
            rest = others;
            let rows: Vec<&Row> = of;
            if !rows.is_empty() {
                let table = table_of(&rows, start)?;
                let title = lang::sentence_case(title);
                text += &format!("\n## {title}\n\n{origin}.\n\n{table}");
            }
        }
    }
    if let Some(ladder) = &record.ladder {
        text += &of_ladder(&record.device, ladder)?;
    }
    Ok(text.trim_start().to_owned())
}

/// The median, and the range where runs are more than 10 % apart.
fn result(row: &Row) -> String {
    if row.highest - row.lowest > 0.1 * row.median {
        row.range()
    } else {
        quantity(row.median, &row.unit)
    }
}

/// Rows with this beginning as a table: a way stands behind a kernel's name or settings, in backticks.
fn table_of(rows: &[&Row], start: &str) -> Result<String> {
    let cells = rows.iter().map(|row| {
        let what = &row.what[start.len()..];
        let end = ["`, ", "`: "].iter().find_map(|end| what.rfind(end));
        let split = |at: usize| (&what[..=at], &what[at + 3..]);
        let (of, way) = end.map_or((what, "result"), split);
        [of.into(), lang::sentence_case(way), result(row)]
    });
    in_markdown("Measured", cells)
}

fn in_markdown(corner: &str, cells: impl IntoIterator<Item = [String; 3]>) -> Result<String> {
    let mut lines = pivot(corner, cells).into_iter();
    let heads = lines.next().unwrap_or_default();
    markdown(&heads.iter().map(String::as_str).collect::<Vec<_>>(), lines)
}

/// What every rung reaches with every work.
fn of_ladder(device: &str, ladder: &Ladder) -> Result<String> {
    let both = KERNELS
        .iter()
        .flat_map(|kernel| ladder.works.iter().map(|&work| (kernel.name, work)));
    let cells = both.filter_map(|(kernel, work)| {
        let rate = quantity(ladder.rate(kernel, work)?.median, "cells/s");
        Some([format!("`{kernel}`"), work.to_string(), rate])
    });
    let table = in_markdown("Kernel", cells)?;
    let policy = ladder_policy(ladder).join(" ");
    let policy = textwrap::fill(&policy, 110);
    Ok(format!(
        "\n## The ladder of kernels\n\n{device}; commit {}.\n\n{policy}\n\n{table}\n\
         A dash: the kernel does not take lattices of that size, or was not measured.\n",
        ladder.commit
    ))
}

/// The CPU engine and others, as `scripts/compare-cpu` measured them.
pub(crate) fn other_programs() -> Result<String> {
    #[derive(serde::Deserialize)]
    struct Comparison {
        machine: String,
        date: String,
        what: String,
        rows: Vec<Other>,
    }
    #[derive(serde::Deserialize)]
    struct Other {
        name: String,
        version: String,
        kind: String,
        cells_per_second: f64,
        times_ours: f64,
    }
    let all: Comparison = serde_json::from_str(include_str!("../../assets/compare-cpu.json"))?;
    let heads = [
        "Program",
        "What it steps",
        "Rate",
        "Time against lifestreams",
    ];
    let rows = all.rows.into_iter().map(|row| {
        [
            format!("{} {}", row.name, row.version),
            row.kind,
            quantity(row.cells_per_second, "cells/s"),
            quantity(row.times_ours, "times"),
        ]
    });
    let table = markdown(&heads, rows)?;
    let (machine, date, what) = (all.machine, all.date, all.what);
    Ok(format!("{machine}, {date}: {what}; medians.\n\n{table}"))
}
