//! The READMEs' tables and the kernels' headers are those of the code and of the bench's records.
//!
//! `LIFESTREAMS_RENEW=1 cargo test --test readme` writes them anew.

use std::path::Path;

#[test]
fn what_is_generated_is_the_codes_own_and_the_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, renewed) in lifestreams::cli::documents(root).unwrap() {
        let empty = empty_cells(&renewed);
        assert!(empty.is_empty(), "{}: {empty:#?}", path.display());
        let text = std::fs::read_to_string(&path).unwrap();
        if std::env::var_os("LIFESTREAMS_RENEW").is_some() {
            std::fs::write(&path, &renewed).unwrap();
            continue;
        }
        for (number, (is, should)) in text.lines().zip(renewed.lines()).enumerate() {
            assert_eq!(
                is,
                should,
                "line {} of {} is stale: LIFESTREAMS_RENEW=1 cargo test --test readme",
                number + 1,
                path.display()
            );
        }
        assert_eq!(text, renewed, "{}", path.display());
    }
}

/// The lines of tables that have a cell with nothing in it.
fn empty_cells(text: &str) -> Vec<&str> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = |row: &&str| {
        let inner = row
            .trim()
            .strip_prefix('|')
            .and_then(|row| row.strip_suffix('|'));
        inner.is_none_or(|inner| inner.split('|').any(|cell| cell.trim().is_empty()))
    };
    rows.filter(cells).collect()
}

#[test]
fn a_cell_with_nothing_in_it_is_found() {
    let table = "| a | b |\n|---|---|\n| 1 | – |\n| 2 |  |\n| | 3 |\n";
    assert_eq!(empty_cells(table), ["| 2 |  |", "| | 3 |"]);
    assert!(empty_cells("a | b |\n").is_empty());
}
