//! The values of a session that stand on screen as figures, and how each is changed: by what is typed in
//! a field, by an amount between two bounds, or by one of some choices.

use std::ops::RangeInclusive;

use engine::Kernel;
use lang::{Message, tr};
use life::{Rule, Size, grouped};
use session::{KernelChoice, Pace, SessionAction, Setup, Status, Switch};

use SessionAction::*;

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
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Position {
    /// What sets it.
    pub action: SessionAction,
    /// Whether it is the present one.
    pub is_on: bool,
    /// As it can be typed; empty where nothing can.
    typed: &'static str,
}

impl Position {
    /// In words.
    pub fn text(self, status: &Status) -> String {
        let setting = &status.setting;
        match self.action {
            UseKernel(at) => {
                let kernel = setting.kernels().nth(at.into());
                kernel.map_or(String::new(), |it| labelled(it.name, &it.idea()))
            }
            AutoKernel => labelled(tr!("auto"), tr!("the fastest by an estimate")),
            SetSwitch(switch, at) => {
                let positions = switch.positions(setting.switches, setting.kernel);
                let choice = switch.choice(positions[usize::from(at)], setting.context());
                labelled(&choice.label, &choice.effect)
            }
            SetPace(at) => Pace::ALL[usize::from(at)].to_string(),
            SetRule(rule) => labelled(self.typed, &rule.to_string()),
            _ => self.typed.into(),
        }
    }
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
        use Setting::*;
        match self {
            Generation => tr!("Run to generation"),
            Instances => tr!("Number of instances"),
            Size => tr!("Size of the lattices"),
            Rule => tr!("Rule of the lattices"),
            Density => tr!("Density of a new soup"),
            GenerationsPerRound => tr!("Generations per round"),
            Kernel => tr!("kernel"),
            Switch(switch) => switch.name(),
            Pace => tr!("pace"),
        }
    }

    /// What an empty field shows.
    pub fn example(self) -> String {
        use Setting::*;
        let example = match self {
            Generation => "5,206",
            Instances => "32",
            Size => "512x512",
            Rule => "B36/S23",
            Density => "0.3",
            GenerationsPerRound => "10",
            Kernel | Switch(_) | Pace => return String::new(),
        };
        tr!("such as {example}")
    }

    /// What is typed in its field already: of the rule, one that was offered, which is taken.
    pub fn typed_first(self, offered: &mut Option<Rule>) -> String {
        match self {
            Setting::Rule => offered.take().map_or(String::new(), |it| it.to_string()),
            _ => String::new(),
        }
    }

    /// What is offered beside the field, as it can be typed.
    fn offered(self) -> &'static str {
        use Setting::*;
        match self {
            Instances => "1|2|4|8|16|32|64",
            Size => "64x64|128x128|256x256|512x512|1024x1024|2048x2048|4096x4096",
            Rule => "Life|HighLife|Day & Night|Seeds|Maze|Replicator",
            Density => "5 %|10 %|20 %|30 %|40 %|50 %|75 %",
            GenerationsPerRound => "1|2|4|10|32|100|1,000",
            _ => "",
        }
    }

    /// What a field says below it: the present value and what another one does.
    pub fn present(self, status: &Status) -> String {
        use Setting::*;
        let value = self.value(status).unwrap_or_default();
        match self {
            Generation => tr!(
                "Current generation: {}. A smaller number goes back in time.",
                grouped(status.clock.generation)
            ),
            Instances => tr!(
                "Now {present}; 1 to {most} are possible.",
                present = value,
                most = grouped(Setup::MAX_INSTANCES as u64)
            ),
            Size => tr!(
                "Now {present}. The cells in the middle stay.",
                present = value
            ),
            Rule => tr!(
                "Now {present}. A name such as HighLife can be typed, too.",
                present = value
            ),
            Density => tr!("All lattices get a new soup, of this fraction of live cells.").into(),
            _ => tr!("Now {present}.", present = value),
        }
    }

    /// What it is set to, in words; `None` where that is another at any moment, or unknown.
    pub fn value(self, status: &Status) -> Option<String> {
        use Setting::*;
        let (lattices, setting) = (&status.lattices, &status.setting);
        Some(match self {
            Generation => return None,
            Instances => grouped(lattices.instances as u64),
            Size => lattices.size.to_string(),
            Rule => lattices.rule.to_string(),
            Density => format!("{:.0} %", 1e2 * lattices.density?),
            GenerationsPerRound => grouped(setting.generations_per_round.into()),
            Kernel if setting.kernel_choice == KernelChoice::Estimated => {
                labelled(tr!("auto"), setting.kernel.name)
            }
            Kernel => setting.kernel.name.into(),
            Switch(switch) => switch.choice(setting.switches, setting.context()).label,
            Pace => setting.pace.to_string(),
        })
    }

    /// What it can be set to, as far as that is offered.
    pub fn choices(self, status: &Status) -> Vec<Position> {
        let position = |action, is_on| Position {
            action,
            is_on,
            typed: "",
        };
        let setting = &status.setting;
        match self {
            Setting::Kernel => {
                let is_auto = setting.kernel_choice == KernelChoice::Estimated;
                let choice = |kernel: &Kernel| {
                    let action = UseKernel(kernel.index() as u8);
                    let is_on = !is_auto && setting.kernel.index() == kernel.index();
                    position(action, is_on)
                };
                let auto = position(AutoKernel, is_auto);
                setting.kernels().map(choice).chain([auto]).collect()
            }
            Setting::Switch(switch) => {
                let count = switch.positions(setting.switches, setting.kernel).len();
                let present = switch.position(setting.switches, setting.kernel);
                let choice = |at| position(SetSwitch(switch, at as u8), at == present);
                (0..count).map(choice).collect()
            }
            Setting::Pace => {
                let choice =
                    |(at, pace): (usize, Pace)| position(SetPace(at as u8), pace == setting.pace);
                Pace::ALL.into_iter().enumerate().map(choice).collect()
            }
            _ => {
                let sets = |typed: &str| self.read(typed).ok();
                let now = self.value(status).and_then(|it| sets(&it));
                let choice = |typed: &'static str| {
                    let action = sets(typed)?;
                    Some(Position {
                        typed,
                        ..position(action, now == Some(action))
                    })
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
                RunTo(generation)
            }
            Setting::Instances => {
                let count = within(typed, 1..=Setup::MAX_INSTANCES as u64)?;
                SetInstances(count.try_into().unwrap_or(u16::MAX))
            }
            Setting::Size => SetSize(Size::from_sides(typed).map_err(said)?),
            Setting::Rule => SetRule(typed.parse::<Rule>().map_err(|it| it.to_string())?),
            Setting::Density => SetDensity(thousandths(typed)?),
            Setting::GenerationsPerRound => {
                let count = within(typed, 1..=u32::MAX.into())?;
                SetGenerationsPerRound(count.try_into().unwrap_or(u32::MAX))
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
