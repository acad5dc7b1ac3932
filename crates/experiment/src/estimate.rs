//! The estimate of a ratio, with its interval, and what it says.

use serde::{Deserialize, Serialize};

/// The probability, at most, that an interval does not contain the ratio under a load that stays the same.
/// 95 % of intervals are promised: the rest is for loads that drift within minutes, which a comparison of
/// seconds does not see.
pub const ERROR: f64 = 0.02;

/// Intervals of windows that are this factor apart say that the ratio changes with the load.
const MIN_GAP: f64 = 1.02;

/// Settings differ only if the whole interval of their ratio is beyond this factor, and they do not
/// differ only if it is wholly within.
const MIN_DIFFERENCE: f64 = 1.02;

/// Into how many parts the blocks are divided, to see whether neighbouring blocks resemble each other.
const PARTS: [usize; 4] = [8, 16, 32, 64];

/// Blocks in such a part, at least.
const MIN_PART: usize = 4;

/// The ratio of two subjects' times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The median of the ratios of all blocks: above 1 if the second subject is faster.
    pub ratio: f64,
    /// The interval of that ratio, from and to. It contains the ratio, which need not be in its middle.
    pub interval: [f64; 2],
}

impl Estimate {
    /// From the logarithms of the ratios in the blocks of one window; `None` if there are too few for an
    /// interval that misses the ratio with this probability at most.
    ///
    /// The interval has the order statistics of the blocks as its ends: as many values on either side as
    /// heads in that many tosses of a coin (Conover, *Practical Nonparametric Statistics*, 3rd edition,
    /// section 3.2), whatever their distribution is. Under a load that is given, that is enough even if
    /// neighbouring blocks resemble each other. It is widened all the same where they do, so that it
    /// says as much about the seconds that follow.
    pub fn of(log_ratios: &[f64], error: f64) -> Option<Estimate> {
        let [low, ratio, high] = median_and_interval(log_ratios, error)?.map(f64::exp);
        Some(Estimate {
            ratio,
            interval: [low, high],
        })
    }

    /// Widened by the factor that equal settings were found to differ by.
    pub fn widened(self, factor: f64) -> Estimate {
        let [low, high] = self.interval;
        Estimate {
            interval: [low / factor, high * factor],
            ..self
        }
    }

    /// By what factor at least the two differ, in either direction: 1 if they need not differ at all. Of
    /// equal settings, it is what [`Estimate::widened`] takes.
    pub fn excess(&self) -> f64 {
        let [low, high] = self.interval;
        low.max(1.0 / high).max(1.0)
    }

    fn include(&mut self, value: f64) {
        let [low, high] = self.interval;
        self.interval = [low.min(value), high.max(value)];
    }
}

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

    /// Where the ratio is; `None` if there were too few rounds to say.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let within = |most: f64| [1.0 / (1.0 + most), 1.0 + most];
        match *self {
            Finding::Difference { interval, .. } | Finding::ChangesWithLoad { interval } => {
                Some(interval)
            }
            Finding::NoDifference { within: most } => Some(within(most)),
            Finding::NotResolved { at_most } => at_most.map(within),
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
}

/// The estimate from two subjects' times in every block, the one that is expected to be slower first, and
/// what it says; `ends` has the number of blocks at the end of each window. `None` if there are too few
/// blocks in all.
pub fn compare_blocks(slow: &[f64], fast: &[f64], ends: &[usize]) -> Option<(Estimate, Finding)> {
    let ratios = log_ratios(slow, fast);
    let mut begin = 0;
    let mut windows = Vec::new();
    for &end in ends {
        windows.push(ratios.get(begin..end)?.to_vec());
        begin = end;
    }
    across_windows(&windows)
}

/// The logarithm of one subject's time over another's, in each block.
pub(crate) fn log_ratios(slow: &[f64], fast: &[f64]) -> Vec<f64> {
    let times = slow.iter().zip(fast);
    times.map(|(slow, fast)| (slow / fast).ln()).collect()
}

/// The estimate from several windows, each with the logarithms of its blocks' ratios, and what it says;
/// `None` if there are too few blocks in all.
///
/// The estimate is the median of all blocks. Its interval is widened until it contains what every window
/// has found. If intervals of windows are clearly apart, the ratio changes with the load, from the
/// lowest to the highest of these intervals.
fn across_windows(windows: &[Vec<f64>]) -> Option<(Estimate, Finding)> {
    let mut all = Estimate::of(&windows.concat(), ERROR)?;
    for window in windows {
        if let Some(middle) = median(window.iter().copied()) {
            all.include(middle.exp());
        }
    }
    let each = windows
        .iter()
        .filter_map(|window| Estimate::of(window, ERROR));
    let each: Vec<[f64; 2]> = each.map(|it| it.interval).collect();
    let lowest_high = each.iter().map(|it| it[1]).fold(f64::INFINITY, f64::min);
    let highest_low = each.iter().map(|it| it[0]).fold(0.0, f64::max);
    let are_apart = highest_low > lowest_high * MIN_GAP;
    if are_apart {
        each.into_iter().flatten().for_each(|end| all.include(end));
    }
    let finding = match Finding::of(all.ratio, all.interval) {
        none @ Finding::NoDifference { .. } => none,
        _ if are_apart => Finding::ChangesWithLoad {
            interval: all.interval,
        },
        finding => finding,
    };
    Some((all, finding))
}

