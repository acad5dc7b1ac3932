//! The program `lifestreams`: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    platform::quieten_vulkan();
    platform::survive_file_size_limit();
    lifestreams::cli::main()
}
