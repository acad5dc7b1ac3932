//! The settings file: default options, in the platform's configuration folder. Only `config save`
//! writes it. Options on the command line take precedence over it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use directories::ProjectDirs;
use toml::{Spanned, Value};

use super::options::command_line;
use super::text::{BadArguments, in_words, print, print_text, unreadable};
use lang::{Message, message};
use life::{ReadError, read_regular_file, write_atomically};

/// Options that apply to a single run and cannot be saved.
const NOT_KEPT: [&str; 10] = [
    "session",
    "trust-kernel",
    "record",
    "pattern",
    "kernel-file",
    "round",
    "frames",
    "rounds",
    "help",
    "version",
];

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// A setting, and its line in the file.
#[derive(Debug)]
struct Setting {
    name: String,
    value: String,
    line: usize,
}

/// Where the file is, or would be.
fn path() -> Result<PathBuf> {
    let folders = ProjectDirs::from("", "", "lifestreams").ok_or_else(|| {
        BadArguments("there is no folder for settings here: HOME is not set".into())
    })?;
    Ok(folders.config_dir().join("config.toml"))
}

/// The command line with the file's settings as defaults, and a note on each that this release does
/// not know. Unchanged if there is no file.
///
/// # Errors
/// The first thing that is wrong in the file, or that `check` finds to conflict with what is typed,
/// with its line.
pub(super) fn with_settings(
    check: impl Fn(Command) -> Result<()>,
) -> Result<(Command, Vec<Message>)> {
    let Ok(path) = path() else {
        return Ok((command_line(), Vec::new()));
    };
    let Some(text) = text_of(&path)? else {
        return Ok((command_line(), Vec::new()));
    };
    let path = path.display();
    let at = |line: usize, why: String| BadArguments(format!("{path}, line {line}: {why}"));
    let (settings, unknown) = settings_of(&text).map_err(|(line, why)| at(line, why))?;
    let checked = |lines: usize| check(apply(command_line(), &settings[..lines]));
    if let Err(why) = checked(settings.len()) {
        // A line may only be valid with one behind it, such as a kernel with a size. Where none is
        // valid, what is typed conflicts by itself.
        let valid = (0..settings.len())
            .rev()
            .find(|&lines| checked(lines).is_ok());
        if let Some(Setting { name, value, line }) = valid.map(|lines| &settings[lines]) {
            let why = in_words(&why);
            let why = format!("the saved --{name} {value} cannot be used here: {why}");
            return Err(at(*line, why).into());
        }
    }
    let note = |Setting { name, line, .. }: &Setting| {
        message!(
            "{path}, line {line}: --{name} is not an option that can be saved, so it is ignored"
        )
    };
    let notes = unknown.iter().map(note).collect();
    Ok((apply(command_line(), &settings), notes))
}

/// The text of the file, if there is one.
fn text_of(path: &Path) -> Result<Option<String>> {
    match read_regular_file(path, MAX_BYTES) {
        Ok(bytes) => Ok(Some(
            String::from_utf8(bytes).map_err(|error| unreadable(path, error))?,
        )),
        Err(ReadError::Empty) => Ok(Some(String::new())),
        Err(ReadError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, error).into()),
    }
}

/// The settings of a file in their order: those whose options can be saved, with valid values, and the
/// others.
fn settings_of(text: &str) -> Result<(Vec<Setting>, Vec<Setting>), (usize, String)> {
    let line_of = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let table = toml::from_str::<BTreeMap<String, Spanned<Value>>>(text);
    let table = table.map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (line_of(at), error.message().to_owned())
    })?;
    let command = command_line();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (name, value) in table {
        let line = line_of(value.span().start);
        let Some(value) = option_value(value.get_ref()) else {
            return Err((line, format!("{name} must be a text or a number")));
        };
        let mut longs = command.get_arguments().filter_map(clap::Arg::get_long);
        let is_known = longs.any(|long| long == name && !NOT_KEPT.contains(&long));
        let settings = if is_known { &mut known } else { &mut unknown };
        settings.push(Setting { name, value, line });
    }
    known.sort_by_key(|setting| setting.line);
    for Setting { name, value, line } in &known {
        let words = ["lifestreams".to_owned(), format!("--{name}={value}")];
        let tried = command.clone().try_get_matches_from(words);
        tried.map_err(|error| (*line, in_a_line(&error)))?;
    }
    Ok((known, unknown))
}

