//! The command line: what people type, and one module for each command that has no window.

mod bench;
mod config;
mod devices;
mod kernel;
mod lecture;
mod lesson;
mod options;
mod round;
mod run;
mod setup;
mod snapshot;
mod text;
mod window;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

pub use bench::measure::{Record, Row};
use lang::Language;
pub use options::command_line;
use options::{Cli, Command, ConfigCommand};
use terminal::LogWriter;
use text::BadArguments;
pub use text::pivot;

/// The Chinese of every text.
const CATALOGUE: &str = include_str!("../../assets/lang/zh.toml");

/// Parses the arguments and does what they ask for; errors are printed once, here.
pub fn main() -> ExitCode {
    lang::install_catalogue(CATALOGUE);
    lang::set(Language::by_locale());
    let (cli, matches, saved) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => {
            text::say(&text::in_words(&error));
            return text::exit_code(&error);
        }
    };
    if prints_json(&matches) {
        lang::set(Language::English);
    } else {
        cli.lang.into_iter().for_each(lang::set);
    }
    let (requested, usual) = cli.connections();
    platform::set_connections(requested, usual);
    set_up_log();
    setup::say_what_is_ignored(&matches);
    let done = match cli.command {
        None => window::main(&cli.common, &cli.window, None, lecture::for_a_list()),
        Some(Command::Run(arguments)) => run::main(&arguments),
        Some(Command::Snapshot(arguments)) => snapshot::main(&arguments),
        Some(Command::Lesson(arguments)) => lesson::main(&arguments),
        Some(Command::Lecture(arguments)) => lecture::main(&arguments),
        Some(Command::Round(command)) => round::main(&command),
        Some(Command::Exercise(command)) => round::exercise(&command),
        Some(Command::Bench(arguments)) => bench::main(&arguments),
        Some(Command::Verify { small, device }) => devices::verify(small, device),
        Some(Command::Kernel(what)) => kernel::main(&what),
        Some(Command::Devices { json }) => devices::main(json),
        Some(Command::Patterns) => devices::patterns(),
        Some(Command::Completions { shell }) => options::completions(shell),
        Some(Command::Man { folder }) => options::man(folder.as_deref()),
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
            let mut why = text::in_words(&error);
            if error.is::<BadArguments>() {
                why = config::with_saved(why, &matches, &saved);
            }
            text::say(&why);
            text::exit_code(&error)
        }
    }
}

/// Whether the output is JSON, which is always in English.
fn prints_json(matches: &clap::ArgMatches) -> bool {
    let here = matches.try_get_one("json");
    here.is_ok_and(|json| json == Some(&true))
        || matches.subcommand().is_some_and(|(_, it)| prints_json(it))
}

/// The command line, with the saved options where nothing is typed, and these. What is about the settings
/// themselves, and help, must work whatever stands in their file.
fn parse() -> anyhow::Result<(Cli, clap::ArgMatches, BTreeMap<String, String>)> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let first = typed.get(1).and_then(|word| word.to_str());
    let saved = match first {
        Some("config" | "man" | "completions") => BTreeMap::new(),
        _ => config::saved()?,
    };
    let command = config::with_defaults(command_line(), &saved);
    let matches = command
        .clone()
        .try_get_matches_from(&typed)
        .unwrap_or_else(|error| {
            // The parser's sentences repeat the words, so it gets them once more with control characters
            // escaped. It only accepts them then if it could not read them at all, as no UTF-8.
            let escaped = typed.iter().map(life::shown);
            command
                .try_get_matches_from(escaped)
                .err()
                .unwrap_or(error)
                .exit()
        });
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    Ok((cli, matches, saved))
}

/// What is logged if nothing else is asked for: warnings of this program's crates, errors of all.
const USUAL_LOG: &str = "error,engine=warn,lang=warn,lesson=warn,life=warn,lifestreams=warn,\
                         session=warn,terminal=warn,ui=warn,window=warn,workshop=warn";

/// The log goes to stderr; `LIFESTREAMS_LOG=debug` shows more.
fn set_up_log() {
    let requested = std::env::var("LIFESTREAMS_LOG").ok();
    let filter = requested.as_deref().unwrap_or(USUAL_LOG);
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(LogWriter::default)
        .with_ansi(terminal::takes_escape_codes(&std::io::stderr()))
        .without_time()
        .with_target(false)
        .try_init();
}
