//! What other threads see of a session: its status, pictures and trace, and the notice that is shown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::trace::{TimedRound, Trace};
use crate::{NOTICE_TIME, Pictures, Setup, Status};
use lang::{Message, english};

/// Time between two updates of the status, at least.
const STATUS_INTERVAL: Duration = Duration::from_millis(15);

/// How long a command waits for the engine before a notice says so.
const WAITING_NOTICE_DELAY: Duration = Duration::from_millis(300);

/// Something to tell the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// What was done.
    Done(Message),
    /// What the last change does to the time of a round, which the status says elsewhere.
    Effect,
    /// Why a command was refused.
    Refused(Message),
    /// What went wrong.
    Warning(Message),
}

/// The first command of the queue, while it is not taken.
struct Waiting {
    since: Instant,
    /// Whether a notice has said that it waits.
    is_reported: bool,
}

/// Publishes a session to other threads, and wakes them.
pub(crate) struct Publisher {
    status: Arc<Mutex<Arc<Status>>>,
    pictures: Pictures,
    trace: Arc<Mutex<Trace>>,
    /// The notice that is shown, and since when.
    notice: Option<(Notice, Instant)>,
    /// The first command, while it waits for the engine.
    waiting: Option<Waiting>,
    /// Whether the status has changed since it was published.
    is_changed: bool,
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

    /// The status, which other threads read.
    pub(crate) fn status(&self) -> &Arc<Mutex<Arc<Status>>> {
        &self.status
    }

    /// The pictures, which other threads read.
    pub(crate) fn pictures(&self) -> &Pictures {
        &self.pictures
    }

    /// The trace, which other threads read.
    pub(crate) fn trace(&self) -> &Arc<Mutex<Trace>> {
        &self.trace
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

    /// Takes the notice that is shown.
    #[cfg(test)]
    pub(crate) fn take_notice(&mut self) -> String {
        let said = self.message().map(ToString::to_string);
        self.notice = None;
        said.unwrap_or_default()
    }

    /// Notes that the status has changed.
    pub(crate) fn mark_changed(&mut self) {
        self.is_changed = true;
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

    /// Notes that the first command was taken.
    pub(crate) fn command_taken(&mut self) {
        self.waiting = None;
    }

    /// Notes whether the first command waits. Returns whether a notice should say so now.
    pub(crate) fn waits_long(&mut self, waits: bool, now: Instant) -> bool {
        if !waits {
            self.waiting = None;
            return false;
        }
        let waiting = self.waiting.get_or_insert(Waiting {
            since: now,
            is_reported: false,
        });
        let is_long = !waiting.is_reported && now - waiting.since > WAITING_NOTICE_DELAY;
        waiting.is_reported |= is_long;
        is_long
    }

    /// When a changed status may be published; `None` if it has not changed.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.is_changed.then(|| self.published + STATUS_INTERVAL)
    }

    /// Publishes a status.
    pub(crate) fn publish(&mut self, status: Status, now: Instant) {
        let mut shared = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        *shared = Arc::new(status);
        drop(shared);
        (self.published, self.is_changed) = (now, false);
        self.wake();
    }

    /// Adds a timed round; `is_before` says that it stands above the others, with another setting.
    pub(crate) fn add_round(&self, round: TimedRound, is_before: bool) {
        let mut trace = self.lock_trace();
        if is_before {
            trace.add_before(round);
        } else {
            trace.add(round);
        }
    }

    /// Shows these rounds and no others: one of the present setting, and one of that before.
    pub(crate) fn show_rounds(&self, round: Option<TimedRound>, before: Option<TimedRound>) {
        self.lock_trace().replace(round, before);
    }

    /// Forgets the rounds with another setting.
    pub(crate) fn setting_changed(&self) {
        self.lock_trace().setting_changed();
    }

    /// Locked briefly: the drawing side reads it too.
    fn lock_trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
