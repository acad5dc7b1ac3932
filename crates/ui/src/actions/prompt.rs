//! The values that a person can type in, and how what was typed is read.

use std::ops::RangeInclusive;

use lang::{Message, tr};
use life::{Rule, Size, grouped};
use session::{SessionAction, Status};

/// A value that a field asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Prompt {
    /// The generation to run to, or to go back to.
    Generation,
    /// How many instances there are.
    Instances,
    /// The size of all lattices.
    Size,
    /// The rule of all lattices.
    Rule,
    /// The fraction of live cells of the next soup.
    Density,
    /// How many generations a round has.
    GenerationsPerRound,
}

impl Prompt {
    /// All of them.
    pub const ALL: [Prompt; 6] = [
        Prompt::Generation,
        Prompt::Instances,
        Prompt::Size,
        Prompt::Rule,
        Prompt::Density,
        Prompt::GenerationsPerRound,
    ];

    /// What is asked for, as the field's heading.
    pub fn title(self) -> &'static str {
        match self {
            Prompt::Generation => tr!("Run to generation"),
            Prompt::Instances => tr!("Number of instances"),
            Prompt::Size => tr!("Size of the lattices"),
            Prompt::Rule => tr!("Rule of the lattices"),
            Prompt::Density => tr!("Density of a new soup"),
            Prompt::GenerationsPerRound => tr!("Generations per round"),
        }
    }

    /// What an empty field shows.
    pub fn example(self) -> String {
        let example = match self {
            Prompt::Generation => "5,206",
            Prompt::Instances => "32",
            Prompt::Size => "512x512",
            Prompt::Rule => "B36/S23",
            Prompt::Density => "0.3",
            Prompt::GenerationsPerRound => "10",
        };
        tr!("such as {example}")
    }

    /// The present value and what another one does, in one or two sentences; at most `most_instances`
    /// can be shown.
    pub fn present(self, status: &Status, most_instances: usize) -> String {
        match self {
            Prompt::Generation => tr!(
                "Current generation: {}. A smaller number goes back in time.",
                grouped(status.clock.generation)
            ),
            Prompt::Instances => tr!(
                "Now {present}; 1 to {most} are possible.",
                present = grouped(status.lattices.instances as u64),
                most = grouped(most_instances as u64)
            ),
            Prompt::Size => tr!(
                "Now {present}. The cells in the middle stay.",
                present = status.lattices.size
            ),
            Prompt::Rule => tr!(
                "Now {present}. A name such as HighLife can be typed, too.",
                present = status.lattices.rule
            ),
            Prompt::Density => {
                tr!("All lattices get a new soup, of this fraction of live cells.").into()
            }
            Prompt::GenerationsPerRound => tr!(
                "Now {present}.",
                present = grouped(status.setting.generations_per_round.into())
            ),
        }
    }

    /// The present value; `None` where that is another at any moment, or unknown.
    pub fn value(self, status: &Status) -> Option<String> {
        let lattices = &status.lattices;
        match self {
            Prompt::Generation => None,
            Prompt::Instances => Some(grouped(lattices.instances as u64)),
            Prompt::Size => Some(lattices.size.to_string()),
            Prompt::Rule => Some(lattices.rule.to_string()),
            Prompt::Density => Some(format!("{:.0} %", 1e2 * lattices.density?)),
            Prompt::GenerationsPerRound => {
                Some(grouped(status.setting.generations_per_round.into()))
            }
        }
    }

    /// What is to be done with what was typed.
    ///
    /// # Errors
    /// Why it is not such a value, in the reader's language.
    pub fn read(self, typed: &str, most_instances: usize) -> Result<SessionAction, String> {
        let said = |error: Message| error.to_string();
        Ok(match self {
            Prompt::Generation => {
                let generation = whole(typed).ok_or(tr!("type a whole number"))?;
                SessionAction::RunTo(generation)
            }
            Prompt::Instances => {
                let count = within(typed, 1..=most_instances as u64)?;
                SessionAction::SetInstances(count.try_into().unwrap_or(u16::MAX))
            }
            Prompt::Size => SessionAction::SetSize(Size::from_sides(typed).map_err(said)?),
            Prompt::Rule => {
                SessionAction::SetRule(typed.parse::<Rule>().map_err(|it| it.to_string())?)
            }
            Prompt::Density => SessionAction::SetDensity(thousandths(typed)?),
            Prompt::GenerationsPerRound => {
                let count = within(typed, 1..=u32::MAX.into())?;
                SessionAction::SetGenerationsPerRound(count.try_into().unwrap_or(u32::MAX))
            }
        })
    }
}

