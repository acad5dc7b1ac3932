//! Options and commands, as the command line itself defines them.

use anyhow::{Result, ensure};
use clap::{Arg, Command};
use lang::Language;
use lifestreams::cli::command_line;

use crate::text::{Both, Table, label};

/// The commands, a line each.
pub(crate) fn commands() -> Result<String> {
    let mut table =
        Table::new([Both("Command", "命令"), Both("What it does", "作用")].map(Both::get));
    let all = command_line();
    for command in own(&all) {
        let parts: Vec<&Command> = own(command).collect();
        if parts.is_empty() {
            table.row([format!("`{}`", usage(command)), about(command)]);
        }
        for part in parts {
            let usage = format!("`{} {}`", command.get_name(), usage(part));
            table.row([usage, about(part)]);
        }
    }
    table.markdown()
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    translated(&about.unwrap_or_default())
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
    let mut text = String::new();
    for (heading, arguments) in groups {
        text += &format!("\n### {}\n\n{}", translated(heading), table(&arguments)?);
    }
    Ok(text.trim_start().to_owned())
}

/// The options of commands, except those that the window has too.
pub(crate) fn of_commands() -> Result<String> {
    let all = command_line();
    let help = |argument: &Arg| argument.get_help().map(ToString::to_string);
    let of_window: Vec<_> = all
        .get_arguments()
        .map(|it| (it.get_long(), help(it)))
        .collect();
    let mut text = String::new();
    for command in own(&all) {
        let own = command.get_arguments().filter(|it| is_shown(it));
        let new = own.filter(|it| !of_window.contains(&(it.get_long(), help(it))));
        let new: Vec<&Arg> = new.collect();
        if !new.is_empty() {
            text += &format!("\n### {}\n\n{}", command.get_name(), table(&new)?);
        }
    }
    ensure!(!text.is_empty(), "no command has an option");
    Ok(text.trim_start().to_owned())
}

fn is_shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version")
}

fn table(arguments: &[&Arg]) -> Result<String> {
    let heads = [
        Both("Option", "选项"),
        Both("What it does", "作用"),
        Both("Default", "默认"),
    ];
    let mut table = Table::new(heads.map(Both::get));
    for argument in arguments {
        let help = argument.get_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let (help, stated) = match help.split_once(" [default: ") {
            Some((help, stated)) => (help, Some(stated.trim_end_matches(']'))),
            None => (help.as_str(), None),
        };
        let values = argument.get_default_values().iter();
        let values = values.map(|value| format!("`{}`", value.to_string_lossy()));
        let default = match stated {
            Some(stated) => translated(stated),
            None => values.collect::<Vec<_>>().join(", "),
        };
        let default = match default.as_str() {
            "" | "`false`" => "–".to_owned(),
            _ => default,
        };
        let possible = argument.get_possible_values();
        let possible = possible.iter().filter(|value| !value.is_hide_set());
        let names: Vec<String> = possible
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let is_flag = !argument.get_action().takes_values();
        let help = if names.is_empty() || is_flag {
            translated(help)
        } else {
            format!(
                "{}{}{}",
                translated(help),
                Both(": ", "：").get(),
                names.join(", ")
            )
        };
        // A bar would end the cell.
        table.row([usage_of(argument), help, default].map(|cell| cell.replace('|', "\\|")));
    }
    table.markdown()
}

/// A text of `--help` in the documents' language: from the program's catalogue, else from the
/// documents' own labels.
fn translated(text: &str) -> String {
    match (lang::language(), lang::translated(text)) {
        (Language::English, _) => text.to_owned(),
        (_, Some(text)) => text.to_owned(),
        (_, None) => label(text),
    }
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
