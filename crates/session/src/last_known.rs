//! The session as other threads know it, for saving it while its own thread hangs in a call of the
//! driver.
//!
//! The worker publishes its log and position with the newest copy of the lattices. Whoever loads the file
//! steps from the copy to the position, so that only what came after the publication is missing.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::lock;
use crate::saved::{Drafts, SavedSession};

/// A session that can be saved although its thread does not answer.
#[derive(Clone)]
pub(crate) struct KnownSession {
    pub(crate) session: SavedSession,
    /// When this was the session's state last.
    pub(crate) at: Instant,
}

/// The newest known state of a session; clones share it.
#[derive(Clone, Default)]
pub(crate) struct LastKnown {
    published: Arc<Mutex<Option<KnownSession>>>,
    /// As the front end has them now.
    drafts: Arc<Mutex<Drafts>>,
}

impl LastKnown {
    pub(crate) fn drafts(&self) -> Drafts {
        lock(&self.drafts).clone()
    }

    pub(crate) fn set_drafts(&self, drafts: Drafts) {
        *lock(&self.drafts) = drafts;
    }

    /// The session that was published last, if any.
    pub(crate) fn session(&self) -> Option<KnownSession> {
        lock(&self.published).clone()
    }
}

/// Publishes the newest known state of a session, not more often than its cost allows.
#[derive(Default)]
pub(crate) struct SafetyCopy {
    pub(crate) shared: LastKnown,
    /// Whether the log, the position and the copies are as they were published.
    pub(crate) is_current: bool,
    /// When it was published last, and how long that took.
    published: Option<(Instant, Duration)>,
    /// Whether the session's file was not restored yet: it must not be overwritten then.
    pub(crate) restore_pending: bool,
}

impl SafetyCopy {
    /// Forgets what was published: nothing of it may be saved any more.
    pub(crate) fn clear(&mut self) {
        *lock(&self.shared.published) = None;
        self.is_current = false;
    }

    /// Whether to publish now: something has changed, and the last time is `interval` ago and did not
    /// take more than a fiftieth of what has passed since. If nothing has changed, notes that.
    pub(crate) fn is_due(&self, interval: Duration, now: Instant) -> bool {
        if self.is_current {
            if let Some(published) = &mut *lock(&self.shared.published) {
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
        *lock(&self.shared.published) = session.map(|session| KnownSession { session, at });
        self.is_current = true;
        self.published = Some((began, now - began));
    }
}
