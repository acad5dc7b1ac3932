//! The values of a session that stand on screen as figures, and how each is changed: by what is typed in
//! a field, by an amount between two bounds, or by one of some choices.

use std::ops::RangeInclusive;

use engine::Kernel;
use lang::{Message, tr};
use life::{Rule, Size, grouped};
use session::{KernelChoice, Pace, SessionAction, Setup, Status, Switch};

/// A value that can be changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
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
    /// The kernel.
    Kernel,
    /// A switch of the lab.
    Switch(Switch),
    /// How fast rounds may follow one another.
    Pace,
}

/// One of the values that something can be set to.
#[derive(Clone, PartialEq, Debug)]
pub struct Position {
    /// In words.
    pub text: String,
    /// What sets it.
    pub action: SessionAction,
    /// Whether it is the present one.
    pub is_on: bool,
}

impl Setting {
    /// Those that a field asks for.
    pub const TYPED: [Setting; 6] = [
        Setting::Generation,
        Setting::Instances,
        Setting::Size,
        Setting::Rule,
        Setting::Density,
        Setting::GenerationsPerRound,
    ];

    /// What it is called; the heading of its field.
    pub fn title(self) -> &'static str {
        match self {
            Setting::Generation => tr!("Run to generation"),
            Setting::Instances => tr!("Number of instances"),
            Setting::Size => tr!("Size of the lattices"),
            Setting::Rule => tr!("Rule of the lattices"),
            Setting::Density => tr!("Density of a new soup"),
            Setting::GenerationsPerRound => tr!("Generations per round"),
            Setting::Kernel => tr!("kernel"),
            Setting::Switch(switch) => switch.name(),
            Setting::Pace => tr!("pace"),
        }
    }

    /// What an empty field shows.
    pub fn example(self) -> String {
        let example = match self {
            Setting::Generation => "5,206",
            Setting::Instances => "32",
            Setting::Size => "512x512",
            Setting::Rule => "B36/S23",
            Setting::Density => "0.3",
            Setting::GenerationsPerRound => "10",
            Setting::Kernel | Setting::Switch(_) | Setting::Pace => return String::new(),
        };
        tr!("such as {example}")
    }

    /// What is offered beside the field, as it can be typed.
    fn offered(self) -> &'static str {
        match self {
            Setting::Instances => "1|2|4|8|16|32|64",
            Setting::Size => "64x64|128x128|256x256|512x512|1024x1024|2048x2048|4096x4096",
            Setting::Rule => "Life|HighLife|Day & Night|Seeds|Maze|Replicator",
            Setting::Density => "5 %|10 %|20 %|30 %|40 %|50 %|75 %",
            Setting::GenerationsPerRound => "1|2|4|10|32|100|1,000",
            _ => "",
        }
    }

    /// What a field says below it: the present value and what another one does.
    pub fn present(self, status: &Status) -> String {
        let value = self.value(status).unwrap_or_default();
        match self {
            Setting::Generation => tr!(
                "Current generation: {}. A smaller number goes back in time.",
                grouped(status.clock.generation)
            ),
            Setting::Instances => tr!(
                "Now {present}; 1 to {most} are possible.",
                present = value,
                most = grouped(Setup::MAX_INSTANCES as u64)
            ),
            Setting::Size => tr!(
                "Now {present}. The cells in the middle stay.",
                present = value
            ),
            Setting::Rule => tr!(
                "Now {present}. A name such as HighLife can be typed, too.",
                present = value
            ),
            Setting::Density => {
                tr!("All lattices get a new soup, of this fraction of live cells.").into()
            }
            _ => tr!("Now {present}.", present = value),
        }
    }

    /// What it is set to, in words; `None` where that is another at any moment, or unknown.
    pub fn value(self, status: &Status) -> Option<String> {
        let (lattices, setting) = (&status.lattices, &status.setting);
        Some(match self {
            Setting::Generation => return None,
            Setting::Instances => grouped(lattices.instances as u64),
            Setting::Size => lattices.size.to_string(),
            Setting::Rule => lattices.rule.to_string(),
            Setting::Density => format!("{:.0} %", 1e2 * lattices.density?),
            Setting::GenerationsPerRound => grouped(setting.generations_per_round.into()),
            Setting::Kernel if setting.kernel_choice == KernelChoice::Estimated => {
                labelled(tr!("auto"), setting.kernel.name)
            }
            Setting::Kernel => setting.kernel.name.into(),
            Setting::Switch(switch) => {
                let choices = switch.choices(setting.switches, setting.context());
                let at = switch.position(setting.switches, setting.kernel);
                choices.into_iter().nth(at)?.label
            }
            Setting::Pace => setting.pace.to_string(),
        })
    }

    /// What it can be set to, as far as that is offered.
    pub fn choices(self, status: &Status) -> Vec<Position> {
        let position = |text, action, is_on| Position {
            text,
            action,
            is_on,
        };
        let setting = &status.setting;
        match self {
            Setting::Kernel => {
                let is_auto = setting.kernel_choice == KernelChoice::Estimated;
                let choice = |kernel: &Kernel| {
                    let text = labelled(kernel.name, &kernel.idea());
                    let action = SessionAction::UseKernel(kernel.index() as u8);
                    let is_on = !is_auto && setting.kernel.index() == kernel.index();
                    position(text, action, is_on)
                };
                let auto = labelled(tr!("auto"), tr!("the fastest by an estimate"));
                let auto = position(auto, SessionAction::AutoKernel, is_auto);
                setting.kernels().map(choice).chain([auto]).collect()
            }
            Setting::Switch(switch) => {
                let choices = switch.choices(setting.switches, setting.context());
                let present = switch.position(setting.switches, setting.kernel);
                let choice = |(at, choice): (usize, session::Choice)| {
                    let text = labelled(&choice.label, &choice.effect);
                    let action = SessionAction::SetSwitch(switch, at as u8);
                    position(text, action, at == present)
                };
                choices.into_iter().enumerate().map(choice).collect()
            }
            Setting::Pace => {
                let choice = |(at, pace): (usize, Pace)| {
                    let action = SessionAction::SetPace(at as u8);
                    position(pace.to_string(), action, pace == setting.pace)
                };
                Pace::ALL.into_iter().enumerate().map(choice).collect()
            }
            _ => {
                let sets = |typed: &str| self.read(typed).ok();
                let now = self.value(status).and_then(|it| sets(&it));
                let choice = |typed: &str| {
                    let action = sets(typed)?;
                    let text = match action {
                        SessionAction::SetRule(rule) => labelled(typed, &rule.to_string()),
                        _ => typed.into(),
                    };
                    Some(position(text, action, now == Some(action)))
                };
                self.offered().split('|').filter_map(choice).collect()
            }
        }
    }

    /// What is to be done with what was typed.
    ///
    /// # Errors
    /// Why it is not such a value, in the reader's language.
    pub fn read(self, typed: &str) -> Result<SessionAction, String> {
        let said = |error: Message| error.to_string();
        Ok(match self {
            Setting::Generation => {
                let generation = whole(typed).ok_or(tr!("type a whole number"))?;
                SessionAction::RunTo(generation)
            }
            Setting::Instances => {
                let count = within(typed, 1..=Setup::MAX_INSTANCES as u64)?;
                SessionAction::SetInstances(count.try_into().unwrap_or(u16::MAX))
            }
            Setting::Size => SessionAction::SetSize(Size::from_sides(typed).map_err(said)?),
            Setting::Rule => {
                SessionAction::SetRule(typed.parse::<Rule>().map_err(|it| it.to_string())?)
            }
            Setting::Density => SessionAction::SetDensity(thousandths(typed)?),
            Setting::GenerationsPerRound => {
                let count = within(typed, 1..=u32::MAX.into())?;
                SessionAction::SetGenerationsPerRound(count.try_into().unwrap_or(u32::MAX))
            }
            Setting::Kernel | Setting::Switch(_) | Setting::Pace => return Err(String::new()),
        })
    }
}

fn labelled(label: &str, value: &str) -> String {
    tr!("{label}: {value}")
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
