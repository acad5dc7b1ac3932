//! Which of two settings takes less time, and how sure that is: the one kind of measurement behind
//! every sentence that calls something faster, slower or no different.
//!
//! Rounds of the two settings, A and B, are interleaved in blocks: A B B A or B A A B (where rounds
//! are few, A B or B A), at random ([`Comparison::next_side`]). Whatever changes slowly, and whatever
//! the place within a block does, meets both alike. Each block gives one ratio of times. Since the
//! order of every block was drawn at random, the ratios of equal settings are above 1 as often as
//! below, whatever the noise is (Fisher's randomization). So their order statistics bound the ratio
//! without any assumption about the distribution: the confidence interval of the median from the
//! binomial distribution (Conover, *Practical Nonparametric Statistics*, 3rd edition, section 3.2).
//!
//! Measuring stops as soon as the interval is narrow enough, so it is looked at several times: at
//! most [`MAX_LOOKS`], each with an error probability of [`ERROR_PER_LOOK`]. By Bonferroni's
//! inequality the interval misses the ratio in at most [`ERROR`] of all comparisons.

use lang::tr;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use serde::Serialize;

/// The probability, at most, that a comparison's interval does not contain the ratio.
pub const ERROR: f64 = 0.04;

/// How often the interval is looked at before the last time.
const MAX_LOOKS: u32 = 7;

/// The error probability of each of these looks; the last one has what is left of [`ERROR`].
const ERROR_PER_LOOK: f64 = 0.005;

/// Blocks before the first look: fewer give no interval with [`ERROR_PER_LOOK`]. Each look has twice
/// as many blocks as the one before.
const FIRST_LOOK: usize = 9;

/// A finding is a difference only if its whole interval lies beyond this factor.
const MIN_DIFFERENCE: f64 = 1.02;

/// A difference is measured until its interval is within this part of the ratio on either side.
const PRECISION: f64 = 0.02;

/// If the interval stays within this factor of 1, the finding is that there is no difference.
const MAX_NO_DIFFERENCE: f64 = 1.10;

/// A difference whose interval's ends are farther apart than this factor has a direction but no
/// factor worth quoting.
const MAX_FACTOR_RANGE: f64 = 2.0;

/// One of the two settings that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
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

/// How rounds of A and B are interleaved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocks {
    /// A B B A or B A A B: for rounds, of which there are many.
    Quads,
    /// A B or B A: for runs that are prepared one by one and take long.
    Pairs,
}

impl Blocks {
    fn order(self, first: Side) -> &'static [Side] {
        use Side::{A, B};
        match (self, first) {
            (Blocks::Quads, A) => &[A, B, B, A],
            (Blocks::Quads, B) => &[B, A, A, B],
            (Blocks::Pairs, A) => &[A, B],
            (Blocks::Pairs, B) => &[B, A],
        }
    }
}

/// What a comparison found.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The settings differ.
    Difference {
        /// The median time of A's rounds over that of B's: above 1 if B is faster.
        ratio: f64,
        /// The interval of that ratio.
        interval: [f64; 2],
    },
    /// They differ by no more than can be measured, or than matters.
    NoDifference {
        /// How far the ratio may be from 1, as a fraction: 0.04 is 4 %.
        within: f64,
    },
    /// The interval is too wide to tell.
    TooNoisy,
}

/// A comparison under way.
#[derive(Clone, Debug)]
pub struct Comparison {
    blocks: Blocks,
    random: Xoshiro256PlusPlus,
    /// The order of the block under way.
    order: &'static [Side],
    /// The times of the block under way, in that order.
    block: Vec<f64>,
    /// Whether the first block, which warms up and does not count, is over.
    is_warm: bool,
    times: [Vec<f64>; 2],
    /// The logarithm of A's time over B's, of every block.
    log_ratios: Vec<f64>,
    looks: u32,
    finding: Option<Finding>,
}

impl Comparison {
    /// With no times yet. `seed` decides the orders of the blocks.
    pub fn new(blocks: Blocks, seed: u64) -> Comparison {
        let mut comparison = Comparison {
            blocks,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            order: &[],
            block: Vec::new(),
            is_warm: false,
            times: [Vec::new(), Vec::new()],
            log_ratios: Vec::new(),
            looks: 0,
            finding: None,
        };
        comparison.begin_block();
        comparison
    }

