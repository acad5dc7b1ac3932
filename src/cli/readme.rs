//! The parts of the README that are made from the code's own tables and the records.

use std::collections::BTreeMap;

use anyhow::Result;

use super::bench::{Record, markdown};
use super::options::options_table;
use super::text::si;
use crate::engine::Layout;
use crate::engine::kernels::{Iteration, KERNELS};
use crate::lesson::LESSONS;
use crate::session::actions::KEYS;

/// The generated parts, by name.
pub(super) fn parts(records: &[Record]) -> Result<[(&'static str, String); 6]> {
    Ok([
        ("keys", keys_table()),
        ("options", options_table()),
        ("kernels", kernels_table()),
        ("lessons", lessons_table(records)?),
        ("bench", bench_tables(records)),
        ("compare", compare_table()?),
    ])
}

fn keys_table() -> String {
    let mut table = String::from("| Key | Action |\n|---|---|\n");
    for row in KEYS {
        table += &format!("| {} | {} |\n", row.keys(), row.help);
    }
    table
}

fn kernels_table() -> String {
    let mut table =
        String::from("| Kernel | Idea | Cells | Generations a launch |\n|---|---|---|---|\n");
    for kernel in &KERNELS {
        let layout = match kernel.layout {
            Layout::I32 => "`i32`",
            Layout::Bits => "1 bit",
            Layout::Planar => "1 bit, in 32 planes",
        };
        let iteration = match kernel.iteration {
            Iteration::Launches => "1".into(),
            Iteration::Steps(most) => most.to_string(),
            Iteration::InKernel => "any".into(),
        };
        let limit = match kernel.most_cells {
            Some(most) => format!(" (at most {most} cells)"),
            None => kernel
                .sides
                .limit()
                .map_or(String::new(), |limit| format!(" ({limit})")),
        };
        table += &format!(
            "| `{}` | {}{limit} | {layout} | {iteration} |\n",
            kernel.name, kernel.title
        );
    }
    table
}

/// The lessons: what each is about, what it measured on the recorded GPU, and what CuPy took for
/// the same.
fn lessons_table(records: &[Record]) -> Result<String> {
    #[derive(serde::Deserialize)]
    struct Others {
        what: String,
        lessons: BTreeMap<String, String>,
    }
    let cupy: Others = serde_json::from_str(include_str!("../../assets/cupy.json"))?;
    let gpu = records.iter().find(|record| record.engine == "cuda");
    let table = gpu.and_then(|record| record.tables.iter().find(|table| table.name == "lesson"));
    let measured = |lesson: &str| -> String {
        let rows = table.into_iter().flat_map(|table| &table.rows);
        let of =
            rows.filter_map(|row| Some((row.what.strip_prefix(lesson)?.strip_prefix(": ")?, row)));
        let cells: Vec<String> = of
            .map(|(what, row)| format!("{what}: {}", row.value()))
            .collect();
        cells.join("<br>")
    };
    let mut text = match gpu {
        Some(record) => format!("Measured: {}. {}.\n\n", record.title(), cupy.what),
        None => String::new(),
    };
    text += "| Lesson | What it is about | Measured | CuPy |\n|---|---|---|---|\n";
    for lesson in LESSONS {
        let other = cupy.lessons.get(lesson.name).map_or("", String::as_str);
        let (name, title) = (lesson.name, lesson.title);
        text += &format!("| `{name}` | {title} | {} | {other} |\n", measured(name));
    }
    Ok(text)
}

/// The CPU engine and others, as `scripts/compare-cpu` measured them.
fn compare_table() -> Result<String> {
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
    let Comparison {
        machine,
        date,
        what,
        rows,
    } = all;
    let mut table = format!("Measured: {machine}, {date}: {what}; medians.\n\n");
    table +=
        "| Program | What it does | Cells·generations a second | Takes so many times as long |\n";
    table += "|---|---|---|---|\n";
    for row in rows {
        let (rate, times) = (si(row.cells_per_second), row.times_ours);
        let (name, version, kind) = (row.name, row.version, row.kind);
        table += &format!("| {name} {version} | {kind} | {rate}cells/s | {times:.1} |\n");
    }
    Ok(table)
}

fn bench_tables(records: &[Record]) -> String {
    let parts: Vec<String> = records.iter().map(markdown).collect();
    parts.join("\n")
}
