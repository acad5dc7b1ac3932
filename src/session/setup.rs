//! What a session starts from.

use std::fmt;
use std::sync::Arc;

use crate::engine::Kernel;
use crate::life::{Lattice, Rule, Size};

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
    /// Where.
    pub device: DeviceChoice,
    /// In how many streams.
    pub streams: Streams,
    /// In which order the host issues a round's ops.
    pub order: Order,
    /// Whether a round is prepared as a graph and replayed.
    pub graphs: bool,
    /// Generations a round.
    pub generations_per_round: u32,
    /// How fast rounds follow one another.
    pub pace: Pace,
    /// Stop (pause) after so many rounds.
    pub rounds: Option<u64>,
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

/// How instances share streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Streams {
    /// A stream for each.
    PerInstance,
    /// One stream (a device) for all.
    One,
}

/// In which order the host issues a round's ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// All of one instance's ops, then all of the next one's.
    Depth,
    /// Every instance's launch, then every instance's download. The last launch goes out sooner:
    /// while kernels run long, the host's calls for the downloads cost nothing.
    Breadth,
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
            Pace::PerSecond(n) => write!(f, "{n} rounds/s"),
            Pace::Unthrottled => write!(f, "unthrottled"),
        }
    }
}
