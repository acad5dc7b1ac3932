//! Embeds the bench's records, one file per device.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

const RECORDS: &str = "../../assets/bench";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={RECORDS}");
    if let Err(error) = embed_records() {
        println!("cargo::error={error}");
    }
}

fn embed_records() -> Result<(), Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(RECORDS)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(fs::canonicalize(path)?);
        }
    }
    found.sort();
    let mut list =
        String::from("/// The bench's records, one a device.\nstatic RECORDS: &[&str] = &[\n");
    for path in found {
        writeln!(list, "    include_str!({path:?}),")?;
    }
    list.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("records.rs"), list)?;
    Ok(())
}
