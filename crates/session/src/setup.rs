//! What a session starts from, and what it does with time.

use crate::{KernelChoice, Order, OwnRound, Setting, Switches};
use engine::{Kernel, LatticeId, LatticeOp, Op};
use lang::tr;
use life::{Lattice, MemoryError, Rule, Size, Soup};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Everything that a session is made from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How many lattices.
    pub instances: usize,
    /// Their size.
    pub size: Size,
    /// Their rule.
    pub rule: Rule,
    /// The initial cells.
    pub start: Start,
    /// What they are stepped with.
    pub setting: Setting,
    /// The kernel that a user wrote, if any: the one in use, or another one that can be.
    pub own_kernel: Option<&'static Kernel>,
    /// The source of a kernel that a user wrote, as long as it does not run here. It is saved all the same.
    pub stored_kernel: Option<Arc<StoredKernel>>,
    /// How the kernel was chosen.
    pub kernel_choice: KernelChoice,
    /// Which devices step the lattices.
    pub device: DeviceChoice,
    /// Whether each lattice lies on all of them.
    pub split: Split,
    /// Generations per round.
    pub generations_per_round: u32,
    /// How fast rounds follow one another.
    pub pace: Pace,
    /// Stop (pause) after this many rounds.
    pub rounds: Option<u64>,
    /// When it stops by itself, and how far back it remembers.
    pub time: TimeSettings,
}

/// The chance of a cell to be alive in a soup, where nobody says another.
pub const DEFAULT_DENSITY: f64 = 0.3;

impl Setup {
    /// Maximum number of instances.
    pub const MAX_INSTANCES: usize = 4096;

    /// Instances of B3/S23 from soups of density 0.3, stepped by this kernel without a pause; all else
    /// is as by default.
    pub fn new(
        instances: usize,
        size: Size,
        kernel: &'static Kernel,
        device: DeviceChoice,
    ) -> Setup {
        Setup {
            instances,
            size,
            rule: Rule::LIFE,
            start: Start::soup(DEFAULT_DENSITY, 1),
            setting: Setting {
                kernel,
                switches: Switches::DEFAULT,
                own_round: None,
            },
            own_kernel: kernel.own.as_ref().map(|_| kernel),
            stored_kernel: None,
            kernel_choice: KernelChoice::Explicit,
            device,
            split: Split::Auto,
            generations_per_round: 1,
            pace: Pace::Unthrottled,
            rounds: None,
            time: TimeSettings::DEFAULT,
        }
    }

    /// With other switches.
    #[must_use]
    pub fn with_switches(mut self, switches: Switches) -> Setup {
        self.setting.switches = switches;
        self
    }

    /// Replaces the stored source by the kernel compiled from it. If that source was in use, the kernel is used
    /// from now on, without the switches that it does not support.
    pub fn take_own_kernel(&mut self, kernel: &'static Kernel) {
        let stored = self.stored_kernel.take();
        self.own_kernel = Some(kernel);
        if stored.is_some_and(|it| it.in_use) {
            self.setting = self.setting.with_kernel(kernel);
        }
    }

    /// Keeps only the source of the user's own kernel. If it is in use, the rung that it was written from
    /// takes its place.
    pub fn leave_own_kernel(&mut self) {
        if let Some(own) = self.own_kernel.take().and_then(|it| it.own.as_ref()) {
            self.stored_kernel = Some(Arc::new(StoredKernel {
                source: own.source.as_str().into(),
                rung: own.rung,
                in_use: false,
                file: String::new(),
            }));
        }
        self.setting = self.setting.with_kernel(self.setting.kernel.rung());
    }

    /// Makes the user's round anew if it was made for another number of instances. If it is in use and
    /// not right for this one, breadth-first takes its place. Returns whether it did.
    pub fn fit_own_round(&mut self) -> bool {
        let Setting {
            switches,
            own_round,
            ..
        } = &mut self.setting;
        if let Some(own) = own_round
            && own.instances != self.instances
        {
            *own = Arc::new(OwnRound::new(own.source.clone(), self.instances));
        }
        let is_right = |own: &Arc<OwnRound>| own.round.is_ok();
        let falls_back = switches.order == Order::Own && !own_round.as_ref().is_some_and(is_right);
        if falls_back {
            switches.order = Order::Breadth;
        }
        falls_back
    }
}

/// A kernel of the user's own as text, which is neither checked nor compiled.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredKernel {
    /// What was written.
    pub source: Arc<str>,
    /// The rung that it was written from.
    pub rung: &'static Kernel,
    /// Whether it is to step the lattices.
    pub in_use: bool,
    /// The file of the session that it came with.
    pub file: String,
}

