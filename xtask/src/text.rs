//! Texts of the documents in both languages.
//!
//! What the program itself says comes from its own catalogue. This has what only documents say: in
//! the code as [`Both`], and in `labels.toml` for texts that stand in records and in `--help`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use anyhow::{Result, bail};
use lang::Language;
use serde::Deserialize;

/// A text in English and in Chinese.
#[derive(Clone, Copy)]
pub(crate) struct Both(pub &'static str, pub &'static str);

impl Both {
    /// In this thread's language.
    pub(crate) fn get(self) -> &'static str {
        match lang::language() {
            Language::English => self.0,
            Language::Chinese => self.1,
        }
    }
}

/// An entry of `labels.toml`; the key is what the record or `--help` says.
#[derive(Deserialize)]
struct Label {
    /// What the English documents say, if not the key.
    en: Option<String>,
    zh: String,
}

static LABELS: LazyLock<BTreeMap<String, Label>> = LazyLock::new(|| {
    let text = fs::read_to_string(crate::root().join("xtask/labels.toml"));
    toml::from_str(&text.expect("it can be read")).expect("xtask/labels.toml is as it should be")
});

thread_local! {
    static MISSING: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// A text of a record or of `--help` as the documents say it. It is looked up whole, then part by
/// part between commas. Numbers and `code` may vary: an entry has `{}` for each. A part without
/// words is left as it is, and so is one without an entry in English; in Chinese that one is
/// remembered for [`check_complete`].
pub(crate) fn label(text: &str) -> String {
    if let Some(found) = look_up(text) {
        return found;
    }
    let separator = Both(", ", "，").get();
    let parts = text.split(", ").map(|part| {
        look_up(part).unwrap_or_else(|| {
            if lang::language() == Language::Chinese {
                MISSING.with_borrow_mut(|missing| missing.insert(part.to_owned()));
            }
            part.to_owned()
        })
    });
    parts.collect::<Vec<_>>().join(separator)
}

/// Fails if a label had no entry since the last call, naming them.
pub(crate) fn check_complete() -> Result<()> {
    let missing = MISSING.take();
    if missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<String> = missing.into_iter().collect();
    bail!(
        "xtask/labels.toml lacks {} entries; add: {}",
        missing.len(),
        missing.join(" | ")
    )
}

fn look_up(text: &str) -> Option<String> {
    if let Some(label) = LABELS.get(text) {
        return Some(said(text, label).to_owned());
    }
    let (template, values) = template_of(text);
    if let Some(label) = LABELS.get(&template) {
        return Some(filled(said(&template, label), &values));
    }
    let has_words = template.chars().any(char::is_alphabetic);
    (!has_words).then(|| text.to_owned())
}

fn said<'a>(key: &'a str, label: &'a Label) -> &'a str {
    match lang::language() {
        Language::English => label.en.as_deref().unwrap_or(key),
        Language::Chinese => &label.zh,
    }
}

/// A text with `{}` for each number and each piece of code, and what stood there.
fn template_of(text: &str) -> (String, Vec<&str>) {
    let (mut template, mut values) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '`' => rest[1..].find('`').map_or(rest.len(), |end| end + 2),
            '0'..='9' => {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.');
                let number = &rest[..end.unwrap_or(rest.len())];
                number.trim_end_matches([',', '.']).len()
            }
            other => {
                template.push(other);
                rest = &rest[other.len_utf8()..];
                continue;
            }
        };
        template += "{}";
        values.push(&rest[..length]);
        rest = &rest[length..];
    }
    (template, values)
}

fn filled(template: &str, values: &[&str]) -> String {
    let mut parts = template.split("{}");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values) {
        text += value;
        text += part;
    }
    text
}

/// A Markdown table; no cell of it is empty.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// One with these heads.
    pub(crate) fn new(heads: impl IntoIterator<Item = impl Into<String>>) -> Table {
        let heads = heads.into_iter().map(Into::into).collect();
        Table { rows: vec![heads] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.rows[0].len(), "{cells:?}");
        self.rows.push(cells);
    }

    /// As Markdown.
    ///
    /// # Errors
    /// If a cell is empty or there is no row: something was not measured, or not found.
    pub(crate) fn markdown(&self) -> Result<String> {
        let head = self.rows[0].join(" | ");
        if self.rows.len() == 1 {
            bail!("the table '{head}' has no rows");
        }
        let mut text = format!("| {head} |\n|{}\n", "---|".repeat(self.rows[0].len()));
        for row in &self.rows[1..] {
            if row.iter().any(|cell| cell.trim().is_empty()) {
                bail!("the table '{head}' has an empty cell in the row {row:?}");
            }
            text += &format!("| {} |\n", row.join(" | "));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_code_vary() {
        assert_eq!(
            template_of("1,056 × 128², `bits`, graphs of 48 generations"),
            (
                "{} × {}², {}, graphs of {} generations".into(),
                vec!["1,056", "128", "`bits`", "48"]
            )
        );
        assert_eq!(filled("每次启动 {} 代", &["48"]), "每次启动 48 代");
        assert_eq!(label("16 × 1024², `bits`"), "16 × 1024², `bits`");
        check_complete().unwrap();
    }

    #[test]
    fn a_label_without_an_entry_is_named() {
        let unknown = "16 × 8², colourless green ideas";
        assert_eq!(label(unknown), unknown);
        check_complete().unwrap();
        let said = lang::with(Language::Chinese, || label(unknown));
        assert_eq!(said, "16 × 8²，colourless green ideas");
        let error = check_complete().unwrap_err().to_string();
        assert!(error.contains("colourless green ideas"), "{error}");
        check_complete().unwrap();
    }

    #[test]
    fn an_empty_cell_is_an_error() {
        let mut table = Table::new(["Lesson", "Measured"]);
        assert!(table.markdown().is_err());
        table.row(["graphs", "3.00 ms"]);
        assert_eq!(table.markdown().unwrap().lines().count(), 3);
        table.row(["pinned", ""]);
        let error = table.markdown().unwrap_err().to_string();
        assert!(error.contains("pinned"), "{error}");
    }
}
