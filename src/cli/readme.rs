//! The parts of the README that are made from the code's own tables; a test holds them equal.

use std::path::Path;

use anyhow::Result;

use super::bench::{Record, markdown};
use super::lesson::lessons_table;
use super::options::options_table;
use crate::engine::Layout;
use crate::engine::kernels::{Iteration, KERNELS};
use crate::session::actions::KEYS;

/// A README with its generated parts made anew. They stand between `<!-- name -->` and
/// `<!-- /name -->`; `records` is the folder of the bench's records.
pub fn renewed(readme: &str, records: &Path) -> Result<String> {
    let mut text = readme.to_string();
    let parts = [
        ("keys", keys_table()),
        ("options", options_table()),
        ("kernels", kernels_table()),
        ("lessons", lessons_table()),
        ("bench", bench_tables(records)?),
    ];
    for (name, part) in parts {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let start = text.find(&open).map(|at| at + open.len());
        let end = text.find(&close);
        let (Some(start), Some(end)) = (start, end) else {
            anyhow::bail!("the README has no part between {} and {close}", open.trim());
        };
        text.replace_range(start..end, &part);
    }
    Ok(text)
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
        };
        let iteration = match kernel.iteration {
            Iteration::Launches => "1",
            Iteration::InKernel => "any",
        };
        let limit = kernel
            .most_cells
            .map_or(String::new(), |most| format!(" (at most {most} cells)"));
        table += &format!(
            "| `{}` | {}{limit} | {layout} | {iteration} |\n",
            kernel.name, kernel.title
        );
    }
    table
}

fn bench_tables(folder: &Path) -> Result<String> {
    let mut files: Vec<_> = match std::fs::read_dir(folder) {
        Ok(entries) => entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect(),
        Err(_) => Vec::new(),
    };
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    let mut records: Vec<Record> = Vec::new();
    for path in files {
        records.push(serde_json::from_str(&std::fs::read_to_string(path)?)?);
    }
    records.sort_by_key(|record| record.engine != "cuda"); // what people look for comes first
    let parts: Vec<String> = records.iter().map(markdown).collect();
    Ok(parts.join("\n"))
}