/// The middle value, or the mean of the two in the middle; `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    let middle = sorted.len() / 2;
    if middle == sorted.len() {
        return None;
    }
    let is_even = sorted.len().is_multiple_of(2);
    let (below, &mut upper, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp);
    Some(match lower {
        Some(lower) if is_even => f64::midpoint(lower, upper),
        _ => upper,
    })
}

/// Which of the values is nearest to this one, so that it stands for all of them; `None` without values.
pub fn nearest(values: impl IntoIterator<Item = f64>, to: f64) -> Option<usize> {
    let distances = values.into_iter().map(|value| (value - to).abs());
    let nearest = distances
        .enumerate()
        .min_by(|(_, a), (_, b)| a.total_cmp(b));
    nearest.map(|(at, _)| at)
}

/// The low end of the interval, the median and the high end; `None` if there are too few values.
fn median_and_interval(values: &[f64], error: f64) -> Option<[f64; 3]> {
    let middle = values.len() / 2;
    let outside = ranks_outside(values.len(), error)?;
    let reach = (middle - outside) as f64 * resemblance(values).sqrt();
    let low = middle.checked_sub(reach.ceil() as usize)?;
    let high = values.len() - 1 - low;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = median(values.iter().copied())?;
    Some([sorted[low], median, sorted[high]])
}

/// How many of `count` sorted values on each side are outside the interval of their median: the
/// largest k for which fewer than k + 1 heads in `count` tosses have at most half this probability.
fn ranks_outside(count: usize, error: f64) -> Option<usize> {
    // The logarithm of the probability of this many heads, from none on.
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    let mut outside = None;
    for heads in 0..count / 2 {
        sum += log_term.exp();
        if 2.0 * sum > error {
            break;
        }
        outside = Some(heads);
        log_term += ((count - heads) as f64 / (heads + 1) as f64).ln();
    }
    outside
}

/// How many neighbouring values say as much as one: 1 if values above and below the median follow each
/// other by chance. That is the variance of the number of values above the median in parts of the
/// whole, as a multiple of what chance gives, where it is more than chance would give in one of 20.
fn resemblance(values: &[f64]) -> f64 {
    let Some(middle) = median(values.iter().copied()) else {
        return 1.0;
    };
    let is_above: Vec<f64> = values
        .iter()
        .map(|&value| match value.total_cmp(&middle) {
            std::cmp::Ordering::Less => -1.0,
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => 1.0,
        })
        .collect();
    let of_parts = |parts: usize| {
        let length = is_above.len() / parts;
        if length < MIN_PART {
            return 1.0;
        }
        let sums = is_above
            .chunks_exact(length)
            .map(|part| part.iter().sum::<f64>());
        let squares: Vec<f64> = sums.map(|sum| sum * sum / length as f64).collect();
        let variance = squares.iter().sum::<f64>() / squares.len() as f64;
        let by_chance = 1.0 + 2.0 * (2.0 / squares.len() as f64).sqrt();
        if variance > by_chance { variance } else { 1.0 }
    };
    PARTS.map(of_parts).into_iter().fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_ranks_of_the_binomial_distribution() {
        for (count, error, outside) in [
            // 2 / 2^9 and 2 / 2^8 are the probabilities that all tosses are equal.
            (9, 0.005, Some(0)),
            (8, 0.005, None),
            (7, ERROR, Some(0)),
            (6, ERROR, None),
            // The usual table for 95 %: of 20 values the 6th and the 15th, of 100 the 40th and the 61st.
            (20, 0.05, Some(5)),
            (100, 0.05, Some(39)),
            (0, 0.05, None),
        ] {
            assert_eq!(ranks_outside(count, error), outside, "{count} {error}");
        }
        assert!(ranks_outside(4000, 0.005).is_some_and(|rank| rank > 1850 && rank < 2000));
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let shuffled: Vec<f64> = (0..20).map(|at| values[at * 7 % 20]).collect();
        assert_eq!(
            median_and_interval(&shuffled, 0.05),
            Some([6.0, 10.5, 15.0])
        );
    }

    #[test]
    fn windows_that_agree_are_one_and_those_apart_change_with_the_load() {
        for (windows, said) in [
            (
                &[(1.5, 60), (1.51, 60), (1.49, 60)][..],
                "Some(Difference { ratio: 1.500, interval: [1.490, 1.510] })",
            ),
            (
                &[(1.5, 60), (0.7, 60), (1.5, 60)],
                "Some(ChangesWithLoad { interval: [0.699, 1.503] })",
            ),
            (
                &[(1.0, 9000), (1.01, 9000)],
                "Some(NoDifference { within: 0.012 })",
            ),
            // Three blocks a window are enough together, and too few for an interval of each.
            (
                &[(2.0, 3), (2.1, 3), (2.2, 3)],
                "Some(Difference { ratio: 2.096, interval: [1.990, 2.204] })",
            ),
            (&[(2.0, 6)], "None"),
        ] {
            let window = |(middle, blocks): &(f64, usize)| -> Vec<f64> {
                let noise = (0..*blocks).map(|block| (block * 7 % 11) as f64 / 1000.0 - 0.005);
                noise.map(|noise| middle.ln() + noise).collect()
            };
            let windows: Vec<_> = windows.iter().map(window).collect();
            let found = across_windows(&windows).map(|(_, finding)| finding);
            assert_eq!(format!("{found:.3?}"), said);
        }
    }
}
