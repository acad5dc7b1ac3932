//! What to type instead of a command line that cannot be parsed.

use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::options::command_line;
use engine::kernels;
use life::{RuleAndTorus, Shelved, Size};

/// Other names for options, and what to type for them.
const SYNONYMS: [(&str, &str); 20] = [
    ("speed", "--pace"),
    ("fps", "--pace"),
    ("rate", "--pace"),
    ("lattices", "--instances"),
    ("panels", "--instances"),
    ("count", "--instances"),
    ("width", "--size"),
    ("height", "--size"),
    ("gpu", "--device cuda"),
    ("cuda", "--device cuda"),
    ("cpu", "--device cpu"),
    ("terminal", "--display terminal"),
    ("window", "--display window"),
    ("headless", "--display none"),
    ("fullscreen", "--monitor 0"),
    ("file", "--pattern"),
    ("open", "--pattern"),
    ("load", "--session"),
    ("steps", "--generations"),
    ("color", "--colour-by"),
];

/// Takes away what the parser proposes if it is far from what was typed, and proposes what was
/// probably meant.
pub(super) fn with_sensible_tips(mut error: clap::Error, words: &[String]) -> clap::Error {
    remove_far_proposals(&mut error);
    let command_line = command_line();
    let command = words
        .iter()
        .find_map(|word| command_line.find_subcommand(word));
    let Some(tip) = tip(&error, &command_line, command) else {
        return error;
    };
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::Usage);
    let tips = ContextValue::StyledStrs(vec![tip.into()]);
    error.insert(ContextKind::Suggested, tips);
    error
}

fn remove_far_proposals(error: &mut clap::Error) {
    for (typed, proposed) in [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ] {
        let is_near = |typed: &ContextValue, proposed: &ContextValue| {
            let all = |value: &ContextValue| match value {
                ContextValue::String(one) => vec![one.clone()],
                ContextValue::Strings(several) => several.clone(),
                _ => Vec::new(),
            };
            let (typed, proposed) = (all(typed), all(proposed));
            let bare = |word: &String| word.trim_start_matches('-').to_owned();
            typed.iter().any(|typed| {
                let is_near = |known: &String| life::is_near(&bare(typed), &bare(known));
                proposed.iter().any(is_near)
            })
        };
        if let (Some(requested), Some(known)) = (error.get(typed), error.get(proposed))
            && !is_near(requested, known)
        {
            error.remove(proposed);
            error.remove(ContextKind::Usage); // it is that of what was proposed
        }
    }
    let is_misleading = match error.get(ContextKind::Suggested) {
        // None would be an empty line, and options are no values.
        Some(ContextValue::StyledStrs(tips)) => tips
            .iter()
            .all(|tip| tip.to_string().contains(" as a value")),
        _ => false,
    };
    if is_misleading {
        error.remove(ContextKind::Suggested);
    }
}

/// What was probably meant, as a sentence.
fn tip(error: &clap::Error, all: &Command, command: Option<&Command>) -> Option<String> {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            let command = text(ContextKind::InvalidSubcommand)?;
            Some(format!(
                "options stand behind the command: lifestreams {command} OPTIONS"
            ))
        }
        ErrorKind::InvalidSubcommand if command.is_some_and(|it| it.get_name() == "config") => {
            Some("to save defaults: lifestreams config save --instances 64".into())
        }
        ErrorKind::InvalidSubcommand => instead_of_word(text(ContextKind::InvalidSubcommand)?, ""),
        ErrorKind::UnknownArgument => {
            let typed = text(ContextKind::InvalidArg)?;
            match typed.trim_start_matches('-') {
                word if word.len() == typed.len() => instead_of_word(word, command?.get_name()),
                name => instead_of_option(name, all, command),
            }
        }
        _ => None,
    }
}

/// What to type for a word that is no option, in a command, or in none if its name is empty.
fn instead_of_word(word: &str, command: &str) -> Option<String> {
    let takes_patterns = ["", "run", "snapshot"].contains(&command);
    let ends_in = |ending: &str| {
        let extension = Path::new(word).extension();
        extension.is_some_and(|it| it.eq_ignore_ascii_case(ending))
    };
    let is_file = || word.contains(['.', '/']) || Path::new(word).exists();
    let option = match command {
        "run" if word.parse::<u64>().is_ok() => "--generations",
        "snapshot" if ends_in("png") => "--output",
        "" if ends_in("json") => "--session",
        "" if ["png", "gif", "mp4"].into_iter().any(ends_in) => "--record",
        _ if !takes_patterns => return None,
        "" if lesson::find(word).is_some() => {
            return Some(format!("did you mean 'lifestreams lesson {word}'?"));
        }
        _ if kernels::find(word).is_some() => "--kernel",
        _ if word.parse::<Size>().is_ok() => "--size",
        _ if Shelved::find(word).is_some() => "--pattern",
        _ if word.parse::<RuleAndTorus>().is_ok() => "--rule",
        _ if is_file() => "--pattern",
        _ => return None,
    };
    let command = format!("lifestreams {command}");
    Some(format!(
        "did you mean '{} {option} {word}'?",
        command.trim_end()
    ))
}

