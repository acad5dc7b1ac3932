//! The settings file: options in the place of the program's own defaults, in the platform's configuration
//! folder. Only `config save` writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use directories::ProjectDirs;
use toml::Value;

use super::options::command_line;
use super::text::{BadArguments, print, print_text, read_text, refuse, say};
use lang::tr;
use life::write_atomically;

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

/// Commands that have the window's options.
const COMMANDS: [&str; 3] = ["run", "snapshot", "lecture"];

/// Options and their values, as they are typed.
type Options = BTreeMap<String, String>;

/// Where the file is, or would be.
fn path() -> Result<PathBuf> {
    let folders = ProjectDirs::from("", "", "lifestreams").ok_or_else(|| {
        BadArguments("there is no folder for settings here: HOME is not set".into())
    })?;
    Ok(folders.config_dir().join("config.toml"))
}

/// The options that are saved.
///
/// # Errors
/// What is wrong in the file.
pub(super) fn saved() -> Result<Options> {
    let Ok(path) = path() else {
        return Ok(Options::new());
    };
    let text = text_of(&path)?.unwrap_or_default();
    let options = options_of(&text, &mut |name| {
        let path = path.display();
        say(&tr!(
            "{path}: --{name} is not an option that can be saved, so it is ignored"
        ));
    });
    Ok(options.map_err(|why| BadArguments(format!("{}: {why}", path.display())))?)
}

/// The text of the file, if there is one.
fn text_of(path: &Path) -> Result<Option<String>> {
    let is_there = path.try_exists().unwrap_or(true);
    Ok(is_there.then(|| read_text(path)).transpose()?)
}

/// The options in a file's text, or what is wrong with them; `ignored` has the names of those that cannot be
/// saved, as of another release.
fn options_of(text: &str, ignored: &mut dyn FnMut(&str)) -> Result<Options, String> {
    let table = text.parse::<toml::Table>();
    let table = table.map_err(|error| error.to_string().replace('\n', " "))?;
    let command = command_line();
    let mut options = Options::new();
    for (name, value) in table {
        let value = option_value(&value);
        let value = value.ok_or_else(|| format!("{name} must be a text or a number"))?;
        let mut longs = command.get_arguments().filter_map(Arg::get_long);
        if longs.any(|long| long == name && !NOT_KEPT.contains(&long)) {
            options.insert(name, value);
        } else {
            ignored(&name);
        }
    }
    let words = options
        .iter()
        .map(|(name, value)| format!("--{name}={value}"));
    let words = std::iter::once("lifestreams".to_owned()).chain(words);
    let tried = command.try_get_matches_from(words);
    tried.map_err(|error| in_a_line(&error))?;
    Ok(options)
}

/// The command line with these defaults.
pub(super) fn with_defaults(command: Command, saved: &Options) -> Command {
    let set = |argument: Arg| match argument.get_long().and_then(|name| saved.get(name)) {
        Some(value) => argument.default_value(value.clone()),
        None => argument,
    };
    let part = |command: Command, name| command.mut_subcommand(name, |it| it.mut_args(set));
    COMMANDS.into_iter().fold(command.mut_args(set), part)
}

/// Adds to what is said of arguments which saved options they met.
pub(super) fn with_saved(why: String, matches: &ArgMatches, saved: &Options) -> String {
    let matches = match matches.subcommand() {
        None => matches,
        Some((name, of)) if COMMANDS.contains(&name) => of,
        Some(_) => return why,
    };
    let is_in_force = |name: &str| {
        let id = name.replace('-', "_");
        matches.try_contains_id(&id).is_ok()
            && matches.value_source(&id) == Some(ValueSource::DefaultValue)
    };
    let options = saved.iter().filter(|(name, _)| is_in_force(name));
    let options: Vec<_> = options
        .map(|(name, value)| format!("--{name} {value}"))
        .collect();
    match path() {
        Ok(path) if !options.is_empty() => {
            let options = options.join(" ");
            tr!("{why} (saved in {path}: {options})", path = path.display())
        }
        _ => why,
    }
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
    let is_of_a_run = |(name, value): &(&String, &String)| {
        NOT_KEPT.contains(&name.as_str()) || (name.as_str(), value.as_str()) == ("order", "own")
    };
    if let Some((name, _)) = typed.iter().find(is_of_a_run) {
        return refuse(format!(
            "--{name} applies to a single run and cannot be saved"
        ));
    }
    let note = if typed.is_empty() {
        ", without options: all defaults are the program's own"
    } else {
        ""
    };
    let table = toml::to_string(&typed)?;
    let text = format!("# Settings of lifestreams: options without their dashes.\n{table}");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| life::SaveError::new(folder, &error))?;
    }
    write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
    print(&format!("saved {}{note}", path.display()))
}

