//! How what a person types finds actions and whatever else is listed with them.

use crate::actions::Row;
use lang::Language;

/// The typed words, as [`cost`] takes them.
pub fn words(typed: &str) -> Vec<String> {
    typed.split_whitespace().map(str::to_lowercase).collect()
}

/// The cost of matching the typed words with an entry that has these texts, 0 for the best match;
/// `None` if a word does not match. `search` lists synonyms, separated by commas: one that begins with a
/// word is as good as a word of a text, and less than a text that begins so.
pub fn cost(words: &[String], texts: &[&str], search: &str) -> Option<u32> {
    let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
    let least = |word: &String| {
        let named = search.split(", ").any(|it| it.starts_with(word.as_str()));
        let texts = texts.iter().filter_map(|text| distance(text, word)).min();
        texts.into_iter().chain(named.then_some(1)).min()
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

/// The cost of matching a typed word with a text; `None` if it does not match. The start of the text
/// costs less than the start of a word, and that less than its middle.
fn distance(text: &str, word: &str) -> Option<u32> {
    let cost = |(at, _)| match text[..at].ends_with(char::is_alphanumeric) {
        _ if at == 0 => 0,
        false => 1,
        true => 2,
    };
    text.match_indices(word).map(cost).min()
}
