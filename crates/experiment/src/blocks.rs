//! Rounds of several subjects, interleaved.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

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
