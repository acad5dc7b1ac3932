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

/// Wraps a line at `columns`; words that are longer are broken. A number and its unit count as one
/// word.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns).wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let text = lang::keep_units(text);
    let lines = textwrap::wrap(&text, options).into_iter();
    lines.map(|line| line.replace('\u{a0}', " ")).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_unit_are_not_parted() {
        let text = "no difference (within 10 %)";
        for columns in 11..text.len() {
            let lines = wrap(text, columns);
            assert!(lines.iter().any(|line| line.contains("10 %)")), "{lines:?}");
            assert_eq!(lines.join(" "), text);
        }
    }
}