    fn begin_block(&mut self) {
        let first = match self.random.next_u64() >> 63 {
            0 => Side::A,
            _ => Side::B,
        };
        self.order = self.blocks.order(first);
        self.block.clear();
    }

    /// The setting of the next round.
    pub fn next_side(&self) -> Side {
        self.order[self.block.len()]
    }

    /// Whether the rounds so far only warm up, and do not count.
    pub fn is_warming_up(&self) -> bool {
        !self.is_warm
    }

    /// Forgets the block under way: something else than the setting was different in it.
    pub fn skip_block(&mut self) {
        self.begin_block();
    }

    /// Takes the time of a round with the setting that [`Comparison::next_side`] named, in any unit.
    /// Returns the finding once there is one; later times change nothing.
    pub fn record(&mut self, time: f64) -> Option<Finding> {
        if self.finding.is_some() {
            return self.finding;
        }
        self.block.push(time.max(f64::MIN_POSITIVE));
        if self.block.len() < self.order.len() {
            return None;
        }
        if std::mem::replace(&mut self.is_warm, true) {
            self.take_block();
        }
        self.begin_block();
        let due = FIRST_LOOK << self.looks;
        if self.looks < MAX_LOOKS && self.log_ratios.len() == due {
            self.looks += 1;
            self.finding = self.look(ERROR_PER_LOOK).filter(is_precise);
        } else if self.looks == MAX_LOOKS && self.log_ratios.len() == due {
            self.finding = Some(self.finish());
        }
        self.finding
    }

    fn take_block(&mut self) {
        let mut log_ratio = 0.0;
        let each = self.order.len() as f64 / 2.0;
        for (&side, &time) in self.order.iter().zip(&self.block) {
            let sign = match side {
                Side::A => 1.0,
                Side::B => -1.0,
            };
            log_ratio += sign * time.ln() / each;
            self.times[side as usize].push(time);
        }
        self.log_ratios.push(log_ratio);
    }

    /// Takes a finding back, so that more rounds count: for comparisons that share their rounds until
    /// each has a finding. Each look has its own part of [`ERROR`], so what the last one finds is as
    /// certain as if it were the first.
    pub fn resume(&mut self) {
        self.finding = None;
    }

    /// The finding from the times so far, however few: for when the time is up.
    pub fn finish(&self) -> Finding {
        let left = ERROR - f64::from(self.looks) * ERROR_PER_LOOK;
        self.finding
            .or_else(|| self.look(left))
            .unwrap_or(Finding::TooNoisy)
    }

    /// Whether there is a finding, so that further times change nothing.
    pub fn has_finding(&self) -> bool {
        self.finding.is_some()
    }

    /// Whether the blocks so far are enough for a finding.
    pub fn is_enough(&self) -> bool {
        let left = ERROR - f64::from(self.looks) * ERROR_PER_LOOK;
        ranks_outside(self.log_ratios.len(), left).is_some()
    }

    /// Rounds of each setting that count so far.
    pub fn rounds(&self) -> usize {
        self.times[0].len()
    }

    /// The median times of A's and of B's rounds, in the unit of the times taken.
    pub fn medians(&self) -> [Option<f64>; 2] {
        self.times
            .each_ref()
            .map(|times| median(times.iter().copied()))
    }

    /// What the blocks so far say with this error probability; `None` if they are too few.
    fn look(&self, error: f64) -> Option<Finding> {
        let [low, high] = interval_of_median(&self.log_ratios, error)?;
        let [Some(a), Some(b)] = self.medians() else {
            return None;
        };
        // The ratio that is shown is that of the times that are shown.
        let ratio = a / b;
        let interval = [low.exp().min(ratio), high.exp().max(ratio)];
        Some(Finding::of(ratio, interval))
    }
}

impl Finding {
    /// What an interval of the ratio of A's time to B's says.
    pub fn of(ratio: f64, interval: [f64; 2]) -> Finding {
        let [low, high] = interval;
        let farthest = high.max(1.0 / low);
        if low > MIN_DIFFERENCE || high < 1.0 / MIN_DIFFERENCE {
            Finding::Difference { ratio, interval }
        } else if farthest <= MAX_NO_DIFFERENCE {
            let within = farthest - 1.0;
            Finding::NoDifference { within }
        } else {
            Finding::TooNoisy
        }
    }

