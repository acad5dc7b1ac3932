//! The lessons: what each is about, and what it measured on the recorded GPU.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use lang::numbers::quantity;
use lesson::{Group, LESSONS, Lesson};

use crate::records::{Record, Row};
use crate::text::{Both, markdown};

/// The lessons by group, each with its question.
pub(crate) fn list() -> Result<String> {
    let heads = [
        Both("Lesson", "课程"),
        Both("What it is about", "内容"),
        Both("Question to the class", "课堂提问"),
    ];
    let heads = heads.map(Both::get);
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
pub(crate) fn measured(records: &[Record]) -> Result<String> {
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
