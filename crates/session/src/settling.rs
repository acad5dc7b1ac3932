//! Detects lattices that repeat, from one hash of the cells per measured round.
//!
//! The rule is deterministic, so a repeated state means a cycle. A hash that comes again could be a
//! collision; [`MIN_REPEATS`] in a row at the same distance are taken as proof. Periods of up to
//! [`MAX_NEAR_PERIOD`] measures are found in a window of the latest hashes; longer ones (a glider's
//! way around the torus) by Brent's algorithm, which compares with one remembered hash.
//!
//! With one generation per round the distance is the period. With more, the lattice repeats every so
//! many generations, and its period may be a divisor of that.

use std::collections::VecDeque;

use engine::Measure;
use life::Rule;
use model::Settled;

/// Longest period, in measures, that the window of the latest hashes finds.
pub(crate) const MAX_NEAR_PERIOD: usize = 60;

/// Consecutive measures that must repeat.
const MIN_REPEATS: usize = 3;

/// A lattice's hash at a generation.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Sample {
    generation: u64,
    hash: u64,
}

/// Looks for the period of one lattice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detector {
    /// The latest measures, the newest last.
    latest: VecDeque<Sample>,
    far: Option<LongCycle>,
    settled: Option<Settled>,
}

/// The state of Brent's cycle detection: a remembered hash, and the measures since.
#[derive(Clone, Copy, Debug)]
struct LongCycle {
    anchor: Sample,
    /// The hash of the measure after it.
    second: Option<u64>,
    /// Generations from each measure to the next.
    step: u64,
    /// Measures since the anchor, and at how many a newer anchor replaces it.
    since: u64,
    max_tries: u64,
    /// Measures from the anchor to the first repeat of its hash.
    met: Option<u64>,
}

impl Detector {
    /// What the lattice has settled into, if anything.
    pub(crate) fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// Forgets everything, after the cells were changed.
    pub(crate) fn reset(&mut self) {
        *self = Detector::default();
    }

    /// Adds a measure. Returns what the lattice has settled into, if anything.
    pub(crate) fn add(&mut self, generation: u64, measure: Measure, rule: Rule) -> Option<Settled> {
        let hash = measure.hash;
        let last = self.latest.back().copied();
        if last.is_some_and(|last| last.generation >= generation) {
            self.reset();
        }
        if self.latest.len() == MAX_NEAR_PERIOD + MIN_REPEATS {
            self.latest.pop_front();
        }
        let seen = Sample { generation, hash };
        self.latest.push_back(seen);
        let step = last.map_or(0, |last| generation.saturating_sub(last.generation));
        let far = self.note_far(seen, step);
        self.settled = if measure.population == 0 && !rule.next(false, 0) {
            Some(Settled::Dead)
        } else {
            self.near().or(far)
        };
        self.settled
    }

    /// The smallest distance at which the latest measures repeat.
    fn near(&self) -> Option<Settled> {
        let newest = |back: usize| {
            let at = self.latest.len().checked_sub(1 + back)?;
            self.latest.get(at).copied()
        };
        let apart = |back: usize, by: usize| {
            let (now, then) = (newest(back)?, newest(back + by)?);
            (now.hash == then.hash).then(|| now.generation - then.generation)
        };
        (1..=MAX_NEAR_PERIOD).find_map(|by| {
            let every = apart(0, by)?;
            let again = (1..MIN_REPEATS).all(|back| apart(back, by) == Some(every));
            again.then(|| settled_by(every, by as u64))
        })
    }

    fn note_far(&mut self, seen: Sample, step: u64) -> Option<Settled> {
        const FIRST_TRIES: u64 = 2 * MAX_NEAR_PERIOD as u64;
        let fresh = |max_tries| LongCycle {
            anchor: seen,
            second: None,
            step,
            since: 0,
            max_tries,
            met: None,
        };
        let Some(far) = self.far.as_mut().filter(|far| far.step == step) else {
            self.far = Some(fresh(FIRST_TRIES));
            return None;
        };
        far.since += 1;
        let same = seen.hash == far.anchor.hash;
        match (far.second, far.met) {
            (None, _) => far.second = Some(seen.hash),
            (Some(_), None) if same => far.met = Some(far.since),
            (Some(second), Some(by)) => {
                let wanted = match far.since % by {
                    0 => same,
                    1 => seen.hash == second,
                    _ => true,
                };
                if !wanted {
                    *far = fresh(FIRST_TRIES);
                    return None;
                }
            }
            _ => {}
        }
        if let Some(by) = far.met {
            // The anchor's hash came twice more, each time followed by the second hash.
            let sure = far.since > 2 * by;
            return sure.then(|| settled_by(by * step, by));
        }
        if far.since == far.max_tries {
            *far = fresh(2 * far.max_tries);
        }
        None
    }
}

/// The state of a lattice that repeats after `every` generations, which are `measures` measures.
fn settled_by(every: u64, measures: u64) -> Settled {
    match (every == measures, every) {
        (true, 1) => Settled::Still,
        (true, period) => Settled::Period(period),
        (false, every) => Settled::Repeats(every),
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

    #[test]
    fn every_near_period_is_found_when_it_has_come_again_three_times() {
        for period in 1..=MAX_NEAR_PERIOD as u64 {
            let wanted = match period {
                1 => Settled::Still,
                _ => Settled::Period(period),
            };
            let after = period as usize + MIN_REPEATS;
            let before = 7; // something else
            let hashes = (1000..1000 + before).chain((0..1000).map(|i| i % period));
            let want = Some((before as usize + after, wanted));
            assert_eq!(found(1, hashes), want);
        }
    }

    #[test]
    fn long_periods_are_found_too() {
        for period in [61, 100, 128, 333, 2048] {
            let hashes = (5000..5300).chain((0..20_000).map(|i| i % period));
            let (after, settled) = found(1, hashes).expect("it repeats");
            assert_eq!(settled, Settled::Period(period));
            assert!(
                after as u64 <= 300 + 5 * period.max(300),
                "{period}: {after}"
            );
        }
    }

    #[test]
    fn what_was_not_looked_at_is_not_told() {
        // A blinker, looked at in every second generation.
        assert_eq!(found(2, [7; 9].into_iter()), Some((4, Settled::Repeats(2))));
        let third = (0..99).map(|i| i % 3);
        assert_eq!(found(10, third), Some((6, Settled::Repeats(30))));
    }

    #[test]
    fn an_accident_is_no_period() {
        assert_eq!(found(1, [1, 2, 3, 1, 2, 9, 1, 2, 8].into_iter()), None);
        assert_eq!(found(1, [5, 5, 6, 5, 5, 7].into_iter()), None);
        // Unequal steps say nothing, even if the hash is the same.
        let mut detector = Detector::default();
        for generation in [1, 2, 4, 8, 16, 32, 64] {
            let settled = detector.add(generation, measure(3), Rule::LIFE);
            assert_eq!(settled, None, "{generation}");
        }
    }

    #[test]
    fn a_change_or_a_way_back_ends_it() {
        let mut detector = Detector::default();
        for generation in 0..4 {
            detector.add(generation, measure(3), Rule::LIFE);
        }
        assert_eq!(detector.settled(), Some(Settled::Still));
        assert_eq!(detector.add(4, measure(4), Rule::LIFE), None);
        for generation in 5..9 {
            detector.add(generation, measure(3), Rule::LIFE);
        }
        assert_eq!(detector.settled(), Some(Settled::Still));
        assert_eq!(detector.add(2, measure(3), Rule::LIFE), None);
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
