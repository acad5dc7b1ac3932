//! What the session says of itself.

use std::sync::Arc;
use std::time::Instant;

use super::SessionWorker;
use model::Status;
use model::ladder::recorded;

impl SessionWorker {
    pub(super) fn say(&mut self, what: String) {
        tracing::warn!("{what}");
        self.notice = Some((what, Instant::now()));
    }

    pub(super) fn publish_status(&mut self, now: Instant) {
        let status = Arc::new(self.make_status(now));
        *self
            .status
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = status;
        self.status_made = now;
        self.changed = false;
        (self.wake)();
    }

    pub(super) fn make_status(&self, now: Instant) -> Status {
        let mut status = Status::before_start(&self.setup);
        let (rounds, generations) = self.statistics.rates(now);
        let at_work = self.running || !self.steps.is_empty();
        let rate = |per_second: f64| if at_work { per_second } else { 0.0 };
        if let Some(instances) = &self.instances {
            let engine = instances.engine();
            status.engine = engine.name();
            status.devices = engine.devices().to_vec();
            status.recorded = engine.devices().first().and_then(|d| recorded(&d.name));
            status.startup = engine.startup();
            status.generation = instances.generations().iter().copied().min().unwrap_or(0);
            status.newest_generation = instances.generations().iter().copied().max().unwrap_or(0);
            status.bytes_per_round = instances.bytes_per_round();
            let idle = instances.is_idle();
            let through = self
                .setup
                .rounds
                .is_some_and(|rounds| self.issued >= rounds);
            status.finished = through && idle && self.owed().is_none();
            if let Some(picture) = instances.plan().picture {
                status.transfer = picture.transfer;
            }
        }
        let cells = self.setup.size.cells() as f64 * self.setup.instances as f64;
        status.running = self.running;
        status.pace = self.pace;
        status.rounds = self.statistics.rounds();
        status.rounds_per_second = rate(rounds);
        status.generations_per_second = rate(generations);
        status.cells_per_second = rate(generations) * cells;
        status.launch_us = self.statistics.launch_us();
        status.stepping = self.statistics.stepping_rate();
        status.reached = self.statistics.reached().to_vec();
        status.round_us = self.statistics.round_us();
        status.timed_one_in = self.sampling.one_in();
        status.switches = self.current_switches();
        status.overlap = self.lab.overlap();
        status.halves = self.halves();
        status.stamped = self.lab.stamped();
        status.stamp_cost = self.lab.stamp_cost();
        status.time.settings = self.setup.time;
        status.time.settled = self.watch.settled();
        status.time.run_to = self.run_to.map(|run_to| run_to.generation);
        status.time.oldest = self.oldest_remembered();
        status.last_effect = self.lab.last_effect.clone();
        status.waiting_edits = self.editor.waiting();
        status.undid_all = self.editor.undid_all;
        status.selected = self.selected;
        status.notice = self.notice.as_ref().map(|(text, _)| text.clone());
        status.halted = self.halted.clone();
        status.failed = self.failed.clone();
        status
    }
}
