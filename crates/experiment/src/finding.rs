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
        match *self {
            Finding::Difference { interval, .. } | Finding::ChangesWithLoad { interval } => {
                interval[0] > MIN_DIFFERENCE
            }
            Finding::NoDifference { .. } | Finding::NotResolved { .. } => false,
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_within_five_per_cent() {
        for (interval, digits) in [
            ([1.03, 1.5], 2),
            ([1.2, 1.3], 3),
            ([1.012, 1.018], 3),
            ([0.98, 1.0], 3),
            ([1.01, 1.09], 2),
        ] {
            assert_eq!(Finding::of(1.25, interval).digits(), digits);
        }
    }
}
