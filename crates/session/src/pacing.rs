//! How many generations a round has, and when the next one is due.

use std::time::Instant;

use crate::Pace;

/// The length of rounds and their pace.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    pub(crate) pace: Pace,
    /// Generations per round that somebody chose; those in use where the pace is not the maximum.
    pub(crate) chosen: u32,
    /// Those in use at the maximum pace, which fits them to the time of a frame.
    fitted: Option<u32>,
    /// Whether the user chose a kernel at the maximum pace; it then stays instead of the fastest one.
    pub(crate) keeps_kernel: bool,
    /// When the next round is due.
    pub(crate) due: Instant,
    /// Generations still to issue of a round that is too long to be issued at once. Such a round is
    /// issued as several, and counted once.
    pub(crate) left: Option<u32>,
}

impl Pacing {
    /// Rounds of so many generations, the first one due now.
    pub(crate) fn new(pace: Pace, generations: u32, now: Instant) -> Pacing {
        Pacing {
            pace,
            chosen: generations,
            fitted: (pace == Pace::Maximum).then_some(generations),
            keeps_kernel: false,
            due: now,
            left: None,
        }
    }

    /// Generations per round.
    pub(crate) fn generations(&self) -> u32 {
        self.fitted.unwrap_or(self.chosen)
    }

    /// Generations that are left of the round under way, or a whole round's.
    pub(crate) fn left(&self) -> u32 {
        self.left.unwrap_or(self.generations())
    }

    /// Sets the pace; the next round is due now.
    pub(crate) fn set_pace(&mut self, pace: Pace, now: Instant) {
        self.keeps_kernel &= self.pace == pace;
        self.pace = pace;
        self.fitted = (pace == Pace::Maximum).then_some(self.generations());
        self.due = now;
    }

    /// Chooses the generations per round. Returns whether rounds have them at once: at the maximum pace
    /// they have them once that ends.
    pub(crate) fn choose(&mut self, generations: u32) -> bool {
        self.chosen = generations;
        if self.fitted.is_none() {
            self.left = None;
        }
        self.fitted.is_none()
    }

    /// Fits the generations per round to the time of a frame, at the maximum pace.
    pub(crate) fn fit(&mut self, generations: u32) {
        if let Some(fitted) = &mut self.fitted {
            *fitted = generations;
        }
    }

    /// Sets when the next round is due, at the pace. Delays of more than four periods are not caught up.
    pub(crate) fn keep(&mut self, now: Instant) {
        let period = self.pace.period();
        self.due += period;
        if period.is_zero() || self.due + 4 * period < now {
            self.due = now;
        }
    }
}
