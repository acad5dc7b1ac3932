//! What came from elsewhere, as it can be shown in a sentence.

use std::path::Path;

use lang::tr;

/// A file's name or path: what would move a terminal's cursor, or break the line, is escaped.
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

/// So many lattices: one is one.
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
