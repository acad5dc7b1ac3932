//! The parts of the README that are made from the code's own tables and the records.

use std::collections::BTreeMap;

use anyhow::Result;

use super::bench::{Record, markdown};
use super::options::options_table;
use super::text::si;
use engine::Layout;
use engine::kernels::{Iteration, KERNELS};
use lang::tr;
use lesson::LESSONS;
use model::actions::KEYS;

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
    let mut table = tr!("| Key | Action |").to_owned() + "\n|---|---|\n";
    for row in KEYS {
        table += &format!("| {} | {} |\n", row.keys(), row.help());
    }
    table
}

fn kernels_table() -> String {
    let mut table = tr!("| Kernel | Idea | Cells | Generations a launch |").to_owned();
    table += "\n|---|---|---|---|\n";
    for kernel in &KERNELS {
        let layout = match kernel.layout {
            Layout::I32 => "`i32`",
            Layout::Bits => tr!("1 bit"),
            Layout::Planar => tr!("1 bit, in 32 planes"),
        };
        let iteration = match kernel.iteration {
            Iteration::Launches => "1".into(),
            Iteration::Steps(most) => most.to_string(),
            Iteration::InKernel => tr!("any").into(),
        };
        let limit = match kernel.most_cells {
            Some(most) => format!(" ({})", tr!("at most {most} cells", most = most)),
            None => kernel
                .sides
                .limit()
                .map_or(String::new(), |limit| format!(" ({limit})")),
        };
        table += &format!(
            "| `{}` | {}{limit} | {layout} | {iteration} |\n",
            kernel.name,
            lang::text(kernel.title)
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
            .map(|(what, row)| {
                tr!(
                    "{what}: {}",
                    in_words(&row.value()),
                    what = measured_of(what)
                )
            })
            .collect();
        cells.join("<br>")
    };
    let mut text = match gpu {
        Some(record) => tr!("Measured: {}. {}.", record.title(), cupy.what) + "\n\n",
        None => String::new(),
    };
    text += tr!("| Lesson | What it is about | Measured | CuPy |");
    text += "\n|---|---|---|---|\n";
    for lesson in LESSONS {
        let other = cupy.lessons.get(lesson.name).map_or("", String::as_str);
        let (name, title) = (lesson.name, lang::text(lesson.title));
        text += &format!("| `{name}` | {title} | {} | {other} |\n", measured(name));
    }
    Ok(text)
}

/// What was measured of a lesson: a part, two parts compared, or a part and one of its figures.
fn measured_of(what: &str) -> String {
    let known = |at: usize| Some((lang::translated(&what[..at])?, &what[at + 2..]));
    match (lang::translated(what), what.match_indices(", ")) {
        (Some(all), _) => all.into(),
        (None, mut commas) => match commas.find_map(|(at, _)| known(at)) {
            Some((part, figure)) => tr!("{}, {}", part, lang::shown(figure)),
            None => what.into(),
        },
    }
}

/// A value, its unit in words.
fn in_words(value: &str) -> String {
    match value.strip_suffix(" times") {
        Some(factor) => tr!("{} times", factor),
        None => value.into(),
    }
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
    let mut table = tr!("Measured: {}, {}: {}; medians.", machine, date, what) + "\n\n";
    table += tr!(
        "| Program | What it does | Cells·generations a second | Takes so many times as long |"
    );
    table += "\n|---|---|---|---|\n";
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
