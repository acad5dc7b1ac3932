//! Options and commands, as the command line itself defines them.

use anyhow::Result;
use clap::{Arg, Command};
use lifestreams::cli::command_line;

use crate::documents::markdown;

/// The commands, a line each.
pub(crate) fn commands() -> Result<String> {
    let mut rows = Vec::new();
    let all = command_line();
    for command in own(&all) {
        let parts: Vec<&Command> = own(command).collect();
        if parts.is_empty() {
            rows.push([format!("`{}`", usage(command)), about(command)]);
        }
        for part in parts {
            let usage = format!("`{} {}`", command.get_name(), usage(part));
            rows.push([usage, about(part)]);
        }
    }
    markdown(&["Command", "What it does"], rows)
}

fn about(command: &Command) -> String {
    command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// Its subcommands but for `help`.
fn own(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

/// A command's name and what must or may follow it.
fn usage(command: &Command) -> String {
    let mut text = command.get_name().to_owned();
    for argument in command.get_positionals() {
        let name = values_of(argument);
        if argument.is_required_set() {
            text += &format!(" {name}");
        } else {
            text += &format!(" [{name}]");
        }
    }
    text
}

/// The window's options, a table for each group.
pub(crate) fn of_the_window() -> Result<String> {
    let all = command_line();
    let mut groups: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for argument in all.get_arguments().filter(|it| is_shown(it)) {
        let heading = argument.get_help_heading().unwrap_or("Options");
        match groups.iter_mut().find(|(of, _)| *of == heading) {
            Some((_, arguments)) => arguments.push(argument),
            None => groups.push((heading, vec![argument])),
        }
    }
    tables(groups)
}

/// The options of commands, except those that the window has too.
pub(crate) fn of_commands() -> Result<String> {
    let all = command_line();
    let identity = |it: &Arg| {
        (
            it.get_long().map(String::from),
            it.get_help().map(ToString::to_string),
        )
    };
    let of_window: Vec<_> = all.get_arguments().map(identity).collect();
    let groups = own(&all).map(|command| {
        let own = command.get_arguments().filter(|it| is_shown(it));
        let new = own.filter(|it| !of_window.contains(&identity(it)));
        (command.get_name(), new.collect())
    });
    tables(groups.filter(|(_, new): &(_, Vec<&Arg>)| !new.is_empty()))
}

fn is_shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version")
}

/// A table of options below each heading.
fn tables<'a>(groups: impl IntoIterator<Item = (&'a str, Vec<&'a Arg>)>) -> Result<String> {
    let heads = ["Option", "What it does", "Default"];
    let mut text = String::new();
    for (heading, arguments) in groups {
        let rows = arguments.into_iter().map(row);
        text += &format!("\n### {heading}\n\n{}", markdown(&heads, rows)?);
    }
    Ok(text.trim_start().to_owned())
}

/// The option, what it does, and its default.
fn row(argument: &Arg) -> [String; 3] {
    let help = argument.get_help().map(ToString::to_string);
    let mut help = help.unwrap_or_default();
    let stated = help.split_once(" [default: ");
    let stated =
        stated.map(|(help, stated)| (help.to_owned(), stated.trim_end_matches(']').to_owned()));
    let values = argument.get_default_values().iter();
    let values = values.map(|value| format!("`{}`", value.to_string_lossy()));
    let mut default = values.collect::<Vec<_>>().join(", ");
    if let Some(stated) = stated {
        (help, default) = stated;
    }
    if matches!(&default[..], "" | "`false`") {
        default = "–".into();
    }
    let takes_values = argument.get_action().takes_values();
    let possible = argument.get_possible_values().into_iter();
    let possible = possible.filter(|value| takes_values && !value.is_hide_set());
    let names: Vec<String> = possible
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !names.is_empty() {
        help += &format!(": {}", names.join(", "));
    }
    // A bar would end the cell.
    [usage_of(argument), help, default].map(|cell| cell.replace('|', "\\|"))
}

fn usage_of(argument: &Arg) -> String {
    let value = if argument.get_action().takes_values() {
        values_of(argument)
    } else {
        String::new()
    };
    let name = match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => return format!("`{value}`"),
    };
    format!("`{}`", format!("{name} {value}").trim_end())
}

fn values_of(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(" ")
}
