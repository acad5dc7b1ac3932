//! `cargo xtask docs` writes the generated parts of README, docs/, kernels/README.md and the
//! kernels' headers from the code's tables and the records in assets/bench; `--check` only compares.
//!
//! `cargo xtask intervals` checks on this machine that the intervals of comparisons keep their promise.
//!
//! Packages and fonts have scripts of their own: `scripts/package`, `scripts/build-font`.

mod documents;
mod formats;
mod headers;
mod intervals;
mod kernels;
mod keys;
mod lessons;
mod measurements;
mod numbers;
mod options;
mod records;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use intervals::Load;
use model::Streams;

const USAGE: &str = "usage: cargo xtask docs [--check] | intervals steady|switching N [STREAMS]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["docs"] => documents::write(root()),
        ["docs", "--check"] => documents::check(root()),
        [
            "intervals",
            load @ ("steady" | "switching"),
            count,
            ref streams @ ..,
        ] if let (Ok(count), Some(streams)) = (count.parse(), streams_of(streams)) => {
            let load = match load {
                "steady" => Load::Steady,
                _ => Load::Switching,
            };
            intervals::measure(load, count, streams).map(|()| true)
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(1)
        }
    }
}

/// How instances share streams, as the command line says it; a stream each if it says nothing.
fn streams_of(words: &[&str]) -> Option<Streams> {
    match words {
        [] => Some(Streams::PerInstance),
        [word] => Streams::from_str(word, false).ok(),
        _ => None,
    }
}

/// The checkout that this was built from.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
