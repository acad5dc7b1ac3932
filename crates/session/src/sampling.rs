//! Which rounds are timed by events: they cost the host twice its calls, so not every one is.

use std::time::{Duration, Instant};

/// At least so many rounds lie from one that is timed to the next.
const MIN_ROUNDS: u32 = 32;

/// At least this long from one that is timed to the next: nobody sees more of them.
const MIN_INTERVAL: Duration = Duration::from_millis(25);

/// Chooses the rounds that are timed: one in 32, and fewer where they follow one another fast.
#[derive(Debug)]
pub struct Sampling {
    /// Rounds since the last one that was timed.
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
    /// Whether the round that is issued now should be timed. `soon` asks for one as soon as
    /// possible, as when something waits to be measured; `in_turns` says that A and B take turns,
    /// so that each of them is timed.
    pub fn wants(&self, now: Instant, soon: bool, in_turns: bool) -> bool {
        let min = if soon { 2 } else { MIN_ROUNDS } + u32::from(in_turns);
        match self.last {
            // The very first round loads modules.
            None => self.since > 0,
            Some(last) => self.since + 1 >= min && now - last >= MIN_INTERVAL,
        }
    }

    /// Counts a round that was issued.
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

    /// One round in so many has been timed lately.
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
