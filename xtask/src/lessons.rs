//! The lessons: what each is about, and what it measured on the recorded GPU.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use lang::Language;
use lesson::{Group, LESSONS, Lesson};

use crate::measurements::origin;
use crate::numbers::{factor, quantity};
use crate::records::{Record, Row};
use crate::text::{Both, Table, label};

/// The lessons by group, each with its question.
pub(crate) fn list() -> Result<String> {
    let heads = [
        Both("Lesson", "课程"),
        Both("What it is about", "内容"),
        Both("Question to the class", "课堂提问"),
    ];
    let mut text = String::new();
    for group in Group::ALL {
        let mut table = Table::new(heads.map(Both::get));
        for lesson in LESSONS.iter().filter(|lesson| lesson.group == group) {
            let [title, question] = [lesson.title, lesson.question].map(lang::text);
            table.row([format!("`{}`", lesson.name), title.into(), question.into()]);
        }
        text += &format!("\n### {}\n\n{}", group.title(), table.markdown()?);
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
    let cupy: Others = serde_json::from_str(include_str!("../../assets/cupy.json"))?;
    let gpus = records.iter().filter(|record| record.engine == "cuda");
    let mut tables = gpus.flat_map(|gpu| gpu.tables.iter().map(move |table| (gpu, table)));
    let Some((record, times)) = tables.find(|(_, table)| table.name == "lesson") else {
        bail!("no GPU's record has lessons: `lifestreams bench lesson --write` measures them");
    };
    let heads = [
        Both("Lesson", "课程"),
        Both("What was measured", "所测内容"),
        Both("Result", "结果"),
        Both("CuPy", "CuPy"),
    ];
    let mut table = Table::new(heads.map(Both::get));
    for lesson in LESSONS {
        let prefix = format!("{}: ", lesson.name);
        let rows = times.rows.iter();
        let rows = rows.filter_map(|row| Some((row.what.strip_prefix(&prefix)?, row)));
        let mut results = results(lesson, rows.collect());
        if results.is_empty() {
            let newer = Both("newer than this record", "比此记录更新");
            results.push((newer.get().into(), "–".into()));
        }
        let mut other = cupy.lessons.get(lesson.name).map(|text| label(text));
        for (what, result) in results {
            let other = other.take().unwrap_or_else(|| "–".into());
            table.row([format!("`{}`", lesson.name), what, result, other]);
        }
    }
    let others = label(&cupy.what);
    let origin = origin(record, times);
    let said = match lang::language() {
        Language::English => format!("Measured on {origin}. CuPy: {others}.\n\n"),
        Language::Chinese => format!("测于 {origin}。CuPy：{others}。\n\n"),
    };
    Ok(said + table.markdown().context("the lessons")?.as_str())
}

/// The rows of a lesson: parts that are compared, with their factor, then the others.
fn results(lesson: &Lesson, rows: Vec<(&str, &Row)>) -> Vec<(String, String)> {
    let value = |row: &Row| quantity(row.median, &row.unit);
    let row_of = |title: &str| rows.iter().find(|(what, _)| *what == title);
    let mut told: Vec<&str> = Vec::new();
    let mut results = Vec::new();
    for compare in lesson.compared {
        let Some((what, by)) = row_of(compare.label).copied() else {
            continue;
        };
        told.push(what);
        let parts = [compare.slow, compare.fast].map(|at| row_of(lesson.parts[at].title).copied());
        let times = match parts {
            [Some((slow_title, slow)), Some((fast_title, fast))] => {
                told.extend([slow_title, fast_title]);
                format!(
                    "{} → {}{}",
                    value(slow),
                    value(fast),
                    Both(", ", "，").get()
                )
            }
            _ => String::new(),
        };
        let result = format!("{times}**{}**", factor(by.median));
        results.push((translated(what), result));
    }
    for (what, row) in rows.iter().filter(|(what, _)| !told.contains(what)) {
        results.push((translated(what), value(row)));
    }
    results
}

/// A part of a lesson, two parts compared, or a part and one of its figures.
fn translated(what: &str) -> String {
    let known = |at: usize| Some((lang::translated(&what[..at])?, &what[at + 2..]));
    match (lang::translated(what), what.match_indices(", ")) {
        (Some(all), _) => all.into(),
        (None, mut commas) => match commas.find_map(|(at, _)| known(at)) {
            Some((part, figure)) => format!("{part}，{}", lang::shown(figure)),
            None => what.into(),
        },
    }
}
