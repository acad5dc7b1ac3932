//! Names compared, and numbers formatted.

/// The letters and digits of a name, in lower case, with `&` as "and": for comparing names however
/// they are typed.
pub(crate) fn plain(name: &str) -> String {
    let name = name.replace('&', "and");
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Minimum similarity, from 0 to 1, for a suggestion.
const MIN_LIKENESS: f64 = 0.88;

/// Thousands apart: `12,345,678`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The value of the most similar known name, if it is similar enough.
pub(crate) fn nearest<T>(name: &str, known: impl IntoIterator<Item = (String, T)>) -> Option<T> {
    let likeness = |(known, with): (String, T)| (strsim::jaro_winkler(name, &known), with);
    let all = known.into_iter().map(likeness);
    let best = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(alike, _)| *alike >= MIN_LIKENESS)
        .map(|(_, with)| with)
}
