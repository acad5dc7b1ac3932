//! What the bench recorded, as tables for people.
//!
//! A record has a row per figure. Rows that answer one question ([`QUESTIONS`]) become one table, with a
//! line per work and a column per way; all others stand one below the other.

use anyhow::{Context, Result};
use engine::kernels::KERNELS;
use lang::Language;
use lang::numbers::{digits, quantity};
use lifestreams::cli::{Record, Row, ladder_policy};
use ui::ladder::Ladder;

use crate::documents::{markdown, with_ladder};

/// Rows of one table of a record that belong together.
struct Question {
    /// The record's table.
    of: &'static str,
    title: &'static str,
    /// What stands in the first column.
    lines: &'static str,
    /// How a row's text begins, before what is in the first column.
    start: &'static str,
    /// How it ends, and the column's head.
    columns: &'static [(&'static str, &'static str)],
}

const ROUNDS: Question = Question {
    of: "frame",
    title: "Time per round, one round in flight",
    lines: "Lattices and kernel",
    start: "a round of ",
    columns: &[
        (", a stream each", "A stream each"),
        (", a stream each, depth-first", "A stream each, depth-first"),
        (", as one batch", "One batch"),
        (", one stream for all", "One stream"),
        (", the factor of streams", "One stream takes longer by"),
    ],
};

const QUESTIONS: [Question; 4] = [
    ROUNDS,
    Question {
        of: "frame",
        title: "Rounds per second, two rounds in flight",
        lines: "Lattices and kernel",
        start: "rounds of ",
        columns: &[
            (", eager", "One call per operation"),
            (", as a graph", "CUDA graph"),
            (", as one batch", "One batch"),
        ],
    },
    Question {
        of: "frame",
        title: "Frames drawn at 1920×1080",
        lines: "Lattices and kernel",
        start: "frames of ",
        columns: &[(", drawn at 1920×1080", "Frames per second")],
    },
    Question {
        of: "default",
        title: "A run with no switches, beside the best of all other switches",
        lines: "Lattices",
        start: "",
        columns: &[
            (": no switches", "No switches"),
            (": best other switches", "Best other switches"),
            (": share of that", "Share of that"),
        ],
    },
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
        let mut add = |title: &str, table: &str| {
            text += &format!("\n## {title}\n\n{origin}.\n\n{table}");
        };
        let mut rest: Vec<&Row> = table.rows.iter().collect();
        for question in QUESTIONS.iter().filter(|it| it.of == table.name) {
            add(question.title, &answered(question, &mut rest)?);
        }
        if !rest.is_empty() {
            let rows = rest.into_iter().map(|row| [row.what.clone(), result(row)]);
            add(&table.title, &markdown(&["Measured", "Result"], rows)?);
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

/// The rows that answer a question, taken out of the others, as a table.
fn answered(question: &Question, rest: &mut Vec<&Row>) -> Result<String> {
    let mut lines: Vec<Vec<String>> = Vec::new();
    rest.retain(|row| {
        let text = row.what.strip_prefix(question.start);
        let mut columns = question.columns.iter().zip(1..);
        let found = columns.find_map(|((end, _), at)| Some((text?.strip_suffix(end)?, at)));
        let Some((of, at)) = found else {
            return true;
        };
        let place = lines.iter().position(|line| line[0] == of);
        let place = place.unwrap_or_else(|| {
            let mut line = vec!["–".to_owned(); 1 + question.columns.len()];
            line[0] = of.into();
            lines.push(line);
            lines.len() - 1
        });
        lines[place][at] = result(row);
        false
    });
    let heads = question.columns.iter().map(|(_, head)| *head);
    let heads: Vec<&str> = [question.lines].into_iter().chain(heads).collect();
    markdown(&heads, lines)
}

/// What every rung reaches with every work.
fn of_ladder(device: &str, ladder: &Ladder) -> Result<String> {
    let works: Vec<String> = ladder.works.iter().map(ToString::to_string).collect();
    let works = works.iter().map(String::as_str);
    let heads: Vec<&str> = ["Kernel"].into_iter().chain(works).collect();
    let rows = KERNELS.iter().map(|kernel| {
        let rates = ladder.works.iter().map(|work| {
            let rate = ladder.rate(kernel.name, *work);
            rate.map_or("–".into(), |rate| quantity(rate.median, "cells/s"))
        });
        let name = format!("`{}`", kernel.name);
        [name].into_iter().chain(rates).collect::<Vec<_>>()
    });
    let table = markdown(&heads, rows)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use ui::ladder::fixtures;

    #[test]
    fn a_rung_has_a_rate_with_every_work_that_it_takes() {
        let text = of_ladder("a GPU", &fixtures::ladder()).unwrap();
        for row in [
            "| `bits` | 1.56 Tcell/s | 3.12 Tcell/s |",
            "| `planar` | 3.91 Tcell/s | – |",
        ] {
            assert!(text.contains(row), "{row}: {text}");
        }
        assert!(
            text.contains("at most 71.3 Tcell/s at 7.5 for 32 cells"),
            "{text}"
        );
    }

    #[test]
    fn rows_of_one_question_become_one_table() {
        let row = |what: &str, median: f64, unit: &str| Row {
            what: what.into(),
            median,
            lowest: median,
            highest: median,
            unit: unit.into(),
            runs: 5,
            in_windows: false,
        };
        let rows = [
            row("a round of 16 × 8², `bits`, a stream each", 0.5, "ms"),
            row(
                "a round of 16 × 8², `bits`, a stream each, depth-first",
                0.6,
                "ms",
            ),
            row(
                "a round of 16 × 8², `bits`, the factor of streams",
                13.0,
                "times",
            ),
            row("rounds of 16 × 8², `bits`, eager", 8000.0, "rounds/s"),
            row("something else", 1.0, "ms"),
        ];
        let mut rest: Vec<&Row> = rows.iter().collect();
        let table = answered(&ROUNDS, &mut rest).unwrap();
        assert_eq!(rest.len(), 2);
        let last = "| 16 × 8², `bits` | 500 µs | 600 µs | – | – | 13.0× |";
        assert_eq!(table.lines().last(), Some(last));
    }
}
