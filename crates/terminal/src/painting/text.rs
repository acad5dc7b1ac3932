//! Text in lines of so many columns.

/// Between things that are said one after the other.
pub(super) const APART: &str = " · ";

/// The text, cut to at most `most` columns.
pub(super) fn cut(text: &str, most: usize) -> String {
    if lang::columns(text) <= most {
        return text.into();
    }
    let mut cut = String::new();
    for letter in text.chars() {
        let longer = format!("{cut}{letter}");
        if lang::columns(&longer) >= most {
            break;
        }
        cut = longer;
    }
    cut.push('…');
    cut
}

/// A line broken between words into lines of at most so many columns; a longer word is broken too.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns).wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(|line| line.into_owned()).collect()
}

/// Parts one after the other, as many in a line as fit; one that is longer than a line goes on in the
/// next.
pub(super) fn wrap_parts(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if let Some(last) = lines.last_mut()
            && lang::columns(last) + lang::columns(APART) + lang::columns(part) <= columns
        {
            *last += APART;
            *last += part;
        } else {
            lines.extend(wrap(part, columns));
        }
    }
    lines
}
