//! What an estimate says.

use serde::{Deserialize, Serialize};

/// Settings differ only if the whole interval of their ratio is beyond this factor, and they do not
/// differ only if it is wholly within.
const MIN_DIFFERENCE: f64 = 1.02;

/// What a comparison found.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The settings differ.
    Difference {
        /// A's time over B's: above 1 if B is faster.
        ratio: f64,
        /// The interval of that ratio.
        interval: [f64; 2],
    },
    /// They differ by 2 % at most.
    NoDifference {
        /// How far the ratio may be from 1, as a fraction: 0.01 is 1 %.
        within: f64,
    },
    /// Whether they differ cannot be told, but only by how much at most.
    NotResolved {
        /// How far the ratio may be from 1, as a fraction: 0.09 is 9 %. `None` if there were too few
        /// rounds to tell even that.
        at_most: Option<f64>,
    },
    /// How they differ changes with what else the machine does.
    ChangesWithLoad {
        /// From the least to the greatest ratio in any window.
        interval: [f64; 2],
    },
}

impl Finding {
    /// What an estimate of the ratio says.
    pub fn of(ratio: f64, interval: [f64; 2]) -> Finding {
        let [low, high] = interval;
        let farthest = high.max(1.0 / low);
        if farthest <= MIN_DIFFERENCE {
            Finding::NoDifference {
                within: farthest - 1.0,
            }
        } else if low > MIN_DIFFERENCE || high < 1.0 / MIN_DIFFERENCE {
            Finding::Difference { ratio, interval }
        } else {
            Finding::NotResolved {
                at_most: Some(farthest - 1.0),
            }
        }
    }

    /// Whether B is faster.
    pub fn is_faster(&self) -> bool {
        matches!(self.interval(), Some([low, _]) if low > MIN_DIFFERENCE)
    }

    /// Whether B is slower.
    pub fn is_slower(&self) -> bool {
        matches!(self.interval(), Some([_, high]) if high < 1.0 / MIN_DIFFERENCE)
    }

    /// The number of digits that times with this ratio are exact to: three if the interval is within 5 %
    /// of the ratio, else two.
    pub fn digits(&self) -> usize {
        let error = match *self {
            Finding::Difference {
                ratio,
                interval: [low, high],
            } => (high / ratio).max(ratio / low) - 1.0,
            Finding::NoDifference { within } => within,
            Finding::NotResolved { at_most } => at_most.unwrap_or(f64::INFINITY),
            Finding::ChangesWithLoad {
                interval: [low, high],
            } => high / low - 1.0,
        };
        if error <= 0.05 { 3 } else { 2 }
    }

    /// The interval of the ratio, of what differs.
    fn interval(&self) -> Option<[f64; 2]> {
        match *self {
            Finding::Difference { interval, .. } | Finding::ChangesWithLoad { interval } => {
                Some(interval)
            }
            Finding::NoDifference { .. } | Finding::NotResolved { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_beyond_two_per_cent_and_none_is_within() {
        assert!(Finding::of(1.2, [1.03, 1.5]).is_faster());
        assert!(Finding::of(0.5, [0.3, 0.9]).is_slower());
        assert_eq!(Finding::of(1.2, [1.19, 1.22]).digits(), 3);
        assert_eq!(Finding::of(1.2, [1.03, 1.5]).digits(), 2);
        let certain_but_small = Finding::of(1.015, [1.012, 1.018]);
        assert!(matches!(certain_but_small, Finding::NoDifference { within } if within < 0.0181));
        for (interval, most) in [
            ([0.98, 1.0], 0.0205),
            ([1.01, 1.09], 0.0901),
            ([0.5, 1.1], 1.01),
        ] {
            let finding = Finding::of(1.0, interval);
            assert!(!finding.is_faster() && !finding.is_slower());
            assert!(
                matches!(finding, Finding::NotResolved { at_most: Some(at_most) }
                if at_most < most && at_most > 0.02)
            );
        }
    }

    #[test]
    fn what_changes_with_the_load_has_a_direction_only_if_every_window_has_it() {
        let of = |interval| Finding::ChangesWithLoad { interval };
        assert!(of([1.2, 3.9]).is_faster() && of([0.2, 0.9]).is_slower());
        let both = of([0.7, 3.9]);
        assert!(!both.is_faster() && !both.is_slower());
    }
}
