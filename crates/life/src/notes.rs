//! Name, author and comments of pattern files.

use crate::format::Format;
use crate::text::{self, count_numbers, lines, printable};
use std::io::{self, Write};

/// A pattern's name, author and comments, one string per line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// The pattern's name.
    pub name: Option<String>,
    /// The author, often with a year.
    pub author: Option<String>,
    /// The other comments, one per line.
    pub comments: Vec<String>,
}

/// The kind of a comment line.
enum Line<'a> {
    Name(&'a [u8]),
    Author(&'a [u8]),
    Comment(&'a [u8]),
}

impl Notes {
    /// The notes of a text of this format. Control characters become `U+FFFD`, and a second name or
    /// author becomes a comment.
    pub(crate) fn of(text: &[u8], format: Format) -> Notes {
        let mut notes = Notes::default();
        for (_, line) in lines(text, text::start(text)) {
            match read_line(line.trim_ascii_start(), format) {
                Some(Line::Name(name)) if notes.name.is_none() => {
                    notes.name = Some(printable(name.trim_ascii()));
                }
                Some(Line::Author(author)) if notes.author.is_none() => {
                    notes.author = Some(printable(author.trim_ascii()));
                }
                Some(Line::Name(text) | Line::Author(text) | Line::Comment(text)) => {
                    notes.comments.push(printable(without_blank(text)));
                }
                None if format == Format::Rle
                    && !line.starts_with(b"#")
                    && line.contains(&b'!') =>
                {
                    break;
                }
                None => {}
            }
        }
        notes
    }

    /// Writes the notes as lines, with what comes before name, author and comments in a format.
    pub(crate) fn write(
        &self,
        [name, author, comment]: [&str; 3],
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        let named = self.name.iter().map(|text| (name, text));
        let by = self.author.iter().map(|text| (author, text));
        let comments = self.comments.iter().map(|text| (comment, text));
        for (prefix, text) in named.chain(by).chain(comments) {
            // A line break must not be written: the rest would be read as cells.
            let text: String = text
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            writeln!(out, "{}", format!("{prefix}{text}").trim_end())?;
        }
        Ok(())
    }
}

/// The kind and content of a comment line, if it is one.
fn read_line(line: &[u8], format: Format) -> Option<Line<'_>> {
    if format == Format::Plaintext {
        return line.strip_prefix(b"!").map(titled);
    }
    let (&letter, text) = line.strip_prefix(b"#")?.split_first()?;
    // Golly's record of the saved part of the universe.
    if letter == b'C' && text.starts_with(b"XRLE") {
        return None;
    }
    // In a macrocell, the position of the origin.
    if format == Format::Macrocell && letter == b'O' && count_numbers(text) == Some(2) {
        return None;
    }
    let is_life = matches!(format, Format::Life105 | Format::Life106);
    match letter {
        // In Life 1.05, `#N` alone means the normal rule.
        b'N' if !(is_life && text.trim_ascii().is_empty()) => Some(Line::Name(text)),
        b'O' => Some(Line::Author(text)),
        b'D' if is_life => Some(titled(text)),
        b'C' | b'c' | b'D' => Some(Line::Comment(text)),
        _ => None,
    }
}

/// A comment that may start with `Name:` or `Author:`.
fn titled(text: &[u8]) -> Line<'_> {
    let after = |title: &str| {
        let (start, rest) = text.trim_ascii_start().split_at_checked(title.len())?;
        start.eq_ignore_ascii_case(title.as_bytes()).then_some(rest)
    };
    if let Some(name) = after("Name:") {
        Line::Name(name)
    } else if let Some(author) = after("Author:") {
        Line::Author(author)
    } else {
        Line::Comment(text)
    }
}

/// Removes the blank after a comment mark.
fn without_blank(text: &[u8]) -> &[u8] {
    text.strip_prefix(b" ").unwrap_or(text)
}