/// The command line with these defaults.
fn apply(mut command: Command, settings: &[Setting]) -> Command {
    for Setting { name, value, .. } in settings {
        let set = |command: Command| -> Command {
            let is_it = |argument: &clap::Arg| argument.get_long() == Some(name.as_str());
            let id = command.get_arguments().find(|argument| is_it(argument));
            match id.map(|argument| argument.get_id().clone()) {
                Some(id) => command.mut_arg(id, |argument| argument.default_value(value.clone())),
                None => command,
            }
        };
        for part in ["run", "snapshot", "lecture"] {
            command = command.mut_subcommand(part, set);
        }
        command = set(command);
    }
    command
}

/// What is typed on the command line for a value of a file, if it is a text, a number or a truth value.
pub(super) fn option_value(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(true) => "on".into(),
        Value::Boolean(false) => "off".into(),
        _ => return None,
    })
}

/// What clap says of a value, and what it offers instead.
pub(super) fn in_a_line(error: &clap::Error) -> String {
    use clap::error::{ContextKind, ContextValue};
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let mut line = first.trim_start_matches("error: ").to_owned();
    if let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) {
        line += &format!("; take {}", values.join(", "));
    }
    if let Some(ContextValue::String(near)) = error.get(ContextKind::SuggestedValue) {
        line += &format!("; did you mean '{near}'?");
    }
    line
}

/// Prints where the file is.
pub(super) fn show_path() -> Result<()> {
    print(&path()?.display().to_string())
}

/// Prints the settings file.
pub(super) fn show() -> Result<()> {
    let path = path()?;
    match text_of(&path)? {
        Some(text) => print_text(text.trim_end()),
        None => print(&format!(
            "# no settings; 'lifestreams config save --instances 64' writes {}",
            path.display()
        )),
    }
}

/// Replaces the settings file by the options that were typed.
pub(super) fn save(matches: &ArgMatches) -> Result<()> {
    let path = path()?;
    let typed = typed(matches);
    // An order of one's own needs the script of that run.
    let is_of_a_run = |(name, value): &&(String, String)| {
        NOT_KEPT.contains(&&**name) || (&**name, &**value) == ("order", "own")
    };
    if let Some((name, _)) = typed.iter().find(is_of_a_run) {
        let why = format!("--{name} applies to a single run and cannot be saved");
        return Err(BadArguments(why).into());
    }
    let note = if typed.is_empty() {
        ", without options: all defaults are the program's own"
    } else {
        ""
    };
    let text = as_toml(typed);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| life::SaveError::new(folder, &error))?;
    }
    write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
    print(&format!("saved {}{note}", path.display()))
}

/// A file with these settings.
fn as_toml(settings: impl IntoIterator<Item = (String, String)>) -> String {
    let mut table = toml::Table::new();
    for (name, value) in settings {
        table.insert(name, toml_value(value));
    }
    format!("# Settings of lifestreams: options without their dashes.\n{table}")
}

/// A number where reading it back gives the same text, else a text.
fn toml_value(value: String) -> toml::Value {
    match (value.parse::<i64>(), value.parse::<f64>()) {
        (Ok(number), _) if number.to_string() == value => toml::Value::Integer(number),
        (_, Ok(number)) if number.to_string() == value && value.contains('.') => {
            toml::Value::Float(number)
        }
        _ => toml::Value::String(value),
    }
}