/// A whole number as people write it.
fn whole(typed: &str) -> Option<u64> {
    let separates = |c: &char| matches!(c, ',' | '_' | '\'') || c.is_whitespace();
    let digits: String = typed.chars().filter(|c| !separates(c)).collect();
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

/// Thousandths of a fraction that is typed as such or in percent.
fn thousandths(typed: &str) -> Result<u16, String> {
    let (number, whole) = match typed.trim().strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (typed.trim(), 1.0),
    };
    let fraction = number.parse::<f64>().map(|number| number / whole);
    let fraction = fraction.ok().filter(|it| (0.0..=1.0).contains(it));
    let thousandths = fraction.map(|fraction| (1e3 * fraction).round() as u16);
    thousandths.ok_or_else(|| tr!("type a fraction from 0 to 1, or percent such as 30 %").into())
}

fn within(typed: &str, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    whole(typed)
        .filter(|number| bounds.contains(number))
        .ok_or_else(|| {
            tr!(
                "type a whole number from {least} to {most}",
                least = bounds.start(),
                most = grouped(*bounds.end())
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Rule;

    #[test]
    fn a_whole_number_is_read_as_people_write_it() {
        for (typed, wanted) in [
            ("5206", Some(5206)),
            (" 5,206 ", Some(5206)),
            ("1_000_000", Some(1_000_000)),
            ("0", Some(0)),
            ("", None),
            ("-3", None),
            ("+3", None),
            ("1.5", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(whole(typed), wanted, "{typed}");
        }
    }

    #[test]
    fn each_prompt_reads_its_value_and_says_what_is_wrong() {
        let read = |prompt: Prompt, typed: &str| prompt.read(typed, 1024);
        let size = |width, height| Size::new(width, height).unwrap();
        let high_life = Rule::from_masks(1 << 3 | 1 << 6, 1 << 2 | 1 << 3);
        for (prompt, typed, wanted) in [
            (Prompt::Generation, "0", SessionAction::RunTo(0)),
            (
                Prompt::Instances,
                "1,024",
                SessionAction::SetInstances(1024),
            ),
            (Prompt::Size, "512", SessionAction::SetSize(size(512, 512))),
            (
                Prompt::Size,
                "64 x 32",
                SessionAction::SetSize(size(64, 32)),
            ),
            (Prompt::Rule, "b36s23", SessionAction::SetRule(high_life)),
            (Prompt::Rule, "high life", SessionAction::SetRule(high_life)),
            (Prompt::Density, "0.375", SessionAction::SetDensity(375)),
            (Prompt::Density, "30 %", SessionAction::SetDensity(300)),
            (
                Prompt::GenerationsPerRound,
                "7",
                SessionAction::SetGenerationsPerRound(7),
            ),
        ] {
            assert_eq!(read(prompt, typed), Ok(wanted), "{typed}");
        }
        for (prompt, typed, why) in [
            (Prompt::Generation, "soon", "whole number"),
            (Prompt::Instances, "0", "from 1 to 1,024"),
            (Prompt::Instances, "1025", "from 1 to 1,024"),
            (Prompt::Size, "512x", "512x"),
            (Prompt::Size, "0", "0x0"),
            (Prompt::Rule, "B9/S2", "B9/S2"),
            (Prompt::Rule, "HiLife", "HighLife"),
            (Prompt::Density, "30", "30 %"),
            (Prompt::Density, "NaN", "from 0 to 1"),
            (Prompt::GenerationsPerRound, "0", "from 1 to 4,294,967,295"),
        ] {
            let refused = read(prompt, typed).unwrap_err();
            assert!(refused.contains(why), "{typed}: {refused}");
        }
    }
}
