//! Notices and the status.

use std::time::{Duration, Instant};

use super::SessionWorker;
use crate::next_task::part_of_round;
use crate::notice::Notice;
use crate::state::Mode;
use lang::{Message, message};
use life::time_left;
use model::ladder::recorded;
use model::{Recomputing, Status};

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
        let status = self.make_status(now);
        self.publisher.publish(status, now);
    }

    pub(super) fn make_status(&self, now: Instant) -> Status {
        let mut status = Status::before_start(self.lattices.setup());
        let (rounds, generations) = self.lab.statistics.rates(now);
        // What is computed again on the way to a generation has no rates.
        let at_work = self.state.is_at_work() && self.state.moving().is_none();
        let rate = |per_second: f64| if at_work { per_second } else { 0.0 };
        if let Some(instances) = &self.lattices.instances {
            let engine = instances.engine();
            status.engine = engine.name();
            status.devices = engine.devices().to_vec();
            status.recorded = engine.devices().first().and_then(|d| recorded(&d.name));
            status.startup = engine.startup();
            let of_all = self.state.pacing.generations();
            status.generations_per_round = part_of_round(of_all, instances.longest_round());
            status.bytes_per_round = instances.bytes_per_round();
            let idle = instances.is_idle();
            status.finished = self.state.has_all_rounds()
                && idle
                && self.state.cells_known()
                && self.state.moving().is_none()
                && instances.pending_second_round().is_none();
            if let Some(picture) = instances.own_plan().picture {
                status.transfer = picture.transfer;
            }
        }
        let cells =
            self.lattices.setup().size.cells() as f64 * self.lattices.setup().instances as f64;
        status.generation = self.state.position().generation;
        status.running = self.is_running();
        status.pace = self.state.pacing.pace();
        status.rounds = self.lab.statistics.rounds();
        status.rounds_per_second = rate(rounds);
        status.generations_per_second = rate(generations);
        status.cells_per_second = rate(generations) * cells;
        status.launch_us = self.lab.statistics.launch_us();
        status.stepping = self.lab.statistics.stepping_rate();
        status.reached = self.lab.statistics.reached().to_vec();
        status.round_us = self.lab.statistics.round_us();
        status.timed_one_in = self.lab.sampling.one_in();
        status.switches = self.lattices.switches();
        status.overlap = self.lab.overlap();
        status.comparison = self.comparison();
        status.block_timestamps = self.lab.block_timestamps();
        status.timestamp_overhead = self.lab.timestamp_overhead();
        status.time.settings = self.lattices.setup().time;
        status.time.settled = self.watch.settled();
        status.time.run_to = match self.state.mode() {
            Mode::RunningTo(run_to) => Some(run_to.generation),
            _ => None,
        };
        status.time.oldest = self.oldest_generation();
        status.time.recomputing = self.recomputing(now);
        status.time.reseeded = self.watch.reseeded();
        status.last_effect = self.lab.last_effect.clone();
        status.waiting_edits = self.waiting_edits();
        status.selected = self.selected;
        let notice = self.publisher.notice().cloned();
        status.notice = self.progress_notice(now).or(notice);
        status.halted = self.health.halted().cloned();
        status.failed = self.health.ended().cloned();
        status
    }

    /// The oldest generation of the start in force that a route leads to.
    fn oldest_generation(&self) -> Option<u64> {
        let (log, here) = (self.state.log(), self.state.position());
        let snapshots = self.snapshots.positions();
        let oldest = log.oldest_reachable(
            self.state.cells_known().then_some(here),
            snapshots.iter().copied(),
        )?;
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

    /// The progress of a long move, as a notice.
    fn progress_notice(&self, now: Instant) -> Option<Message> {
        let (moving, progress) = (self.state.moving()?, self.state.progress()?);
        if moving.total < 2 * u64::from(moving.chunk) {
            return None;
        }
        let (target, percent) = (moving.target.generation, (100.0 * progress).floor());
        let seconds_left = self.recomputing(now).and_then(|it| it.seconds_left);
        Some(match seconds_left {
            Some(seconds) => message!(
                "Going to generation {target}: {percent} %, {left} left; Space stops this",
                target = target,
                percent = percent,
                left = time_left(seconds)
            ),
            None => message!(
                "Going to generation {target}: {percent} %; Space stops this",
                target = target,
                percent = percent
            ),
        })
    }
}