    /// Whether B is faster.
    pub fn is_faster(&self) -> bool {
        matches!(self, Finding::Difference { ratio, .. } if *ratio > 1.0)
    }

    /// Whether B is slower.
    pub fn is_slower(&self) -> bool {
        matches!(self, Finding::Difference { ratio, .. } if *ratio < 1.0)
    }

    /// What B is, against A: `8.1× faster ± 0.2`, `faster, but too noisy here for a factor`,
    /// `no difference (within 4 %)` or `too noisy here to tell`. The digits follow the interval.
    pub fn in_words(&self) -> String {
        match *self {
            Finding::Difference {
                ratio,
                interval: [low, high],
            } if high > low * MAX_FACTOR_RANGE => {
                if ratio > 1.0 {
                    tr!("faster, but too noisy here for a factor").into()
                } else {
                    tr!("slower, but too noisy here for a factor").into()
                }
            }
            Finding::Difference { ratio, interval } if ratio > 1.0 => {
                match Digits::of(ratio, interval) {
                    Digits::PlusMinus(ratio, half) => {
                        tr!("{ratio}× faster ± {half}", ratio = ratio, half = half)
                    }
                    Digits::FromTo(low, high) => {
                        tr!("{low} to {high}× faster", low = low, high = high)
                    }
                }
            }
            Finding::Difference { ratio, interval } => {
                match Digits::of(1.0 / ratio, [1.0 / interval[1], 1.0 / interval[0]]) {
                    Digits::PlusMinus(ratio, half) => {
                        tr!("{ratio}× slower ± {half}", ratio = ratio, half = half)
                    }
                    Digits::FromTo(low, high) => {
                        tr!("{low} to {high}× slower", low = low, high = high)
                    }
                }
            }
            Finding::NoDifference { within } => tr!(
                "no difference (within {percent} %)",
                percent = (within * 100.0).ceil().max(1.0)
            ),
            Finding::TooNoisy => tr!("too noisy here to tell").into(),
        }
    }
}

/// A factor and its interval with the digits that the interval allows.
enum Digits {
    PlusMinus(String, String),
    FromTo(String, String),
}

impl Digits {
    fn of(factor: f64, [low, high]: [f64; 2]) -> Digits {
        let half = (high - factor).max(factor - low).max(0.01);
        let digits = (-half.log10().floor()).clamp(0.0, 2.0) as i32;
        let unit = 10f64.powi(digits);
        // A hair less than the next digit is that digit.
        let rounded = (half * unit - 1e-6).ceil() / unit;
        let low_shown = (factor * unit).round() / unit - rounded;
        // With one digit, or where one half is the larger, ± may look as if it held no difference.
        if half > 0.25 * factor || low_shown < 1.0 + 1e-6 {
            let digits = match low {
                _ if low < 2.0 => 2,
                _ if low < 10.0 => 1,
                _ => 0,
            };
            // Outwards, so that the interval stays inside.
            let unit = 10f64.powi(digits);
            let low = (low * unit).floor() / unit;
            let high = (high * unit).ceil() / unit;
            let digits = digits as usize;
            return Digits::FromTo(format!("{low:.digits$}"), format!("{high:.digits$}"));
        }
        let digits = digits as usize;
        Digits::PlusMinus(format!("{factor:.digits$}"), format!("{rounded:.digits$}"))
    }
}

/// Whether more rounds would not make a finding more useful.
fn is_precise(finding: &Finding) -> bool {
    match *finding {
        Finding::Difference {
            ratio,
            interval: [low, high],
        } => (high / ratio).max(ratio / low) <= 1.0 + PRECISION,
        Finding::NoDifference { within } => within <= MIN_DIFFERENCE - 1.0,
        Finding::TooNoisy => false,
    }
}

/// The interval of the median of times that were measured while comparisons had their looks at them;
/// `None` if they are too few. As for a [`Comparison`], it misses the median with a probability of
/// [`ERROR`] at most, whichever look was the last.
pub fn interval_of_times(times: &[f64]) -> Option<[f64; 2]> {
    // Fewer blocks than the first look needs had no look before the last one.
    let error = match times.len() {
        few if few < FIRST_LOOK => ERROR,
        _ => ERROR_PER_LOOK,
    };
    interval_of_median(times, error)
}

