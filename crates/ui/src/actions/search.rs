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
    use crate::actions::TABLE;

    #[test]
    fn strewn_letters_are_no_match() {
        assert_eq!(distance("the whole lattice", "twla"), None);
        assert_eq!(distance("the whole lattice", "lat"), Some(0));
        assert_eq!(distance("the whole lattice", "att"), Some(2));
        assert_eq!(distance("a lattice", "lttc"), Some(6));
        assert_eq!(distance("the whole lattice", "xyz"), None);
    }

    #[test]
    fn rows_are_found_by_their_words_and_by_others() {
        let found = |typed: &str| {
            let words = words(typed);
            let rows = TABLE.iter().filter(|row| row.is_found_by(&words));
            rows.map(|row| row.help).collect::<Vec<_>>()
        };
        assert_eq!(found("").len(), TABLE.len());
        assert_eq!(found("gif"), ["Record the window / stop"]);
        assert!(found("xyzzy").is_empty());
        for (english, chinese, help) in [
            ("instances", "实例", "Number of instances"),
            ("size", "大小", "Size of the lattices"),
            ("rule", "规则", "Rule of the lattices"),
            ("density", "密度", "Density of a new soup"),
            ("generations", "代数", "Generations per round"),
        ] {
            assert!(found(english).contains(&help), "{english}");
            test_support::with(Language::Chinese, || {
                assert!(found(chinese).contains(&help), "{chinese}");
            });
        }
    }
}
