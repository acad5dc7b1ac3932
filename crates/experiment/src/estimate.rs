//! The estimate of a ratio, with its interval.

use serde::{Deserialize, Serialize};

/// The probability, at most, that an interval does not contain the ratio.
pub const ERROR: f64 = 0.04;

/// Intervals of windows that are this factor apart say that the ratio changes with the load.
const MIN_GAP: f64 = 1.02;

/// Into how many parts the blocks are divided, to see whether neighbouring blocks resemble each other.
const PARTS: [usize; 4] = [8, 16, 32, 64];

/// Blocks in such a part, at least.
const MIN_PART: usize = 4;

/// The ratio of two subjects' times.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// The median of the ratios of all blocks: above 1 if the second subject is faster.
    pub ratio: f64,
    /// The interval of that ratio, from and to. It contains the ratio, which need not be in its middle.
    pub interval: [f64; 2],
    /// Number of windows it was measured in.
    pub windows: usize,
    /// Whether windows had intervals that are clearly apart.
    pub changes: bool,
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
            windows: 1,
            changes: false,
        })
    }

    /// Widened by the factor that equal settings were found to differ by.
    pub fn widened(mut self, factor: f64) -> Estimate {
        let [low, high] = self.interval;
        self.interval = [low / factor, high * factor];
        self
    }

    /// By what factor at least the two differ, in either direction: 1 if they need not differ at all. Of
    /// equal settings, it is what [`Estimate::widened`] takes.
    pub fn excess(&self) -> f64 {
        let [low, high] = self.interval;
        low.max(1.0 / high).max(1.0)
    }
}

/// The estimate from several windows, each with the logarithms of its blocks' ratios; `None` if there
/// are too few blocks in all.
///
/// It is the median of all blocks. Its interval is widened until it contains what every window has
/// found, and every window's interval, where these are clearly apart.
pub fn across_windows(windows: &[Vec<f64>]) -> Option<Estimate> {
    let all = Estimate::of(&windows.concat(), ERROR)?;
    let each: Vec<Estimate> = windows
        .iter()
        .filter_map(|window| Estimate::of(window, ERROR))
        .collect();
    let lowest_high = each
        .iter()
        .map(|it| it.interval[1])
        .fold(f64::INFINITY, f64::min);
    let highest_low = each.iter().map(|it| it.interval[0]).fold(0.0, f64::max);
    let changes = highest_low > lowest_high * MIN_GAP;
    let mut interval = all.interval;
    let mut include = |value: f64| interval = [interval[0].min(value), interval[1].max(value)];
    for window in windows {
        if let Some(middle) = median(window.iter().copied()) {
            include(middle.exp());
        }
    }
    if changes {
        each.iter().flat_map(|it| it.interval).for_each(include);
    }
    Some(Estimate {
        interval,
        windows: windows.len(),
        changes,
        ..all
    })
}

/// The middle value, or `None` without values; of an even number, the larger of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    let middle = sorted.len() / 2;
    let exists = middle < sorted.len();
    exists.then(|| *sorted.select_nth_unstable_by(middle, f64::total_cmp).1)
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
    Some([sorted[low], sorted[middle], sorted[high]])
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

    fn window(middle: f64, blocks: usize) -> Vec<f64> {
        let noise = (0..blocks).map(|block| (block * 7 % 11) as f64 / 1000.0 - 0.005);
        noise.map(|noise| middle.ln() + noise).collect()
    }

    #[test]
    fn intervals_have_the_ranks_of_the_binomial_distribution() {
        // 2 / 2^9 and 2 / 2^8 are the probabilities that all tosses are equal.
        assert_eq!(ranks_outside(9, 0.005), Some(0));
        assert_eq!(ranks_outside(8, 0.005), None);
        assert_eq!(ranks_outside(6, 0.04), Some(0));
        assert_eq!(ranks_outside(5, 0.04), None);
        // The usual table for 95 %: of 20 values the 6th and the 15th, of 100 the 40th and the 61st.
        assert_eq!(ranks_outside(20, 0.05), Some(5));
        assert_eq!(ranks_outside(100, 0.05), Some(39));
        assert_eq!(ranks_outside(0, 0.05), None);
        assert!(ranks_outside(4000, 0.005).is_some_and(|rank| rank > 1850 && rank < 2000));
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let shuffled: Vec<f64> = (0..20).map(|at| values[at * 7 % 20]).collect();
        assert_eq!(
            median_and_interval(&shuffled, 0.05),
            Some([6.0, 11.0, 15.0])
        );
    }

    #[test]
    fn the_interval_is_that_of_the_ratio_and_need_not_be_symmetric() {
        // Bimodal: two of three blocks have a ratio of 3, and one has 4.
        let log_ratios: Vec<f64> = (0..90).map(|at| [3f64, 3.0, 4.0][at % 3].ln()).collect();
        let estimate = Estimate::of(&log_ratios, ERROR).unwrap();
        assert!((estimate.ratio - 3.0).abs() < 1e-9, "{estimate:?}");
        assert!(estimate.interval[1] < 3.001, "{estimate:?}");
        assert_eq!(Estimate::of(&log_ratios[..5], ERROR), None);
        let wider = estimate.widened(1.1);
        assert!((wider.interval[0] - 3.0 / 1.1).abs() < 1e-9);
        assert!((wider.excess() - 3.0 / 1.1).abs() < 1e-9);
    }

    #[test]
    fn neighbours_that_resemble_each_other_widen_the_interval() {
        let noise = |at: usize| (at * 37 % 101) as f64 / 1000.0;
        let alternating: Vec<f64> = (0..400).map(noise).collect();
        let mut in_order = alternating.clone();
        in_order.sort_by(f64::total_cmp);
        let width = |values: &[f64]| {
            let [low, _, high] = median_and_interval(values, ERROR)?;
            Some(high - low)
        };
        assert_eq!(resemblance(&alternating), 1.0);
        assert!(resemblance(&in_order) > 20.0);
        let [usual, wide] = [&alternating, &in_order].map(|values| width(values).unwrap());
        assert!(wide > 3.0 * usual, "{usual} {wide}");
    }

    #[test]
    fn windows_that_agree_are_one_and_those_apart_change_with_the_load() {
        let agree = across_windows(&[window(1.5, 60), window(1.51, 60), window(1.49, 60)]).unwrap();
        assert_eq!((agree.windows, agree.changes), (3, false));
        let [low, high] = agree.interval;
        assert!(low <= 1.491 && (1.509..1.53).contains(&high), "{agree:?}");
        let apart = across_windows(&[window(1.5, 60), window(0.7, 60), window(1.5, 60)]).unwrap();
        assert!(apart.changes && apart.interval[0] < 0.7 && apart.interval[1] > 1.5);
        // Two blocks a window are enough together, and too few for an interval of each.
        let few = across_windows(&[window(2.0, 2), window(2.1, 2), window(2.2, 2)]).unwrap();
        assert!(!few.changes && few.interval[0] < 2.0 && few.interval[1] > 2.19);
        assert_eq!(across_windows(&[window(2.0, 5)]), None);
    }

    #[test]
    fn the_nearest_value_stands_for_all() {
        assert_eq!(nearest([30.0, 2.6, 2.4, 1.0], 2.5), Some(1));
        assert_eq!(nearest([], 2.5), None);
        assert_eq!(median([4.0, 5.0, 400.0]), Some(5.0));
        assert_eq!(median([]), None);
    }
}
