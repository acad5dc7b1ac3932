//! Two subjects, compared while somebody waits for the finding.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Blocks, ERROR, Estimate, Finding};

/// How long rounds are compared, at most, unless they are too few for any interval.
pub const WINDOW: Duration = Duration::from_secs(3);

/// How often the estimate is looked at: after an eighth, a quarter, half and all of the [`WINDOW`].
const LOOKS: u32 = 4;

/// The error probability of each look; the last one has what is left of [`ERROR`]. By Bonferroni's
/// inequality the interval misses the ratio in at most [`ERROR`] of all comparisons.
const ERROR_PER_LOOK: f64 = ERROR / LOOKS as f64;

/// A difference is measured until its interval is within this part of the ratio on either side.
const PRECISION: f64 = 0.02;

/// One of the two settings that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first: the setting before a change.
    A,
    /// The second: the setting after it.
    B,
}

impl Side {
    /// Both, A first.
    pub const ALL: [Side; 2] = [Side::A, Side::B];

    /// Its letter.
    pub fn name(self) -> &'static str {
        match self {
            Side::A => "A",
            Side::B => "B",
        }
    }

    /// The other side.
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// A comparison of two settings under way.
#[derive(Clone, Debug)]
pub struct Comparison {
    blocks: Blocks,
    /// Looks that had enough blocks for an interval.
    looks: u32,
    /// What equal settings were found to differ by.
    spread: f64,
    /// The times of A's and of B's rounds, renewed now and then.
    times: Option<[f64; 2]>,
    estimate: Option<Estimate>,
    finding: Option<Finding>,
}

impl Comparison {
    /// With no times yet. `seed` decides the orders of the blocks. Intervals are widened by the factor
    /// `spread`, by which equal settings were found to differ; 1 if they were not.
    pub fn new(seed: u64, spread: f64) -> Comparison {
        Comparison {
            blocks: Blocks::new(2, seed),
            looks: 0,
            spread,
            times: None,
            estimate: None,
            finding: None,
        }
    }

    /// The setting of the next round.
    pub fn next_side(&self) -> Side {
        Side::ALL[self.blocks.next_subject()]
    }

    /// Whether the next round counts. The first block warms up, and after 4, 8, 16 … blocks there is one
    /// that does not count either: their rounds can be timed by events, to be drawn.
    pub fn is_counting(&self) -> bool {
        self.blocks.is_counting()
    }

    /// Begins the block under way again: in it, something else differed than the setting.
    pub fn restart_block(&mut self) {
        self.blocks.restart_block();
    }

    /// Takes the time of a round with the setting that [`Comparison::next_side`] named, in any unit, and
    /// how long rounds have been compared. Returns the finding once there is one; later times change
    /// nothing.
    pub fn record(&mut self, time: f64, elapsed: Duration) -> Option<Finding> {
        if self.finding.is_none() && self.blocks.record(time) {
            self.finding = self.look(elapsed);
            let is_drawn = self.blocks.len() >= 4 && self.blocks.len().is_power_of_two();
            if is_drawn {
                self.blocks.leave_out_block();
            }
            if is_drawn || self.finding.is_some() {
                let times = self.blocks.typical_times();
                self.times = times.map(|times| [times[0], times[1]]);
            }
        }
        self.finding
    }

    fn look(&mut self, elapsed: Duration) -> Option<Finding> {
        let is_last = elapsed >= WINDOW;
        let due = WINDOW / (1 << LOOKS.saturating_sub(1 + self.looks));
        if !is_last && elapsed < due {
            return None;
        }
        let error = if is_last {
            ERROR - f64::from(self.looks) * ERROR_PER_LOOK
        } else {
            ERROR_PER_LOOK
        };
        // Too few blocks for an interval are no look.
        let estimate = Estimate::of(&self.blocks.log_ratios(0, 1), error)?;
        self.looks += 1;
        let widened = estimate.widened(self.spread);
        let finding = Finding::of(widened.ratio, widened.interval);
        self.estimate = Some(estimate);
        (is_last || is_precise(&finding)).then_some(finding)
    }

    /// The times of A's and of B's rounds, in the unit of the times taken; once there is a finding,
    /// their ratio is that of the finding. `None` before some blocks are complete.
    pub fn times(&self) -> Option<[f64; 2]> {
        self.times
    }

    /// By what factor two equal settings differ, once there is a finding: the `spread` of comparisons
    /// to come.
    pub fn excess(&self) -> Option<f64> {
        let estimate = self.estimate.filter(|_| self.finding.is_some());
        estimate.map(|estimate| estimate.excess())
    }
}

/// Whether more rounds would not make a finding more useful.
fn is_precise(finding: &Finding) -> bool {
    match *finding {
        Finding::Difference {
            ratio,
            interval: [low, high],
        } => (high / ratio).max(ratio / low) <= 1.0 + PRECISION,
        Finding::NoDifference { .. } => true,
        Finding::NotResolved { .. } | Finding::ChangesWithLoad { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares rounds of these times, one after the other, each with a part of this noise.
    fn compare([a, b]: [f64; 2], noise: f64) -> (Comparison, Finding, Duration) {
        let mut comparison = Comparison::new(1, 1.0);
        let mut elapsed = Duration::ZERO;
        for round in 0_u64.. {
            let part = (round * round % 101) as f64 / 101.0;
            let ms = [a, b][comparison.next_side() as usize] * (1.0 + noise * part);
            elapsed += Duration::from_secs_f64(ms / 1e3);
            if let Some(finding) = comparison.record(ms, elapsed) {
                return (comparison, finding, elapsed);
            }
        }
        unreachable!()
    }

    #[test]
    fn what_is_certain_is_found_at_the_first_look_and_the_rest_takes_the_time_there_is() {
        let (comparison, finding, elapsed) = compare([8.0, 1.0], 0.0);
        assert!(
            matches!(finding, Finding::Difference { ratio, interval: [low, high] }
                if [ratio, low, high].iter().all(|it| (it - 8.0).abs() < 1e-9))
        );
        assert_eq!(elapsed.as_millis() / 10, 37);
        let [a, b] = comparison.times().unwrap();
        assert!((a - 8.0).abs() < 1e-9 && (b - 1.0).abs() < 1e-9);
        let (_, finding, elapsed) = compare([1.01, 1.0], 0.0);
        assert!(matches!(finding, Finding::NoDifference { within } if within < 0.0101));
        assert!(elapsed < WINDOW / 7);
        let (comparison, finding, elapsed) = compare([1.1, 1.0], 4.0);
        assert!(
            !matches!(finding, Finding::NoDifference { .. }),
            "{finding:?}"
        );
        assert!(elapsed >= WINDOW && comparison.blocks.len() > 400);
    }

    #[test]
    fn slow_rounds_are_compared_until_there_are_enough() {
        let (comparison, finding, elapsed) = compare([3000.0, 1000.0], 0.0);
        assert!(finding.is_faster());
        // Six blocks that agree are the fewest for an interval; one warms up, one is drawn.
        assert_eq!((comparison.blocks.len(), elapsed.as_secs()), (6, 32));
    }

    #[test]
    fn what_equal_settings_differ_by_widens_every_finding() {
        let mut comparison = Comparison::new(1, 1.05);
        let mut finding = None;
        while finding.is_none() {
            finding = comparison.record(1.0, WINDOW);
        }
        assert!(
            matches!(finding, Some(Finding::NotResolved { at_most: Some(at_most) }) if (at_most - 0.05).abs() < 1e-9)
        );
    }
}
