//! Rounds of several subjects, from the first one to what was found.

use crate::estimate::{compare_blocks, log_ratios};
use crate::{ERROR, Estimate, Finding, Load, median};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

/// How long rounds are compared while somebody waits, at most, unless they are too few for any interval.
const LIVE: Duration = Duration::from_secs(3);

/// How often the estimate is looked at meanwhile: after an eighth, a quarter, half and all of [`LIVE`].
const LOOKS: u32 = 4;

/// The error probability of each look; the last one has what is left of [`ERROR`]. By Bonferroni's
/// inequality the interval misses the ratio in at most [`ERROR`] of all comparisons.
const ERROR_PER_LOOK: f64 = ERROR / LOOKS as f64;

/// A difference is measured until its interval is within this part of the ratio on either side.
const PRECISION: f64 = 0.02;

/// The fewest blocks for an interval.
const MIN_BLOCKS: usize = 7;

/// Blocks in a window, at most.
const MAX_BLOCKS: usize = 1000;

/// How long rounds are compared.
#[derive(Clone, Copy, Debug)]
pub enum Plan {
    /// While somebody waits: the first of two subjects against the second, until more rounds would not
    /// make the finding more useful, but three seconds at most. Intervals are widened by this factor, by
    /// which equal settings were found to differ; 1 if they were not.
    Live(f64),
    /// In windows some time apart.
    Windows(Limits),
}

/// When and how long subjects are measured in windows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of windows.
    pub windows: usize,
    /// How long each window lasts, at least.
    pub window: Duration,
    /// How many blocks all windows have, at least.
    pub blocks: usize,
    /// The time between the end of a window and the beginning of the next.
    pub apart: Duration,
    /// A subject of which a round takes longer than this is slow.
    pub slow_round: Duration,
    /// How long slow subjects are measured, at most, even if there are too few blocks.
    pub longest: Duration,
}

impl Limits {
    /// One window, for a point of a curve.
    pub const ONE_WINDOW: Limits = Limits {
        windows: 1,
        window: Duration::from_secs(1),
        blocks: MIN_BLOCKS,
        apart: Duration::ZERO,
        slow_round: Duration::from_secs(1),
        longest: Duration::from_secs(20),
    };

    /// Three windows, this far apart: what a class waits for.
    pub const fn three_windows(apart: Duration) -> Limits {
        Limits {
            windows: 3,
            apart,
            ..Limits::ONE_WINDOW
        }
    }
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Turn {
    /// A round of this subject, which is in flight now.
    Round(usize),
    /// No round for this long; then the next window begins.
    Wait(Duration),
    /// Nothing more.
    Done,
}

/// What a round took.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The time that is compared, in any unit.
    pub time: f64,
    /// How long it lasted.
    pub lasted: Duration,
    /// The time that the program computed meanwhile, added over its threads.
    pub cpu: Duration,
    /// Whether the system took a core from the program meanwhile.
    pub is_preempted: bool,
}

/// Decides whose round is next, records how long each round took, and derives the findings. It has no clock:
/// callers pass the present time.
///
/// Rounds that differ from the others in anything else than the subject do not count: whoever issues such
/// a round calls [`Executor::interrupt`].
#[derive(Clone, Debug)]
pub struct Executor {
    plan: Plan,
    subjects: usize,
    seed: u64,
    /// Generations of the rounds that are compared.
    generations: u32,
    /// The times of the rounds that count.
    pub blocks: Blocks,
    /// The subject of the round in flight, if it is compared.
    in_flight: Option<usize>,
    /// When the last round that is compared ended, unless something else came between.
    last: Option<Instant>,
    /// How long rounds have been compared; what came between does not count.
    elapsed: Duration,
    longest_round: Duration,
    /// What else the machine did meanwhile.
    pub load: Load,
    /// Looks that had enough blocks for an interval.
    looks: u32,
    /// The number of blocks at the end of each window, and how long rounds had been compared.
    windows: Vec<(usize, Duration)>,
    /// Whether the next window is still to be waited for.
    is_waiting: bool,
    /// Whether nothing more is to be measured.
    pub is_done: bool,
    /// The time of each subject's round, in the unit of the times taken, renewed now and then: once all is
    /// done, the times of two subjects have the ratio that was found. `None` before some blocks are complete.
    pub times: Option<Vec<f64>>,
    estimate: Option<Estimate>,
    /// What a live comparison found, once it has.
    pub finding: Option<Finding>,
}

