//! Life-like rules: which neighbour counts give birth, which keep a cell alive.

use crate::words::{nearest, plain};
use lang::{Message, mark, message};
use std::fmt;
use std::str::FromStr;

/// A rule in B/S notation over the eight neighbours of a cell, such as `B3/S23`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    birth: u16,
    survival: u16,
}

/// A text that is not a supported rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    pub(crate) message: Message,
    /// Whether the text is written like a rule, though one that cannot be run.
    pub(crate) is_notation: bool,
}

/// Maximum characters of the text that an error quotes.
const MAX_SHOWN: usize = 40;

/// The message about a text that is like no rule.
const NONSENSE: &str =
    mark!("write it as B3/S23, the neighbour counts 0 to 8 after B (birth) and S (survival)");

/// The message about a name, perhaps that of a table of states.
const NAME: &str = mark!(
    "no rule that counts live neighbours has this name; write it as B3/S23, or take a name such as HighLife or Seeds"
);

/// The message about `345/3/6`, `B3/S345/6` or `Brian's Brain`: dying cells have states of their own.
const GENERATIONS: &str = mark!(
    "it seems to be of Generations, with cells of more than two states; only rules such as B3/S23 can be run"
);

/// The message about `R5,C0,M1,S34..58,B34..45,NM`.
const LARGER_THAN_LIFE: &str = mark!(
    "it is written as in Larger than Life; only rules that count the eight cells next to a cell can be run, and they are written such as B3/S23"
);

/// The message about `B2-a/S12`: letters specify the neighbours' positions.
const ISOTROPIC: &str = mark!(
    "it is isotropic non-totalistic: it tells neighbours apart by where they lie; only rules that count them, such as B3/S23, can be run"
);

/// The message about `MAP` and a table of all neighbourhoods in base 64.
const MAP: &str = mark!(
    "it is a MAP rule, with an entry for each neighbourhood; only rules that count live neighbours, such as B3/S23, can be run"
);

/// The message about `B2/S34H`: six neighbours.
const HEXAGONAL: &str = mark!(
    "it is hexagonal, with six neighbours; only rules of the eight next to a cell, such as B3/S23, can be run"
);

/// The message about `B2/S013V`: four neighbours.
const VON_NEUMANN: &str = mark!(
    "it is of the von Neumann neighbourhood, with four neighbours; only rules of the eight next to a cell, such as B3/S23, can be run"
);

/// The message about `B4/S345L`: twelve neighbours.
const TRIANGULAR: &str = mark!(
    "it is triangular, with twelve neighbours; only rules of the eight next to a cell, such as B3/S23, can be run"
);

/// The message about `M0,8,4,3,2,5,9,7,1,6,10,11,12,13,14,15` or `MS,D0;8;4;…`: blocks of four cells.
const MARGOLUS: &str = mark!(
    "it is of the Margolus neighbourhood, which steps blocks of four cells; only rules of the eight next to a cell, such as B3/S23, can be run"
);

/// The message about `W30`.
const ROW: &str = mark!(
    "it is for a single row of cells (Wolfram's numbers); only rules of eight neighbours, such as B3/S23, can be run"
);

/// Rules with names: Golly's list, then names on which the tables of MCell and LifeWiki agree.
/// Names are compared by letters and digits only, ignoring case.
const NAMES: &[(&str, &str)] = &[
    ("Life", "B3/S23"),
    ("Conway", "B3/S23"),
    ("Conway's Life", "B3/S23"),
    ("Game of Life", "B3/S23"),
    ("HighLife", "B36/S23"),
    ("3-4 Life", "B34/S34"),
    ("AntiLife", "B0123478/S01234678"),
    ("Life without Death", "B3/S012345678"),
    ("Plow World", "B378/S012345678"),
    ("Day & Night", "B3678/S34678"),
    ("DayNight", "B3678/S34678"),
    ("Diamoeba", "B35678/S5678"),
    ("LongLife", "B345/S5"),
    ("Seeds", "B2/S"),
    ("Persian Rug", "B234/S"),
    ("Replicator", "B1357/S1357"),
    ("Fredkin", "B1357/S02468"),
    ("Morley", "B368/S245"),
    ("2x2", "B36/S125"),
    ("Amoeba", "B357/S1358"),
    ("Anneal", "B4678/S35678"),
    ("Assimilation", "B345/S4567"),
    ("Bacteria", "B34/S456"),
    ("Coagulations", "B378/S235678"),
    ("Coral", "B3/S45678"),
    ("Corrosion of Conformity", "B3/S124"),
    ("DryLife", "B37/S23"),
    ("EightLife", "B3/S238"),
    ("Flakes", "B3/S012345678"),
    ("Flock", "B3/S12"),
    ("Gnarl", "B1/S1"),
    ("H-trees", "B1/S012345678"),
    ("Holstein", "B35678/S4678"),
    ("HoneyLife", "B38/S238"),
    ("InverseLife", "B0123478/S34678"),
    ("Live Free or Die", "B2/S0"),
    ("LowDeath", "B368/S238"),
    ("Maze", "B3/S12345"),
    ("Mazectric", "B3/S1234"),
    ("Move", "B368/S245"),
    ("Pedestrian Life", "B38/S23"),
    ("Pseudo Life", "B357/S238"),
    ("Serviettes", "B234/S"),
    ("Stains", "B3678/S235678"),
    ("Vote", "B5678/S45678"),
    ("Walled Cities", "B45678/S2345"),
];

