//! What is measured of a session's rounds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crate::recording::RoundWork;
use crate::statistics::{Statistics, push};
use crate::{
    AbComparison, Effect, IsolatedOp, LabStatus, Sampling, Setting, Share, Switches, median,
};

/// What is measured of a session's rounds.
#[derive(Default)]
pub(crate) struct Lab {
    pub(crate) statistics: Statistics,
    pub(crate) sampling: Sampling,
    /// When the last command came, or the session began.
    pub(crate) last_command: Option<Instant>,
    /// How many trials have begun.
    pub(crate) trials: u64,
    /// By what factor rounds of equal settings differ, once that was measured.
    pub(crate) spread: Option<f64>,
    /// What the last change of a switch or of the kernel did to the time of a round.
    pub(crate) last_effect: Option<Effect>,
    /// The setting before the last change, if a recorded effect of that change is shown.
    pub(crate) before_change: Option<Setting>,
    /// The recorded rounds that are shown.
    pub(crate) recorded: Option<RecordedKey>,
    /// The setting before the last switch.
    pub(crate) previous: Option<Switches>,
    /// B's switches when A and B were compared last.
    pub(crate) b_switches: Option<Switches>,
    /// Number of cells that differ between A and B, and the generation of that count.
    pub(crate) differing: Option<(u64, u64)>,
    /// Whether the overlap is shown.
    pub(crate) is_watching: bool,
    /// The time of each op of a round when it runs alone, with the present setting, once measured.
    pub(crate) isolated: Option<Arc<[IsolatedOp]>>,
    /// What the calibration under way is of.
    pub(crate) calibrating: Option<Share>,
    /// Whether timed rounds record block timestamps.
    pub(crate) block_timestamps: bool,
    /// The latest launches in microseconds: without and with block timestamps.
    launches: [VecDeque<f64>; 2],
}

/// What the recorded rounds depend on that are shown: the lattices, and the settings of the round that is
/// drawn and of the one above it.
pub(crate) type RecordedKey = (RoundWork, [Option<Setting>; 2]);

impl Lab {
    /// Forgets measurements after a change of something that rounds depend on.
    pub(crate) fn changed(&mut self) {
        (self.isolated, self.recorded) = (None, None);
        self.launches.iter_mut().for_each(VecDeque::clear);
    }

    /// Counts a timed launch.
    pub(crate) fn launch(&mut self, us: f64, plain: bool) {
        push(&mut self.launches[usize::from(!plain)], us);
    }

    /// What is measured of rounds, for the status.
    pub(crate) fn status(&self, comparison: Option<AbComparison>, tells_effect: bool) -> LabStatus {
        LabStatus {
            isolated: self.isolated.clone().filter(|_| self.is_watching),
            comparison,
            last_effect: self.last_effect.clone(),
            tells_effect,
            block_timestamps: self.block_timestamps,
            timestamp_overhead: self.timestamp_overhead(),
            recording: None,
        }
    }

    /// The factor by which block timestamps lengthen a launch, once enough of both were timed.
    fn timestamp_overhead(&self) -> Option<f64> {
        let enough = |launches: &VecDeque<f64>| {
            median(launches.iter().copied()).filter(|_| launches.len() >= 5)
        };
        let [plain, block_timestamps] = self.launches.each_ref().map(enough);
        Some(block_timestamps? / plain?)
    }

    /// Turns block timestamps of timed rounds on or off.
    pub(crate) fn toggle_block_timestamps(&mut self) {
        self.block_timestamps = !self.block_timestamps;
        self.launches.iter_mut().for_each(VecDeque::clear);
    }
}
