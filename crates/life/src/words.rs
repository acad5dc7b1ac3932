//! Names and numbers formatted for messages.

use std::path::Path;

use lang::tr;

/// A file's name or path with control characters escaped, so that it cannot affect a terminal.
pub fn shown(path: impl AsRef<Path>) -> String {
    let mut text = String::new();
    for letter in path.as_ref().display().to_string().chars() {
        match letter.is_control() {
            true => text.extend(letter.escape_default()),
            false => text.push(letter),
        }
    }
    text
}

/// Minimum similarity, from 0 to 1, for a suggestion.
const MIN_LIKENESS: f64 = 0.88;

/// The value of the most similar known name, if it is similar enough.
pub(crate) fn nearest<T>(name: &str, known: impl IntoIterator<Item = (String, T)>) -> Option<T> {
    let likeness = |(known, with): (String, T)| (strsim::jaro_winkler(name, &known), with);
    let all = known.into_iter().map(likeness);
    let best = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(alike, _)| *alike >= MIN_LIKENESS)
        .map(|(_, with)| with)
}

/// `1 lattice` or `N lattices`.
pub fn counted_lattices(count: usize) -> String {
    match count {
        1 => tr!("1 lattice").into(),
        _ => tr!("{count} lattices", count = count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_moves_no_cursor() {
        assert_eq!(shown("a\u{1b}[2Jb\nc.rle"), "a\\u{1b}[2Jb\\nc.rle");
        assert_eq!(shown("Käfer 1.rle"), "Käfer 1.rle");
    }

    #[test]
    fn one_is_one() {
        assert_eq!([1, 2].map(counted_lattices), ["1 lattice", "2 lattices"]);
    }
}