/// What to type for an option that this command does not have.
fn instead_of_option(name: &str, all: &Command, command: Option<&Command>) -> Option<String> {
    let has = |command: &Command, name: &str| {
        let is_it = |argument: &clap::Arg| {
            let mut short = [0; 4];
            let short = argument
                .get_short()
                .map(|it| it.encode_utf8(&mut short) as &str);
            !argument.is_hide_set() && (argument.get_long() == Some(name) || short == Some(name))
        };
        command.get_arguments().any(is_it)
    };
    let here = command.unwrap_or(all);
    let instead = SYNONYMS.into_iter().find(|(synonym, _)| *synonym == name);
    let known = instead.map_or(name, |(_, instead)| {
        let option = instead.split(' ').next().unwrap_or(instead);
        option.trim_start_matches('-')
    });
    if let Some((_, instead)) = instead
        && has(here, known)
    {
        return Some(format!("did you mean '{instead}'?"));
    }
    let dashed = match known.len() {
        1 => format!("-{known}"),
        _ => format!("--{known}"),
    };
    if command.is_some() && has(all, known) {
        return Some(format!(
            "{dashed} is an option of 'lifestreams' without a command"
        ));
    }
    let other = all.get_subcommands().find(|other| has(other, known))?;
    let other = other.get_name();
    Some(format!("{dashed} is an option of 'lifestreams {other}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(Into::into).collect();
        let matches = command_line().try_get_matches_from(&words);
        with_sensible_tips(matches.unwrap_err(), &words[1..]).to_string()
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
        for line in [
            "lifestreams --optimise x",
            "lifestreams --threads 4",
            "lifestreams nosuch",
            "lifestreams bench --kernels bits",
        ] {
            let said = refused(line);
            assert!(!said.contains("tip:"), "{said}");
            assert!(!said.contains("--stop-when-still"), "{said}");
        }
    }

    #[test]
    fn options_before_a_command_are_shown_their_place() {
        let said = refused("lifestreams --pattern x run");
        let remedy = "tip: options stand behind the command: lifestreams run OPTIONS";
        assert!(said.contains(remedy), "{said}");
    }

    #[test]
    fn a_word_without_its_option_is_answered_with_what_to_type() {
        for (line, tip) in [
            ("lifestreams g.rle", "'lifestreams --pattern g.rle'"),
            (
                "lifestreams gosper-gun",
                "'lifestreams --pattern gosper-gun'",
            ),
            ("lifestreams old.json", "'lifestreams --session old.json'"),
            ("lifestreams a.gif", "'lifestreams --record a.gif'"),
            ("lifestreams 512x512", "'lifestreams --size 512x512'"),
            ("lifestreams B36/S23", "'lifestreams --rule B36/S23'"),
            ("lifestreams multistep", "'lifestreams --kernel multistep'"),
            ("lifestreams barrier", "'lifestreams lesson barrier'"),
            ("lifestreams run 100", "'lifestreams run --generations 100'"),
            (
                "lifestreams run -g 1 g.rle",
                "'lifestreams run --pattern g.rle'",
            ),
            (
                "lifestreams snapshot a.png",
                "'lifestreams snapshot --output a.png'",
            ),
            (
                "lifestreams config set",
                "lifestreams config save --instances 64",
            ),
        ] {
            let said = refused(line);
            assert!(
                said.contains("tip: ") && said.contains(tip),
                "{line}: {said}"
            );
        }
    }

    #[test]
    fn an_option_by_another_name_or_of_another_command_is_found() {
        for (line, tip) in [
            ("lifestreams --speed -1", "did you mean '--pace'?"),
            ("lifestreams --width 100", "did you mean '--size'?"),
            (
                "lifestreams run -g 1 --gpu 0",
                "did you mean '--device cuda'?",
            ),
            ("lifestreams run --steps 3", "did you mean '--generations'?"),
            (
                "lifestreams --steps 3",
                "--generations is an option of 'lifestreams run'",
            ),
            ("lifestreams -g 3", "-g is an option of 'lifestreams run'"),
            (
                "lifestreams --trace a",
                "--trace is an option of 'lifestreams run'",
            ),
            (
                "lifestreams run -g 1 --rounds 3",
                "'lifestreams' without a command",
            ),
        ] {
            let said = refused(line);
            assert!(said.contains(tip), "{line}: {said}");
        }
    }

    #[test]
    fn what_is_proposed_for_other_names_exists() {
        for (synonym, instead) in SYNONYMS {
            let option = instead.split(' ').next().unwrap();
            let command = command_line();
            let is_it = |argument: &clap::Arg| argument.get_long() == option.strip_prefix("--");
            let mut commands = std::iter::once(&command).chain(command.get_subcommands());
            assert!(
                commands.any(|it| it.get_arguments().any(is_it)),
                "{instead}"
            );
            let is_taken = |argument: &clap::Arg| argument.get_long() == Some(synonym);
            assert!(!command.get_arguments().any(is_taken), "{synonym}");
        }
    }
}
