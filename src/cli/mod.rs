//! The command line: what people type, and one module for each command that has no window.

mod bench;
mod devices;
mod documents;
mod failure;
mod headless;
mod lesson;
mod options;
mod readme;
mod run;
mod setup;
mod shell;
mod snapshot;
mod text;
mod verify;
mod window;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;

use crate::app::terminal::LogWriter;
pub use documents::documents;
use options::{Cli, Command};

/// Parses the arguments and does what they ask for; errors are printed once, here.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let (asked, usual) = cli.connections();
    platform::set_connections(asked, usual);
    set_up_log();
    let done = match cli.command {
        None => window::main(&cli.common, &cli.window),
        Some(Command::Run(arguments)) => run::main(&arguments),
        Some(Command::Snapshot(arguments)) => snapshot::main(&arguments),
        Some(Command::Lesson(arguments)) => lesson::main(&arguments),
        Some(Command::Bench(arguments)) => bench::main(&arguments),
        Some(Command::Verify(arguments)) => verify::main(&arguments),
        Some(Command::Devices(arguments)) => devices::main(&arguments),
        Some(Command::Completions { shell }) => shell::completions(shell),
        Some(Command::Man { folder }) => shell::man(folder.as_deref()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            text::say(&format!("{error:#}"));
            failure::exit_code(&error)
        }
    }
}

/// Warnings go to stderr; `LIFESTREAMS_LOG=debug` shows more.
fn set_up_log() {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_env("LIFESTREAMS_LOG")
        .unwrap_or_else(|_| EnvFilter::new("error,lifestreams=warn"));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(LogWriter::default)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        .try_init();
}
