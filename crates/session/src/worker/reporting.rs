//! Notices and the status.

use std::time::{Duration, Instant};

use super::SessionWorker;
use crate::instances::Sim;
use crate::publisher::Notice;
use crate::state::Mode;
use crate::{ClockStatus, LatticeStatus, RateStatus, Recomputing, Status, time_left};
use lang::{Message, message};

/// How long a move takes at least that is shown as such.
const MIN_SHOWN_MOVE: Duration = Duration::from_millis(200);

impl SessionWorker {
    /// Shows a notice for some seconds, and logs it.
    pub(super) fn notify(&mut self, notice: Notice) {
        let now = self.now();
        self.publisher.notify(notice, now);
    }

    pub(super) fn publish_status(&mut self, now: Instant) {
        self.publish_effect();
        self.show_recorded_rounds();
        let status = self.make_status(now);
        self.publisher.publish(status, now);
    }

    pub(super) fn make_status(&self, now: Instant) -> Status {
        let mut status = Status {
            engine: self.lattices.engine_status(),
            lattices: LatticeStatus::of(&self.lattices.setup),
            setting: self.lattices.setting_status(&self.state.pacing),
            clock: self.clock_status(now),
            rates: self.rate_status(now),
            lab: self
                .lab
                .status(self.comparison(), self.publisher.tells_effect()),
            panels: self.watch.status(),
            notice: self
                .progress(now)
                .or_else(|| self.publisher.message().cloned()),
            halted: self.health.halted.clone(),
            failed: self.health.ended.clone(),
        };
        self.put_recorded(&mut status);
        status
    }

    fn clock_status(&self, now: Instant) -> ClockStatus {
        let is_complete = |sim: &Sim| sim.is_idle() && self.lagging_side().is_none();
        ClockStatus {
            running: self.is_running(),
            generation: self.state.position().generation,
            run_to: match &self.state.mode {
                Mode::RunningTo(run_to) => Some(run_to.generation),
                _ => None,
            },
            oldest: self.oldest_generation(),
            recomputing: self.recomputing(now),
            waiting_edits: self.waiting_edits(),
            finished: self.state.has_all_rounds()
                && self.state.cells_known
                && self.state.moving().is_none()
                && self.lattices.sim.as_ref().is_some_and(is_complete),
        }
    }

    fn rate_status(&self, now: Instant) -> RateStatus {
        let (setup, statistics) = (&self.lattices.setup, &self.lab.statistics);
        // What is computed again on the way to a generation has no rates.
        let at_work = self.state.is_at_work() && self.state.moving().is_none();
        let (rounds, generations) = if at_work {
            statistics.rates(now)
        } else {
            (0.0, 0.0)
        };
        RateStatus {
            rounds: statistics.rounds,
            rounds_per_second: rounds,
            generations_per_second: generations,
            cells_per_second: generations * setup.size.cells() as f64 * setup.instances as f64,
            launch_us: statistics.launch_us(),
            round_us: statistics.round_us(),
            timed_one_in: self.lab.sampling.one_in(),
            stepping: statistics.stepping_rate(),
            reached: statistics.reached.clone(),
        }
    }

    /// The oldest generation of the start in force that a route leads to.
    fn oldest_generation(&self) -> Option<u64> {
        let (log, here) = (self.state.log(), self.state.position());
        let known = self.state.cells_known;
        let oldest = self.state.timeline.oldest_reachable(known)?;
        Some(oldest.max(log.start_of(here)).generation)
    }

    /// How much of a move is done, unless it has only just begun: most are over at once.
    fn recomputing(&self, now: Instant) -> Option<Recomputing> {
        let moving = self.state.moving()?;
        let took = now - moving.since?;
        let progress = self.state.progress().unwrap_or(0.0);
        (took >= MIN_SHOWN_MOVE).then_some(Recomputing {
            target: moving.target.generation,
            percent: (100.0 * progress) as u8,
            seconds_left: (progress > 0.0)
                .then(|| took.as_secs_f64() * (1.0 - progress) / progress),
        })
    }

    /// The progress of a long move.
    fn progress(&self, now: Instant) -> Option<Message> {
        let (moving, progress) = (self.state.moving()?, self.state.progress()?);
        if moving.total < 2 * u64::from(moving.chunk) {
            return None;
        }
        let (target, percent) = (moving.target.generation, (100.0 * progress) as u8);
        Some(match self.recomputing(now).and_then(|it| it.seconds_left) {
            Some(seconds) => message!(
                "Computing up to generation {target} from the nearest snapshot: {percent} %, {left} left; Space stops this",
                left = time_left(seconds)
            ),
            None => message!(
                "Computing up to generation {target} from the nearest snapshot: {percent} %; Space stops this"
            ),
        })
    }
}
