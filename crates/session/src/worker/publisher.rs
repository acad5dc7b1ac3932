//! What other threads see of a session: its status, pictures and trace, the notice that is shown, and the
//! session as it is saved while its own thread hangs.

use crate::command::Notice;
use crate::saved::{Drafts, SavedSession};
use crate::trace::Trace;
use crate::{Pictures, Setup, Status};
use lang::Message;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two updates of the status, at least.
const STATUS_INTERVAL: Duration = Duration::from_millis(15);

/// Publishes a session to other threads, and wakes them.
pub(crate) struct Publisher {
    pub status: Arc<Mutex<Arc<Status>>>,
    pub pictures: Pictures,
    pub trace: Arc<Mutex<Trace>>,
    /// The notice that is shown, and since when.
    pub notice: Option<(Notice, Instant)>,
    /// Since when the first command waits for the engine, and whether a notice has said so.
    pub waiting: Option<(Instant, bool)>,
    /// Whether the status has changed since it was published.
    pub is_changed: bool,
    /// When the status was published.
    pub published: Instant,
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

    /// Calls whoever draws.
    pub(crate) fn wake(&self) {
        (self.wake)();
    }

    /// When a changed status may be published; `None` if it has not changed.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.is_changed.then(|| self.published + STATUS_INTERVAL)
    }
}

// The session as other threads know it, for saving it while its own thread hangs in a call of the
// driver.
// The worker publishes its log and position with the newest copy of the lattices. Whoever loads the file
// steps from the copy to the position, so that only what came after the publication is missing.

/// A session that can be saved although its thread does not answer.
#[derive(Clone)]
pub(crate) struct KnownSession {
    pub session: SavedSession,
    /// When this was the session's state last.
    pub at: Instant,
}

/// The newest known state of a session; clones share it.
#[derive(Clone, Default)]
pub(crate) struct LastKnown {
    pub published: Arc<Mutex<Option<KnownSession>>>,
    /// As the front end has them now.
    pub drafts: Arc<Mutex<Drafts>>,
}

/// Publishes the newest known state of a session, not more often than its cost allows.
#[derive(Default)]
pub(crate) struct SafetyCopy {
    pub shared: LastKnown,
    /// Whether the log, the position and the copies are as they were published.
    pub is_current: bool,
    /// When it was published last, and how long that took.
    published: Option<(Instant, Duration)>,
    /// Whether the session's file was not restored yet: it must not be overwritten then.
    pub restore_pending: bool,
}

impl SafetyCopy {
    /// Forgets what was published: nothing of it may be saved any more.
    pub(crate) fn clear(&mut self) {
        *self.shared.published.lock() = None;
        self.is_current = false;
    }

    /// Whether to publish now: something has changed, and the last time is `interval` ago and did not
    /// take more than a fiftieth of what has passed since. If nothing has changed, notes that.
    pub(crate) fn is_due(&self, interval: Duration, now: Instant) -> bool {
        if self.is_current {
            if let Some(published) = &mut *self.shared.published.lock() {
                published.at = now;
            }
            return false;
        }
        let is_early = |(at, took): (Instant, Duration)| now - at < interval.max(50 * took);
        !self.restore_pending && !self.published.is_some_and(is_early)
    }

    /// Publishes a session, which was begun to be made at `began`.
    pub(crate) fn publish(&mut self, session: Option<SavedSession>, began: Instant, now: Instant) {
        let at = began;
        *self.shared.published.lock() = session.map(|session| KnownSession { session, at });
        self.is_current = true;
        self.published = Some((began, now - began));
    }
}