/// The options that were typed, by their long names, with their values as they were typed.
///
/// The matches also have an id for each group that clap makes of a struct of options, and a group
/// has a value source too; only the command line's own arguments are options.
fn typed(matches: &ArgMatches) -> Vec<(String, String)> {
    let command = command_line();
    let pair = |argument: &clap::Arg| {
        let (id, name) = (argument.get_id().as_str(), argument.get_long()?);
        let typed = matches.value_source(id) == Some(ValueSource::CommandLine);
        let value = matches.get_raw(id)?.next().filter(|_| typed)?;
        Some((name.to_owned(), value.to_string_lossy().into_owned()))
    };
    command.get_arguments().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::super::options::Cli;
    use super::*;
    use clap::FromArgMatches as _;

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text: &str| settings_of(text).err().unwrap();
        for (text, line, words) in [
            ("# a\nkernel = \"nope\"\n", 2, "take auto, global"),
            ("kernel = \"bitz\"\n", 1, "did you mean 'bits'?"),
            ("instances = 0\n", 1, "from 1 to"),
            ("instances = 4\ninstances = 5\n", 2, "duplicate"),
            ("a = [\n", 1, ""),
            ("kernel = [1]", 1, "a text or a number"),
        ] {
            let (at, why) = wrong(text);
            assert!(why.contains(words), "{text}: {why}");
            assert_eq!(at, line, "{text}: {why}");
        }
    }

    /// A value of its own, not the default, for each option that can be saved.
    fn value_of(argument: &clap::Arg) -> String {
        let default = argument.get_default_values().first();
        let possible = argument.get_possible_values();
        let others = possible.iter().map(|value| value.get_name());
        if let Some(other) = others
            .rev()
            .find(|name| default.is_none_or(|is| *is != **name))
        {
            return other.into();
        }
        let value = match argument.get_long().unwrap() {
            "instances" => "64",
            "size" => "640x480",
            "rule" => "B36/S23",
            "density" => "0.25",
            "seed" => "18446744073709551615", // more than a TOML integer holds
            "kernel" => "bits",
            "device" => "cuda:1",
            "connections" => "8",
            "generations-per-round" => "7",
            "pace" => "max",
            "block" => "32x8",
            "history-memory" => "0",
            "adapter" => "0007", // a name, though it looks like a number
            "monitor" => "1e3",
            other => panic!("give --{other} a value here: it can be saved"),
        };
        value.into()
    }

    /// Every option of the table that can be saved, as it is typed.
    fn all() -> Vec<(String, String)> {
        let command = command_line();
        let options = command.get_arguments().filter_map(|argument| {
            let name = argument.get_long()?;
            (!NOT_KEPT.contains(&name)).then(|| (name.to_owned(), value_of(argument)))
        });
        options.collect()
    }

    /// What `config save` writes when these options are typed.
    fn saved(options: &[(String, String)]) -> String {
        let words = ["lifestreams", "config", "save"].map(String::from);
        let options = options
            .iter()
            .map(|(name, value)| format!("--{name}={value}"));
        let matches = command_line().try_get_matches_from(words.into_iter().chain(options));
        let matches = matches.unwrap();
        let config = matches.subcommand_matches("config").unwrap();
        as_toml(typed(config.subcommand_matches("save").unwrap()))
    }

    /// Whether the program starts with these settings, in every form in which they mean something,
    /// and has them.
    fn starts(text: &str, options: &[(String, String)]) {
        let (settings, _) = settings_of(text).unwrap_or_else(|why| panic!("{why:?}: {text}"));
        let command = apply(command_line(), &settings);
        for line in [
            "lifestreams",
            "lifestreams run -g 1",
            "lifestreams snapshot -o a.png",
        ] {
            let matches = command.clone().try_get_matches_from(line.split(' '));
            let mut matches = matches.unwrap_or_else(|why| panic!("{line}: {why}: {text}"));
            Cli::from_arg_matches(&matches).unwrap_or_else(|why| panic!("{line}: {why}: {text}"));
            if let Some((_, part)) = matches.remove_subcommand() {
                matches = part;
            }
            let command = command.clone();
            let ids = command.get_arguments().filter_map(|argument| {
                let long = argument.get_long()?;
                let (_, value) = options.iter().find(|(name, _)| name == long)?;
                Some((argument.get_id().clone(), value))
            });
            for (id, value) in ids.filter(|(id, _)| matches.try_contains_id(id.as_str()).is_ok()) {
                let is = matches.get_raw(id.as_str()).and_then(|mut raw| raw.next());
                assert_eq!(is, Some(value.as_ref()), "{line}: --{id} in: {text}");
            }
        }
    }

    #[test]
    fn every_option_that_is_saved_starts_the_program_alone_and_with_all_others() {
        let all = all();
        assert!(all.len() >= 20, "{all:?}");
        for options in all.chunks(1).chain([&all[..]]) {
            let text = saved(options);
            let (settings, unknown) = settings_of(&text).unwrap();
            assert!(unknown.is_empty(), "{unknown:?}");
            let mut read: Vec<_> = settings.into_iter().map(|it| (it.name, it.value)).collect();
            let mut options = options.to_vec();
            read.sort();
            options.sort();
            assert_eq!(read, options, "{text}");
            starts(&text, &options);
        }
    }
}
