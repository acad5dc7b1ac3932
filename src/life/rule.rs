//! Life-like rules: which neighbour counts give birth, which keep a cell alive.

use crate::lang::tr;
use std::fmt;
use std::str::FromStr;

/// A rule in B/S notation over the eight neighbours of a cell, such as `B3/S23`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    birth: u16,
    survival: u16,
}

/// Why a text is not a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", tr!("unknown rule '{text}': write it as B3/S23, the neighbour counts 0 to 8 after B (birth) and S (survival)", text = .text))]
pub struct RuleError {
    text: String,
}

impl Rule {
    /// Conway's Life, B3/S23.
    pub const LIFE: Rule = Rule {
        birth: 1 << 3,
        survival: 1 << 2 | 1 << 3,
    };

    /// The rule with these masks; bit n stands for n live neighbours (0 to 8).
    pub const fn from_masks(birth: u16, survival: u16) -> Rule {
        Rule {
            birth: birth & 0x1ff,
            survival: survival & 0x1ff,
        }
    }

    /// Counts that give birth, bit n for n neighbours.
    pub const fn birth(self) -> u16 {
        self.birth
    }

    /// Counts that keep a live cell alive, bit n for n neighbours.
    pub const fn survival(self) -> u16 {
        self.survival
    }

    /// The 18 bits that kernels take: bit `9 * alive + neighbours` is the cell's next state.
    pub const fn table(self) -> u32 {
        self.birth as u32 | (self.survival as u32) << 9
    }

    /// The next state of a cell, as the definition has it.
    pub const fn next(self, alive: bool, neighbours: u32) -> bool {
        self.table() >> (9 * alive as u32 + neighbours) & 1 == 1
    }
}

impl Default for Rule {
    fn default() -> Self {
        Rule::LIFE
    }
}

fn digits(text: &str) -> Option<u16> {
    text.chars().try_fold(0, |mask, c| match c.to_digit(10) {
        Some(n) if n <= 8 => Some(mask | 1 << n),
        _ => None,
    })
}

impl FromStr for Rule {
    type Err = RuleError;

    /// Reads `B3/S23` in either case and order, the older `23/3` (survival first), and the
    /// names `Life` and `HighLife`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let parse = || {
            let upper = text.trim().to_ascii_uppercase();
            match upper.as_str() {
                "LIFE" | "CONWAY" => return Some(Rule::LIFE),
                "HIGHLIFE" => return "B36/S23".parse().ok(),
                _ => {}
            }
            let (first, second) = upper.split_once('/')?;
            let (birth, survival) = match (first.strip_prefix('B'), second.strip_prefix('S')) {
                (Some(b), Some(s)) => (b, s),
                (None, None) => match (first.strip_prefix('S'), second.strip_prefix('B')) {
                    (Some(s), Some(b)) => (b, s),
                    (None, None) => (second, first),
                    _ => return None,
                },
                _ => return None,
            };
            Some(Rule {
                birth: digits(birth)?,
                survival: digits(survival)?,
            })
        };
        parse().ok_or_else(|| RuleError {
            text: text.chars().take(40).collect(),
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |mask: u16| (0..=8).filter(move |n| mask >> n & 1 == 1);
        write!(f, "B")?;
        list(self.birth).try_for_each(|n| write!(f, "{n}"))?;
        write!(f, "/S")?;
        list(self.survival).try_for_each(|n| write!(f, "{n}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn notations_agree() {
        for text in ["B3/S23", "b3/s23", "S23/B3", "23/3", "life", " B3/S32 "] {
            assert_eq!(text.parse(), Ok(Rule::LIFE), "{text}");
        }
        assert_eq!("B/S".parse(), Ok(Rule::from_masks(0, 0)));
    }

    #[test]
    fn nonsense_is_named() {
        for text in [
            "",
            "B3",
            "B9/S23",
            "B3/23",
            "3/S2",
            "B3/S2x",
            "B3/S23/4",
            "Generations",
        ] {
            let error = text.parse::<Rule>().unwrap_err().to_string();
            assert!(
                error.contains("unknown rule") && error.contains("B3/S23"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(birth in 0u16..512, survival in 0u16..512) {
            let rule = Rule::from_masks(birth, survival);
            prop_assert_eq!(rule.to_string().parse(), Ok(rule));
        }
    }
}
