//! What other threads see of a session: its status, pictures and trace, and the notice that is shown.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::trace::Trace;
use crate::{NOTICE_TIME, Pictures, Setup, Status, lock};
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
