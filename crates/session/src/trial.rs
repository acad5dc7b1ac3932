//! Two settings whose rounds are compared while the session runs: before and after a change, A and B, or,
//! once per session, equal ones, whose difference widens what is found of others.
//!
//! The present setting is the session's; a trial knows the other one. It decides whose round is next, and
//! an [`Executor`] what the times of their rounds say. Every round is a round of the session: the lattices
//! advance and are drawn.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::instances::Sim;
use crate::{Finding, Setting, Share, Side, Source};
use experiment::{Executor, Plan, Round};
use lang::Message;
use platform::{Usage, usage};

/// What is compared.
pub(crate) enum Subject {
    /// All lattices before (A) and after (B) a change.
    Change(Message),
    /// A's lattices, so many, with the present setting, and as many of B's with the other; an odd one is
    /// not stepped.
    Halves(usize),
    /// All lattices with one setting.
    EqualSettings,
}

/// A comparison of rounds, under way or finished.
pub(crate) struct Trial {
    pub(crate) subject: Subject,
    /// The setting before the change, or B's.
    pub(crate) other: Setting,
    /// Of A's rounds and of B's.
    pub(crate) executor: Executor,
    /// Whether the round that is being issued is compared, and of A and B the pair.
    pub(crate) is_compared: bool,
    /// What the system had given when the round that is being issued was prepared.
    used: Usage,
}

impl Trial {
    /// Nothing is measured yet. `number` is that of the trial in its session; `spread` is the factor by
    /// which rounds of equal settings differ.
    pub(crate) fn new(subject: Subject, other: Setting, number: u64, spread: f64) -> Trial {
        Trial {
            subject,
            other,
            executor: Executor::new(2, number, Plan::Live(spread)),
            is_compared: false,
            used: Usage::default(),
        }
    }

    /// How many lattices A and B have each, if those are compared.
    pub(crate) fn each(&self) -> Option<usize> {
        match self.subject {
            Subject::Halves(each) => Some(each),
            Subject::Change(_) | Subject::EqualSettings => None,
        }
    }

    /// Whose a round is, by its lattices, while A and B are compared.
    pub(crate) fn half_of(&self, lattices: &Range<usize>) -> Option<Side> {
        let each = self.each()?;
        Some(if lattices.start < each {
            Side::A
        } else {
            Side::B
        })
    }

    /// Which one of A and B is behind the other, and the generations by which it is.
    pub(crate) fn behind(&self, sim: &Sim) -> Option<(Side, u32)> {
        let each = self.each()?;
        let [a, b] = [sim.generation(0), sim.generation(each)];
        let side = if a < b { Side::A } else { Side::B };
        (a != b).then(|| (side, a.abs_diff(b) as u32))
    }

    /// Decides whose round of so many generations is next. `counts` says that it is one of many alike.
    pub(crate) fn next(&mut self, sim: &Sim, generations: u32, counts: bool) -> Side {
        let behind = self.behind(sim);
        if behind.is_none() {
            self.is_compared = counts && self.is_under_way();
            if self.is_compared {
                self.executor.compare_rounds_of(generations);
            }
        }
        self.used = usage();
        let turn = Side::ALL[self.executor.next_subject()];
        match (behind, self.each()) {
            (Some((second, _)), _) => {
                self.is_compared &= second == turn;
                second
            }
            _ if self.is_compared => turn,
            (None, Some(_)) => Side::A,
            (None, None) => Side::B, // the present setting
        }
    }

    /// Notes that the round is in flight.
    pub(crate) fn issued(&mut self) {
        if self.is_compared {
            self.executor.issued();
        } else {
            self.interrupt();
        }
    }

    /// Leaves out a round: the block that it would belong to does not count.
    pub(crate) fn interrupt(&mut self) {
        self.executor.interrupt();
        self.is_compared = false;
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

    /// Whether rounds are still compared.
    pub(crate) fn is_under_way(&self) -> bool {
        !self.executor.is_done()
    }

    /// Times of a round in microseconds, before and after or A's and B's; what they say, once they do; where they
    /// come from, and what else the machine did meanwhile.
    pub(crate) fn measured(&self) -> ([Option<f64>; 2], Option<Finding>, Source) {
        let (times, source) = (self.executor.times(), self.executor.load);
        (
            [0, 1].map(|side| times.map(|times| times[side])),
            self.executor.finding,
            Source::MeasuredHere(source),
        )
    }
}

/// The shares that together cover every lattice once: A's and B's, or else the one of the present setting.
pub(crate) fn shown(shares: &[Share]) -> &[Share] {
    match shares {
        [before, now] if before.lattices == now.lattices => &shares[1..],
        _ => shares,
    }
}
