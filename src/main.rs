//! The program `lifestreams`: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    lifestreams::cli::main()
}
