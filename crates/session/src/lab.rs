//! What is measured of a session's rounds.

use std::collections::VecDeque;
use std::time::Instant;

use crate::Sampling;
use crate::measurement::Measurement;
use crate::statistics::{Statistics, push};
use engine::Kernel;
use model::overlap::IsolatedOp;
use model::trace::TimedRound;
use model::{AbComparison, Effect, LabStatus, Overlap, PicturePlan, Switches, median};

/// Timed rounds needed before their overlap is shown.
const MIN_ROUNDS: usize = 3;

/// What is measured of a session's rounds.
#[derive(Default)]
pub(crate) struct Lab {
    pub(crate) statistics: Statistics,
    pub(crate) sampling: Sampling,
    /// When the last command came, or the session began.
    pub(crate) last_command: Option<Instant>,
    /// Rounds that are compared: before and after the last change, or A's and B's.
    pub(crate) measurement: Option<Measurement>,
    /// How many comparisons of rounds have begun.
    pub(crate) measurements: u64,
    /// By what factor rounds of equal settings differ, once that was measured.
    pub(crate) spread: Option<f64>,
    /// What the last change of a switch or of the kernel did to the time of a round.
    pub(crate) last_effect: Option<Effect>,
    /// The setting before the last switch.
    pub(crate) previous: Option<Switches>,
    /// Whether the overlap is shown.
    watching: bool,
    /// The time of each op of a round when it runs alone, with the present setting, once measured.
    pub(crate) alone: Option<Vec<IsolatedOp>>,
    /// The setting of the calibration under way.
    pub(crate) calibrating: Option<CalibrationKey>,
    /// The latest timed rounds of the present setting: their length and the time of the host's calls
    /// in it, in microseconds.
    rounds: VecDeque<(f64, f64)>,
    overlap: Option<Overlap>,
    block_timestamps: bool,
    /// The latest launches in microseconds: without and with block timestamps.
    launches: [VecDeque<f64>; 2],
}

/// The settings that a calibration depends on.
pub(crate) type CalibrationKey = (Switches, &'static Kernel, Option<PicturePlan>);

impl Lab {
    /// Sets whether the overlap is shown.
    pub(crate) fn watch(&mut self, watching: bool) {
        self.watching = watching;
    }

    /// Forgets measurements after a change of something that rounds depend on.
    pub(crate) fn changed(&mut self) {
        self.alone = None;
        self.overlap = None;
        self.rounds.clear();
        self.launches.iter_mut().for_each(VecDeque::clear);
    }

    /// Counts a timed launch.
    pub(crate) fn launch(&mut self, us: f64, plain: bool) {
        push(&mut self.launches[usize::from(!plain)], us);
    }

    /// Counts a timed round.
    pub(crate) fn round(&mut self, timed: &TimedRound) {
        let plain = timed.bounds().filter(|_| timed.block_timestamps.is_empty());
        let Some((from, to)) = plain else {
            return;
        };
        let length = to.as_us() - from.as_us();
        self.rounds.push_back((length, timed.host_us()));
        if self.rounds.len() > 9 {
            self.rounds.pop_front();
        }
    }

    /// Takes a calibration's result. Later rounds are compared with it.
    pub(crate) fn calibrated(&mut self, alone: Vec<IsolatedOp>) {
        self.alone = Some(alone);
        self.rounds.clear();
    }

    /// Whether the overlap is shown.
    pub(crate) fn is_watching(&self) -> bool {
        self.watching
    }

    /// Whether the overlap waits for timed rounds.
    pub(crate) fn wants_rounds(&self) -> bool {
        self.watching && self.alone.is_some() && self.rounds.len() < MIN_ROUNDS
    }

    /// What is measured of rounds, for the status.
    pub(crate) fn status(&self, comparison: Option<AbComparison>, tells_effect: bool) -> LabStatus {
        LabStatus {
            overlap: self.overlap.clone().filter(|_| self.watching),
            comparison,
            last_effect: self.last_effect.clone(),
            tells_effect,
            block_timestamps: self.block_timestamps,
            timestamp_overhead: self.timestamp_overhead(),
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

    /// Turns block timestamps of timed rounds on or off. Returns whether they are on.
    pub(crate) fn toggle_block_timestamps(&mut self) -> bool {
        self.block_timestamps = !self.block_timestamps;
        self.launches.iter_mut().for_each(VecDeque::clear);
        self.block_timestamps
    }

    /// Whether timed rounds record block timestamps.
    pub(crate) fn block_timestamps(&self) -> bool {
        self.block_timestamps
    }

    /// Computes the overlap from the calibration and the latest timed rounds. Returns whether it has
    /// changed.
    pub(crate) fn renew_overlap(&mut self) -> bool {
        let Some(alone) = self.alone.as_ref().filter(|_| self.watching) else {
            return false;
        };
        if self.rounds.len() < MIN_ROUNDS {
            return false;
        }
        let together = median(self.rounds.iter().map(|round| round.0));
        let host = median(self.rounds.iter().map(|round| round.1));
        let overlap = together
            .zip(host)
            .map(|(together, host)| Overlap::of(alone, together, host));
        let has_changed = self.overlap != overlap;
        self.overlap = overlap;
        has_changed
    }
}
