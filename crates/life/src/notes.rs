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

impl Notes {
    /// The notes of a text of this format. Control characters become `U+FFFD`, and a second name or
    /// author becomes a comment.
    pub(crate) fn of(text: &[u8], format: Format) -> Notes {
        let mut notes = Notes::default();
        for (_, line) in lines(text, text::start(text)) {
            let Some((letter, text)) = read_line(line.trim_ascii_start(), format) else {
                if format == Format::Rle && !line.starts_with(b"#") && line.contains(&b'!') {
                    break;
                }
                continue;
            };
            let title = match letter {
                NAME => Some(&mut notes.name),
                AUTHOR => Some(&mut notes.author),
                _ => None,
            };
            match title.filter(|title| title.is_none()) {
                Some(title) => *title = Some(printable(text.trim_ascii())),
                // Without the blank after its mark.
                None => {
                    let text = text.strip_prefix(b" ").unwrap_or(text);
                    notes.comments.push(printable(text));
                }
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
            let text = text.replace(char::is_control, " ");
            writeln!(out, "{}", format!("{prefix}{text}").trim_end())?;
        }
        Ok(())
    }
}

/// The letters that mark names, authors and comments.
const NAME: u8 = b'N';
const AUTHOR: u8 = b'O';
const COMMENT: u8 = b'C';

/// The kind of a comment line, as a letter, and its content; `None` if it is none.
fn read_line(line: &[u8], format: Format) -> Option<(u8, &[u8])> {
    if format == Format::Plaintext {
        return line.strip_prefix(b"!").map(titled);
    }
    let (&letter, text) = line.strip_prefix(b"#")?.split_first()?;
    let is_life = matches!(format, Format::Life105 | Format::Life106);
    match letter {
        // Golly's record of the saved part of the universe.
        COMMENT if text.starts_with(b"XRLE") => None,
        // In a macrocell, the position of the origin.
        AUTHOR if format == Format::Macrocell && count_numbers(text) == Some(2) => None,
        // In Life 1.05, `#N` alone means the normal rule.
        NAME if is_life && text.trim_ascii().is_empty() => None,
        b'D' if is_life => Some(titled(text)),
        NAME | AUTHOR | COMMENT => Some((letter, text)),
        b'c' | b'D' => Some((COMMENT, text)),
        _ => None,
    }
}

/// A comment that may start with `Name:` or `Author:`.
fn titled(text: &[u8]) -> (u8, &[u8]) {
    let titles = [(NAME, "Name:"), (AUTHOR, "Author:")];
    let found = titles.into_iter().find_map(|(letter, title)| {
        let (start, rest) = text.trim_ascii_start().split_at_checked(title.len())?;
        let is_it = start.eq_ignore_ascii_case(title.as_bytes());
        is_it.then_some((letter, rest))
    });
    found.unwrap_or((COMMENT, text))
}