/// The interval that contains the median of the values' distribution but for this probability;
/// `None` if there are too few values for that.
fn interval_of_median(values: &[f64], error: f64) -> Option<[f64; 2]> {
    let outside = ranks_outside(values.len(), error)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some([sorted[outside], sorted[sorted.len() - 1 - outside]])
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

/// The middle value, or `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    let middle = sorted.len() / 2;
    let at = sorted.get(middle).is_some();
    at.then(|| *sorted.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Noise on a simulated round: its time, given the true one.
    type Noise = fn(&mut Xoshiro256PlusPlus, u32, f64) -> f64;

    fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
        random.random()
    }

    /// Noises that a machine makes: a few percent on each round; a preemption in every fourth; a
    /// clock that slows down and recovers; every second round late; a burst for hundreds of rounds.
    const NOISES: [(&str, Noise); 5] = [
        ("jitter", |random, _, time| {
            time * (1.0 + 0.05 * uniform(random))
        }),
        ("preemption", |random, _, time| {
            let late = uniform(random) < 0.25;
            time * (1.0 + 0.02 * uniform(random))
                + if late { 4000.0 * uniform(random) } else { 0.0 }
        }),
        ("drift", |random, i, time| {
            let clock = 1.0 + 0.3 * (f64::from(i) / 80.0).sin();
            time * clock * (1.0 + 0.02 * uniform(random))
        }),
        ("alternating", |random, i, time| {
            let late = f64::from(i % 2) * 0.5 + f64::from(i % 4 / 3) * 0.5;
            time * (1.0 + late + 0.02 * uniform(random))
        }),
        ("bursts", |random, i, time| {
            let burst = if i / 300 % 2 == 1 { 1.0 } else { 0.0 };
            time * (1.0 + burst * uniform(random) + 0.02 * uniform(random))
        }),
    ];

    fn compare(noise: Noise, [a, b]: [f64; 2], seed: u64) -> (Comparison, Finding) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
        let mut comparison = Comparison::new(Blocks::Quads, seed);
        // At most as many rounds as 3 s have at 60 a second, or many times more.
        let most = if seed.is_multiple_of(2) { 180 } else { 6000 };
        for i in 0..most {
            let time = match comparison.next_side() {
                Side::A => a,
                Side::B => b,
            };
            if let Some(finding) = comparison.record(noise(&mut random, i, time)) {
                return (comparison, finding);
            }
        }
        let finding = comparison.finish();
        (comparison, finding)
    }

    #[test]
    fn equal_settings_hardly_ever_differ_whatever_the_noise() {
        for (name, noise) in NOISES {
            let differ = |seed: &u64| {
                let (_, finding) = compare(noise, [1000.0; 2], *seed);
                matches!(finding, Finding::Difference { .. })
            };
            let wrong = (0..400).filter(differ).count();
            assert!(wrong <= 20, "{name}: {wrong} of 400");
        }
    }

    #[test]
    fn a_known_factor_is_found_and_within_the_interval() {
        for (name, noise) in NOISES {
            let (mut found, mut inside) = (0, 0);
            for seed in 0..200 {
                let (_, finding) = compare(noise, [1250.0, 1000.0], seed);
                if let Finding::Difference { interval, .. } = finding {
                    found += u32::from(finding.is_faster());
                    inside += u32::from(interval[0] <= 1.25 && 1.25 <= interval[1]);
                }
            }
            // A preemption costs the same time whatever the round takes, so it draws the ratio
            // towards 1; and few rounds among many preemptions are too few to tell.
            let (least_found, least_inside) = match name {
                "preemption" => (100, 90),
                _ => (190, 190),
            };
            assert!(found >= least_found, "{name}: found {found} of 200");
            assert!(inside >= least_inside, "{name}: {inside} of 200 inside");
        }
    }

    #[test]
    fn quiet_rounds_are_decided_at_the_first_look() {
        let (comparison, finding) = compare(|_, _, time| time, [8000.0, 1000.0], 1);
        assert_eq!(comparison.rounds(), 2 * FIRST_LOOK);
        let interval = [8.0, 8.0];
        assert!(
            matches!(finding, Finding::Difference { ratio, interval: [low, high] }
                if (ratio - 8.0).abs() < 1e-9 && (low - interval[0]).abs() < 1e-9
                    && (high - interval[1]).abs() < 1e-9)
        );
        let (_, finding) = compare(|_, _, time| time, [1010.0, 1000.0], 1);
        assert!(matches!(finding, Finding::NoDifference { within } if within < 0.0101));
    }

    #[test]
    fn few_runs_are_enough_where_they_all_agree_and_fewer_are_not() {
        let after = |pairs: usize| {
            let mut comparison = Comparison::new(Blocks::Pairs, 3);
            for _ in 0..2 * (1 + pairs) {
                let time = match comparison.next_side() {
                    Side::A => 3.0,
                    Side::B => 1.0,
                };
                assert_eq!(comparison.record(time), None);
            }
            comparison.finish()
        };
        assert_eq!(after(0), Finding::TooNoisy);
        assert_eq!(after(5), Finding::TooNoisy);
        assert!(after(6).is_faster());
    }

    #[test]
    fn both_settings_come_in_every_block_and_first_by_chance() {
        let mut comparison = Comparison::new(Blocks::Quads, 7);
        let mut firsts = [0; 2];
        for _ in 0..200 {
            let block: Vec<Side> = (0..4)
                .map(|_| {
                    let side = comparison.next_side();
                    comparison.block.push(1.0);
                    side
                })
                .collect();
            assert_eq!(block[0], block[3]);
            assert_eq!(block[1], block[2]);
            assert_eq!(block[0], block[1].other());
            firsts[block[0] as usize] += 1;
            comparison.begin_block();
        }
        assert!(firsts.iter().all(|&first| first > 60), "{firsts:?}");
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
        assert_eq!(interval_of_median(&values, 0.05), Some([6.0, 15.0]));
    }

    #[test]
    fn digits_follow_the_interval() {
        let say = |ratio, interval| Finding::of(ratio, interval).in_words();
        assert_eq!(say(8.13, [7.95, 8.30]), "8.1× faster ± 0.2");
        assert_eq!(say(1.254, [1.25, 1.26]), "1.25× faster ± 0.01");
        assert_eq!(say(0.5, [0.49, 0.51]), "2.00× slower ± 0.05");
        assert_eq!(say(1.024, [1.0203, 1.037]), "1.02 to 1.04× faster");
        assert_eq!(say(1.5, [1.5, 1.5]), "1.50× faster ± 0.01");
        assert_eq!(say(131.0, [127.0, 134.0]), "131× faster ± 4");
        assert_eq!(say(12.0, [8.04, 15.96]), "8.0 to 16.0× faster");
        assert_eq!(say(1.14, [1.031, 1.39]), "1.03 to 1.39× faster");
        assert_eq!(say(1.23, [1.04, 1.31]), "1.04 to 1.31× faster");
        assert_eq!(say(0.1, [0.07, 0.14]), "7.1 to 14.3× slower");
        assert_eq!(say(1.01, [0.97, 1.03]), "no difference (within 4 %)");
        assert_eq!(say(1.0, [0.999, 1.001]), "no difference (within 1 %)");
        assert_eq!(say(1.1, [0.8, 1.5]), "too noisy here to tell");
    }

    #[test]
    fn an_interval_too_wide_for_a_factor_still_tells_the_direction() {
        let say = |ratio, interval| {
            let finding = Finding::of(ratio, interval);
            (finding.is_faster(), finding.is_slower(), finding.in_words())
        };
        let slower = "slower, but too noisy here for a factor";
        assert_eq!(
            say(0.15, [1.0 / 6.65, 1.0 / 1.44]),
            (false, true, slower.to_owned())
        );
        let faster = "faster, but too noisy here for a factor";
        assert_eq!(say(3.0, [1.5, 3.2]), (true, false, faster.to_owned()));
        assert_eq!(say(2.5, [1.6, 3.1]).2, "1.60 to 3.10× faster");
    }

    #[test]
    fn a_small_difference_is_none_even_if_it_is_certain() {
        assert_eq!(
            Finding::of(1.015, [1.012, 1.018]).in_words(),
            "no difference (within 2 %)"
        );
    }
}
