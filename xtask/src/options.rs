//! Options and commands, as the command line itself defines them.

use anyhow::Result;
use clap::{Arg, Command};
use lifestreams::cli;

use crate::documents::{chapters, markdown};

/// The command line, whose arguments know how they are written.
fn command_line() -> Command {
    let mut command = cli::command_line();
    command.build();
    command
}

/// The commands, a line each.
pub(crate) fn commands() -> Result<String> {
    let mut rows = Vec::new();
    let mut add = |start: &str, command: &Command| {
        let mut usage = format!("{start}{}", command.get_name());
        for argument in command.get_positionals() {
            usage += &format!(" {argument}");
        }
        let about = command.get_about().map(ToString::to_string);
        rows.push([format!("`{usage}`"), about.unwrap_or_default()]);
    };
    for command in own(&command_line()) {
        if own(command).next().is_none() {
            add("", command);
        }
        let start = format!("{} ", command.get_name());
        own(command).for_each(|part| add(&start, part));
    }
    markdown(&["Command", "What it does"], rows)
}

/// Its subcommands but for `help`.
fn own(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

/// The window's options, a table for each group.
pub(crate) fn of_the_window() -> Result<String> {
    let all = command_line();
    let heading = |it: &Arg| it.get_help_heading().unwrap_or("Options").to_owned();
    tables(all.get_arguments().map(|it| (heading(it), it)))
}

/// The options of commands, except those that the window has too.
pub(crate) fn of_commands() -> Result<String> {
    let all = command_line();
    let rows: Vec<_> = all.get_arguments().map(row).collect();
    let of = |command| {
        let arguments = Command::get_arguments(command);
        arguments.map(|it| (command.get_name().to_owned(), it))
    };
    tables(
        own(&all)
            .flat_map(of)
            .filter(|(_, it)| !rows.contains(&row(it))),
    )
}

/// A table of options below each heading.
fn tables<'a>(arguments: impl Iterator<Item = (String, &'a Arg)>) -> Result<String> {
    let mut tables: Vec<(String, Vec<[String; 2]>)> = Vec::new();
    for (heading, argument) in arguments {
        if argument.is_hide_set() || matches!(argument.get_id().as_str(), "help" | "version") {
            continue;
        }
        match tables.iter_mut().find(|(of, _)| *of == heading) {
            Some((_, rows)) => rows.push(row(argument)),
            None => tables.push((heading, vec![row(argument)])),
        }
    }
    chapters("###", &["Option", "What it does"], tables)
}

/// The option, and what it does, with its values and its default as `--help` has them.
fn row(argument: &Arg) -> [String; 2] {
    let help = argument.get_help().map(ToString::to_string);
    let mut help = help.unwrap_or_default();
    if argument.get_action().takes_values() {
        let possible = argument.get_possible_values().into_iter();
        let possible = possible.filter(|value| !value.is_hide_set());
        let possible: Vec<_> = possible.map(|it| it.get_name().to_owned()).collect();
        let default = argument.get_default_values().iter();
        let default: Vec<_> = default
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        for (what, values) in [("default", default), ("possible values", possible)] {
            if !values.is_empty() {
                help += &format!(" [{what}: {}]", values.join(", "));
            }
        }
    }
    let short = argument.get_short().map(|letter| format!("-{letter}, "));
    let usage = format!("`{}{argument}`", short.unwrap_or_default());
    // A bar would end the cell.
    [usage, help].map(|cell| cell.replace('|', "\\|"))
}
