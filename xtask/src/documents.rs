//! Which documents have generated parts, and how they get into the text.
//!
//! A part stands between `<!-- name -->` and `<!-- /name -->`; everything else is written by hand.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lang::Language;

use crate::records::{Record, text_of};
use crate::{formats, headers, kernels, keys, lessons, measurements, options, records};

/// What makes the text of a part.
type Part = fn(&[Record]) -> Result<String>;

/// Every part that a page can have.
pub(crate) const PARTS: [(&str, Part); 14] = [
    ("headline", measurements::headline),
    ("keys", |_| keys::by_topic()),
    ("commands", |_| options::commands()),
    ("options", |_| options::of_the_window()),
    ("command-options", |_| options::of_commands()),
    ("formats", |_| formats::formats()),
    ("shelf", |_| formats::shelf()),
    ("lessons", |_| lessons::list()),
    ("lesson-times", lessons::measured),
    ("kernels", |_| kernels::table()),
    ("ladder", kernels::ladder),
    ("bench", measurements::tables),
    ("scaling", measurements::scaling),
    ("compare", |_| measurements::other_programs()),
];

/// The pages that may have parts, in the checkout in this folder, each with its language.
pub(crate) fn pages(root: &Path) -> Result<Vec<(PathBuf, Language)>> {
    let mut pages = vec![
        (root.join("README.md"), Language::English),
        (root.join("README.zh.md"), Language::Chinese),
        (root.join("kernels/README.md"), Language::English),
    ];
    for (folder, language) in [("docs", Language::English), ("docs/zh", Language::Chinese)] {
        let folder = root.join(folder);
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
        found.sort();
        pages.extend(found.into_iter().map(|path| (path, language)));
    }
    Ok(pages)
}

/// Every document of the checkout in this folder, with its text as it should be.
pub(crate) fn documents(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    lang::install_catalogue(&text_of(&crate::root().join("assets/lang/zh.toml"))?);
    let records = records::read(root)?;
    let mut documents = headers::headers(root, records::with_ladder(&records)?)?;
    for (path, language) in pages(root)? {
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
pub(crate) fn write(root: &Path) -> Result<bool> {
    for (path, text) in documents(root)? {
        if text_of(&path)? != text {
            fs::write(&path, text).with_context(|| path.display().to_string())?;
            println!("renewed {}", path.display());
        }
    }
    Ok(true)
}

/// Whether all documents are up to date; prints the first stale line of each.
pub(crate) fn check(root: &Path) -> Result<bool> {
    let stale = stale(root)?;
    for place in &stale {
        eprintln!("{place}");
    }
    if !stale.is_empty() {
        eprintln!("run `cargo xtask docs`");
    }
    Ok(stale.is_empty())
}

/// The first stale line of each document that is out of date.
pub(crate) fn stale(root: &Path) -> Result<Vec<String>> {
    let mut stale = Vec::new();
    for (path, new) in documents(root)? {
        let old = text_of(&path)?;
        if old == new {
            continue;
        }
        let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b);
        let line = same.count();
        let shown = |text: &str| text.lines().nth(line).unwrap_or("(its end)").to_owned();
        stale.push(format!(
            "{}:{}: is stale\n  is:     {}\n  should: {}",
            path.display(),
            line + 1,
            shown(&old),
            shown(&new)
        ));
    }
    Ok(stale)
}

/// The names of a text's parts, in their order.
pub(crate) fn parts_of(text: &str) -> Vec<&str> {
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
