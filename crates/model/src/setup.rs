//! What a session starts from.

use std::fmt;
use std::sync::Arc;

use crate::KernelChoice;
use crate::{Switches, TimeSettings};
use engine::Kernel;
use lang::tr;
use life::{Lattice, Rule, Size};

/// Everything that a session is made from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How many lattices.
    pub instances: usize,
    /// Their size.
    pub size: Size,
    /// Their rule.
    pub rule: Rule,
    /// Their first generation.
    pub start: Start,
    /// What steps them.
    pub kernel: &'static Kernel,
    /// Who says so.
    pub kernel_choice: KernelChoice,
    /// Where.
    pub device: DeviceChoice,
    /// How rounds are issued, copied and waited for.
    pub switches: Switches,
    /// Generations a round.
    pub generations_per_round: u32,
    /// How fast rounds follow one another.
    pub pace: Pace,
    /// Stop (pause) after so many rounds.
    pub rounds: Option<u64>,
    /// When it stops by itself, and how far back it remembers.
    pub time: TimeSettings,
}

/// The first generation.
#[derive(Clone, Debug)]
pub enum Start {
    /// Random cells, alive with probability `density`; each instance another soup of `seed`.
    Soup {
        /// From 0 to 1.
        density: f64,
        /// The seed.
        seed: u64,
    },
    /// Instance i starts as lattice `i mod count`.
    Lattices(Vec<Arc<Lattice>>),
}

/// Which engine, and which of its devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceChoice {
    /// The first CUDA device, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// Every CUDA device, the instances spread over them.
    Cuda,
    /// This CUDA device.
    CudaOrdinal(u32),
}

impl std::str::FromStr for DeviceChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<DeviceChoice, &'static str> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|ordinal| ordinal.parse().ok())
                .map(DeviceChoice::CudaOrdinal)
                .ok_or("take auto, cpu, cuda or cuda:I"),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => write!(f, "auto"),
            DeviceChoice::Cpu => write!(f, "cpu"),
            DeviceChoice::Cuda => write!(f, "cuda"),
            DeviceChoice::CudaOrdinal(i) => write!(f, "cuda:{i}"),
        }
    }
}

/// How fast rounds follow one another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pace {
    /// So many rounds a second.
    PerSecond(f64),
    /// As fast as the engine goes.
    Unthrottled,
}

impl Pace {
    /// The steps of the keys `+` and `−`, in rounds a second.
    const LADDER: [f64; 12] = [
        1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 240.0, 500.0, 1000.0, 2000.0,
    ];

    /// The next faster step.
    pub fn faster(self) -> Pace {
        match self {
            Pace::Unthrottled => Pace::Unthrottled,
            Pace::PerSecond(now) => Self::LADDER
                .into_iter()
                .find(|&step| step > now)
                .map_or(Pace::Unthrottled, Pace::PerSecond),
        }
    }

    /// The next slower step.
    pub fn slower(self) -> Pace {
        let now = match self {
            Pace::Unthrottled => f64::INFINITY,
            Pace::PerSecond(now) => now,
        };
        let below = Self::LADDER.into_iter().rev().find(|&step| step < now);
        Pace::PerSecond(below.unwrap_or(Self::LADDER[0]))
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::PerSecond(n) => f.write_str(&tr!("{n} rounds/s", n = n)),
            Pace::Unthrottled => f.write_str(tr!("unthrottled")),
        }
    }
}
