//! What was probably meant, where the parser itself has nothing to propose.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::options::command_line;
use engine::kernels;
use life::{RuleAndTorus, Shelved, Size};

/// What to type for other names of options.
const SYNONYMS: [(&str, &[&str]); 13] = [
    ("--pace", &["--speed", "--fps", "--rate"]),
    ("--instances", &["--lattices", "--panels", "--count"]),
    ("--size", &["--width", "--height"]),
    ("--device cuda", &["--gpu", "--cuda"]),
    ("--device cpu", &["--cpu"]),
    ("--display terminal", &["--terminal"]),
    ("--display window", &["--window"]),
    ("--display none", &["--headless"]),
    ("--monitor 0", &["--fullscreen"]),
    ("--pattern", &["--file", "--open"]),
    ("--session", &["--load"]),
    ("--generations", &["--steps"]),
    ("--colour-by", &["--color"]),
];

/// The error, with what was probably meant by these words.
pub(super) fn with_tip(error: clap::Error, words: &[String]) -> clap::Error {
    let mut all = command_line();
    match tip(&error, &all, words) {
        Some(tip) => all.error(error.kind(), tip),
        None => error,
    }
}

fn tip(error: &clap::Error, all: &Command, words: &[String]) -> Option<String> {
    let typed = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    };
    let subcommand = typed(ContextKind::InvalidSubcommand);
    let word = match error.kind() {
        ErrorKind::ArgumentConflict => {
            let command = subcommand?;
            return Some(format!(
                "options stand behind the command: lifestreams {command} OPTIONS"
            ));
        }
        ErrorKind::InvalidSubcommand => subcommand?,
        ErrorKind::UnknownArgument => typed(ContextKind::InvalidArg)?,
        _ => return None,
    };
    let command = words.iter().find_map(|word| all.find_subcommand(word));
    let meant = meant(word, command.unwrap_or(all))?;
    Some(format!(
        "there is no '{word}' here; did you mean '{meant}'?"
    ))
}

fn has(command: &Command, option: &str) -> bool {
    let name = option.trim_start_matches("--").split(' ').next();
    let mut arguments = command.get_arguments();
    arguments.any(|it| it.get_long() == name && !it.is_hide_set())
}

/// The option of a command for which this was typed, or that this is probably a value of.
fn meant(word: &str, command: &Command) -> Option<String> {
    let ends_in = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let synonym = SYNONYMS.iter().find(|(_, names)| names.contains(&word));
    if let Some((known, _)) = synonym {
        return has(command, known).then(|| known.to_string());
    }
    if word.starts_with('-') {
        return None; // though rules have such names
    }
    let values = [
        ("--generations", word.parse::<u64>().is_ok()),
        ("--kernel", kernels::find(word).is_some()),
        ("--size", word.parse::<Size>().is_ok()),
        ("--pattern", Shelved::find(word).is_some()),
        ("--rule", word.parse::<RuleAndTorus>().is_ok()),
        ("--session", ends_in(&[".json"])),
        ("--record", ends_in(&[".gif"])),
        ("--output", ends_in(&[".png"])),
        ("--pattern", word.contains(['.', '/'])),
    ];
    let fits = |&(option, is_value): &(&str, bool)| is_value && has(command, option);
    let (option, _) = values.into_iter().find(fits)?;
    Some(format!("{option} {word}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_probably_meant_is_proposed() {
        for (line, tip) in [
            ("gosper-gun", "did you mean '--pattern gosper-gun'?"),
            ("old.json", "'--session old.json'"),
            ("B36/S23", "'--rule B36/S23'"),
            ("run 100", "'--generations 100'"),
            ("snapshot a.png", "'--output a.png'"),
            ("--speed -1", "did you mean '--pace'?"),
            ("run -g 1 --gpu 0", "'--device cuda'"),
            ("devices g.rle", "unexpected argument"),
            ("--pattern x run", "lifestreams run OPTIONS"),
            ("--instance 4", "'--instances'"),
            ("--maze 4", "unexpected argument '--maze'"),
        ] {
            let words: Vec<String> = line.split(' ').map(Into::into).collect();
            let typed = std::iter::once("lifestreams").chain(line.split(' '));
            let error = command_line().try_get_matches_from(typed).unwrap_err();
            let said = with_tip(error, &words).to_string();
            assert!(said.contains(tip), "{line}: {said}");
        }
        let all = command_line();
        for (known, _) in SYNONYMS {
            let mut commands = std::iter::once(&all).chain(all.get_subcommands());
            assert!(commands.any(|command| has(command, known)), "{known}");
        }
    }
}
