//! Names compared; names, numbers and the system's reasons formatted for messages.

use std::io::{Error, ErrorKind};
use std::path::Path;

use lang::tr;

/// The letters and digits of a name, in lower case, with `&` as "and": for comparing names however
/// they are typed.
pub(crate) fn plain(name: &str) -> String {
    let name = name.replace('&', "and");
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Minimum similarity, from 0 to 1, for a suggestion.
const MIN_LIKENESS: f64 = 0.88;

/// The value of the most similar known name, if it is similar enough.
pub fn nearest<T>(name: &str, known: impl IntoIterator<Item = (String, T)>) -> Option<T> {
    let likeness = |(known, with): (String, T)| (strsim::jaro_winkler(name, &known), with);
    let all = known.into_iter().map(likeness);
    let best = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(alike, _)| *alike >= MIN_LIKENESS)
        .map(|(_, with)| with)
}

/// What went wrong with a file, without the system's number for it.
pub fn system_reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => tr!("there is no such file").into(),
        ErrorKind::PermissionDenied => tr!("this user has no permission for it").into(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => tr!("the disk is full").into(),
        _ => without_number(&error.to_string()).into(),
    }
}

/// A text of the system without its number for it.
pub(crate) fn without_number(text: &str) -> &str {
    text.split_once(" (os error ")
        .map_or(text, |(text, _)| text)
}

/// A file's name or path with control characters escaped, so that it cannot affect a terminal. The values
/// of a sentence need no escape of their own.
pub fn shown(path: impl AsRef<Path>) -> String {
    lang::single_line(path.as_ref().display().to_string())
}

/// `1 lattice` or `N lattices`.
pub fn counted_lattices(count: usize) -> String {
    match count {
        1 => tr!("1 lattice").into(),
        _ => tr!("{count} lattices"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_no_number_of_the_system() {
        let said = |error: Error| system_reason(&error);
        assert_eq!(said(ErrorKind::NotFound.into()), "there is no such file");
        let busy = Error::from_raw_os_error(16);
        assert!(busy.to_string().contains("os error"), "{busy}");
        assert!(!said(busy).contains("os error"));
    }

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
