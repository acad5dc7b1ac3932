//! Rounds that were recorded on a GPU, for machines without one.
//!
//! A recording has groups of settings whose rounds step the same lattices. The rounds of a group were timed
//! in turn, so that any two of its settings can be compared by the estimate that compares settings here. It
//! is written by `lifestreams bench recording`, and read where it is needed first.

use std::io::{self, Read, Write};
use std::sync::{Arc, OnceLock};

use engine::{DeviceId, DeviceInfo, Kernel, Nanos};
use experiment::{Recorded, compare_blocks, median};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::trace::{StepKind, TimedRound};
use crate::{Finding, IsolatedOp, Setup, Switches};

/// What was recorded on a GPU.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Recording {
    /// Where and when.
    pub recorded: Recorded,
    /// The device.
    pub device: DeviceInfo,
    /// Into how many hardware queues its driver sorted streams.
    pub queues: u32,
    /// Each with other lattices.
    pub groups: Vec<RecordedGroup>,
}

/// Settings whose rounds step the same lattices, timed in turn.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct RecordedGroup {
    /// The lattices, and how far a round steps them.
    pub work: RoundWork,
    /// The number of blocks at the end of each window. In a block, each setting has one round.
    pub window_ends: Vec<usize>,
    /// The settings.
    pub settings: Vec<RecordedSetting>,
}

/// What a round steps, and how far.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundWork {
    /// How many lattices.
    pub instances: usize,
    /// Cells across a lattice.
    pub width: u32,
    /// Cells down a lattice.
    pub height: u32,
    /// The rule.
    pub rule: String,
    /// Generations per round.
    pub generations: u32,
}

/// A setting, and its rounds.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct RecordedSetting {
    /// The kernel's name.
    pub kernel: String,
    /// The switches.
    pub switches: Switches,
    /// The time of a round in each block, in microseconds.
    pub times_us: Vec<f64>,
    /// The median time of a launch, by events around it, in microseconds.
    pub launch_us: f64,
    /// Cells stepped per second while a round's launches run.
    pub cells_per_second: f64,
    /// A typical round.
    pub round: TimedRound,
    /// Of each of that round's steps but the host's waits, how long it took alone, and which part of the
    /// device's units it kept busy.
    pub alone: Vec<(Nanos, f64)>,
}

impl RoundWork {
    /// What a setup's rounds step, if it has this many instances, and rounds this many generations.
    pub fn of(setup: &Setup, instances: usize, generations: u32) -> RoundWork {
        RoundWork {
            instances,
            width: setup.size.width(),
            height: setup.size.height(),
            rule: setup.rule.to_string(),
            generations,
        }
    }
}

impl RecordedSetting {
    /// The median time of a round, in microseconds.
    pub fn round_us(&self) -> f64 {
        median(self.times_us.iter().copied()).unwrap_or(0.0)
    }

    /// The ops of its round, each as it ran alone.
    pub fn isolated(&self) -> Arc<[IsolatedOp]> {
        let steps = self.round.steps.iter();
        let ops = steps.filter(|facts| facts.kind != StepKind::Wait);
        let isolated = ops
            .zip(&self.alone)
            .map(|(&facts, &(took, share))| IsolatedOp {
                facts,
                device: DeviceId(0),
                took,
                share,
            });
        isolated.collect()
    }
}

impl RecordedGroup {
    /// The rounds with this kernel and these switches; `None` if there are none.
    pub fn find(&self, kernel: &Kernel, switches: Switches) -> Option<&RecordedSetting> {
        let mut settings = self.settings.iter();
        settings.find(|it| it.kernel == kernel.name && it.switches == switches)
    }

    /// How two of its settings compare, and the time of a round of each, in microseconds, whose ratio is
    /// that of the finding.
    pub fn compare(
        &self,
        before: &RecordedSetting,
        after: &RecordedSetting,
    ) -> Option<([f64; 2], Finding)> {
        let (estimate, finding) =
            compare_blocks(&before.times_us, &after.times_us, &self.window_ends)?;
        let before_us = before.round_us();
        Some(([before_us, before_us / estimate.ratio], finding))
    }
}

impl Recording {
    /// The recording that comes with the program. Reads it at the first call.
    pub fn shipped() -> &'static Recording {
        static SHIPPED: OnceLock<Recording> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            let bytes = include_bytes!("../../../assets/bench/recorded-rounds.json.gz");
            let mut recording: Recording =
                read_stored(bytes).expect("a test reads the recording of every build");
            // No graphics adapter of this machine is that device.
            recording.device.pci_bus_id = None;
            recording
        })
    }

    /// The settings whose rounds step these lattices.
    pub fn group(&self, work: &RoundWork) -> Option<&RecordedGroup> {
        self.groups.iter().find(|group| group.work == *work)
    }
}

/// Reads what [`write_stored`] wrote. The text stays in memory: names of ops are parts of it.
///
/// # Errors
/// It is something else.
pub fn read_stored<T: Deserialize<'static>>(bytes: &[u8]) -> io::Result<T> {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text)?;
    let text: &'static str = text.leak();
    Ok(serde_json::from_str(text)?)
}

/// The bytes of a recording: JSON, compressed.
///
/// # Errors
/// Something in it cannot be written as JSON.
pub fn write_stored(recording: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&serde_json::to_vec(recording)?)?;
    encoder.finish()
}
