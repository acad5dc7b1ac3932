//! `cargo xtask docs` writes the generated parts of README, docs/ and kernels/README.md from the code's
//! tables and the records in assets/bench; `--check` only compares.
//!
//! Packages and fonts have scripts of their own: `scripts/package`, `scripts/build-font`.

mod documents;
mod measurements;
mod options;
mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask docs [--check]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["docs"] => documents::write(root()),
        ["docs", "--check"] => documents::check(root()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(1)
        }
    }
}

/// The checkout that this was built from.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
