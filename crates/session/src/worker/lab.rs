//! The lab: switches, overlap, and the cost of block timestamps.

use std::collections::VecDeque;
use std::time::Instant;

use super::effect::Measurement;
use super::{RETRY_INTERVAL, SessionWorker};
use crate::Sampling;
use crate::state::Mode;
use crate::statistics::{Statistics, push};
use engine::{Kernel, Result};
use model::overlap::IsolatedOp;
use model::trace::TimedRound;
use model::{AbComparison, Effect, LabStatus, Overlap, PicturePlan, Switches, median};
use simulation::instances::Instances;

/// Timed rounds needed before their overlap is shown.
const MIN_ROUNDS: usize = 3;

/// What is measured of a session's rounds.
#[derive(Default)]
pub(super) struct Lab {
    pub(super) statistics: Statistics,
    pub(super) sampling: Sampling,
    /// When the last command came, or the session began.
    pub(super) last_command: Option<Instant>,
    /// Rounds that are compared: before and after the last change, or A's and B's.
    pub(super) measurement: Option<Measurement>,
    /// How many comparisons of rounds have begun.
    pub(super) measurements: u64,
    /// By what factor rounds of equal settings differ, once that was measured.
    pub(super) spread: Option<f64>,
    /// What the last change of a switch or of the kernel did to the time of a round.
    pub(super) last_effect: Option<Effect>,
    /// The setting before the last switch.
    pub(super) previous: Option<Switches>,
    /// Whether the overlap is shown.
    watching: bool,
    /// The time of each op of a round when it runs alone, with the present setting, once measured.
    alone: Option<Vec<IsolatedOp>>,
    /// The setting of the calibration under way.
    calibrating: Option<CalibrationKey>,
    /// The latest timed rounds of the present setting: their length and the time of the host's calls
    /// in it, in microseconds.
    rounds: VecDeque<(f64, f64)>,
    overlap: Option<Overlap>,
    block_timestamps: bool,
    /// The latest launches in microseconds: without and with block timestamps.
    launches: [VecDeque<f64>; 2],
}

/// The settings that a calibration depends on.
type CalibrationKey = (Switches, &'static Kernel, Option<PicturePlan>);

impl Lab {
    /// Sets whether the overlap is shown.
    pub(super) fn watch(&mut self, watching: bool) {
        self.watching = watching;
    }

    /// Forgets measurements after a change of something that rounds depend on.
    pub(super) fn changed(&mut self) {
        self.alone = None;
        self.overlap = None;
        self.rounds.clear();
        self.launches.iter_mut().for_each(VecDeque::clear);
    }

    /// Counts a timed launch.
    pub(super) fn launch(&mut self, us: f64, plain: bool) {
        push(&mut self.launches[usize::from(!plain)], us);
    }

    /// Counts a timed round.
    pub(super) fn round(&mut self, timed: &TimedRound) {
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
    pub(super) fn calibrated(&mut self, alone: Vec<IsolatedOp>) {
        self.alone = Some(alone);
        self.rounds.clear();
    }

    /// Whether the overlap is shown.
    pub(super) fn is_watching(&self) -> bool {
        self.watching
    }

    /// Whether the overlap waits for timed rounds.
    pub(super) fn wants_rounds(&self) -> bool {
        self.watching && self.alone.is_some() && self.rounds.len() < MIN_ROUNDS
    }

    /// What is measured of rounds, for the status.
    pub(super) fn status(&self, comparison: Option<AbComparison>) -> LabStatus {
        LabStatus {
            overlap: self.overlap.clone().filter(|_| self.watching),
            comparison,
            last_effect: self.last_effect.clone(),
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
    pub(super) fn toggle_block_timestamps(&mut self) -> bool {
        self.block_timestamps = !self.block_timestamps;
        self.launches.iter_mut().for_each(VecDeque::clear);
        self.block_timestamps
    }

    /// Whether timed rounds record block timestamps.
    pub(super) fn block_timestamps(&self) -> bool {
        self.block_timestamps
    }
}

impl SessionWorker {
    /// The present setting.
    fn setting(&self, instances: &Instances) -> CalibrationKey {
        let picture = instances.plan().picture;
        (
            self.lattices.setup().switches,
            self.lattices.setup().kernel,
            picture,
        )
    }

    /// Whether to run a round op by op: its overlap is wanted and not known. Not in the middle of a
    /// round, before a record ahead, or while stepping by hand.
    pub(super) fn wants_calibration(&self, instances: &Instances) -> bool {
        let generations = self.state.pacing.generations();
        self.lab.watching
            && self.lab.alone.is_none()
            && self.comparison.is_none()
            && !instances.has_alternative()
            && !self.state.has_records_ahead()
            && *self.state.mode() == Mode::Running
            && generations <= instances.longest_round()
    }

    /// Begins a round that runs op by op. Nothing may be in flight.
    pub(super) fn calibrate(&mut self) -> Result<()> {
        let now = self.now();
        let Some(instances) = &mut self.lattices.instances else {
            return Ok(());
        };
        let generations = self.state.pacing.generations();
        let pictures = self.publisher.pictures();
        let downloads = instances.next_plan().downloads();
        let newest = |slot| pictures.holds_newest(slot, downloads.clone());
        if instances.begin_calibration(generations, newest)? {
            let instances = self.lattices.instances.as_ref();
            self.lab.calibrating = instances.map(|it| self.setting(it));
            self.state.stepped(generations, now);
            self.snapshots.mark_stale();
        } else {
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(())
    }

    /// Drops a finished calibration's result if the setting has changed meanwhile.
    pub(super) fn check_calibration(&mut self) {
        let now = self.lattices.instances.as_ref().map(|it| self.setting(it));
        if self.lab.calibrating.take() != now {
            self.lab.alone = None;
        }
    }

    /// Computes the overlap from the calibration and the latest timed rounds.
    pub(super) fn renew_overlap(&mut self) {
        let Some(alone) = self.lab.alone.as_ref().filter(|_| self.lab.watching) else {
            return;
        };
        let rounds = &self.lab.rounds;
        if rounds.len() < MIN_ROUNDS {
            return;
        }
        let together = median(rounds.iter().map(|round| round.0));
        let host = median(rounds.iter().map(|round| round.1));
        if let (Some(together), Some(host)) = (together, host) {
            let overlap = Overlap::of(alone, together, host);
            if self.lab.overlap.as_ref() != Some(&overlap) {
                self.publisher.mark_changed();
            }
            self.lab.overlap = Some(overlap);
        }
    }
}
