//! Texts of the documents: tables, and what only pages in two languages say. What the program itself says
//! comes from its own catalogue.

use anyhow::{Result, bail};
use lang::Language;

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

/// A Markdown table.
///
/// # Errors
/// If a cell is empty or there is no row: something was not measured, or not found.
pub(crate) fn markdown(
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
