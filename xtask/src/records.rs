//! The bench's records, as `lifestreams bench --write` leaves them in assets/bench.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
pub(crate) use lifestreams::cli::{Record, Row};

/// All records, GPUs first, since readers look for those.
pub(crate) fn read(root: &Path) -> Result<Vec<Record>> {
    let folder = root.join("assets/bench");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            files.push(path);
        }
    }
    files.sort();
    let mut records: Vec<Record> = Vec::new();
    for path in files {
        let record = serde_json::from_str(&text_of(&path)?);
        records.push(record.with_context(|| path.display().to_string())?);
    }
    records.sort_by_key(|record| record.engine != "cuda");
    Ok(records)
}

/// What a file says.
pub(crate) fn text_of(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// The GPU record with the most measurements, among those with a ladder.
pub(crate) fn with_ladder(records: &[Record]) -> Result<&Record> {
    let of_gpus = records.iter().filter(|record| record.engine == "cuda");
    of_gpus
        .filter(|record| record.ladder.is_some())
        .max_by_key(|record| record.tables.len())
        .context("no GPU has a ladder recorded: `lifestreams bench ladder --write`")
}
