//! Which rounds are timed by events. Timing doubles the host's driver calls, so only some are.

use std::time::{Duration, Instant};

/// Rounds from one timed round to the next, at least.
const MIN_ROUNDS: u32 = 32;

/// Time from one timed round to the next, at least: the screen shows no more than that.
const MIN_INTERVAL: Duration = Duration::from_millis(25);

/// Chooses the rounds to time: one in 32, and fewer if rounds are short.
#[derive(Debug)]
pub struct Sampling {
    /// Rounds since the last timed round.
    since: u32,
    last: Option<Instant>,
    one_in: u32,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            since: 0,
            last: None,
            one_in: MIN_ROUNDS,
        }
    }
}

impl Sampling {
    /// Whether to time the round issued now. `soon` times one as early as possible, because a
    /// measurement waits for it; `in_turns` says that A and B alternate, and lengthens the distance
    /// by one so that both are timed.
    pub fn wants(&self, now: Instant, soon: bool, in_turns: bool) -> bool {
        let min = if soon { 2 } else { MIN_ROUNDS } + u32::from(in_turns);
        match self.last {
            // The very first round loads modules.
            None => self.since > 0,
            Some(last) => self.since + 1 >= min && now - last >= MIN_INTERVAL,
        }
    }

    /// Counts an issued round.
    pub fn issued(&mut self, now: Instant, timed: bool) {
        self.since += 1;
        if timed {
            if self.last.is_some() {
                self.one_in = self.since;
            }
            self.last = Some(now);
            self.since = 0;
        }
    }

    /// The distance in rounds between the last two timed rounds.
    pub fn one_in(&self) -> u32 {
        self.one_in
    }
}

#[cfg(test)]
mod tests {
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