/// Whether each lattice is split over all devices, in bands of rows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub enum Split {
    /// Where there are fewer lattices than devices, and it is faster.
    #[default]
    Auto,
    /// Where there are several devices.
    On,
    /// Never.
    Off,
}

/// The first generation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Random cells, alive with probability `density`; each instance another soup of `seed`.
    Soup {
        /// From 0 to 1.
        density: f64,
        /// The seed.
        seed: u64,
    },
    /// Instance i starts as lattice `i mod count`.
    #[serde(with = "crate::text::start")]
    Lattices {
        /// At least one.
        lattices: Vec<Arc<Lattice>>,
        /// The generation that they are of.
        generation: u64,
    },
}

impl Start {
    /// The generation that every instance starts at.
    pub fn generation(&self) -> u64 {
        match self {
            Start::Soup { .. } => 0,
            Start::Lattices { generation, .. } => *generation,
        }
    }

    /// The cells that it gives to an instance, of `size` cells: a lattice of the start that has another size
    /// is enlarged or reduced about its middle.
    ///
    /// # Errors
    /// The host has no memory for them.
    pub fn cells(&self, size: Size, instance: usize) -> Result<NewCells, MemoryError> {
        match *self {
            Start::Soup { density, seed } => Ok(NewCells::Soup(Soup {
                density,
                seed,
                instance: instance as u64,
            })),
            Start::Lattices { ref lattices, .. } => {
                let lattice = &lattices[instance % lattices.len()];
                if lattice.size() == size {
                    return Ok(lattice.clone().into());
                }
                Ok(Arc::new(lattice.resized(size)?).into())
            }
        }
    }

    /// A soup.
    pub fn soup(density: f64, seed: u64) -> Start {
        Start::Soup { density, seed }
    }

    /// The next soup, of the next seed: of this density, where it is given, else of the present one. After
    /// lattices it is the first one.
    pub fn next_soup(&self, density: Option<f64>) -> Start {
        let (now, seed) = match *self {
            Start::Soup { density, seed } => (density, seed.wrapping_add(1)),
            Start::Lattices { .. } => (DEFAULT_DENSITY, 1),
        };
        Start::soup(density.unwrap_or(now), seed)
    }
}

/// Which engine, and which of its devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum DeviceChoice {
    /// The first CUDA device, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// Every CUDA device, the instances spread over them.
    Cuda,
    /// This CUDA device.
    #[strum(to_string = "cuda:{0}")]
    CudaOrdinal(u32),
    /// The CPU, and what was recorded on a GPU in place of measurements.
    Recorded,
}

impl std::str::FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceChoice, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda),
            "recorded" => Ok(DeviceChoice::Recorded),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|ordinal| ordinal.parse().ok())
                .map(DeviceChoice::CudaOrdinal)
                .ok_or_else(|| tr!("take auto, cpu, cuda, cuda:I or recorded").into()),
        }
    }
}

/// How fast rounds follow one another; the faster is the greater.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub enum Pace {
    /// This many rounds per second, from [`Pace::MIN_PER_SECOND`] to [`Pace::MAX_PER_SECOND`].
    PerSecond(f64),
    /// As fast as the engine goes.
    Unthrottled,
    /// As unthrottled, with as many generations per round as fit in a frame ([`Pace::FRAME`]).
    Maximum,
}

impl std::str::FromStr for Pace {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Pace, &'static str> {
        let paces = Pace::MIN_PER_SECOND..=Pace::MAX_PER_SECOND;
        match text {
            "max" => Ok(Pace::Maximum),
            "unthrottled" => Ok(Pace::Unthrottled),
            _ => match text.parse() {
                Ok(rounds) if paces.contains(&rounds) => Ok(Pace::PerSecond(rounds)),
                _ => Err("take a number of rounds per second, unthrottled or max"),
            },
        }
    }
}

impl Pace {
    /// The paces that the keys `+` and `−` step through, the slowest first.
    pub const ALL: [Pace; 14] = [
        Pace::PerSecond(1.0),
        Pace::PerSecond(2.0),
        Pace::PerSecond(5.0),
        Pace::PerSecond(10.0),
        Pace::PerSecond(20.0),
        Pace::PerSecond(30.0),
        Pace::PerSecond(60.0),
        Pace::PerSecond(120.0),
        Pace::PerSecond(240.0),
        Pace::PerSecond(500.0),
        Pace::PerSecond(1000.0),
        Pace::PerSecond(2000.0),
        Pace::Unthrottled,
        Pace::Maximum,
    ];

    /// The slowest and the fastest that a session is started with, in rounds per second.
    pub const MIN_PER_SECOND: f64 = 0.001;
    /// See [`Pace::MIN_PER_SECOND`].
    pub const MAX_PER_SECOND: f64 = 1e9;

