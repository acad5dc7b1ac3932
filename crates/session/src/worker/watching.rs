//! Stops or refills settled panels.

use std::time::Instant;

use super::SessionWorker;
use crate::command::{Command, Notice};
use crate::instances::RoundMeasures;
use crate::state::Mode;
use crate::watch::{Measuring, SPARSE_ROUNDS};
use crate::{Settled, Start, StopWhenStill};
use lang::message;

impl SessionWorker {
    /// Sets whether populations are shown.
    pub(super) fn watch_populations(&mut self, shown: bool) {
        self.watch.shown = shown;
        self.update_measuring(false);
    }

    /// Switches to the next choice of when rounds stop automatically.
    pub(super) fn next_stop_when_still(&mut self) -> Notice {
        let next = self.lattices.setup.time.stop_when_still.next();
        self.lattices.setup.time.stop_when_still = next;
        self.watch.stopped = false;
        self.update_measuring(false);
        Notice::Done(match next {
            StopWhenStill::Never => message!("Rounds do not stop automatically"),
            StopWhenStill::Selected => {
                message!("Rounds stop when the selected panel is still or periodic")
            }
            StopWhenStill::All => message!("Rounds stop when all panels are still or periodic"),
        })
    }

    /// Turns the refilling of dead panels on or off.
    pub(super) fn toggle_reseed(&mut self) -> Notice {
        self.lattices.setup.time.reseed ^= true;
        self.update_measuring(false);
        Notice::Done(if self.lattices.setup.time.reseed {
            message!("Dead panels are reseeded")
        } else {
            message!("Dead panels are left as they are")
        })
    }

    /// Sets which rounds measure, as needed; `anew` if the engine was replaced.
    pub(super) fn update_measuring(&mut self, anew: bool) {
        let settings = self.lattices.setup.time;
        let stops = settings.stop_when_still != StopWhenStill::Never;
        let measuring = match (self.watch.shown || stops, settings.reseed) {
            (true, _) => Measuring::Always,
            (false, true) => Measuring::Sparse,
            (false, false) => Measuring::Never,
        };
        let all = self.lattices.setup.instances;
        self.watch.measure(measuring, all, anew);
        self.publisher.is_changed = true;
    }

    /// Whether the next round measures its lattices. Those of a comparison do not, and one that is not like
    /// the others would spoil what a change did.
    pub(super) fn measures_next(&self) -> bool {
        match self.watch.measuring {
            Measuring::Never => false,
            Measuring::Always => !self.lattices.is_comparing(),
            Measuring::Sparse => {
                self.lattices.trial.is_none()
                    && self.watch.rounds_since_measure + 1 >= SPARSE_ROUNDS
            }
        }
    }

    /// Evaluates measures of completed rounds.
    pub(super) fn take_measures(&mut self, found: Vec<RoundMeasures>, now: Instant) {
        if found.is_empty() {
            return;
        }
        if self.watch.take(found, self.lattices.setup.rule, now) {
            self.publisher.is_changed = true;
        }
        self.stop_when_still();
    }

    fn stop_when_still(&mut self) {
        let about = match self.lattices.setup.time.stop_when_still {
            StopWhenStill::Never => return,
            StopWhenStill::Selected => self.watch.selected..self.watch.selected + 1,
            StopWhenStill::All => 0..self.lattices.setup.instances,
        };
        let is_one = about.len() == 1;
        if let Some(first) = self.watch.stops(about, &self.state.mode) {
            self.pause();
            self.notify(Notice::Done(match first.filter(|_| is_one) {
                None => message!("Stopped: every panel is still or periodic"),
                Some(Settled::Dead) => message!("Stopped: this panel is dead"),
                Some(Settled::Still) => message!("Stopped: this panel is still"),
                Some(Settled::Period(every) | Settled::Repeats(every)) => {
                    message!("Stopped: this panel repeats every {} generations", every)
                }
            }));
        }
    }

    /// Requests a soup for one panel that has been dead or periodic for a while.
    pub(super) fn reseed_one(&mut self, now: Instant) {
        let settings = self.lattices.setup.time;
        // Not during a run to a generation: it is about the present lattices.
        let is_running = self.state.mode == Mode::Running;
        let may = settings.reseed && is_running && !self.lattices.is_comparing();
        // A session that stops when all panels are still would never stop.
        let may = may && settings.stop_when_still != StopWhenStill::All;
        // Records ahead say what happens.
        let may = may && self.state.queue.is_empty() && !self.state.has_records_ahead();
        // Opened patterns are never refilled, and an empty start is meant.
        let Start::Soup { density, seed, .. } = self.lattices.setup.start else {
            return;
        };
        if !may || density == 0.0 || self.health.ended.is_some() {
            return;
        }
        if let Some(instance) = self.watch.take_settled(now) {
            // A different seed after each record.
            let seed = seed.wrapping_add(1 + self.state.log().end());
            self.state.enqueue(Command::Reseed {
                instance,
                density,
                seed,
            });
        }
    }
}
