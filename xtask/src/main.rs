//! `cargo xtask docs` writes the generated parts of README, docs/ and kernels/README.md from the code's
//! tables and the records in assets/bench.
//!
//! Packages and fonts have scripts of their own: `scripts/package`, `scripts/build-font`.

mod documents;
mod measurements;
mod options;
mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Result, ensure};

fn main() -> Result<()> {
    let is_docs = std::env::args().skip(1).eq(["docs"]);
    ensure!(is_docs, "usage: cargo xtask docs");
    documents::write(root())
}

/// The checkout that this was built from.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
