//! What people read: lines on stdout and stderr, errors in words, and their exit codes: 1 a check failed, 2 the
//! input or the arguments are wrong, 3 the machine lacks something, 130 Ctrl+C ended it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use engine::EngineError;
use lang::{escape_controls, is_hidden, tr};
use life::{MemoryError, PatternError, ReadError, SaveError, read_regular_file, system_reason};
use session::{NotSaved, SavedError};
use ui::INTERRUPTED;
use window::{ViewError, WindowError};

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
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(_) if terminal::has_hung_up() => Ok(false),
        answer => Ok(answer.map(|()| true).map_err(NotPrinted)?),
    }
}

/// Output that stdout does not take.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("the output cannot be printed: {reason}; send stdout elsewhere", reason = system_reason(.0)))]
pub(super) struct NotPrinted(pub(super) io::Error);

/// Prints a line on stderr, with its control characters escaped. If stderr is closed or full, it is
/// lost.
pub(super) fn say(line: &str) {
    let line = escape_controls(line, &[]);
    let _ = writeln!(io::stderr(), "lifestreams: {line}");
}

/// Writes on the terminal's present line, in place of what stands there.
pub(super) fn write_over(line: &str) {
    // Where stderr is closed there is nobody left to tell.
    let _ = write!(io::stderr(), "\r{line}\x1b[K");
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

/// Lines of a table of which each cell is given with its line and its column, whose heads come first. Both
/// have the order in which they are named first; what is not given is a dash.
pub fn pivot(corner: &str, cells: impl IntoIterator<Item = [String; 3]>) -> Vec<Vec<String>> {
    let mut lines = vec![vec![corner.to_owned()]];
    for [line, column, cell] in cells {
        let at = lines.iter().position(|it| it[0] == line);
        let at = at.unwrap_or_else(|| {
            lines.push(vec![line]);
            lines.len() - 1
        });
        let place = lines[0].iter().position(|it| *it == column);
        let place = place.unwrap_or_else(|| {
            lines[0].push(column);
            lines[0].len() - 1
        });
        let width = lines[at].len().max(place + 1);
        lines[at].resize(width, "–".into());
        lines[at][place] = cell;
    }
    let width = lines[0].len();
    lines
        .iter_mut()
        .for_each(|line| line.resize(width, "–".into()));
    lines
}

/// A check that failed, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CheckFailed(pub String);

/// Arguments that contradict one another or the machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct BadArguments(pub String);

/// The error of arguments that contradict one another or the machine.
pub(super) fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(BadArguments(why.into()).into())
}

/// A file that is not read, and why.
pub(super) fn unreadable(path: &Path, why: impl std::fmt::Display) -> BadArguments {
    let path = path.display();
    BadArguments(tr!("{path} cannot be read: {why}"))
}

/// The longest file that is read as a text. A script that is too long, but not that long, is refused by a
/// sentence of its own.
const MAX_BYTES: u64 = 1 << 20;

/// What a file holds, which may be nothing.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, BadArguments> {
    match read_regular_file(path, MAX_BYTES) {
        Err(ReadError::Empty) => Ok(Vec::new()),
        bytes => bytes.map_err(|why| unreadable(path, why)),
    }
}

/// What a file says.
pub(super) fn read_text(path: &Path) -> Result<String, BadArguments> {
    String::from_utf8(read_bytes(path)?).map_err(|why| unreadable(path, why))
}

/// A run that Ctrl+C ended after what it had done, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Interrupted(pub String);

/// Set when the user no longer wants to wait.
pub(super) fn cancelled() -> Arc<AtomicBool> {
    let cancel = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&cancel);
    platform::on_signals(move || signalled.store(true, Ordering::Relaxed)).ok();
    cancel
}

/// What an error says, with what it was about before it.
pub(super) fn in_words(error: &anyhow::Error) -> String {
    let said = error.chain().map(|cause| {
        if let Some(WindowError::Session(error)) = cause.downcast_ref() {
            in_words(error)
        } else if let Some(error) = cause.downcast_ref::<io::Error>() {
            system_reason(error)
        } else {
            cause.to_string()
        }
    });
    said.collect::<Vec<_>>().join(": ")
}

/// The exit code for an error, by what is at its root.
pub(super) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = error.chain().find_map(|cause| {
        let refused = cause.downcast_ref::<SavedError>();
        if cause.is::<CheckFailed>() {
            Some(1)
        } else if cause.is::<Interrupted>() {
            Some(INTERRUPTED as u8)
        } else if cause.is::<MemoryError>()
            || matches!(cause.downcast_ref(), Some(PatternError::Memory(_)))
            || refused.is_some_and(|it| it.lacks_memory)
        {
            Some(3)
        } else if cause.is::<BadArguments>() || cause.is::<PatternError>() || refused.is_some() {
            Some(2)
        } else if let Some(error) = cause.downcast_ref::<SaveError>() {
            Some(if error.is_disk_full { 3 } else { 2 })
        } else if let Some(error) = cause.downcast_ref::<NotSaved>() {
            Some(if error.machine_lacks { 3 } else { 2 })
        } else if let Some(error) = cause.downcast_ref::<EngineError>() {
            Some(if matches!(error, EngineError::UnsupportedSize(_)) {
                2
            } else {
                3
            })
        } else if let Some(error) = cause.downcast_ref::<ViewError>() {
            Some(error.exit_code())
        } else if let Some(error @ (WindowError::View(_) | WindowError::NoMonitor { .. })) =
            cause.downcast_ref::<WindowError>()
        {
            Some(error.exit_code())
        } else {
            None
        }
    });
    ExitCode::from(code.unwrap_or(3)) // a display, a library, a device
}
