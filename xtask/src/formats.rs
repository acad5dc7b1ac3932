//! The formats of patterns, and the shelf.

use anyhow::Result;
use life::{Format, Kind, SHELF};

use crate::text::markdown;

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
