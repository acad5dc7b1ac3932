//! The values of a session that stand on screen as figures, and how each is changed where it stands:
//! by an amount between two bounds, or by one of some choices.

use std::ops::RangeInclusive;

use crate::actions::Prompt;
use engine::Kernel;
use lang::tr;
use life::{Rule, Size};
use session::{AUTO_KERNEL, KernelChoice, Pace, SessionAction, Status, Switch};

/// A value that can be changed where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
    /// One that a field asks for.
    Value(Prompt),
    /// The kernel.
    Kernel,
    /// A switch of the lab.
    Switch(Switch),
    /// How fast rounds may follow one another.
    Pace,
}

/// A whole number between two bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Amount {
    /// The present one.
    pub now: u64,
    /// The smallest and the largest that are offered.
    pub bounds: RangeInclusive<u64>,
    /// What stands behind the number, with the space before it.
    pub unit: &'static str,
}

/// The sides of the square lattices that are offered.
const SIDES: [u64; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// The rules that are offered, by their names.
const RULES: [&str; 6] = [
    "Life",
    "HighLife",
    "Day & Night",
    "Seeds",
    "Maze",
    "Replicator",
];
/// The most generations per round that are offered; more can be typed.
const MAX_GENERATIONS: u64 = 1024;

impl Setting {
    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Setting::Value(prompt) => prompt.title(),
            Setting::Kernel => tr!("kernel"),
            Setting::Switch(switch) => switch.name(),
            Setting::Pace => tr!("pace"),
        }
    }

    /// What it is set to, in words; `None` where that is unknown.
    pub fn value(self, status: &Status) -> Option<String> {
        match self {
            Setting::Value(prompt) => prompt.value(status),
            Setting::Kernel if status.setting.kernel_choice == KernelChoice::Estimated => {
                Some(labelled(tr!("auto"), status.setting.kernel.name))
            }
            Setting::Kernel => Some(status.setting.kernel.name.into()),
            Setting::Switch(switch) => {
                let (switches, context) = (status.setting.switches, status.setting.context());
                let choices = switch.choices(switches, context);
                let present = choices
                    .into_iter()
                    .nth(switch.position(switches, context.kernel));
                present.map(|choice| choice.label)
            }
            Setting::Pace => Some(status.setting.pace.to_string()),
        }
    }

    /// What it can be set to, in words, and what sets it; empty where it is an amount.
    pub fn choices(self, status: &Status) -> Vec<(String, SessionAction)> {
        let numbered = |at: usize| at.try_into().unwrap_or(u8::MAX);
        match self {
            Setting::Value(Prompt::Size) => {
                let sizes = SIDES
                    .into_iter()
                    .filter_map(|side| Size::new(side, side).ok());
                let choice = |size: Size| (size.to_string(), SessionAction::SetSize(size));
                sizes.map(choice).collect()
            }
            Setting::Value(Prompt::Rule) => {
                let choice = |name: &str| {
                    let rule: Rule = name.parse().ok()?;
                    let text = labelled(name, &rule.to_string());
                    Some((text, SessionAction::SetRule(rule)))
                };
                RULES.into_iter().filter_map(choice).collect()
            }
            Setting::Value(
                Prompt::Generation
                | Prompt::Instances
                | Prompt::Density
                | Prompt::GenerationsPerRound,
            ) => Vec::new(),
            Setting::Kernel => {
                let kernels = status.setting.kernels();
                let choice = |kernel: &Kernel| {
                    let text = labelled(kernel.name, &kernel.idea());
                    (text, SessionAction::UseKernel(numbered(kernel.index())))
                };
                let auto = labelled(tr!("auto"), tr!("the fastest by an estimate"));
                let auto = (auto, SessionAction::UseKernel(AUTO_KERNEL));
                kernels.map(choice).chain([auto]).collect()
            }
            Setting::Switch(switch) => {
                let choices = switch.choices(status.setting.switches, status.setting.context());
                let choice = |(at, choice): (usize, session::Choice)| {
                    let text = labelled(&choice.label, &choice.effect);
                    (text, SessionAction::SetSwitch(switch, numbered(at)))
                };
                choices.into_iter().enumerate().map(choice).collect()
            }
            Setting::Pace => {
                let paces = Pace::ALL.into_iter().enumerate();
                let choice = |(at, pace): (usize, Pace)| {
                    (pace.to_string(), SessionAction::SetPace(numbered(at)))
                };
                paces.map(choice).collect()
            }
        }
    }

    /// The amount that it is, if it is one; at most `most_instances` can be shown.
    pub fn amount(self, status: &Status, most_instances: usize) -> Option<Amount> {
        let amount = |now: u64, bounds, unit| Some(Amount { now, bounds, unit });
        match self {
            Setting::Value(Prompt::Instances) => {
                let (now, most) = (status.lattices.instances, most_instances);
                amount(now as u64, 1..=most as u64, "")
            }
            Setting::Value(Prompt::Density) => {
                let density = status.lattices.density?;
                amount((1e2 * density).round() as u64, 0..=100, " %")
            }
            Setting::Value(Prompt::GenerationsPerRound) => {
                let now = status.setting.generations_per_round;
                amount(now.into(), 1..=MAX_GENERATIONS, "")
            }
            _ => None,
        }
    }
}

fn labelled(label: &str, value: &str) -> String {
    tr!("{label}: {value}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::availability::tests::context;
    use session::{DeviceChoice, Setup};

    fn status() -> Status {
        let kernel = engine::kernels::find("bits").unwrap();
        let size = Size::new(256, 256).unwrap();
        Status::before_start(&Setup::new(16, size, kernel, DeviceChoice::Cpu))
    }

    /// As the figures have them.
    const ALL: [Setting; 8] = [
        Setting::Value(Prompt::Instances),
        Setting::Value(Prompt::Size),
        Setting::Value(Prompt::Rule),
        Setting::Value(Prompt::Density),
        Setting::Value(Prompt::GenerationsPerRound),
        Setting::Kernel,
        Setting::Switch(Switch::Streams),
        Setting::Pace,
    ];

    #[test]
    fn each_is_an_amount_or_has_choices_of_which_the_present_one_is_on() {
        let status = status();
        let context = context(&status);
        for setting in ALL {
            let choices = setting.choices(&status);
            let amount = setting.amount(&status, 64);
            assert_ne!(choices.is_empty(), amount.is_none(), "{setting:?}");
            let states = choices.iter();
            let states = states.map(|(_, action)| crate::Action::from(*action).state(&context));
            let on = states.filter(|state| *state == Some(true)).count();
            assert_eq!(on, usize::from(!choices.is_empty()), "{setting:?}");
        }
    }

    #[test]
    fn what_an_amount_says_is_what_its_prompt_reads() {
        let status = status();
        for setting in ALL {
            let Some(Amount { bounds, unit, .. }) = setting.amount(&status, 64) else {
                continue;
            };
            let Setting::Value(prompt) = setting else {
                panic!("{setting:?} has no prompt")
            };
            for end in [*bounds.start(), *bounds.end()] {
                let read = prompt.read(&format!("{end}{unit}"), 64);
                assert!(read.is_ok(), "{setting:?}: {read:?}");
            }
        }
    }
}
