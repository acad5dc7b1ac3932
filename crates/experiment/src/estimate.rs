//! The estimate of a ratio, with its interval.

use crate::Finding;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// The probability, at most, that an interval does not contain the ratio under a load that stays the same.
/// 95 % of intervals are promised: the rest is for loads that drift within minutes, which a comparison of
/// seconds does not see.
pub const ERROR: f64 = 0.02;

/// Intervals of windows that are this factor apart say that the ratio changes with the load.
const MIN_GAP: f64 = 1.02;

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

// Rounds of several subjects, interleaved.

/// Rounds of several subjects in blocks: each subject has one round in every block, in random order.
///
/// What changes slowly meets all subjects alike, and so does what comes from the place within a block.
/// Whatever multiplies the time of a round, such as the clock rate, is as likely to favour one subject
/// as another, so the ratio of two subjects' times is above the true one as often as below it, however
/// the noise of one block depends on that of others (Fisher's randomization).
///
/// The one thing that blocks cannot average out is a load that alternates in step with the rounds, such as
/// a frame drawn during every other one: the interval is then as wide as what that does to a round.
#[derive(Clone, Debug)]
pub struct Blocks {
    random: Xoshiro256PlusPlus,
    /// The subjects in the order of the block under way.
    order: Vec<usize>,
    /// The times of the block under way, in that order.
    under_way: Vec<f64>,
    /// The times of every subject in each block that counts.
    times: Vec<Vec<f64>>,
    /// Whether the block under way counts. The first one warms up.
    pub(crate) counts: bool,
}

impl Blocks {
    /// For this many subjects, with no times yet. `seed` decides the order within each block.
    ///
    /// # Panics
    /// Without subjects.
    pub fn new(subjects: usize, seed: u64) -> Blocks {
        assert!(subjects > 0, "nothing to measure");
        let mut blocks = Blocks {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            order: (0..subjects).collect(),
            under_way: Vec::with_capacity(subjects),
            times: vec![Vec::new(); subjects],
            counts: false,
        };
        blocks.restart_block();
        blocks
    }

    /// The subject of the next round.
    pub fn next_subject(&self) -> usize {
        self.order[self.under_way.len()]
    }

    /// Takes the time of a round of [`Blocks::next_subject`], in any unit. Returns whether a block that
    /// counts is complete with it.
    pub fn record(&mut self, time: f64) -> bool {
        self.under_way.push(time.max(f64::MIN_POSITIVE));
        if self.under_way.len() < self.order.len() {
            return false;
        }
        let counts = std::mem::replace(&mut self.counts, true);
        if counts {
            for (&subject, &time) in self.order.iter().zip(&self.under_way) {
                self.times[subject].push(time);
            }
        }
        self.restart_block();
        counts
    }

    /// Begins the block under way again: in it, something else differed than the subject.
    pub fn restart_block(&mut self) {
        self.under_way.clear();
        for last in (1..self.order.len()).rev() {
            let other = self.random.next_u64() % (last as u64 + 1);
            self.order.swap(last, other as usize);
        }
    }

    /// Number of blocks that count.
    pub fn count(&self) -> usize {
        self.times[0].len()
    }

    /// A subject's time in each block.
    pub fn times(&self, subject: usize) -> &[f64] {
        &self.times[subject]
    }

    /// The logarithm of one subject's time over another's, in each block.
    pub fn log_ratios(&self, slow: usize, fast: usize) -> Vec<f64> {
        crate::estimate::log_ratios(&self.times[slow], &self.times[fast])
    }

    /// Each subject's time, so that two subjects' times have exactly the ratio of their estimate; with
    /// more subjects, they have it as nearly as one time for each allows. `None` without blocks.
    ///
    /// It is the median over the blocks of the subject's time relative to the block's (geometric) mean,
    /// at the median of these means.
    pub fn typical_times(&self) -> Option<Vec<f64>> {
        let subjects = self.times.len() as f64;
        let means: Vec<f64> = (0..self.count())
            .map(|block| self.times.iter().map(|of| of[block].ln()).sum::<f64>() / subjects)
            .collect();
        let level = crate::median(means.iter().copied())?;
        let typical = self.times.iter().map(|times| {
            let relative = times
                .iter()
                .zip(&means)
                .map(|(time, mean)| time.ln() - mean);
            (level + crate::median(relative).unwrap_or(0.0)).exp()
        });
        Some(typical.collect())
    }
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
