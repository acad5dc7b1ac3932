//! The command line: what people type, and one module for each command that has no window.

mod bench;
#[cfg(test)]
mod catalogue_tests;
mod config;
mod devices;
mod failure;
mod headless;
mod lesson;
mod options;
mod patterns;
mod record;
mod run;
mod setup;
mod shell;
mod snapshot;
mod text;
mod verify;
mod window;

use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;

pub use bench::{Origin, Record, Row, Table};
use lang::{Language, tr};
pub use options::command_line;
#[cfg(test)]
pub(crate) use options::option_texts;
use options::{Cli, Command, ConfigCommand};
use terminal::LogWriter;

/// Parses the arguments and does what they ask for; errors are printed once, here.
pub fn main() -> ExitCode {
    let (cli, matches) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => {
            text::say(&format!("{error:#}"));
            return failure::exit_code(&error);
        }
    };
    if !cli.prints_json() {
        lang::set(cli.lang.unwrap_or_else(Language::by_locale));
    }
    let (requested, usual) = cli.connections();
    platform::set_connections(requested, usual);
    set_up_log();
    say_what_is_ignored(&matches);
    let done = match cli.command {
        None => window::main(&cli.common, &cli.window),
        Some(Command::Run(arguments)) => run::main(&arguments),
        Some(Command::Snapshot(arguments)) => snapshot::main(&arguments),
        Some(Command::Lesson(arguments)) => lesson::main(&arguments),
        Some(Command::Bench(arguments)) => bench::main(&arguments),
        Some(Command::Verify(arguments)) => verify::main(&arguments),
        Some(Command::Devices(arguments)) => devices::main(&arguments),
        Some(Command::Patterns) => patterns::main(),
        Some(Command::Completions { shell }) => shell::completions(shell),
        Some(Command::Man { folder }) => shell::man(folder.as_deref()),
        Some(Command::Config { what }) => match what {
            None | Some(ConfigCommand::Show) => config::show(),
            Some(ConfigCommand::Path) => config::show_path(),
            Some(ConfigCommand::Save(_)) => {
                let save = matches.subcommand_matches("config");
                let save = save.and_then(|config| config.subcommand_matches("save"));
                save.map_or(Ok(()), config::save)
            }
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            text::say(&format!("{error:#}"));
            failure::exit_code(&error)
        }
    }
}

/// The command line, with the person's settings where nothing is typed. What is about the settings
/// themselves, and help, must work whatever stands in their file.
fn parse() -> anyhow::Result<(Cli, clap::ArgMatches)> {
    let bare = options::command_line();
    let first = std::env::args_os().nth(1);
    let about =
        first.is_some_and(|word| word == "config" || word == "man" || word == "completions");
    let command = if about {
        bare
    } else {
        config::with_settings(bare)?
    };
    let matches = command
        .try_get_matches()
        .unwrap_or_else(|error| refuse(with_sensible_tips(error)));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| refuse(error));
    Ok((cli, matches))
}

/// Takes away what the parser proposes where it is far from what was typed, and says where options of
/// a command belong.
fn with_sensible_tips(mut error: clap::Error) -> clap::Error {
    for (typed, proposed) in [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ] {
        let near = |typed: &ContextValue, proposed: &ContextValue| {
            let all = |value: &ContextValue| match value {
                ContextValue::String(one) => vec![one.clone()],
                ContextValue::Strings(several) => several.clone(),
                _ => Vec::new(),
            };
            let proposed = all(proposed);
            let is_near = |typed: &String| proposed.iter().any(|it| life::is_near(typed, it));
            all(typed).iter().any(is_near)
        };
        if let (Some(requested), Some(known)) = (error.get(typed), error.get(proposed))
            && !near(requested, known)
        {
            error.remove(proposed);
            error.remove(ContextKind::Usage); // it is that of what was proposed
        }
    }
    if matches!(error.get(ContextKind::Suggested), Some(ContextValue::StyledStrs(tips)) if tips.is_empty())
    {
        error.remove(ContextKind::Suggested); // it would be an empty line
    }
    if let (ErrorKind::ArgumentConflict, Some(ContextValue::String(command))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        let tip = format!("options stand behind the command: lifestreams {command} OPTIONS");
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// Prints the argument parser's error and exits. Control characters in it are escaped.
fn refuse(error: clap::Error) -> ! {
    let obeyed = |word: std::ffi::OsString| word.to_string_lossy().contains(char::is_control);
    if !std::env::args_os().any(obeyed) {
        error.exit(); // in colours, which are a terminal's too
    }
    let sentence = error.to_string();
    // Where stderr is closed there is nobody left to tell.
    let _ = write!(std::io::stderr(), "{}", text::printable(&sentence));
    std::process::exit(error.exit_code())
}

/// Warns about options that have no effect in combination with the others.
fn say_what_is_ignored(matches: &clap::ArgMatches) {
    let matches = match matches.subcommand() {
        None => matches,
        Some(("run" | "snapshot", of)) => of,
        Some(_) => return,
    };
    let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    for soup in ["seed", "density"] {
        if typed("pattern") && typed(soup) {
            text::say(&tr!(
                "--{soup} has no effect with --pattern, which sets the start",
                soup = soup
            ));
        }
    }
}

/// The crates of this program, whose warnings are shown.
const OWN_CRATES: [&str; 11] = [
    "app",
    "engine",
    "lang",
    "lesson",
    "life",
    "lifestreams",
    "model",
    "session",
    "terminal",
    "view",
    "window",
];

/// Warnings go to stderr; `LIFESTREAMS_LOG=debug` shows more, and `lifestreams=debug` within it more
/// of this program alone.
fn set_up_log() {
    use tracing_subscriber::EnvFilter;
    let requested = std::env::var("LIFESTREAMS_LOG").ok();
    let filter = requested
        .and_then(|requested| EnvFilter::try_new(of_all_crates(&requested)).ok())
        .unwrap_or_else(|| EnvFilter::new(of_all_crates("error,lifestreams=warn")));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(LogWriter::default)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        .try_init();
}

/// A log filter in which `lifestreams=LEVEL` stands for each crate of this program.
fn of_all_crates(filter: &str) -> String {
    let expanded = |directive: &str| match directive.strip_prefix("lifestreams=") {
        None => directive.to_owned(),
        Some(level) => OWN_CRATES.map(|name| format!("{name}={level}")).join(","),
    };
    filter
        .split(',')
        .map(expanded)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        let matches = options::command_line().try_get_matches_from(line.split(' '));
        with_sensible_tips(matches.unwrap_err()).to_string()
    }

    #[test]
    fn only_what_was_probably_meant_is_proposed() {
        for (line, near) in [
            ("lifestreams --instance 4", "'--instances'"),
            ("lifestreams --kernel bitz", "'bits'"),
            ("lifestreams snapshots", "'snapshot'"),
        ] {
            let said = refused(line);
            assert!(said.contains("similar") && said.contains(near), "{said}");
        }
        for line in ["lifestreams --open x", "lifestreams nosuch"] {
            let said = refused(line);
            assert!(!said.contains("similar"), "{said}");
            assert!(!said.contains("--stop-when-still"), "{said}");
        }
    }

    #[test]
    fn options_before_a_command_are_shown_their_place() {
        let said = refused("lifestreams --pattern x run");
        let remedy = "tip: options stand behind the command: lifestreams run OPTIONS";
        assert!(said.contains(remedy), "{said}");
    }
}