/// Named rules of the Generations family.
const GENERATIONS_NAMES: &[&str] = &["briansbrain", "starwars"];

/// Named isotropic rules.
const ISOTROPIC_NAMES: &[&str] = &["tlife", "tdrylife", "thighlife", "justfriends"];

/// Letters for neighbour positions in isotropic rules.
const PLACES: &str = "CEKAINYQJRTWZ-";

/// Letters for neighbour positions in hexagonal rules.
const HEXAGON: &str = "CEKAINYQJRTWZ-OMP";

impl Rule {
    /// Conway's Life, B3/S23.
    pub const LIFE: Rule = Rule {
        birth: 1 << 3,
        survival: 1 << 2 | 1 << 3,
    };

    /// A rule from masks; bit n stands for n live neighbours (0 to 8).
    pub const fn from_masks(birth: u16, survival: u16) -> Rule {
        Rule {
            birth: birth & 0x1ff,
            survival: survival & 0x1ff,
        }
    }

    /// The rule as 18 bits for kernels: bit `9 * alive + neighbours` is the cell's next state.
    pub const fn table(self) -> u32 {
        self.birth as u32 | (self.survival as u32) << 9
    }

    /// The next state of a cell with this many live neighbours.
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

    /// Parses `B3/S23` in either case and order, also with `_` or nothing instead of the slash, or
    /// without `B` or `S`; the older `23/3` (survival first); both as Generations writes them for two
    /// states, such as `23/3/2`; and names such as `HighLife` or `Day & Night`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let upper = text.trim().to_ascii_uppercase();
        let upper = match upper.rsplit_once(['/', '_']) {
            Some((rule, "2" | "C2" | "G2")) if rule.contains(['/', '_']) => rule,
            _ => &upper,
        };
        let rule = notation(upper).or_else(|| named(upper));
        rule.ok_or_else(|| {
            let text: String = text.chars().take(MAX_SHOWN).collect();
            let why = refusal(upper);
            let names = NAMES.iter().map(|(name, _)| (plain(name), *name));
            let message = match nearest(&plain(upper), names) {
                Some(name) if why == NAME => message!(
                    "unknown rule '{text}'; did you mean {name}? Other rules are written such as B3/S23"
                ),
                _ => message!("unknown rule '{text}': {why}", why = lang::text(why)),
            };
            RuleError {
                message,
                is_notation: why != NONSENSE && why != NAME,
            }
        })
    }
}

/// Parses an upper-case rule in B/S or S/B notation.
fn notation(upper: &str) -> Option<Rule> {
    let (first, second) = match (upper.split_once(['/', '_']), upper.chars().next()) {
        (Some(comparison), _) => comparison,
        (None, Some('B')) => upper.split_at(upper.find('S').unwrap_or(upper.len())),
        (None, Some('S')) => upper.split_at(upper.find('B').unwrap_or(upper.len())),
        (None, _) => return None,
    };
    let (birth, survival) = match (first.strip_prefix('B'), second.strip_prefix('S')) {
        (Some(b), Some(s)) => (b, s),
        (Some(b), None) if !b.is_empty() && first.len() == upper.len() => (b, ""),
        (None, None) => match (first.strip_prefix('S'), second.strip_prefix('B')) {
            (Some(s), Some(b)) => (b, s),
            (Some(s), None) if !s.is_empty() && first.len() == upper.len() => ("", s),
            (None, None) => (second, first),
            _ => return None,
        },
        _ => return None,
    };
    Some(Rule {
        birth: digits(birth)?,
        survival: digits(survival)?,
    })
}