/// The options that were typed, by their long names, with their values as they were typed.
///
/// The matches also have an id for each group that clap makes of a struct of options, and a group
/// has a value source too; only the command line's own arguments are options.
fn typed(matches: &ArgMatches) -> Options {
    let command = command_line();
    let pair = |argument: &Arg| {
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
    fn what_is_wrong_in_the_file_is_named() {
        for (text, words) in [
            ("# a\nkernel = \"nope\"\n", "take auto, global"),
            ("kernel = \"bitz\"\n", "did you mean 'bits'?"),
            ("instances = 0\n", "from 1 to"),
            ("instances = 4\ninstances = 5\n", "at line 2, column 1"),
            ("a = [\n", "at line 1"),
            ("kernel = [1]", "a text or a number"),
        ] {
            let why = options_of(text, &mut |_| {}).unwrap_err();
            assert!(why.contains(words) && !why.contains('\n'), "{text}: {why}");
        }
    }

    /// A value of its own, not the default, for each option that can be saved.
    fn value_of(argument: &Arg) -> String {
        let default = argument.get_default_values().first();
        let possible = argument.get_possible_values();
        let mut others = possible.iter().rev().map(|value| value.get_name());
        if let Some(other) = others.find(|name| default.is_none_or(|is| *is != **name)) {
            return other.into();
        }
        let value = match argument.get_long().unwrap() {
            "instances" => "64",
            "size" => "640x480",
            "rule" => "B36/S23",
            "density" => "0.25",
            "seed" => "18446744073709551615", // more than a TOML integer holds
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

    #[test]
    fn every_option_that_is_saved_is_the_default_of_every_form_of_the_program() {
        let arguments = command_line();
        let all = arguments.get_arguments().filter_map(|argument| {
            let name = argument.get_long()?;
            (!NOT_KEPT.contains(&name)).then(|| (name.to_owned(), value_of(argument)))
        });
        let all: Options = all.collect();
        assert!(all.len() >= 20, "{all:?}");
        let options = all.iter().map(|(name, value)| format!("--{name}={value}"));
        let words = ["lifestreams", "config", "save"].map(String::from);
        let matches = command_line().get_matches_from(words.into_iter().chain(options));
        let save = matches.subcommand_matches("config").unwrap();
        let saved = typed(save.subcommand_matches("save").unwrap());
        assert_eq!(saved, all);
        let text = toml::to_string(&saved).unwrap();
        let read = options_of(&text, &mut |name| panic!("{name} is ignored"));
        assert_eq!(read.unwrap(), all, "{text}");
        let command = with_defaults(command_line(), &all);
        for line in [
            "lifestreams",
            "lifestreams run -g 1",
            "lifestreams snapshot -o a.png",
        ] {
            let mut matches = command.clone().get_matches_from(line.split(' '));
            Cli::from_arg_matches(&matches).unwrap_or_else(|why| panic!("{line}: {why}"));
            if let Some((_, part)) = matches.remove_subcommand() {
                matches = part;
            }
            for (name, value) in &all {
                let id = name.replace('-', "_");
                if matches.try_contains_id(&id).is_ok() {
                    let is = matches.get_raw(&id).and_then(|mut raw| raw.next());
                    assert_eq!(is, Some(value.as_ref()), "{line}: --{name}");
                }
            }
        }
    }
}
