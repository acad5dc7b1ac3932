//! Rows of a table: what is typed, the exit code, and what is said.

use std::path::Path;
use std::process::Command;

use crate::common::{PROGRAM, command, names, program, run};

/// A line, its exit code, and what it says with ` | ` between the parts. Behind `$ ` stands a line for bash.
pub(crate) type Row<'a> = (&'a str, i32, &'a str);

/// Bash with this line, which finds the program as `lifestreams`.
pub(crate) fn bash(folder: &Path, line: &str) -> Command {
    let mut command = command("bash", folder);
    let here = Path::new(PROGRAM).parent().unwrap().display();
    let path = format!("{here}:{}", std::env::var("PATH").unwrap());
    command.env("PATH", path).args(["-c", line]);
    command
}

/// Runs the rows in this folder with these variables. What is refused says one sentence, prints nothing
/// and leaves the folder's files as they were.
#[track_caller]
pub(crate) fn hold(folder: &Path, variables: &[(&str, &str)], rows: &[Row]) {
    for &(line, code, said) in rows {
        let before = names(folder);
        let mut command = match line.strip_prefix("$ ") {
            Some(line) => bash(folder, line),
            None => program(folder),
        };
        if !line.starts_with("$ ") {
            command.args(line.split_whitespace());
        }
        let ended = run(command.envs(variables.iter().copied()));
        if code == 0 {
            let ended = ended.succeeds();
            let all = format!("{}{}", ended.stdout, ended.stderr);
            says(&all, said, line);
        } else {
            ended.refuses(code, &said.split(" | ").collect::<Vec<_>>());
            assert_eq!(names(folder), before, "{line}");
        }
    }
}

/// All parts of a row's words stand in this text.
#[track_caller]
pub(crate) fn says(text: &str, said: &str, line: &str) {
    for part in said.split(" | ") {
        assert!(text.contains(part), "{line}: no '{part}' in: {text}");
    }
}