fn named(text: &str) -> Option<Rule> {
    let asked = plain(text);
    let (_, rule) = NAMES.iter().find(|(name, _)| plain(name) == asked)?;
    notation(rule)
}

/// Why a text that is no rule cannot be run, by what it seems to be instead.
fn refusal(text: &str) -> &'static str {
    let upper = text.trim().to_ascii_uppercase();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let counts = |part: &str| digits(part.strip_prefix(['B', 'S', 'G', 'C']).unwrap_or(part));
    let after = |letter: &str| upper.strip_prefix(letter).filter(|rest| !rest.is_empty());
    let numbers = |text: &str| text.contains([',', ';']) && text.split([',', ';']).all(digits);
    if after("R").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || (numbers(&upper) && upper.matches(',').count() >= 4)
    {
        return LARGER_THAN_LIFE;
    }
    if after("W").is_some_and(digits) {
        return ROW;
    }
    let is_base_64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    // The three sizes of neighbourhood have 6, 22 and 86 characters.
    if after("MAP").is_some_and(|rest| rest.len() >= 6 && rest.chars().all(is_base_64)) {
        return MAP;
    }
    if after("MS,D").is_some_and(numbers) || after("M").is_some_and(numbers) {
        return MARGOLUS;
    }
    if GENERATIONS_NAMES.contains(&plain(text).as_str()) {
        return GENERATIONS;
    }
    if ISOTROPIC_NAMES.contains(&plain(text).as_str()) {
        return ISOTROPIC;
    }
    let parts: Vec<&str> = upper.split(['/', '_']).collect();
    let is_half = |part: &str| counts(part) || placed(part);
    match parts[..] {
        [a, b, c] if is_half(a) && is_half(b) && counts(c) && !c.is_empty() => GENERATIONS,
        // Other forms, such as B/S/extra.
        [a, b] if !counts(a) || !counts(b) => match neighbourhood(b) {
            Some((b, family)) if lettered(a, HEXAGON) && lettered(b, HEXAGON) => family,
            _ if placed(a) && placed(b) => ISOTROPIC,
            _ => name_or_nonsense(&upper),
        },
        // Without a slash.
        [whole] => match (whole.strip_prefix('B'), whole.find('S')) {
            (Some(_), Some(at)) if placed(&whole[..at]) && placed(&whole[at..]) => {
                if digits(&whole[1..at]) && digits(&whole[at + 1..]) {
                    NONSENSE
                } else {
                    ISOTROPIC
                }
            }
            _ => name_or_nonsense(&upper),
        },
        _ => name_or_nonsense(&upper),
    }
}

fn name_or_nonsense(upper: &str) -> &'static str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_ .+&'".contains(c);
    let starts = upper.starts_with(|c: char| c.is_ascii_alphabetic());
    let counts = ["B", "S"].iter().any(|letter| {
        let rest = upper.strip_prefix(letter);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    });
    if starts && !counts && upper.chars().all(is_name) {
        NAME
    } else {
        NONSENSE
    }
}

/// Splits the neighbourhood letter off the end of half a rule, and returns what is said of its
/// family.
fn neighbourhood(half: &str) -> Option<(&str, &'static str)> {
    [('H', HEXAGONAL), ('V', VON_NEUMANN), ('L', TRIANGULAR)]
        .into_iter()
        .find_map(|(letter, family)| Some((half.strip_suffix(letter)?, family)))
}

/// Whether half a rule is its letter followed by counts and position letters.
fn placed(half: &str) -> bool {
    half.starts_with(['B', 'S']) && lettered(half, PLACES)
}

