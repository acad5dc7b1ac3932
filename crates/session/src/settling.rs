//! Detects lattices that repeat, from one hash of the cells per measured round.
//!
//! The rule is deterministic, so a repeated state means a cycle. A hash that comes again could be a
//! collision; [`MIN_REPEATS`] in a row at the same distance are taken as proof. Periods of more than
//! [`MAX_PERIOD`] measures are not seen.
//!
//! With one generation per round the distance is the period. With more, the lattice repeats every so
//! many generations, and its period may be a divisor of that.

use std::collections::VecDeque;

use crate::Settled;
use engine::Measure;
use life::Rule;

/// Longest period that is found, in measures.
const MAX_PERIOD: usize = 60;

/// Consecutive measures that must repeat.
const MIN_REPEATS: usize = 3;

/// Looks for the period of one lattice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detector {
    /// Generation and hash of the latest measures, the newest first.
    latest: VecDeque<(u64, u64)>,
}

impl Detector {
    /// Adds a measure. Returns what the lattice has settled into, if anything.
    pub(crate) fn add(&mut self, generation: u64, measure: Measure, rule: Rule) -> Option<Settled> {
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
