//! Options and commands, as the command line itself defines them.

use anyhow::Result;
use clap::{Arg, Command};
use lifestreams::cli;

use crate::documents::markdown;

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

/// What `--help` says of the window's options, and of each command's that the window does not have.
pub(crate) fn help() -> String {
    let all = command_line();
    let said = |it: &Arg| (it.get_id().clone(), it.get_help().map(ToString::to_string));
    let usual: Vec<_> = all.get_arguments().map(said).collect();
    let mut text = block(
        all.clone()
            .after_help("")
            .mut_subcommands(|it| it.hide(true)),
    );
    for command in own(&all) {
        for part in [command].into_iter().chain(own(command)) {
            let command = part.clone().mut_args(|it| {
                let is_hidden = it.is_hide_set() || usual.contains(&said(&it));
                it.hide(is_hidden)
            });
            if command.get_arguments().any(|it| !it.is_hide_set()) {
                text += &format!("\n{}", block(command));
            }
        }
    }
    text
}

fn block(command: Command) -> String {
    let help = command.term_width(100).render_help().to_string();
    let lines: Vec<_> = help.trim_end().lines().map(str::trim_end).collect();
    format!("```text\n{}\n```\n", lines.join("\n"))
}
