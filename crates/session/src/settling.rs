//! Whether a lattice repeats: told by its hashes, one a measured round.
//!
//! A lattice that is what it was is, by a rule that knows nothing else, what it will be. So a hash
//! that comes again says it, and two more that come again at the same distance say that it was
//! no accident. Periods of up to [`NEAR`] measures are found at once; longer ones (a glider's way
//! around the torus) by a hash that is remembered for as long as it takes, Brent's way.
//!
//! What is found is honest about what was measured: with one generation a round it is the period;
//! with more, the lattice repeats every so many generations, and its period may be a part of that.

use std::collections::VecDeque;

use engine::Measure;
use life::Rule;
use model::Settled;

/// Periods of up to so many measures are found by the latest measures alone.
pub(crate) const NEAR: usize = 60;

/// So many measures, one after the other, must come again.
const COINCIDENCES: usize = 3;

/// A hash and its generation.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Seen {
    generation: u64,
    hash: u64,
}

/// Looks for the period of one lattice.
#[derive(Clone, Default, Debug)]
pub(crate) struct Detector {
    /// The latest measures, the newest last.
    latest: VecDeque<Seen>,
    far: Option<Far>,
    settled: Option<Settled>,
}

/// A hash that is remembered, and what has been met since.
#[derive(Clone, Copy, Debug)]
struct Far {
    anchor: Seen,
    /// The measure behind it.
    second: Option<u64>,
    /// Generations from each measure to the next.
    step: u64,
    /// Measures since the anchor, and at how many it is given up for a newer one.
    since: u64,
    patience: u64,
    /// How many measures behind the anchor its hash came again.
    met: Option<u64>,
}

impl Detector {
    /// How the lattice goes on, if that is known.
    pub(crate) fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// Forgets everything: the lattice is another one now.
    pub(crate) fn reset(&mut self) {
        *self = Detector::default();
    }

    /// Takes a measure in.
    pub(crate) fn note(
        &mut self,
        generation: u64,
        measure: Measure,
        rule: Rule,
    ) -> Option<Settled> {
        let hash = measure.hash;
        let last = self.latest.back().copied();
        if last.is_some_and(|last| last.generation >= generation) {
            self.reset();
        }
        if self.latest.len() == NEAR + COINCIDENCES {
            self.latest.pop_front();
        }
        let seen = Seen { generation, hash };
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

    /// The smallest distance at which the latest measures come again.
    fn near(&self) -> Option<Settled> {
        let newest = |back: usize| {
            let at = self.latest.len().checked_sub(1 + back)?;
            self.latest.get(at).copied()
        };
        let apart = |back: usize, by: usize| {
            let (now, then) = (newest(back)?, newest(back + by)?);
            (now.hash == then.hash).then(|| now.generation - then.generation)
        };
        (1..=NEAR).find_map(|by| {
            let every = apart(0, by)?;
            let again = (1..COINCIDENCES).all(|back| apart(back, by) == Some(every));
            again.then(|| told(every, by as u64))
        })
    }

    fn note_far(&mut self, seen: Seen, step: u64) -> Option<Settled> {
        const PATIENCE: u64 = 2 * NEAR as u64;
        let fresh = |patience| Far {
            anchor: seen,
            second: None,
            step,
            since: 0,
            patience,
            met: None,
        };
        let Some(far) = self.far.as_mut().filter(|far| far.step == step) else {
            self.far = Some(fresh(PATIENCE));
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
                    *far = fresh(PATIENCE);
                    return None;
                }
            }
            _ => {}
        }
        if let Some(by) = far.met {
            // Twice, and each time the next one too.
            let sure = far.since > 2 * by;
            return sure.then(|| told(by * step, by));
        }
        if far.since == far.patience {
            *far = fresh(2 * far.patience);
        }
        None
    }
}

/// What a repeat after so many generations, and so many measures, is.
fn told(every: u64, measures: u64) -> Settled {
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
            let settled = detector.note(i as u64 * step, measure(hash), Rule::LIFE)?;
            Some((i + 1, settled))
        })
    }

    #[test]
    fn every_near_period_is_found_when_it_has_come_again_three_times() {
        for period in 1..=NEAR as u64 {
            let wanted = match period {
                1 => Settled::Still,
                _ => Settled::Period(period),
            };
            let after = period as usize + COINCIDENCES;
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
            let settled = detector.note(generation, measure(3), Rule::LIFE);
            assert_eq!(settled, None, "{generation}");
        }
    }

    #[test]
    fn a_change_or_a_way_back_ends_it() {
        let mut detector = Detector::default();
        for generation in 0..4 {
            detector.note(generation, measure(3), Rule::LIFE);
        }
        assert_eq!(detector.settled(), Some(Settled::Still));
        assert_eq!(detector.note(4, measure(4), Rule::LIFE), None);
        for generation in 5..9 {
            detector.note(generation, measure(3), Rule::LIFE);
        }
        assert_eq!(detector.settled(), Some(Settled::Still));
        assert_eq!(detector.note(2, measure(3), Rule::LIFE), None);
    }

    #[test]
    fn the_empty_lattice_is_dead_unless_it_gives_birth() {
        let empty = Measure::default();
        let dead = Detector::default().note(0, empty, Rule::LIFE);
        assert_eq!(dead, Some(Settled::Dead));
        let born_of_nothing = Rule::from_masks(1, 0);
        assert_eq!(Detector::default().note(0, empty, born_of_nothing), None);
    }
}