impl Executor {
    /// For this many subjects, with no times yet. `seed` decides the orders of the blocks.
    ///
    /// # Panics
    /// Without subjects.
    pub fn new(subjects: usize, seed: u64, plan: Plan) -> Executor {
        Executor {
            plan,
            subjects,
            seed,
            generations: 0,
            blocks: Blocks::new(subjects, seed),
            in_flight: None,
            last: None,
            elapsed: Duration::ZERO,
            longest_round: Duration::ZERO,
            load: Load::default(),
            looks: 0,
            windows: Vec::new(),
            is_waiting: false,
            is_done: false,
            times: None,
            estimate: None,
            finding: None,
        }
    }

    /// For subjects each of which has had a round already: the first block counts.
    #[must_use]
    pub fn warmed_up(mut self) -> Executor {
        self.blocks.counts = true;
        self
    }

    /// Begins anew if rounds have another number of generations now.
    pub fn compare_rounds_of(&mut self, generations: u32) {
        if self.generations != generations {
            *self = Executor::new(self.subjects, self.seed, self.plan);
            self.generations = generations;
        }
    }

    /// Leaves out a round: the block that it would belong to does not count.
    pub fn interrupt(&mut self) {
        self.blocks.restart_block();
        (self.in_flight, self.last) = (None, None);
    }

    /// The subject of the next round.
    pub fn next_subject(&self) -> usize {
        self.blocks.next_subject()
    }

    /// Whether the next round counts. The first block of a window warms up, and of live comparisons the
    /// one after 4, 8, 16 … blocks does not count either: its rounds can be timed by events, to be drawn.
    pub fn is_counting(&self) -> bool {
        !self.is_done && self.blocks.counts
    }

    /// Notes that a round of [`Executor::next_subject`] is in flight.
    pub fn issued(&mut self) {
        self.in_flight = Some(self.next_subject());
    }

    /// Decides what the caller does next, which it must do: a round is in flight from now on.
    pub fn next_turn(&mut self) -> Turn {
        match self.plan {
            _ if self.is_done => Turn::Done,
            Plan::Windows(limits) if std::mem::take(&mut self.is_waiting) => {
                Turn::Wait(limits.apart)
            }
            _ => {
                self.issued();
                Turn::Round(self.next_subject())
            }
        }
    }

    /// Takes what the round in flight took, which has ended `now`, and returns its subject; `None` if it is
    /// not compared. Once all is done, rounds change nothing.
    pub fn record(&mut self, round: Round, now: Instant) -> Option<usize> {
        let subject = self.in_flight.take()?;
        self.elapsed += self.last.map_or(round.lasted, |last| now - last);
        self.last = Some(now);
        if self.is_done {
            return Some(subject);
        }
        self.longest_round = self.longest_round.max(round.lasted);
        let [wall, cpu] = [round.lasted, round.cpu].map(|time| time.as_secs_f64());
        self.load.add(wall, cpu, round.is_preempted);
        if self.blocks.record(round.time) {
            match self.plan {
                Plan::Live(spread) => self.look(spread),
                Plan::Windows(limits) => self.end_window(&limits),
            }
        }
        Some(subject)
    }

    /// Looks at the estimate if that is due.
    fn look(&mut self, spread: f64) {
        let is_last = self.elapsed >= LIVE;
        let due = LIVE / (1 << LOOKS.saturating_sub(1 + self.looks));
        let error = if is_last {
            ERROR - f64::from(self.looks) * ERROR_PER_LOOK
        } else {
            ERROR_PER_LOOK
        };
        // Too few blocks for an interval are no look.
        let look = || Estimate::of(&self.blocks.log_ratios(0, 1), error);
        let is_due = is_last || self.elapsed >= due;
        if let Some(estimate) = is_due.then(look).flatten() {
            self.looks += 1;
            let widened = estimate.widened(spread);
            let finding = Finding::of(widened.ratio, widened.interval);
            self.is_done = is_last || is_precise(&finding);
            self.estimate = Some(estimate);
            self.finding = self.is_done.then_some(finding);
        }
        let is_drawn = self.blocks.count() >= 4 && self.blocks.count().is_power_of_two();
        self.blocks.counts = !is_drawn;
        if is_drawn || self.is_done {
            self.times = self.blocks.typical_times();
        }
    }

    /// Ends the window if it has enough blocks, and all of them if that was the last.
    fn end_window(&mut self, limits: &Limits) {
        let (begin, began) = self.windows.last().copied().unwrap_or_default();
        let blocks = self.blocks.count() - begin;
        let is_enough = self.elapsed - began >= limits.window
            && blocks >= limits.blocks.div_ceil(limits.windows);
        let is_slow = self.elapsed >= limits.longest && self.longest_round >= limits.slow_round;
        if !is_enough && !is_slow && blocks < MAX_BLOCKS {
            return;
        }
        self.windows.push((self.blocks.count(), self.elapsed));
        self.is_done = is_slow || self.windows.len() >= limits.windows;
        self.is_waiting = !self.is_done;
        self.last = None;
        self.blocks.counts = false;
        self.times = self.blocks.typical_times();
    }

