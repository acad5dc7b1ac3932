//! What other threads see of a session: its status, pictures and trace, and the notice that is shown.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::SessionWorker;
use crate::command::Notice;
use crate::instances::Sim;
use crate::state::Mode;
use crate::trace::Trace;
use crate::{
    ClockStatus, LatticeStatus, NOTICE_TIME, Pictures, RateStatus, Recomputing, Setup, Status,
    lock, time_left,
};
use lang::{Message, english, message};

/// Time between two updates of the status, at least.
const STATUS_INTERVAL: Duration = Duration::from_millis(15);

/// How long a command waits for the engine before a notice says so.
const WAITING_NOTICE_DELAY: Duration = Duration::from_millis(300);

/// How long a move takes at least that is shown as such.
const MIN_SHOWN_MOVE: Duration = Duration::from_millis(200);

/// Publishes a session to other threads, and wakes them.
pub(crate) struct Publisher {
    pub(crate) status: Arc<Mutex<Arc<Status>>>,
    pub(crate) pictures: Pictures,
    pub(crate) trace: Arc<Mutex<Trace>>,
    /// The notice that is shown, and since when.
    pub(crate) notice: Option<(Notice, Instant)>,
    /// Since when the first command waits for the engine, and whether a notice has said so.
    pub(crate) waiting: Option<(Instant, bool)>,
    /// Whether the status has changed since it was published.
    pub(crate) is_changed: bool,
    /// When the status was published.
    published: Instant,
    wake: Box<dyn Fn()>,
}

impl Publisher {
    /// Nothing has happened yet; `wake` is called whenever there is something new.
    pub(crate) fn new(
        setup: &Setup,
        pictures: Pictures,
        now: Instant,
        wake: Box<dyn Fn()>,
    ) -> Publisher {
        Publisher {
            status: Arc::new(Mutex::new(Arc::new(Status::before_start(setup)))),
            pictures,
            trace: Arc::default(),
            notice: None,
            waiting: None,
            is_changed: true,
            published: now,
            wake,
        }
    }

    /// What the notice that is shown says.
    pub(crate) fn message(&self) -> Option<&Message> {
        match &self.notice.as_ref()?.0 {
            Notice::Effect => None,
            Notice::Done(it) | Notice::Refused(it) | Notice::Warning(it) => Some(it),
        }
    }

    /// Whether the effect of the last change is told as a notice.
    pub(crate) fn tells_effect(&self) -> bool {
        matches!(self.notice, Some((Notice::Effect, _)))
    }

    /// Calls whoever draws.
    pub(crate) fn wake(&self) {
        (self.wake)();
    }

    /// Shows a notice for some seconds, and logs it.
    pub(crate) fn notify(&mut self, notice: Notice, now: Instant) {
        match &notice {
            Notice::Done(what) => tracing::debug!("{}", english(what)),
            Notice::Effect => {}
            Notice::Refused(why) => tracing::info!("{}", english(why)),
            Notice::Warning(what) => tracing::warn!("{}", english(what)),
        }
        self.notice = Some((notice, now));
        self.is_changed = true;
    }

    /// Forgets a notice that was shown long enough.
    pub(crate) fn forget_old_notice(&mut self, now: Instant) {
        let is_over = |(_, since): &mut (Notice, Instant)| now - *since > NOTICE_TIME;
        self.is_changed |= self.notice.take_if(is_over).is_some();
    }

    /// Notes whether the first command waits. Returns whether a notice should say so now.
    pub(crate) fn waits_long(&mut self, waits: bool, now: Instant) -> bool {
        if !waits {
            self.waiting = None;
            return false;
        }
        let (since, is_reported) = self.waiting.get_or_insert((now, false));
        let is_long = !*is_reported && now - *since > WAITING_NOTICE_DELAY;
        *is_reported |= is_long;
        is_long
    }

    /// When a changed status may be published; `None` if it has not changed.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.is_changed.then(|| self.published + STATUS_INTERVAL)
    }

    /// Publishes a status.
    pub(crate) fn publish(&mut self, status: Status, now: Instant) {
        *lock(&self.status) = Arc::new(status);
        (self.published, self.is_changed) = (now, false);
        self.wake();
    }

    /// The timed rounds, locked briefly: the drawing side reads them too.
    pub(crate) fn lock_trace(&self) -> MutexGuard<'_, Trace> {
        lock(&self.trace)
    }
}

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
