//! How many generations a round has, so that it takes a given time.

use std::ops::RangeInclusive;
use std::time::Duration;

use engine::Kernel;
use engine::kernels::Iteration;

/// How many generations the next round has: so many that it takes a given time.
#[derive(Clone, Copy, Debug)]
pub struct RoundLength {
    kernel: &'static Kernel,
    /// Maximum number of launches for one instance in one round.
    max_launches: u32,
    target: Duration,
    generations: u32,
    /// Maximum number of generations, however short they are.
    max: u32,
    is_fixed: bool,
}

impl RoundLength {
    /// The factor by which rounds become longer or shorter at once, at most.
    const MAX_CHANGE: f64 = 8.0;

    /// Rounds that take such a part of their time stay as they are, so that a graph is prepared
    /// once.
    const FITTING: RangeInclusive<f64> = 0.55..=1.25;

    /// Rounds of this many generations, however long they take.
    pub fn fixed(kernel: &'static Kernel, generations: u32) -> RoundLength {
        RoundLength {
            is_fixed: true,
            ..RoundLength::adapting(kernel, u32::MAX, Duration::ZERO, generations)
        }
    }

    /// Rounds that should take `target` each, with this many generations at first and at most
    /// `max_launches` launches for one instance.
    pub fn adapting(
        kernel: &'static Kernel,
        max_launches: u32,
        target: Duration,
        generations: u32,
    ) -> RoundLength {
        RoundLength {
            kernel,
            max_launches,
            target,
            generations,
            max: u32::MAX,
            is_fixed: false,
        }
    }

    /// The same, and at most this many generations.
    pub fn at_most(self, generations: u32) -> RoundLength {
        RoundLength {
            max: generations,
            ..self
        }
    }

    /// The same, starting with rounds that are much shorter than these generations, which are
    /// estimated.
    pub fn starting_below(self, expected: f64) -> RoundLength {
        RoundLength {
            generations: self.feasible(expected / Self::MAX_CHANGE),
            ..self
        }
    }

    /// Generations of the next round.
    pub fn generations(&self) -> u32 {
        self.generations.min(self.max)
    }

    /// Takes into account how long a round of this many generations took.
    pub fn learn(&mut self, generations: u32, took: Duration) {
        if self.is_fixed || generations == 0 {
            return;
        }
        let per_generation = took.as_secs_f64().max(1e-9) / f64::from(generations);
        let wanted = self.target.as_secs_f64() / per_generation;
        let now = f64::from(self.generations);
        if Self::FITTING.contains(&(now / wanted)) {
            return;
        }
        let factor = (wanted / now).clamp(1.0 / Self::MAX_CHANGE, Self::MAX_CHANGE);
        self.generations = self.feasible(few_digits(now * factor));
    }

    /// This many generations, rounded down to what the kernel steps best: at least one launch, and no
    /// more launches than a round may have. An even number of launches leaves the cells in the
    /// buffer that they came from, so that one graph serves all rounds.
    fn feasible(&self, wanted: f64) -> u32 {
        let per_launch = self.kernel.iteration.generations_per_launch();
        if self.kernel.iteration == Iteration::InKernel {
            // (A conversion from a float saturates.)
            return (wanted as u32).clamp(1, per_launch);
        }
        let launches = ((wanted / f64::from(per_launch)) as u32).clamp(1, self.max_launches);
        let launches = if launches > 1 {
            launches & !1
        } else {
            launches
        };
        launches.saturating_mul(per_launch)
    }
}

/// The next lower power of two or one and a half times one: so rounds that vary have few different
/// lengths, and their programs and graphs are made once.
fn few_digits(value: f64) -> f64 {
    let power = value.max(1.0).log2().floor().exp2();
    if value >= 1.5 * power {
        1.5 * power
    } else {
        power
    }
}
