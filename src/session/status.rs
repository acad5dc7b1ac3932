//! The figures that a session shows of itself.

use crate::engine::{DeviceInfo, Kernel, Startup, Transfer};
use crate::life::{Rule, Size};
use crate::session::{Order, Pace, Setup, Start, Streams};

/// A session's state and figures, made anew a few times a second and on every change.
#[derive(Clone, Debug)]
pub struct Status {
    /// `cuda` or `cpu`.
    pub engine: &'static str,
    /// The computing devices.
    pub devices: Vec<DeviceInfo>,
    /// How many lattices.
    pub instances: usize,
    /// Their size.
    pub size: Size,
    /// Their rule.
    pub rule: Rule,
    /// The soup's seed, if the start was a soup.
    pub seed: Option<u64>,
    /// What steps them.
    pub kernel: &'static Kernel,
    /// In how many streams.
    pub streams: Streams,
    /// In which order rounds are issued.
    pub order: Order,
    /// Whether rounds are replayed as graphs.
    pub graphs: bool,
    /// What pictures carry over the bus.
    pub transfer: Transfer,
    /// Whether rounds go on by themselves.
    pub running: bool,
    /// How fast they may.
    pub pace: Pace,
    /// Generations a round.
    pub generations_per_round: u32,
    /// Rounds completed since the start.
    pub rounds: u64,
    /// The generation of the instance that is least far.
    pub generation: u64,
    /// The generation of the instance that is farthest.
    pub newest_generation: u64,
    /// Generations a second, of each instance, over the last half second or so.
    pub generations_per_second: f64,
    /// Rounds a second.
    pub rounds_per_second: f64,
    /// Cells stepped a second, over all instances.
    pub cells_per_second: f64,
    /// The median time of a launch, by events around it, in microseconds.
    pub launch_us: Option<f64>,
    /// One round in so many is timed by events.
    pub timed_one_in: u32,
    /// Bytes that a round carries over the bus.
    pub bytes_per_round: u64,
    /// What the engine spent at its start.
    pub startup: Startup,
    /// The selected instance.
    pub selected: usize,
    /// Something the person should know, in one sentence; it stays for a few seconds.
    pub notice: Option<String>,
    /// Whether all the rounds that were asked for are complete.
    pub finished: bool,
    /// Why the session has ended, if it has.
    pub failed: Option<String>,
}

impl Status {
    /// What can be said before anything has run.
    pub fn before_start(setup: &Setup) -> Status {
        Status {
            engine: "",
            devices: Vec::new(),
            instances: setup.instances,
            size: setup.size,
            rule: setup.rule,
            seed: match setup.start {
                Start::Soup { seed, .. } => Some(seed),
                Start::Lattices(_) => None,
            },
            kernel: setup.kernel,
            streams: setup.streams,
            order: setup.order,
            graphs: setup.graphs,
            transfer: Transfer::Bits,
            running: true,
            pace: setup.pace,
            generations_per_round: setup.generations_per_round,
            rounds: 0,
            generation: 0,
            newest_generation: 0,
            generations_per_second: 0.0,
            rounds_per_second: 0.0,
            cells_per_second: 0.0,
            launch_us: None,
            timed_one_in: 1,
            bytes_per_round: 0,
            startup: Startup::default(),
            selected: 0,
            notice: None,
            finished: false,
            failed: None,
        }
    }
}
