//! Printing for people.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;

/// Prints a line on stdout. A reader that has gone away is no error: it has read enough.
pub(super) fn print(line: &str) -> Result<()> {
    print_to_reader(line).map(|_| ())
}

/// Prints a line on stdout. Returns whether the reader is still there.
pub(super) fn print_to_reader(line: &str) -> Result<bool> {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        answer => Ok(answer.map(|()| true)?),
    }
}

/// Prints a line on stderr. If stderr is closed or full, it is lost.
pub(super) fn say(line: &str) {
    let line = printable(line);
    let _ = writeln!(std::io::stderr(), "lifestreams: {line}");
}

/// Escapes control characters, which files and arguments may contain, except newline and tab.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    life::escape_controls(text, &['\n', '\t'])
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_printed_moves_the_cursor_or_sounds_the_bell() {
        let text = "a\u{1b}]0;title\u{7}\rb\u{9b}31m\n\tc";
        let shown = printable(text);
        assert_eq!(shown, "a\\u{1b}]0;title\\u{7}\\rb\\u{9b}31m\n\tc");
        assert_eq!(printable("两行\n\tü"), "两行\n\tü");
    }
}
