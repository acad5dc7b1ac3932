//! Printing for people.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;

/// Prints a line on stdout. A reader that has gone away is no error: it has read enough.
pub(super) fn print(line: &str) -> Result<()> {
    print_to_reader(line).map(|_| ())
}

/// Prints a line on stdout; whether there is still somebody to read the next one.
pub(super) fn print_to_reader(line: &str) -> Result<bool> {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        answer => Ok(answer.map(|()| true)?),
    }
}

/// Says a line on stderr. Where stderr is closed or full there is nobody left to tell.
pub(super) fn say(line: &str) {
    let line = printable(line);
    let _ = writeln!(std::io::stderr(), "lifestreams: {line}");
}

/// The text without what a terminal would obey, which may come from files and arguments; lines
/// stay lines.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(obeyed) {
        return text.into();
    }
    let mut shown = String::new();
    for letter in text.chars() {
        match obeyed(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// A number with three digits and its SI prefix: `4.71 T`. Put the unit behind it.
pub(super) fn si(value: f64) -> String {
    const PREFIXES: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    let (scale, prefix) = PREFIXES
        .into_iter()
        .find(|(scale, _)| value.abs() >= *scale)
        .unwrap_or((1.0, ""));
    let scaled = value / scale;
    let digits = if scaled >= 100.0 {
        0
    } else {
        2 - usize::from(scaled >= 10.0)
    };
    format!("{scaled:.digits$} {prefix}")
}

#[cfg(test)]
mod tests {
    use super::{printable, si};

    #[test]
    fn nothing_printed_moves_the_cursor_or_sounds_the_bell() {
        let text = "a\u{1b}]0;title\u{7}\rb\u{9b}31m\n\tc";
        let shown = printable(text);
        assert_eq!(shown, "a\\u{1b}]0;title\\u{7}\\rb\\u{9b}31m\n\tc");
        assert_eq!(printable("两行\n\tü"), "两行\n\tü");
    }

    #[test]
    fn three_digits_and_a_prefix() {
        let shown = [4.7123e12, 61.3e9, 999.0, 0.0, 15_000.0].map(si);
        assert_eq!(shown, ["4.71 T", "61.3 G", "999 ", "0.00 ", "15.0 k"]);
    }
}
