//! The formats of patterns, and the shelf.

use anyhow::Result;
use life::{Format, Kind, SHELF};

use crate::text::{Both, Table};

/// The formats, a line each.
pub(crate) fn formats() -> Result<String> {
    let heads = [
        Both("Format", "格式"),
        Both("Name ends with", "文件名结尾"),
        Both("What it is", "说明"),
        Both("Written", "可写"),
    ];
    let mut table = Table::new(heads.map(Both::get));
    for format in Format::ALL {
        let about = match format {
            Format::Rle => Both(
                "runs of cells: what every program reads and writes; carries rule and torus",
                "游程编码：所有程序都能读写；带有规则和环面",
            ),
            Format::Plaintext => Both(
                "rows of `.` and `O`; carries no rule",
                "由 `.` 和 `O` 组成的行；不带规则",
            ),
            Format::Life105 => Both(
                "blocks of rows of `.` and `*`",
                "由 `.` 和 `*` 组成的若干块",
            ),
            Format::Life106 => Both(
                "the column and row of every live cell; carries no rule",
                "每个活细胞的列与行；不带规则",
            ),
            Format::Macrocell => Both(
                "a quadtree of shared squares, for huge patterns that repeat themselves",
                "共享方块的四叉树，用于巨大而重复的图案",
            ),
        };
        let written = if format.writer().is_some() {
            Both("yes", "是")
        } else {
            Both("no", "否")
        };
        table.row([
            format.to_string(),
            format!("`.{}`", format.extension()),
            about.get().to_owned(),
            written.get().to_owned(),
        ]);
    }
    table.markdown()
}

/// The shelf's patterns by kind.
pub(crate) fn shelf() -> Result<String> {
    let mut table = Table::new([Both("Kind", "种类"), Both("Patterns", "图案")].map(Both::get));
    for kind in Kind::ALL {
        let of = SHELF.iter().filter(|shelved| shelved.kind() == kind);
        let names: Vec<String> = of.map(|shelved| format!("`{}`", shelved.name)).collect();
        table.row([kind.to_string(), names.join(", ")]);
    }
    table.markdown()
}
