//! Tables of what there is: keys, formats, the shelf, lessons with what they measured, and kernels.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use engine::Layout;
use engine::kernels::{Iteration, KERNELS, Kernel, SupportedSizes};
use lang::numbers::{digits, grouped, quantity};
use lesson::{Group, LESSONS, Lesson};
use life::{Format, Kind, SHELF};
use lifestreams::cli::{Record, Row};
use ui::actions::Topic;
use ui::ladder::Ladder;

use crate::documents::{both, markdown, with_ladder};
use crate::headers;

/// The keys by topic, from the action table.
pub(crate) fn keys() -> Result<String> {
    let heads = [both("Key", "按键"), both("What it does", "作用")];
    let mut text = String::new();
    for topic in Topic::ALL {
        let rows = topic.rows().map(|row| [row.keys(), row.help().to_owned()]);
        text += &format!("\n## {}\n\n{}", topic.title(), markdown(&heads, rows)?);
    }
    Ok(text.trim_start().to_owned() + "\n")
}

/// The formats, a line each.
pub(crate) fn formats() -> Result<String> {
    let row = |format: Format| {
        let about = match format {
            Format::Rle => {
                "runs of cells: what every program reads and writes; carries rule and torus"
            }
            Format::Plaintext => "rows of `.` and `O`; carries no rule",
            Format::Life105 => "blocks of rows of `.` and `*`",
            Format::Life106 => "the column and row of every live cell; carries no rule",
            Format::Macrocell => {
                "a quadtree of shared squares, for huge patterns that repeat themselves"
            }
        };
        let is_written = format.writer().is_some();
        [
            format.to_string(),
            format!("`.{}`", format.extension()),
            about.into(),
            if is_written { "yes" } else { "no" }.into(),
        ]
    };
    let heads = ["Format", "Name ends with", "What it is", "Written"];
    markdown(&heads, Format::ALL.map(row))
}

/// The shelf's patterns by kind.
pub(crate) fn shelf() -> Result<String> {
    let row = |kind: Kind| {
        let of = SHELF.iter().filter(|shelved| shelved.kind() == kind);
        let names: Vec<String> = of.map(|shelved| format!("`{}`", shelved.name)).collect();
        [kind.to_string(), names.join(", ")]
    };
    markdown(&["Kind", "Patterns"], Kind::ALL.map(row))
}

/// The lessons by group, each with its question.
pub(crate) fn lessons() -> Result<String> {
    let heads = [
        both("Lesson", "课程"),
        both("What it is about", "内容"),
        both("Question to the class", "课堂提问"),
    ];
    let mut text = String::new();
    for group in Group::ALL {
        let of = LESSONS.iter().filter(|lesson| lesson.group == group);
        let rows = of.map(|lesson| {
            let [title, question] = [lesson.title, lesson.question].map(lang::text);
            [format!("`{}`", lesson.name), title.into(), question.into()]
        });
        text += &format!("\n### {}\n\n{}", group.title(), markdown(&heads, rows)?);
    }
    Ok(text.trim_start().to_owned())
}

/// Measurements of the same programs elsewhere.
#[derive(serde::Deserialize)]
struct Others {
    what: String,
    lessons: BTreeMap<String, String>,
}

/// What each lesson measured, beside CuPy.
pub(crate) fn lesson_times(records: &[Record]) -> Result<String> {
    let mut cupy: Others = serde_json::from_str(include_str!("../../assets/cupy.json"))?;
    let gpus = records.iter().filter(|record| record.engine == "cuda");
    let mut tables = gpus.flat_map(|gpu| gpu.tables.iter().map(move |table| (gpu, table)));
    let table = tables.find(|(_, table)| table.name == "lesson");
    let (record, times) = table
        .context("no GPU's record has lessons: `lifestreams bench lesson --write` measures them")?;
    let mut lines = Vec::new();
    for lesson in LESSONS {
        let prefix = format!("{}: ", lesson.name);
        let rows = times.rows.iter();
        let rows = rows.filter_map(|row| Some((row.what.strip_prefix(&prefix)?, row)));
        let mut results = results(lesson, &rows.collect::<Vec<_>>());
        if results.is_empty() {
            results.push(("newer than this record".into(), "–".into()));
        }
        for (what, result) in results {
            let other = cupy.lessons.remove(lesson.name);
            let other = other.unwrap_or_else(|| "–".into());
            lines.push([format!("`{}`", lesson.name), what, result, other]);
        }
    }
    let origin = times.origin.title(&record.device);
    let heads = ["Lesson", "What was measured", "Result", "CuPy"];
    let table = markdown(&heads, lines)?;
    Ok(format!(
        "Measured on {origin}. CuPy: {}.\n\n{table}",
        cupy.what
    ))
}

/// The rows of a lesson: parts that are compared, with their factor, then the others.
fn results(lesson: &Lesson, rows: &[(&str, &Row)]) -> Vec<(String, String)> {
    let value = |row: &Row| quantity(row.median, &row.unit);
    let row_of = |title: &str| rows.iter().find(|(what, _)| *what == title).copied();
    let mut told: Vec<&str> = Vec::new();
    let mut results = Vec::new();
    for compare in lesson.compared {
        let Some((what, by)) = row_of(compare.label) else {
            continue;
        };
        told.push(what);
        let parts = [compare.slow, compare.fast].map(|at| row_of(lesson.parts[at].title));
        let times = match parts {
            [Some((slow_title, slow)), Some((fast_title, fast))] => {
                told.extend([slow_title, fast_title]);
                format!("{} → {}, ", value(slow), value(fast))
            }
            _ => String::new(),
        };
        results.push((
            what.into(),
            format!("{times}**{}**", quantity(by.median, "times")),
        ));
    }
    let others = rows.iter().filter(|(what, _)| !told.contains(what));
    results.extend(others.map(|(what, row)| ((*what).into(), value(row))));
    results
}

/// What each kernel is and takes.
pub(crate) fn kernels() -> Result<String> {
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
    let record = with_ladder(records)?;
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

/// What a rung reaches at most, and its factor with that work.
fn cells(at: usize, kernel: &Kernel, ladder: &Ladder) -> [String; 2] {
    let Some(best) = ladder.best(kernel.name) else {
        return ["not measured", "–"].map(String::from);
    };
    let stale = match ladder.sources.get(kernel.name) {
        Some(source) if *source == kernel.source() => "",
        _ => " (before it was changed)",
    };
    let highest = format!("{}{stale}, {}", quantity(best.median, "cells/s"), best.work);
    let below: Vec<&str> = KERNELS[..at].iter().map(|kernel| kernel.name).collect();
    let factors = ladder.factors(kernel.name, &below, best.work);
    let against = factors.map(|[(near, factor), _]| {
        // The very next one goes without saying.
        let named = (below.last() != Some(&near)).then(|| format!(" `{near}`"));
        let (factor, named) = (digits(factor), named.unwrap_or_default());
        format!("{factor}×{named}, {}", best.work)
    });
    [highest, against.unwrap_or("–".into())]
}
