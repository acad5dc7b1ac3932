//! Rates and median times of a session's rounds, and which rounds are timed.

use crate::median;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time over which rates are averaged.
const WINDOW: Duration = Duration::from_millis(500);

/// Maximum number of launches or rounds that a median is taken over.
const MAX_LATEST: usize = 31;

/// Timed rounds of a kernel before its rate is shown: the first may load its module or be preempted.
const MIN_RATES: usize = 3;

/// Counts rounds and generations as they complete.
#[derive(Default)]
pub(crate) struct Statistics {
    /// Times at which rounds completed, with the totals of rounds and generations at each.
    samples: VecDeque<(Instant, u64, u64)>,
    /// Rounds completed since the session began.
    pub rounds: u64,
    generations: u64,
    launches: VecDeque<f64>,
    round_us: VecDeque<f64>,
    /// The kernel in use, and its cells per second of launch time in the latest timed rounds.
    stepping: (&'static str, VecDeque<f64>),
    /// Each kernel used so far, with the median cells per second of launch time of its latest timed rounds.
    pub reached: Vec<(&'static str, f64)>,
}

impl Statistics {
    /// Counts a completed round. `took` runs from its first driver call, or from the end of the
    /// round before it if that was later, to its last event; `None` if it had another setting than
    /// the session's.
    pub(super) fn round(&mut self, now: Instant, generations: u32, took: Option<Duration>) {
        if let Some(took) = took {
            push(&mut self.round_us, took.as_secs_f64() * 1e6);
        }
        self.rounds += 1;
        self.generations += u64::from(generations);
        // At most 200 samples per second.
        let dense = self
            .samples
            .back()
            .is_some_and(|(at, ..)| now - *at < WINDOW / 100);
        if dense && self.samples.len() > 1 {
            let last = self.samples.back_mut().expect("it was looked at");
            (last.1, last.2) = (self.rounds, self.generations);
            return;
        }
        self.samples.push_back((now, self.rounds, self.generations));
        while self.samples.len() > 2 && now - self.samples[1].0 > WINDOW {
            self.samples.pop_front();
        }
    }

    /// Counts a timed launch, in microseconds.
    pub(super) fn launch(&mut self, us: f64) {
        push(&mut self.launches, us);
    }

    /// Counts a timed round in which a kernel stepped that many cells per second of launch time.
    pub(super) fn stepping(&mut self, kernel: &'static str, cells_per_second: f64) {
        if self.stepping.0 != kernel {
            self.stepping = (kernel, VecDeque::new());
        }
        push(&mut self.stepping.1, cells_per_second);
        let Some(now) = self.stepping_rate() else {
            return;
        };
        match self.reached.iter_mut().find(|(name, _)| *name == kernel) {
            Some((_, rate)) => *rate = now,
            None => self.reached.push((kernel, now)),
        }
    }

    /// Forgets the rates and medians, not the totals: after a pause or a change of settings.
    pub(super) fn restart(&mut self) {
        self.samples.clear();
        self.launches.clear();
        self.round_us.clear();
        self.stepping.1.clear();
    }

    /// Rounds and generations per second over the last half second; 0 until two rounds have
    /// completed. Both fall towards 0 while no round completes.
    pub(super) fn rates(&self, now: Instant) -> (f64, f64) {
        match (self.samples.front(), self.samples.back()) {
            (Some(first), Some(last)) if last.0 > first.0 => {
                let quiet = now.saturating_duration_since(last.0);
                let span = if quiet > 4 * WINDOW {
                    now - first.0
                } else {
                    last.0 - first.0
                };
                let per_second = |count: u64| count as f64 / span.as_secs_f64();
                (per_second(last.1 - first.1), per_second(last.2 - first.2))
            }
            _ => (0.0, 0.0),
        }
    }

    /// The median of the latest timed launches, in microseconds.
    pub(super) fn launch_us(&self) -> Option<f64> {
        median(self.launches.iter().copied())
    }

    /// Cells per second of launch time, the median of the latest timed rounds; `None` while there are
    /// too few of them.
    pub(super) fn stepping_rate(&self) -> Option<f64> {
        let rates = self.stepping.1.iter().copied();
        median(rates).filter(|_| self.stepping.1.len() >= MIN_RATES)
    }

    /// The median time of the latest rounds, in microseconds.
    pub(super) fn round_us(&self) -> Option<f64> {
        median(self.round_us.iter().copied())
    }
}

/// Adds a value and drops the oldest beyond [`MAX_LATEST`].
pub(super) fn push(latest: &mut VecDeque<f64>, us: f64) {
    latest.push_back(us);
    if latest.len() > MAX_LATEST {
        latest.pop_front();
    }
}

// Which rounds are timed by events. Timing doubles the host's driver calls, so only some are.

/// Rounds from one timed round to the next, at least.
const MIN_ROUNDS: u32 = 32;

/// Time from one timed round to the next, at least: the screen shows no more than that.
const MIN_INTERVAL: Duration = Duration::from_millis(25);

/// Chooses the rounds to time: one in 32, and fewer if rounds are short.
#[derive(Default, Debug)]
pub(crate) struct Sampling {
    /// Rounds since the last timed round.
    since: u32,
    last: Option<Instant>,
    one_in: Option<u32>,
}

impl Sampling {
    /// Whether to time the round issued now. `soon` times one as early as possible, because a
    /// measurement waits for it; `in_turns` says that A and B alternate, and lengthens the distance
    /// by one so that both are timed.
    pub(super) fn wants(&self, now: Instant, soon: bool, in_turns: bool) -> bool {
        let min = if soon { 2 } else { MIN_ROUNDS } + u32::from(in_turns);
        match self.last {
            // The very first round loads modules.
            None => self.since > 0,
            Some(last) => self.since + 1 >= min && now - last >= MIN_INTERVAL,
        }
    }

    /// Counts an issued round.
    pub(super) fn issued(&mut self, now: Instant, timed: bool) {
        self.since += 1;
        if timed {
            if self.last.is_some() {
                self.one_in = Some(self.since);
            }
            self.last = Some(now);
            self.since = 0;
        }
    }

    /// The distance in rounds between the last two timed rounds.
    pub(super) fn one_in(&self) -> u32 {
        self.one_in.unwrap_or(MIN_ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_rounds_give_their_rate() {
        let mut statistics = Statistics::default();
        let start = Instant::now();
        for i in 0..2000u32 {
            let now = start + Duration::from_millis(u64::from(i));
            statistics.round(now, 5, Some(Duration::from_micros(170)));
        }
        let (rounds, generations) = statistics.rates(start + Duration::from_secs(2));
        assert!((rounds - 1000.0).abs() < 15.0, "{rounds}");
        assert!((generations / rounds - 5.0).abs() < 1e-9);
        assert_eq!(statistics.rounds, 2000);
        assert_eq!(statistics.round_us(), Some(170.0));
    }

    #[test]
    fn what_a_kernel_reached_stays_when_another_takes_over() {
        let mut statistics = Statistics::default();
        // The first one is far from the others.
        for rate in [0.1, 4.0, 5.0] {
            assert_eq!(statistics.reached, []);
            statistics.stepping("bits", rate);
        }
        assert_eq!(statistics.stepping_rate(), Some(4.0));
        for rate in [0.4, 9.0] {
            statistics.stepping("planar", rate);
            assert_eq!(statistics.stepping_rate(), None);
        }
        assert_eq!(statistics.reached, [("bits", 4.0)]);
        statistics.stepping("planar", 9.5);
        assert_eq!(statistics.stepping_rate(), Some(9.0));
        statistics.restart();
        assert_eq!(statistics.stepping_rate(), None);
        assert_eq!(statistics.reached, [("bits", 4.0), ("planar", 9.0)]);
    }

    #[test]
    fn the_median_ignores_an_outlier() {
        let mut statistics = Statistics::default();
        [4.0, 5.0, 400.0]
            .into_iter()
            .for_each(|us| statistics.launch(us));
        assert_eq!(statistics.launch_us(), Some(5.0));
        statistics.restart();
        assert_eq!(statistics.launch_us(), None);
    }
}

#[cfg(test)]
mod sampling_tests {
    use super::*;

    /// The share of rounds that are timed, where they follow one another so fast.
    fn one_in(period: Duration, soon: bool) -> u32 {
        let (mut sampling, start) = (Sampling::default(), Instant::now());
        for i in 0..20_000 {
            let now = start + period * i;
            let timed = sampling.wants(now, soon, false);
            sampling.issued(now, timed);
        }
        sampling.one_in()
    }

    #[test]
    fn one_round_in_32_is_timed_and_fewer_of_fast_ones() {
        assert_eq!(one_in(Duration::from_millis(16), false), 32);
        assert_eq!(one_in(Duration::from_micros(100), false), 250);
        assert_eq!(one_in(Duration::from_millis(16), true), 2);
    }

    #[test]
    fn the_first_round_is_not_but_the_second() {
        let (mut sampling, now) = (Sampling::default(), Instant::now());
        assert!(!sampling.wants(now, true, false));
        sampling.issued(now, false);
        assert!(sampling.wants(now, false, false));
    }
}
