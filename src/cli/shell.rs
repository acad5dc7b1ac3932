//! What shells and `man` know of the program, as clap makes it.

use std::fs;
use std::path::Path;

use anyhow::Result;
use clap_complete::Shell;
use clap_mangen::Man;

use super::options::command_line;
use super::text::print_text;
use life::SaveError;

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line(), "lifestreams", &mut script);
    print_text(String::from_utf8_lossy(&script).trim_end())
}

/// Prints the manual's page, or writes it and one for each command into a folder.
pub(super) fn man(folder: Option<&Path>) -> Result<()> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(command_line()).render(&mut page)?;
        return print_text(String::from_utf8_lossy(&page).trim_end());
    };
    let failed = |error: std::io::Error| SaveError::new(folder, &error);
    fs::create_dir_all(folder).map_err(failed)?;
    Ok(clap_mangen::generate_to(command_line(), folder).map_err(failed)?)
}
