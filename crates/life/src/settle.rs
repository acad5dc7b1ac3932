//! Determines the size, rule and start generation that all instances share.

use super::{Pattern, PatternError, Rule, Size};
use lang::{Message, message};

/// The size and rule that all instances share: `size` and `rule` if given; else those that the
/// patterns specify, if they agree; else `default_size` and Conway's Life. Patterns without a torus
/// or rule accept any.
///
/// # Errors
/// If two patterns disagree on a value that is not given. The error names both.
pub fn settle(
    patterns: &[Pattern],
    size: Option<Size>,
    rule: Option<Rule>,
    default_size: Size,
) -> Result<(Size, Rule), PatternError> {
    let size = match size {
        Some(size) => size,
        None => agreed(patterns, Pattern::torus, |one, other| {
            message!(
                "{} is for a torus of {} and {} for one of {}, but all instances share one size; choose it with --size",
                one.0,
                one.1,
                other.0,
                other.1
            )
        })?
        .unwrap_or(default_size),
    };
    let rule = match rule {
        Some(rule) => rule,
        None => agreed(patterns, Pattern::rule, |one, other| {
            message!(
                "{} has the rule {} and {} has {}, but all instances share one rule; choose it with --rule",
                one.0,
                one.1,
                other.0,
                other.1
            )
        })?
        .unwrap_or_default(),
    };
    Ok((size, rule))
}

/// The start generation of all instances: that of the patterns, or `None` if they differ.
pub fn settle_generation(patterns: &[Pattern]) -> Option<u64> {
    let mut generations = patterns.iter().map(Pattern::generation);
    let first = generations.next().unwrap_or(0);
    generations.all(|other| other == first).then_some(first)
}

/// The value that all patterns which specify one agree on. Errors if two differ.
fn agreed<T: Copy + PartialEq>(
    patterns: &[Pattern],
    wish: impl Fn(&Pattern) -> Option<T>,
    disagreement: impl Fn((&str, T), (&str, T)) -> Message,
) -> Result<Option<T>, Message> {
    let mut wishes = patterns
        .iter()
        .filter_map(|pattern| Some((pattern.name(), wish(pattern)?)));
    let Some((first_name, first)) = wishes.next() else {
        return Ok(None);
    };
    match wishes.find(|(_, other)| *other != first) {
        Some((name, other)) => Err(disagreement((first_name, first), (name, other))),
        None => Ok(Some(first)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{pattern, rule, size};

    #[test]
    fn patterns_of_one_generation_start_at_it() {
        let (early, late) = ("bo!", "#CXRLE Pos=0,0 Gen=77\nx = 1, y = 1\no!");
        for (texts, generation) in [
            (&[][..], Some(0)),
            (&[early], Some(0)),
            (&[late, late], Some(77)),
            (&[late, early], None),
        ] {
            let patterns: Vec<_> = texts.iter().map(|text| pattern("a", text)).collect();
            assert_eq!(settle_generation(&patterns), generation);
        }
    }

    #[test]
    fn all_share_one_size_and_one_rule() {
        let default = size(512, 512);
        let plain = &pattern("plain", "x = 1, y = 1\no!");
        let life = &pattern("life", "x = 1, y = 1, rule = B3/S23:T64,32\no!");
        let high = &pattern("high", "x = 1, y = 1, rule = B36/S23:T9,9\no!");
        let (asked_size, asked_rule) = (Some(size(7, 8)), Some(rule("B2/S")));
        for (patterns, size, rule, settled) in [
            (&[][..], None, None, "512x512 B3/S23"),
            (&[plain], None, None, "512x512 B3/S23"),
            (&[plain, high, high], None, None, "9x9 B36/S23"),
            (&[life, high], asked_size, asked_rule, "7x8 B2/S"),
            (
                &[plain, life, high],
                None,
                asked_rule,
                "life is for a torus of 64x32 and high for one of 9x9, but all instances share one \
                 size; choose it with --size",
            ),
            (
                &[high, plain, life],
                asked_size,
                None,
                "high has the rule B36/S23 and life has B3/S23, but all instances share one rule; \
                 choose it with --rule",
            ),
        ] {
            let patterns: Vec<_> = patterns.iter().copied().cloned().collect();
            let found = match settle(&patterns, size, rule, default) {
                Ok((size, rule)) => format!("{size} {rule}"),
                Err(why) => why.to_string(),
            };
            assert_eq!(found, settled);
        }
    }
}
