//! The status of a session: the figures that other threads see.

use super::lab::SessionWorker;
use crate::instances::Sim;
use crate::state::Mode;
use crate::status::{ClockStatus, EngineStatus, LatticeStatus, Recomputing};
use crate::{Status, time_left};
use lang::{Message, message};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a move takes at least that is shown as such.
const MIN_SHOWN_MOVE: Duration = Duration::from_millis(200);

impl SessionWorker {
    /// The figures at this time.
    pub(super) fn make_status(&self, now: Instant) -> Status {
        let mut status = Status {
            engine: self.engine_status(),
            lattices: LatticeStatus::of(&self.setup),
            setting: self.setting_status(),
            clock: self.clock_status(now),
            rates: self.rate_status(now),
            lab: self.lab_status(),
            panels: self.watch.status(),
            notice: self
                .progress(now)
                .or_else(|| self.publisher.message().cloned()),
            halted: self.halted.clone(),
            failed: self.ended.clone(),
        };
        self.put_recorded(&mut status);
        // Beside a finding stands the time that it was found with, until rounds take another one.
        if let (Some(effect), None) = (&status.lab.last_effect, &status.lab.comparison)
            && let (Some(_), Some(found)) = (&effect.finding, effect.round_us[1])
        {
            let now = &mut status.rates.round_us;
            now.take_if(|now| (0.95..=1.05).contains(&(*now / found)));
            now.get_or_insert(found);
        }
        status
    }

    /// Publishes the figures at this time, and wakes whoever draws.
    pub(super) fn publish_status(&mut self, now: Instant) {
        self.publish_effect();
        self.show_recorded_rounds();
        let status = self.make_status(now);
        let publisher = &mut self.publisher;
        *publisher.status.lock() = Arc::new(status);
        (publisher.published, publisher.is_changed) = (now, false);
        publisher.wake();
    }

    /// What computes, for the status.
    fn engine_status(&self) -> EngineStatus {
        let Some(sim) = &self.sim else {
            return EngineStatus::default();
        };
        if let Some(recording) = self.recording {
            return EngineStatus {
                name: "recorded",
                devices: vec![recording.device.clone()],
                queues: Some(recording.queues),
                ..EngineStatus::default()
            };
        }
        let engine = sim.engine();
        EngineStatus {
            name: engine.name(),
            devices: engine.devices().to_vec(),
            queues: (engine.name() == "cuda").then(platform::connections),
            cut: engine.cut(),
            clock_error_us: engine.clock_error().as_us(),
        }
    }

    fn clock_status(&self, now: Instant) -> ClockStatus {
        let is_complete = |sim: &Sim| sim.is_idle() && self.lagging_side().is_none();
        ClockStatus {
            running: self.is_running(),
            generation: self.state.position.generation,
            run_to: match &self.state.mode {
                Mode::RunningTo(run_to) => Some(run_to.generation),
                _ => None,
            },
            recomputing: self.recomputing(now),
            finished: self.state.has_all_rounds()
                && self.state.cells_known
                && self.state.moving().is_none()
                && self.sim.as_ref().is_some_and(is_complete),
        }
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
