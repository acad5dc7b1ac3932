//! What a session does with time beside stepping: when it stops by itself, and how far back it
//! remembers.

use crate::Pace;
use std::time::Instant;

/// When rounds stop because nothing new will come.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
    strum::Display,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum StopWhenStill {
    /// Never.
    #[default]
    Never,
    /// When the selected panel is dead, still or periodic.
    Selected,
    /// When every panel is.
    All,
}

impl StopWhenStill {
    /// The next of them, as a key goes through them.
    pub fn next(self) -> StopWhenStill {
        match self {
            StopWhenStill::Never => StopWhenStill::Selected,
            StopWhenStill::Selected => StopWhenStill::All,
            StopWhenStill::All => StopWhenStill::Never,
        }
    }
}

/// When the session stops by itself, whether it reseeds panels, and how much history it keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSettings {
    /// When rounds stop because nothing new will come.
    pub stop_when_still: StopWhenStill,
    /// Whether dead panels are filled with a new soup.
    pub reseed: bool,
    /// Bytes of the host's memory for going back; too few for two copies of all lattices, and
    /// there is no going back.
    pub history_bytes: u64,
}

impl TimeSettings {
    /// The most memory for going back, in bytes.
    pub const MAX_HISTORY_BYTES: u64 = 1 << 44;

    /// As usual: nothing stops, and 256 MiB of the past.
    pub const DEFAULT: TimeSettings = TimeSettings {
        stop_when_still: StopWhenStill::Never,
        reseed: false,
        history_bytes: 256 << 20,
    };
}

// How many generations a round has, and when the next one is due.

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
