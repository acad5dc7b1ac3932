//! What is known of single panels: detects still and periodic ones, records populations over time.

use crate::instances::RoundMeasures;
use crate::population::Populations;
use crate::state::Mode;
use crate::{NOTICE_TIME, PanelStatus, Settled};
use engine::Measure;
use life::Rule;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a dead or periodic panel is shown before it is refilled.
const RESEED_DELAY: Duration = Duration::from_secs(3);

/// Which rounds measure the lattices' population and hash.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Measuring {
    /// None.
    #[default]
    Never,
    /// One round in [`SPARSE_ROUNDS`], never a timed one.
    Sparse,
    /// Every round.
    Always,
}

/// With [`Measuring::Sparse`], one round in this many measures. A power of two, as the period of a glider
/// on a torus mostly is: then few measures show the repeat.
pub(super) const SPARSE_ROUNDS: u32 = 16;

/// What is known of single panels: what their measures say, and which one is selected.
#[derive(Default)]
pub(crate) struct Watch {
    /// The selected instance.
    pub selected: usize,
    /// Whether populations are shown.
    pub shown: bool,
    detectors: Vec<Detector>,
    /// If sparsely, measures only serve to refill dead panels, and the status has no settled states.
    pub measuring: Measuring,
    /// Rounds since the last one that measured.
    pub rounds_since_measure: u32,
    /// Whether the rounds were stopped for the present settled states.
    pub stopped: bool,
    /// The instances that were refilled lately, and when.
    reseeded: Vec<(usize, Instant)>,
    /// Populations over time, which other threads read.
    pub populations: Arc<Mutex<Populations>>,
}

impl Watch {
    /// What is known of single panels, for the status.
    pub(crate) fn status(&self) -> PanelStatus {
        PanelStatus {
            selected: self.selected,
            settled: if self.measuring == Measuring::Sparse {
                Arc::default()
            } else {
                self.detectors.iter().map(|it| it.settled).collect()
            },
            reseeded: self
                .reseeded
                .iter()
                .map(|(instance, _)| *instance)
                .collect(),
        }
    }

    /// Notes that an instance is refilled.
    pub(crate) fn note_reseed(&mut self, instance: usize, now: Instant) {
        self.reseeded.retain(|(other, _)| *other != instance);
        self.reseeded.push((instance, now));
    }

    /// Forgets the instances that were refilled some time ago. Returns whether there were any.
    pub(crate) fn forget_reseeds(&mut self, now: Instant) -> bool {
        let count = self.reseeded.len();
        self.reseeded.retain(|(_, at)| now - *at <= NOTICE_TIME);
        self.reseeded.len() < count
    }

    /// Begins again, after all lattices were replaced on the way to another position.
    pub(crate) fn moved(&mut self, instances: usize) {
        self.reseeded.clear();
        self.replaced(0..instances);
    }

    /// Begins with no measures; with 0 instances, measures nothing.
    fn begin(&mut self, instances: usize) {
        self.detectors = vec![Detector::default(); instances];
        self.stopped = false;
        self.reseeded.clear();
        self.populations.lock().clear(instances);
    }

    /// Forgets the measures of instances whose cells were changed.
    pub(crate) fn changed(&mut self, instances: Range<usize>) {
        for i in instances {
            if let Some(detector) = self.detectors.get_mut(i) {
                *detector = Detector::default();
            }
        }
        self.stopped = false;
    }

    /// The same for instances that were replaced: their populations begin again too. Nothing may be
    /// in flight.
    pub(crate) fn replaced(&mut self, instances: Range<usize>) {
        self.changed(instances.clone());
        self.populations.lock().begin_anew(instances);
    }

    /// Sets what is measured of so many instances; `anew` if the engine was replaced.
    pub(crate) fn measure(&mut self, measuring: Measuring, instances: usize, anew: bool) {
        self.measuring = measuring;
        let is_wanted = measuring != Measuring::Never;
        if is_wanted == self.detectors.is_empty() || anew {
            self.begin(if is_wanted { instances } else { 0 });
        }
    }

    /// Evaluates measures of completed rounds. Returns whether an instance has settled, or no longer is.
    pub(crate) fn take(&mut self, found: Vec<RoundMeasures>, rule: Rule, now: Instant) -> bool {
        if self.detectors.is_empty() {
            return false;
        }
        let populations = self.populations.clone();
        let mut populations = populations.lock();
        let mut has_changed = false;
        for of_round in found {
            for (i, measure) in (of_round.first..).zip(of_round.measures) {
                populations.record(i, of_round.generation, measure);
                let detector = &mut self.detectors[i];
                let settled = detector.add(of_round.generation, measure, rule);
                let since = detector.since.filter(|_| settled.is_some());
                detector.since = settled.map(|_| since.unwrap_or(now));
                has_changed |= std::mem::replace(&mut detector.settled, settled) != settled;
            }
        }
        has_changed
    }

