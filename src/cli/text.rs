//! Printing for people.

use std::io::Write;

use anyhow::Result;
use lang::{escape_controls, is_hidden, tr};
use life::system_reason;

/// Prints a line on stdout, with its control characters escaped. A reader that has gone away is no
/// error: it has read enough.
pub(super) fn print(line: &str) -> Result<()> {
    print_to_reader(line).map(|_| ())
}

/// Prints a line on stdout, with its control characters escaped. Returns whether the reader is still
/// there: a pipe's, or a terminal that has not hung up.
pub(super) fn print_to_reader(line: &str) -> Result<bool> {
    write_line(&escape_controls(line, &[]))
}

/// Prints a value as JSON. Characters that are not seen are escaped as JSON has it.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let mut line = String::new();
    for letter in serde_json::to_string(value)?.chars() {
        if is_hidden(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                line += &format!("\\u{unit:04x}");
            }
        } else {
            line.push(letter);
        }
    }
    write_line(&line).map(|_| ())
}

/// Prints a text with its own line breaks and tabs; other control characters are escaped. What comes
/// from outside has no place in it, unless it is escaped.
pub(super) fn print_text(text: &str) -> Result<()> {
    write_line(&escape_controls(text, &['\n', '\t'])).map(|_| ())
}

fn write_line(line: &str) -> Result<bool> {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(_) if terminal::has_hung_up() => Ok(false),
        answer => Ok(answer.map(|()| true).map_err(NotPrinted)?),
    }
}

/// Output that stdout does not take.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("the output cannot be printed: {reason}; send stdout elsewhere", reason = system_reason(.0)))]
pub(super) struct NotPrinted(pub(super) std::io::Error);

/// Prints a line on stderr, with its control characters escaped. If stderr is closed or full, it is
/// lost.
pub(super) fn say(line: &str) {
    let line = escape_controls(line, &[]);
    let _ = writeln!(std::io::stderr(), "lifestreams: {line}");
}

/// Writes on the terminal's present line, in place of what stands there.
pub(super) fn write_over(line: &str) {
    // Where stderr is closed there is nobody left to tell.
    let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
}

/// Rows of cells, each as wide as the widest of its column.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let width = |at: usize| rows.iter().map(|row| lang::columns(&row[at])).max();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate();
        let cells = cells.map(|(at, cell)| lang::align_left(cell, width(at).unwrap_or(0)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
