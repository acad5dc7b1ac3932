//! Life-like rules: which neighbour counts give birth, which keep a cell alive.

use lang::tr;
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
#[error("{}", .family.sentence(.text))]
pub struct RuleError {
    text: String,
    family: Family,
}

/// What a text that is no [`Rule`] seems to be, from how other programs write their rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    /// Nothing that is known.
    Nonsense,
    /// A name, as that of a table of states.
    Named,
    /// `345/3/6` or `B3/S345/6`: dying cells have states of their own.
    Generations,
    /// `R5,C0,M1,S34..58,B34..45,NM`.
    LargerThanLife,
    /// `B2-a/S12`: letters say which of the neighbours.
    Places,
    /// `B2/S34H`, `B2/S013V`.
    Neighbourhood,
    /// `W30`.
    Row,
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

    /// Reads `B3/S23` in either case and order, also with `_` or nothing for the slash or with
    /// no `S` at all, the older `23/3` (survival first), and the names `Life` and `HighLife`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let parse = || {
            let upper = text.trim().to_ascii_uppercase();
            match upper.as_str() {
                "LIFE" | "CONWAY" => return Some(Rule::LIFE),
                "HIGHLIFE" => return "B36/S23".parse().ok(),
                _ => {}
            }
            let (first, second) = match upper.split_once(['/', '_']) {
                Some(halves) => halves,
                None if upper.starts_with('B') => {
                    upper.split_at(upper.find('S').unwrap_or(upper.len()))
                }
                None => return None,
            };
            let (birth, survival) = match (first.strip_prefix('B'), second.strip_prefix('S')) {
                (Some(b), Some(s)) => (b, s),
                (Some(b), None) if !b.is_empty() && first.len() == upper.len() => (b, ""),
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
            family: Family::of(text),
        })
    }
}

impl Family {
    fn of(text: &str) -> Family {
        let upper = text.trim().to_ascii_uppercase();
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let counts = |part: &str| digits(part.strip_prefix(['B', 'S', 'G', 'C']).unwrap_or(part));
        let after = |letter| upper.strip_prefix(letter).filter(|rest| !rest.is_empty());
        if after('R').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            return Family::LargerThanLife;
        }
        if after('W').is_some_and(digits) {
            return Family::Row;
        }
        let parts: Vec<&str> = upper.split(['/', '_']).collect();
        match parts[..] {
            [a, b, c] if counts(a) && counts(b) && counts(c) && !c.is_empty() => {
                Family::Generations
            }
            // Named otherwise, such as B/S/extra.
            [a, b] if !counts(a) || !counts(b) => match (a, b.strip_suffix(['H', 'V', 'L'])) {
                (a, Some(b)) if counts(a) && counts(b) => Family::Neighbourhood,
                _ if placed(a) && placed(b) => Family::Places,
                _ => Family::named(&upper),
            },
            _ => Family::named(&upper),
        }
    }

    fn named(upper: &str) -> Family {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_ .+".contains(c);
        let starts = upper.starts_with(|c: char| c.is_ascii_alphabetic());
        let counts = ["B", "S"].iter().any(|letter| {
            let rest = upper.strip_prefix(letter);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        });
        if starts && !counts && upper.chars().all(is_name) {
            Family::Named
        } else {
            Family::Nonsense
        }
    }

    fn sentence(self, text: &str) -> String {
        match self {
            Family::Nonsense => tr!(
                "unknown rule '{text}': write it as B3/S23, the neighbour counts 0 to 8 after B (birth) and S (survival)",
                text = text
            ),
            Family::Named => tr!(
                "unknown rule '{text}': only rules that count live neighbours can be run, written such as B3/S23",
                text = text
            ),
            Family::Generations => tr!(
                "unknown rule '{text}': it seems to be of Generations, with cells of more than two states; only rules such as B3/S23 can be run",
                text = text
            ),
            Family::LargerThanLife => tr!(
                "unknown rule '{text}': it seems to be of Larger than Life, with neighbours further off; only rules of the eight next to a cell, such as B3/S23, can be run",
                text = text
            ),
            Family::Places => tr!(
                "unknown rule '{text}': it tells neighbours apart by where they lie; only rules that count them, such as B3/S23, can be run",
                text = text
            ),
            Family::Neighbourhood => tr!(
                "unknown rule '{text}': it counts other neighbours than the eight next to a cell; only rules of those, such as B3/S23, can be run",
                text = text
            ),
            Family::Row => tr!(
                "unknown rule '{text}': it is for a single row of cells; only rules of eight neighbours, such as B3/S23, can be run",
                text = text
            ),
        }
    }
}

/// Whether this half of a rule has counts, and letters of places after them.
fn placed(half: &str) -> bool {
    let rest = half.strip_prefix(['B', 'S']).unwrap_or("?");
    rest.chars()
        .all(|c| c.is_ascii_digit() || "CEKAINYQJRTWZ-".contains(c))
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
        for text in [
            "B3/S23", "b3/s23", "S23/B3", "23/3", "life", " B3/S32 ", "B3S23", "b3_s23",
        ] {
            assert_eq!(text.parse(), Ok(Rule::LIFE), "{text}");
        }
        assert_eq!("B234".parse(), Ok(Rule::from_masks(0b11100, 0)));
        assert_eq!("B/S".parse(), Ok(Rule::from_masks(0, 0)));
    }

    #[test]
    fn nonsense_is_named() {
        for text in [
            "",
            "3",
            "B9/S23",
            "B3/23",
            "3/S2",
            "B3/S2x",
            "B3/S23/4",
            "B",
            "B3/",
            "Generations",
        ] {
            let error = text.parse::<Rule>().unwrap_err().to_string();
            assert!(
                error.contains("unknown rule") && error.contains("B3/S23"),
                "{error}"
            );
        }
    }

    #[test]
    fn rules_of_other_families_are_told_as_such() {
        for (text, words) in [
            ("345/3/6", "Generations"),
            ("B3/S23/4", "Generations"),
            ("/2/3", "Generations"),
            ("R5,C0,M1,S34..58,B34..45,NM", "Larger than Life"),
            ("B2-a5/S1e2-a35678", "where they lie"),
            ("b3_s23-a4ei6", "where they lie"),
            ("B2/S34H", "other neighbours"),
            ("2/013V", "other neighbours"),
            ("W110", "a single row"),
            ("Langtons-Ant", "only rules that count live neighbours"),
            (
                "BBM-Margolus-emulated",
                "only rules that count live neighbours",
            ),
            ("B9/S23", "write it as B3/S23"),
            ("2,3/3", "write it as B3/S23"),
        ] {
            let error = text.parse::<Rule>().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
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
