//! What shells and `man` know of the program, made from the same tables as everything else.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use clap_complete::Shell;
use clap_mangen::Man;

use super::options::{EXAMPLES, command_line};
use super::text::print_text;
use life::{SaveError, write_atomically};
use ui::actions::Topic;

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line(), "lifestreams", &mut script);
    print_text(String::from_utf8_lossy(&script).trim_end())
}

/// Prints the manual's page, or writes it and one for each command into a folder.
pub(super) fn man(folder: Option<&Path>) -> Result<()> {
    let Some(folder) = folder else {
        return print_text(String::from_utf8_lossy(&main_page()?).trim_end());
    };
    let failed = |error: std::io::Error| SaveError::new(folder, &error);
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command_line(), folder).map_err(failed)?;
    let path = folder.join("lifestreams.1");
    let page = main_page()?;
    Ok(write_atomically(&path, |out| out.write_all(&page))?)
}

/// The program's own page: as clap makes it, and the keys, exit codes and variables.
fn main_page() -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command_line().after_long_help("").after_help(""));
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_subcommands_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let entry = |page: &mut Vec<u8>, term: &str, text: &str| {
        writeln!(page, ".TP\n\\fB{}\\fR\n{}", roff(term), roff(text))
    };
    writeln!(page, ".SH KEYS")?;
    for topic in Topic::ALL {
        writeln!(page, ".SS {}", roff(topic.title()))?;
        for row in topic.rows() {
            entry(&mut page, &row.keys(), row.help())?;
        }
    }
    let mut section = |title: &str, entries: &[(&str, &str)]| -> std::io::Result<()> {
        writeln!(page, ".SH {title}")?;
        for (term, text) in entries {
            entry(&mut page, term, text)?;
        }
        Ok(())
    };
    section("EXIT STATUS", &EXIT_CODES)?;
    section("ENVIRONMENT", &VARIABLES)?;
    section("EXAMPLES", &EXAMPLES)?;
    Ok(page)
}

const EXIT_CODES: [(&str, &str); 5] = [
    ("0", "done, or a session ended by a signal or a hang-up"),
    ("1", "a check failed"),
    ("2", "the input or the arguments are wrong"),
    (
        "3",
        "the machine lacks something: a display, a device, room on the disk",
    ),
    ("130", "Ctrl+C ended a run, which says what it has done"),
];

const VARIABLES: [(&str, &str); 4] = [
    (
        "LIFESTREAMS_LOG",
        "what is logged on stderr, such as debug; warnings if unset",
    ),
    (
        "LIFESTREAMS_LIBCUDA",
        "the CUDA driver's library, where it is not where drivers are",
    ),
    (
        "CUDA_DEVICE_MAX_CONNECTIONS",
        "as --connections, which takes precedence",
    ),
    ("NO_COLOR", "no colours in the terminal"),
];

/// A text for roff: no character of its own has a meaning there.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    match text.chars().next() {
        Some('.' | '\'') => format!("\\&{text}"),
        _ => text,
    }
}
