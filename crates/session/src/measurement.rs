//! A comparison of the times of rounds with two settings.

use std::time::{Duration, Instant};

use crate::{Finding, Side, Source};
use experiment::{Executor, Plan, Round};
use lang::Message;
use platform::{Usage, usage};

/// What is compared.
pub(crate) enum Subject {
    /// All instances before and after a change.
    Change(Message),
    /// A's instances and B's.
    AAndB,
    /// All instances with one setting.
    EqualSettings,
}

/// A comparison of rounds, under way or finished.
pub(crate) struct Measurement {
    pub(crate) subject: Subject,
    /// Of A's rounds and of B's.
    pub(crate) executor: Executor,
    /// Whether the round that is being issued is compared, and in a comparison of A and B the pair.
    pub(crate) is_compared: bool,
    /// What the system had given when the round that is being issued was prepared.
    pub(crate) used: Usage,
}

impl Measurement {
    /// Nothing is measured yet. `number` is that of the measurement in its session; `spread` is the factor
    /// by which rounds of equal settings differ.
    pub(crate) fn new(subject: Subject, number: u64, spread: f64) -> Measurement {
        Measurement {
            subject,
            executor: Executor::new(2, number, Plan::Live(spread)),
            is_compared: false,
            used: Usage::default(),
        }
    }

    /// Whether rounds are still compared.
    pub(crate) fn is_under_way(&self) -> bool {
        !self.executor.is_done()
    }

    /// Whether A and B are compared, not a change.
    pub(crate) fn is_of_a_and_b(&self) -> bool {
        matches!(self.subject, Subject::AAndB)
    }

    /// Leaves out a round: the block that it would belong to does not count.
    pub(crate) fn interrupt(&mut self) {
        self.executor.interrupt();
        self.is_compared = false;
    }

    /// Whether the next round counts, so that events, which would cost one side more than the other, must
    /// not time it.
    pub(crate) fn is_counting(&self) -> bool {
        self.executor.is_counting()
    }

    /// The side of the next round.
    pub(crate) fn next_side(&self) -> Side {
        Side::ALL[self.executor.next_subject()]
    }

    /// Takes the round in flight. Returns whether it was one with the setting before a change.
    pub(crate) fn round(&mut self, took: Duration, now: Instant) -> bool {
        let used = usage();
        let round = Round {
            time: took.as_secs_f64() * 1e6,
            lasted: took,
            cpu: used.cpu - self.used.cpu,
            is_preempted: used.is_preempted_since(self.used),
        };
        let subject = self.executor.record(round, now);
        subject == Some(Side::A as usize) && matches!(self.subject, Subject::Change(_))
    }

    /// Times of a round in microseconds: before and after, or A's and B's.
    pub(crate) fn round_us(&self) -> [Option<f64>; 2] {
        let times = self.executor.times();
        [0, 1].map(|side| times.map(|times| times[side]))
    }

    /// Where the times come from, and what else the machine did meanwhile.
    pub(crate) fn source(&self) -> Source {
        Source::MeasuredHere(self.executor.load())
    }

    /// The finding, once there is one.
    pub(crate) fn finding(&self) -> Option<Finding> {
        self.executor.finding()
    }
}
