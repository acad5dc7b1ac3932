//! To a generation and no farther.

use std::time::{Duration, Instant};

use super::Pilot;
use engine::Result;
use lang::tr;

/// About how long a round is made: long enough to go fast, short enough to see it go.
const ROUND: Duration = Duration::from_millis(16);

/// A run that ends by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunTo {
    /// The clock at which it ends.
    clock: u64,
    /// The selected instance's generation then.
    pub(super) generation: u64,
    /// Generations of a round.
    chunk: u32,
}

impl RunTo {
    /// Fits the length of the rounds to what the last one took.
    pub(super) fn round(&mut self, took: Duration, least: u32, most: u32) {
        if took < ROUND {
            self.chunk = self.chunk.saturating_mul(2).min(most.max(least));
        } else if took > 3 * ROUND {
            self.chunk = (self.chunk / 2).max(least);
        }
    }
}

impl Pilot {
    /// Something else was asked for on the way: that run is over, and so are its rounds.
    pub(super) fn leave_run_to(&mut self) -> Option<RunTo> {
        let left = self.run_to.take();
        if left.is_some() {
            self.running = false;
            self.statistics.restart();
        }
        left
    }

    /// Runs until the selected instance is at a generation, as fast as may be, or goes back to it.
    pub(super) fn run_to(&mut self, generation: u64) -> Result<()> {
        let Some(worlds) = &self.worlds else {
            return Ok(());
        };
        if self.lab.is_split() {
            self.say(
                tr!("A and B go on together: B ends that, then it can run to a generation").into(),
            );
            return Ok(());
        }
        let ahead: u64 = self.steps.iter().map(|&step| u64::from(step)).sum();
        let now = worlds.generations()[self.selected] + ahead;
        if generation <= now {
            return match now - generation {
                0 => {
                    self.running = false;
                    Ok(())
                }
                by => self.go_back(by),
            };
        }
        self.run_to = Some(RunTo {
            clock: (worlds.clock() + ahead).saturating_add(generation - now),
            generation,
            chunk: self.setup.generations_per_round,
        });
        self.setup.rounds = None;
        self.running = true;
        self.statistics.restart();
        Ok(())
    }

    /// Issues the next round of such a run; the last one is as short as need be.
    pub(super) fn run_on(&mut self, run_to: RunTo, timed: bool) -> Result<()> {
        let Some(worlds) = &self.worlds else {
            return Ok(());
        };
        let left = run_to.clock.saturating_sub(worlds.clock());
        let next = left.min(u64::from(run_to.chunk)) as u32;
        if next > 0 && self.issue_round(next, timed)? {
            self.due = Instant::now();
        }
        let reached = self.worlds.as_ref().map_or(0, |worlds| worlds.clock());
        if reached >= run_to.clock {
            self.run_to = None;
            self.running = false;
            self.statistics.restart();
            self.tell(tr!("this is generation {}", run_to.generation));
        }
        Ok(())
    }
}
