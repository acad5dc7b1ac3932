//! How what a person types finds actions and whatever else is listed with them.

use crate::actions::Row;
use lang::Language;

/// The typed words, as [`cost`] takes them.
pub fn words(typed: &str) -> Vec<String> {
    typed.split_whitespace().map(str::to_lowercase).collect()
}

/// The cost of matching the typed words with an entry that has these texts, 0 for the best match;
/// `None` if a word does not match. `search` lists synonyms, separated by commas, which match at no
/// cost.
pub fn cost(words: &[String], texts: &[&str], search: &str) -> Option<u32> {
    let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
    let least = |word: &String| {
        let named = search.split(", ").any(|it| it.starts_with(word.as_str()));
        let texts = texts.iter().filter_map(|text| distance(text, word)).min();
        if named { Some(0) } else { texts }
    };
    words.iter().map(least).sum()
}

impl Row {
    /// Whether these typed words find it: in the reader's language, or in English.
    pub fn is_found_by(&self, words: &[String]) -> bool {
        let english = match lang::language() {
            Language::English => "",
            Language::Chinese => self.help,
        };
        cost(words, &[self.help(), english], self.search).is_some()
    }
}

/// The cost of matching a typed word with a text; `None` if it does not match. The start of a word
/// costs nothing, its middle a little, and left-out letters as much as the gaps between the typed
/// ones.
fn distance(text: &str, word: &str) -> Option<u32> {
    let places: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
    let starts = |&at: &usize| !text[..at].ends_with(char::is_alphanumeric);
    if places.iter().any(starts) {
        return Some(0);
    }
    if !places.is_empty() {
        return Some(2);
    }
    let (mut gaps, mut rest) = (0, text);
    for (at, letter) in word.chars().enumerate() {
        let found = rest.find(letter)?;
        if at > 0 {
            gaps += rest[..found].chars().count() as u32;
        }
        rest = &rest[found + letter.len_utf8()..];
    }
    // Letters strewn over a whole sentence mean nothing.
    (gaps <= 2 + word.chars().count() as u32).then_some(4 + gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strewn_letters_are_no_match() {
        assert_eq!(distance("the whole lattice", "twla"), None);
        assert_eq!(distance("the whole lattice", "lat"), Some(0));
        assert_eq!(distance("the whole lattice", "att"), Some(2));
        assert_eq!(distance("a lattice", "lttc"), Some(6));
        assert_eq!(distance("the whole lattice", "xyz"), None);
    }
}