    /// The interval of a subject's time; `None` if there are too few blocks.
    pub fn interval(&self, subject: usize) -> Option<[f64; 2]> {
        let time = self.times.as_ref()?[subject];
        let times = self.blocks.times(subject).iter();
        let logarithms: Vec<f64> = times.map(|time| time.ln()).collect();
        let [low, high] = Estimate::of(&logarithms, ERROR)?.interval;
        Some([low.min(time), high.max(time)])
    }

    /// What all windows so far say of two subjects, the one that is expected to be slower first; `None` if
    /// there are too few blocks.
    pub fn across_windows(&self, slow: usize, fast: usize) -> Option<(Estimate, Finding)> {
        let ends: Vec<usize> = self.window_ends().collect();
        compare_blocks(self.blocks.times(slow), self.blocks.times(fast), &ends)
    }

    /// The number of blocks at the end of each window.
    pub fn window_ends(&self) -> impl Iterator<Item = usize> {
        self.windows.iter().map(|&(end, _)| end)
    }

    /// Number of windows so far.
    pub fn windows(&self) -> usize {
        self.windows.len()
    }

    /// By what factor two equal settings differ, once there is a finding: what [`Plan::Live`] takes
    /// afterwards.
    pub fn excess(&self) -> Option<f64> {
        let estimate = self.estimate.filter(|_| self.is_done);
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
    counts: bool,
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
        log_ratios(&self.times[slow], &self.times[fast])
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
        let level = median(means.iter().copied())?;
        let typical = self.times.iter().map(|times| {
            let relative = times
                .iter()
                .zip(&means)
                .map(|(time, mean)| time.ln() - mean);
            (level + median(relative).unwrap_or(0.0)).exp()
        });
        Some(typical.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which nothing happens but rounds.
    struct Script {
        executor: Executor,
        now: Instant,
        rounds: u64,
    }

    impl Script {
        fn new(subjects: usize, plan: Plan) -> Script {
            Script {
                executor: Executor::new(subjects, 1, plan),
                now: Instant::now(),
                rounds: 0,
            }
        }

        /// The next turn, in which a round takes its subject's time in milliseconds with up to so much
        /// noise, as a fraction.
        fn turn(&mut self, ms: &[f64], noise: f64) -> Turn {
            let turn = self.executor.next_turn();
            match turn {
                Turn::Round(subject) => {
                    self.rounds += 1;
                    let part = (self.rounds * self.rounds % 101) as f64 / 101.0;
                    self.take(ms[subject] * (1.0 + noise * part));
                }
                Turn::Wait(time) => self.now += time,
                Turn::Done => {}
            }
            turn
        }

        fn take(&mut self, ms: f64) -> Option<usize> {
            let lasted = Duration::from_secs_f64(ms / 1e3);
            self.now += lasted;
            let round = Round {
                time: ms,
                lasted,
                cpu: 2 * lasted,
                is_preempted: false,
            };
            self.executor.record(round, self.now)
        }

        fn finish(mut self, ms: &[f64], noise: f64) -> Script {
            while self.turn(ms, noise) != Turn::Done {}
            self
        }
    }

    /// What all windows found of the first two subjects, rounded.
    fn across(executor: &Executor) -> String {
        let found = executor.across_windows(0, 1);
        format!("{:.2?}", found.map(|(_, finding)| finding))
    }

    #[test]
    fn what_is_certain_is_found_at_the_first_look_and_the_rest_takes_the_time_there_is() {
        for (ms, noise, spread, said, blocks, elapsed) in [
            (
                [8.0, 1.0],
                0.0,
                1.0,
                "Difference { ratio: 8.00, interval: [8.00, 8.00] }",
                37,
                37,
            ),
            (
                [1.01, 1.0],
                0.0,
                1.0,
                "NoDifference { within: 0.01 }",
                180,
                37,
            ),
            (
                [1.1, 1.0],
                4.0,
                1.0,
                "NotResolved { at_most: Some(0.31) }",
                472,
                300,
            ),
            // What equal settings differ by widens the finding.
            (
                [1.0, 1.0],
                0.0,
                1.05,
                "NotResolved { at_most: Some(0.05) }",
                1490,
                300,
            ),
            // Seven blocks that agree are the fewest for an interval; one warms up, one is drawn.
            (
                [3000.0, 1000.0],
                0.0,
                1.0,
                "Difference { ratio: 3.00, interval: [3.00, 3.00] }",
                7,
                3600,
            ),
        ] {
            let script = Script::new(2, Plan::Live(spread)).finish(&ms, noise);
            let executor = script.executor;
            let found = format!("{:.2?}", executor.finding.unwrap());
            let hundredths = executor.elapsed.as_millis() / 10;
            assert_eq!(
                (&*found, executor.blocks.count(), hundredths),
                (said, blocks, elapsed)
            );
            let load = executor.load;
            assert_eq!(
                (load.rounds, load.cores().unwrap().round()),
                (script.rounds, 2.0)
            );
            let times = executor.times.as_ref().unwrap();
            let found = executor.estimate.unwrap().ratio;
            assert!((times[0] / times[1] / found - 1.0).abs() < 1e-9);
            if noise == 0.0 {
                let mut times = times.iter().zip(ms);
                assert!(times.all(|(time, ms)| (time - ms).abs() < 1e-9));
                assert_eq!(
                    format!("{:.2?}", executor.excess()),
                    format!("Some({:.2})", ms[0] / ms[1])
                );
            }
        }
    }

    #[test]
    fn an_interruption_costs_the_block_and_a_pause_no_time() {
        let mut script = Script::new(2, Plan::Live(1.0));
        while script.executor.blocks.count() < 2 {
            script.turn(&[2.0, 1.0], 0.0);
        }
        script.turn(&[50.0, 50.0], 0.0);
        script.executor.issued();
        script.executor.interrupt();
        assert_eq!(script.take(50.0), None, "it is not compared");
        let before = script.executor.elapsed;
        script.now += Duration::from_secs(60);
        script.turn(&[2.0, 1.0], 0.0);
        assert!(script.executor.elapsed - before <= Duration::from_millis(2));
        let found = script.finish(&[2.0, 1.0], 0.0).executor.finding;
        let said = "Some(Difference { ratio: 2.00, interval: [2.00, 2.00] })";
        assert_eq!(format!("{found:.2?}"), said);
    }

    #[test]
    fn rounds_of_another_length_begin_anew() {
        let mut script = Script::new(2, Plan::Live(1.0)).finish(&[2.0, 1.0], 0.0);
        script.executor.compare_rounds_of(0);
        assert!(script.executor.is_done, "they are as long as before");
        script.executor.compare_rounds_of(5);
        assert!(!script.executor.is_done && !script.executor.is_counting());
        assert_eq!(script.executor.load, Load::default());
        let found = script.finish(&[1.0, 3.0], 0.0).executor.finding;
        assert!(matches!(found, Some(Finding::Difference { ratio, .. }) if ratio < 0.5));
    }

    #[test]
    fn a_load_that_comes_with_a_window_is_said_to_change_the_ratio() {
        let apart = Duration::from_secs(10);
        let new = || Script::new(2, Plan::Windows(Limits::three_windows(apart)));
        let mut script = new();
        while script.executor.windows() < 2 {
            script.turn(&[2.0, 1.0], 0.05);
        }
        let script = script.finish(&[6.0, 1.0], 0.05);
        let said = "Some(ChangesWithLoad { interval: [1.99, 6.04] })";
        assert_eq!(across(&script.executor), said);
        let equal = new().finish(&[2.0, 2.0], 0.05).executor;
        assert_eq!(across(&equal), "Some(NoDifference { within: 0.00 })");
    }

    #[test]
    fn slow_subjects_are_given_up_and_others_are_measured_until_it_is_enough() {
        for (ms, is_warm, blocks, seconds, said) in [
            ([20_000.0, 10_000.0], true, 1, 30, "None"),
            ([20_000.0, 10_000.0], false, 1, 60, "None"),
            (
                [900.0, 300.0],
                false,
                MIN_BLOCKS,
                9,
                "Some(Difference { ratio: 3.00, interval: [3.00, 3.00] })",
            ),
            (
                [0.02, 0.01],
                false,
                MAX_BLOCKS,
                0,
                "Some(Difference { ratio: 2.00, interval: [2.00, 2.00] })",
            ),
        ] {
            let mut script = Script::new(2, Plan::Windows(Limits::ONE_WINDOW));
            script.executor.blocks.counts = is_warm;
            let executor = script.finish(&ms, 0.0).executor;
            let found = (
                executor.blocks.count(),
                executor.elapsed.as_secs(),
                across(&executor),
            );
            assert_eq!(found, (blocks, seconds, said.to_owned()));
            assert_eq!(executor.times.as_ref().unwrap().len(), 2);
            assert_eq!(executor.interval(0).is_some(), said != "None");
        }
    }
}
