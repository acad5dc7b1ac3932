//! The program `lifestreams`: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    platform::quieten_vulkan();
    lifestreams::cli::main()
}