    /// How long a round takes at the maximum pace.
    pub const FRAME: Duration = Duration::from_millis(16);

    /// The time from one round to the next; none where they follow at once.
    pub fn period(self) -> Duration {
        match self {
            Pace::Unthrottled | Pace::Maximum => Duration::ZERO,
            Pace::PerSecond(rounds) => Duration::from_secs_f64(1.0 / rounds),
        }
    }

    /// The next faster step.
    pub fn faster(self) -> Pace {
        let faster = Self::ALL.into_iter().find(|step| *step > self);
        faster.unwrap_or(Pace::Maximum)
    }

    /// The next slower step.
    pub fn slower(self) -> Pace {
        let slower = Self::ALL.into_iter().rev().find(|step| *step < self);
        slower.unwrap_or(Self::ALL[0])
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::PerSecond(n) => f.write_str(&tr!("{n} rounds/s")),
            Pace::Unthrottled => f.write_str(tr!("unthrottled")),
            Pace::Maximum => f.write_str(tr!("maximum")),
        }
    }
}

// The lattices of a start.

/// The cells that an instance is set to. A soup is made where they are needed: by the engine, on its
/// device.
#[derive(Clone, Debug)]
pub enum NewCells {
    /// A lattice on the host.
    Lattice(Arc<Lattice>),
    /// A soup.
    Soup(Soup),
}

impl NewCells {
    /// The cells as a lattice of `size` on the host.
    pub fn lattice(self, size: Size) -> Arc<Lattice> {
        match self {
            NewCells::Lattice(lattice) => lattice,
            NewCells::Soup(soup) => Arc::new(soup.lattice(size)),
        }
    }

    /// What sets a lattice to them.
    ///
    /// # Errors
    /// The host has no memory for a copy.
    pub(crate) fn op(self, id: LatticeId) -> Result<Op, MemoryError> {
        Ok(match self {
            NewCells::Lattice(lattice) => {
                // The words below cannot be refused their memory: it is asked for here first.
                drop(Lattice::try_copy(lattice.size(), lattice.words())?);
                Op::upload(id, lattice.words())
            }
            NewCells::Soup(soup) => LatticeOp::Soup(soup).on(id.as_range()),
        })
    }
}

impl From<Arc<Lattice>> for NewCells {
    fn from(lattice: Arc<Lattice>) -> NewCells {
        NewCells::Lattice(lattice)
    }
}

// What a session does with time beside stepping: when it stops by itself, and how far back it
// remembers.

/// When rounds stop because nothing new will come.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    strum::Display,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum StopWhenStill {
    /// Never.
    #[default]
    Never,
    /// When the selected panel is dead, still or periodic.
    Selected,
    /// When every panel is.
    All,
}

impl StopWhenStill {
    /// The next of them, as a key goes through them.
    pub fn next(self) -> StopWhenStill {
        match self {
            StopWhenStill::Never => StopWhenStill::Selected,
            StopWhenStill::Selected => StopWhenStill::All,
            StopWhenStill::All => StopWhenStill::Never,
        }
    }
}

/// When the session stops by itself, whether it reseeds panels, and how much history it keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSettings {
    /// When rounds stop because nothing new will come.
    pub stop_when_still: StopWhenStill,
    /// Whether dead panels are filled with a new soup.
    pub reseed: bool,
    /// Bytes of the host's memory for going back; too few for two copies of all lattices, and
    /// there is no going back.
    pub history_bytes: u64,
}

impl TimeSettings {
    /// The most memory for going back, in bytes.
    pub const MAX_HISTORY_BYTES: u64 = 1 << 44;

    /// As usual: nothing stops, and 256 MiB of the past.
    pub const DEFAULT: TimeSettings = TimeSettings {
        stop_when_still: StopWhenStill::Never,
        reseed: false,
        history_bytes: 256 << 20,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_lead_from_the_slowest_to_the_maximum_and_back() {
        let mut paces = vec![Pace::PerSecond(1.0)];
        while paces.last() != Some(&Pace::Maximum) {
            paces.push(paces[paces.len() - 1].faster());
        }
        assert_eq!(paces, Pace::ALL);
        assert_eq!(Pace::Maximum.faster(), Pace::Maximum);
        for two in paces.windows(2) {
            assert_eq!(two[1].slower(), two[0]);
        }
    }

    #[test]
    fn a_pace_is_read_as_a_number_or_by_its_name() {
        for (text, pace) in [
            ("max", Some(Pace::Maximum)),
            ("unthrottled", Some(Pace::Unthrottled)),
            ("59.94", Some(Pace::PerSecond(59.94))),
            ("0", None),
            ("-1", None),
            ("nan", None),
            ("fast", None),
        ] {
            assert_eq!(text.parse().ok(), pace, "{text}");
        }
    }
}
