//! `cargo xtask docs` writes the generated parts of README and docs/ from the code's
//! tables and the records in assets/bench.
//!
//! A part stands between `<!-- name -->` and `<!-- /name -->`; everything else is written by hand.
//! Packages and fonts have scripts of their own: `scripts/package`, `scripts/build-font`.

mod tables;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use lang::Language;
use lifestreams::cli::Record;

fn main() -> Result<()> {
    let is_docs = std::env::args().skip(1).eq(["docs"]);
    ensure!(is_docs, "usage: cargo xtask docs");
    write()
}

/// The checkout that this was built from.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// What makes the text of a part.
type Part = fn(&[Record]) -> Result<String>;

/// Every part that a page can have.
const PARTS: [(&str, Part); 6] = [
    ("headline", tables::headline),
    ("keys", |_| tables::keys()),
    ("options", |_| Ok(tables::help())),
    ("lessons", |_| tables::lessons()),
    ("kernels", |_| tables::kernels()),
    ("bench", tables::bench),
];

/// The pages that may have parts, each with its language.
fn pages() -> Result<Vec<(PathBuf, Language)>> {
    let mut pages = vec![
        (root().join("README.md"), Language::English),
        (root().join("README.zh.md"), Language::Chinese),
        (root().join("kernels/README.md"), Language::English),
    ];
    for (folder, language) in [("docs", Language::English), ("docs/zh", Language::Chinese)] {
        let found = files(&root().join(folder), "md")?;
        pages.extend(found.into_iter().map(|path| (path, language)));
    }
    Ok(pages)
}

/// Every document, with its text as it should be.
fn documents() -> Result<Vec<(PathBuf, String)>> {
    lang::install_catalogue(&text_of(&root().join("assets/lang/zh.toml"))?);
    let records = read_records()?;
    let mut documents = Vec::new();
    for (path, language) in pages()? {
        let old = text_of(&path)?;
        let new = lang::with(language, || with_parts(&old, &records));
        documents.push((
            path.clone(),
            new.with_context(|| path.display().to_string())?,
        ));
    }
    Ok(documents)
}

/// Writes the documents that are out of date; prints which.
fn write() -> Result<()> {
    for (path, text) in documents()? {
        if text_of(&path)? != text {
            fs::write(&path, text).with_context(|| path.display().to_string())?;
            println!("renewed {}", path.display());
        }
    }
    Ok(())
}

/// The names of a text's parts, in their order.
fn parts_of(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| {
        let name = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        (!name.starts_with('/')).then_some(name)
    });
    lines.collect()
}

/// A text with its parts made anew.
fn with_parts(text: &str, records: &[Record]) -> Result<String> {
    let mut new = text.to_owned();
    for name in parts_of(text) {
        let Some((_, make)) = PARTS.iter().find(|(known, _)| *known == name) else {
            bail!("there is no part called '{name}'");
        };
        let part = make(records).with_context(|| format!("the part '{name}'"))?;
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let start = new.find(&open).map(|at| at + open.len());
        let end = new.find(&close);
        let (Some(start), Some(end)) = (start, end) else {
            bail!("the part '{name}' has no end; add {close}");
        };
        new.replace_range(start..end, &part);
    }
    Ok(new)
}

/// All records of the bench, as `lifestreams bench --write` leaves them in assets/bench: GPUs first, since readers look for those.
fn read_records() -> Result<Vec<Record>> {
    let mut records: Vec<Record> = Vec::new();
    for path in files(&root().join("assets/bench"), "json")? {
        let record = serde_json::from_str(&text_of(&path)?);
        records.push(record.with_context(|| path.display().to_string())?);
    }
    records.sort_by_key(|record| record.engine != "cuda");
    Ok(records)
}

/// The files in a folder whose names end so, sorted.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == ending));
    paths.sort();
    Ok(paths)
}

/// What a file says.
fn text_of(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// The GPU record with the most measurements, among those with a ladder.
fn with_ladder(records: &[Record]) -> Result<&Record> {
    let of_gpus = records.iter().filter(|record| record.engine == "cuda");
    of_gpus
        .filter(|record| record.ladder.is_some())
        .max_by_key(|record| record.tables.len())
        .context("no GPU has a ladder recorded: `lifestreams bench ladder --write`")
}

/// This thread's language of a text that only pages say; what the program says is in its catalogue.
fn both<'a>(english: &'a str, chinese: &'a str) -> &'a str {
    match lang::language() {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// A table below each title.
fn chapters<R: AsRef<[String]>>(
    level: &str,
    heads: &[&str],
    parts: impl IntoIterator<Item = (String, Vec<R>)>,
) -> Result<String> {
    let mut text = String::new();
    for (title, rows) in parts {
        text += &format!("\n{level} {title}\n\n{}", markdown(heads, rows)?);
    }
    Ok(text.trim_start().to_owned())
}

/// A Markdown table.
///
/// # Errors
/// If a cell is empty or there is no row: something was not measured, or not found.
fn markdown(
    heads: &[&str],
    rows: impl IntoIterator<Item = impl AsRef<[String]>>,
) -> Result<String> {
    let head = heads.join(" | ");
    let start = format!("| {head} |\n|{}\n", "---|".repeat(heads.len()));
    let mut text = start.clone();
    for row in rows {
        let row = row.as_ref();
        if row.len() != heads.len() || row.iter().any(|cell| cell.trim().is_empty()) {
            bail!("the table '{head}' has an empty cell in the row {row:?}");
        }
        text += &format!("| {} |\n", row.join(" | "));
    }
    if text == start {
        bail!("the table '{head}' has no rows");
    }
    Ok(text)
}