/// Whether half a rule consists of its optional letter, counts and, after a count, some of
/// `letters`.
fn lettered(half: &str, letters: &str) -> bool {
    let rest = half.strip_prefix(['B', 'S']).unwrap_or(half);
    let is_part = |c: char| c.is_ascii_digit() || letters.contains(c);
    !rest.starts_with(|c: char| !c.is_ascii_digit()) && rest.chars().all(is_part)
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
    fn notations_and_names_are_read_in_any_case_and_with_any_signs() {
        for (rule, texts) in [
            (
                "B3/S23",
                &[
                    "b3/s23",
                    "S23/B3",
                    "23/3",
                    "life",
                    " B3/S32 ",
                    "B3S23",
                    "b3_s23",
                    "S23B3",
                    "s23b3",
                    "23/3/2",
                    "B3/S23/2",
                    "23/3/C2",
                    "23_3_g2",
                    "Conway\u{2019}s Life",
                ][..],
            ),
            ("B/S3", &["S3", "3/"]),
            ("B2/S3", &["3/2"]),
            ("B234/S", &["B234", "persian rug"]),
            ("B/S", &["/"]),
            ("B2/S", &["Seeds", "seeds"]),
            ("B37/S23", &["DryLife", "Dry Life", "dry_life"]),
            (
                "B3678/S34678",
                &["Day & Night", "day and night", "Day&Night", "DayNight"],
            ),
            ("B36/S125", &["2x2", "2X2"]),
            ("B34/S34", &["3-4 Life", "34life"]),
        ] {
            for text in texts {
                let read = text.parse::<Rule>().map(|rule| rule.to_string());
                assert_eq!(read.as_deref(), Ok(rule), "{text}");
            }
        }
        for (name, rule) in NAMES {
            assert_eq!(name.to_uppercase().parse::<Rule>(), rule.parse(), "{name}");
        }
    }

    #[test]
    fn rules_of_other_families_are_recognised() {
        let map = "MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH";
        let margolus = "MS,D0;8;4;3;2;5;9;7;1;6;10;11;12;13;14;15";
        for (family, texts) in [
            (
                NONSENSE,
                &[
                    "", "3", "B9/S23", "B3/23", "3/S2", "B3/S2x", "B", "S", "B3/", "S3/", "2,3/3",
                    "B9/S23/2",
                ][..],
            ),
            (
                GENERATIONS,
                &[
                    "345/3/6",
                    "B3/S23/4",
                    "/2/3",
                    "B2/S345/C4",
                    "B2-a/S12/3",
                    "Brian's Brain",
                ],
            ),
            (
                LARGER_THAN_LIFE,
                &[
                    "R5,C0,M1,S34..58,B34..45,NM",
                    "R1,C2,S2-3,B3",
                    "5,34,45,34,58",
                ],
            ),
            (
                ISOTROPIC,
                &[
                    "B2-a5/S1e2-a35678",
                    "b3_s23-a4ei6",
                    "B3S23-a4ei6",
                    "tlife",
                    "tDryLife",
                    "Just Friends",
                ],
            ),
            (HEXAGONAL, &["B2/S34H", "B2o3/S2m4H", "B2a/S34H"]),
            (VON_NEUMANN, &["2/013V"]),
            (TRIANGULAR, &["B4/S345L"]),
            (MAP, &[map, "MAPARZofw"]),
            (
                MARGOLUS,
                &["M0,8,4,3,2,5,9,7,1,6,10,11,12,13,14,15", margolus],
            ),
            (ROW, &["W110"]),
            (
                NAME,
                &[
                    "Langtons-Ant",
                    "BBM-Margolus-emulated",
                    "Banks-I",
                    "Generations",
                    "WireWorld",
                    "LifeHistory",
                    "Codd",
                ],
            ),
        ] {
            for text in texts {
                let error = text.parse::<Rule>().unwrap_err().to_string();
                let text = &text[..text.len().min(MAX_SHOWN)];
                assert_eq!(error, format!("unknown rule '{text}': {family}"));
            }
        }
        for (text, name) in [
            ("HihgLife", "HighLife"),
            ("Conway's Game of Life", "Conway's Life"),
        ] {
            let error = text.parse::<Rule>().unwrap_err();
            let wanted = format!(
                "unknown rule '{text}'; did you mean {name}? Other rules are written such as B3/S23"
            );
            assert_eq!(error.to_string(), wanted);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,60}|[BSMRWAP0-9/_,;:HVL-]{0,60}") {
            let _ = text.parse::<Rule>();
        }

        #[test]
        fn what_is_shown_is_read_back(birth in 0u16..512, survival in 0u16..512) {
            let rule = Rule::from_masks(birth, survival);
            prop_assert_eq!(rule.to_string().parse(), Ok(rule));
        }
    }
}