    /// Notes whether rounds are stopped for what these instances have settled into. Returns whether to
    /// stop them now, and what the first one does.
    pub(crate) fn stops(&mut self, about: Range<usize>, mode: &Mode) -> Option<Option<Settled>> {
        let first = about.start;
        let is_still = self.detectors[about].iter().all(|it| it.settled.is_some());
        let is_running = matches!(mode, Mode::Running | Mode::RunningTo(_));
        let stops = is_still && is_running && !self.stopped;
        self.stopped = is_still && (self.stopped || stops || *mode == Mode::Paused);
        stops.then(|| self.detectors[first].settled)
    }

    /// Takes an instance that has been dead or periodic for a while, of those that may be refilled.
    pub(crate) fn take_settled(
        &mut self,
        now: Instant,
        may_be: impl Fn(&usize) -> bool,
    ) -> Option<usize> {
        let is_over = |at: Instant| now - at >= RESEED_DELAY;
        let mut all = 0..self.detectors.len();
        let found = all.find(|i| self.detectors[*i].since.is_some_and(is_over) && may_be(i))?;
        self.detectors[found].since = None;
        Some(found)
    }
}

// Detects lattices that repeat, from one hash of the cells per measured round.
//
// The rule is deterministic, so a repeated state means a cycle. A hash that comes again could be a
// collision; [`MIN_REPEATS`] in a row at the same distance are taken as proof. Periods of more than
// [`MAX_PERIOD`] measures are not seen.
//
// With one generation per round the distance is the period. With more, the lattice repeats every so
// many generations, and its period may be a divisor of that.

/// Longest period that is found, in measures.
const MAX_PERIOD: usize = 60;

/// Consecutive measures that must repeat.
const MIN_REPEATS: usize = 3;

/// Looks for the period of one lattice.
#[derive(Clone, Debug, Default)]
struct Detector {
    /// Generation and hash of the latest measures, the newest first.
    latest: VecDeque<(u64, u64)>,
    /// What it has settled into, and since when that is known.
    settled: Option<Settled>,
    since: Option<Instant>,
}

impl Detector {
    /// Adds a measure. Returns what the lattice has settled into, if anything.
    fn add(&mut self, generation: u64, measure: Measure, rule: Rule) -> Option<Settled> {
        if self.latest.front().is_some_and(|last| last.0 >= generation) {
            self.latest.clear();
        }
        self.latest.push_front((generation, measure.hash));
        self.latest.truncate(MAX_PERIOD + MIN_REPEATS);
        if measure.population == 0 && !rule.next(false, 0) {
            return Some(Settled::Dead);
        }
        (1..=MAX_PERIOD).find_map(|by| self.repeat(by))
    }

    /// What it is if the latest measures repeat those `by` measures before.
    fn repeat(&self, by: usize) -> Option<Settled> {
        let apart = |back: usize| {
            let (now, then) = (self.latest.get(back)?, self.latest.get(back + by)?);
            (now.1 == then.1).then(|| now.0 - then.0)
        };
        let every = apart(0)?;
        if (1..MIN_REPEATS).any(|back| apart(back) != Some(every)) {
            return None;
        }
        Some(match every {
            every if every != by as u64 => Settled::Repeats(every),
            1 => Settled::Still,
            period => Settled::Period(period),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(hash: u64) -> Measure {
        Measure {
            population: 1,
            hash,
            ..Measure::default()
        }
    }

    /// What is found of hashes, and after how many of them.
    fn found(step: u64, hashes: impl Iterator<Item = u64>) -> Option<(usize, Settled)> {
        let mut detector = Detector::default();
        hashes.enumerate().find_map(|(i, hash)| {
            let settled = detector.add(i as u64 * step, measure(hash), Rule::LIFE)?;
            Some((i + 1, settled))
        })
    }

    /// A longer one is not seen.
    #[test]
    fn every_period_is_found_when_it_has_come_again_three_times() {
        for period in 1..=128 {
            let settled = match period {
                1 => Settled::Still,
                _ => Settled::Period(period),
            };
            let before = 7; // something else
            let hashes = (1000..1000 + before).chain((0..1000).map(|i| i % period));
            let want = (before as usize + period as usize + MIN_REPEATS, settled);
            let is_seen = period <= MAX_PERIOD as u64;
            assert_eq!(found(1, hashes), is_seen.then_some(want));
        }
    }

    #[test]
    fn a_change_or_a_way_back_ends_it() {
        let mut detector = Detector::default();
        let mut add = |generation, hash| detector.add(generation, measure(hash), Rule::LIFE);
        (0..3).for_each(|generation| assert_eq!(add(generation, 3), None));
        assert_eq!(add(3, 3), Some(Settled::Still));
        assert_eq!(add(4, 4), None);
        (5..8).for_each(|generation| assert_eq!(add(generation, 5), None));
        assert_eq!(add(8, 5), Some(Settled::Still));
        assert_eq!(add(2, 5), None);
    }

    #[test]
    fn the_empty_lattice_is_dead_unless_it_gives_birth() {
        let empty = Measure::default();
        let dead = Detector::default().add(0, empty, Rule::LIFE);
        assert_eq!(dead, Some(Settled::Dead));
        let born_of_nothing = Rule::from_masks(1, 0);
        assert_eq!(Detector::default().add(0, empty, born_of_nothing), None);
    }
}
