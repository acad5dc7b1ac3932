//! What an estimate says.

use serde::{Deserialize, Serialize};

use crate::Estimate;

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
        /// How far the ratio may be from 1, as a fraction: 0.09 is 9 %.
        at_most: f64,
    },
    /// How they differ changes with what else the machine does.
    ChangesWithLoad {
        /// From the least to the greatest ratio in any window.
        interval: [f64; 2],
    },
}

impl Finding {
    /// What an estimate says.
    pub fn of(estimate: &Estimate) -> Finding {
        let (ratio, interval) = (estimate.ratio, estimate.interval);
        let [low, high] = interval;
        let farthest = high.max(1.0 / low);
        if farthest <= MIN_DIFFERENCE {
            Finding::NoDifference {
                within: farthest - 1.0,
            }
        } else if estimate.changes {
            Finding::ChangesWithLoad { interval }
        } else if low > MIN_DIFFERENCE || high < 1.0 / MIN_DIFFERENCE {
            Finding::Difference { ratio, interval }
        } else {
            Finding::NotResolved {
                at_most: farthest - 1.0,
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

    fn of(ratio: f64, interval: [f64; 2], changes: bool) -> Finding {
        Finding::of(&Estimate {
            ratio,
            interval,
            windows: 3,
            changes,
        })
    }

    #[test]
    fn a_difference_is_beyond_two_per_cent_and_none_is_within() {
        assert!(of(1.2, [1.03, 1.5], false).is_faster());
        assert!(of(0.5, [0.3, 0.9], false).is_slower());
        let certain_but_small = of(1.015, [1.012, 1.018], false);
        assert!(matches!(certain_but_small, Finding::NoDifference { within } if within < 0.0181));
        for (interval, most) in [
            ([0.98, 1.0], 0.0205),
            ([1.01, 1.09], 0.0901),
            ([0.5, 1.1], 1.01),
        ] {
            let finding = of(1.0, interval, false);
            assert!(!finding.is_faster() && !finding.is_slower());
            assert!(
                matches!(finding, Finding::NotResolved { at_most } if at_most < most && at_most > 0.02)
            );
        }
    }

    #[test]
    fn what_changes_with_the_load_has_a_direction_only_if_every_window_has_it() {
        assert!(of(2.0, [1.2, 3.9], true).is_faster());
        let both = of(2.0, [0.7, 3.9], true);
        assert_eq!(
            both,
            Finding::ChangesWithLoad {
                interval: [0.7, 3.9]
            }
        );
        assert!(!both.is_faster() && !both.is_slower());
        assert!(matches!(
            of(1.0, [0.99, 1.01], true),
            Finding::NoDifference { .. }
        ));
    }
}
