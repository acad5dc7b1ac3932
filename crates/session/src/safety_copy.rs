//! What is known of a session outside its thread, so that it can be saved while the thread hangs.

use std::time::{Duration, Instant};

use crate::last_known::{HostCopy, LastKnown};
use crate::log::Position;
use crate::saved::SavedSession;

/// Publishes the newest known state of a session, not more often than its cost allows.
#[derive(Default)]
pub(crate) struct SafetyCopy {
    shared: LastKnown,
    /// Whether the log, the position and the copies are as they were published.
    is_current: bool,
    /// When it was published last, and how long that took.
    published: Option<(Instant, Duration)>,
    /// Whether the session's file was not restored yet: it must not be overwritten then.
    pub(crate) restore_pending: bool,
}

impl SafetyCopy {
    /// What was published, which other threads read.
    pub(crate) fn shared(&self) -> &LastKnown {
        &self.shared
    }

    /// Notes that the log, the position or the copies have changed.
    pub(crate) fn mark_stale(&mut self) {
        self.is_current = false;
    }

    /// Forgets what was published: nothing of it may be saved any more.
    pub(crate) fn clear(&mut self) {
        self.shared.clear();
        self.is_current = false;
    }

    /// Whether to publish now: something has changed, and the last time is `interval` ago and did not
    /// take more than a fiftieth of what has passed since. If nothing has changed, notes that.
    pub(crate) fn is_due(&self, interval: Duration, now: Instant) -> bool {
        if self.is_current {
            self.shared.confirm(now);
            return false;
        }
        let is_early = |(at, took): (Instant, Duration)| now - at < interval.max(50 * took);
        !self.restore_pending && !self.published.is_some_and(is_early)
    }

    /// Publishes a session with its newest copy on the host, which was begun to be made at `began`.
    /// Without a copy nothing is known.
    pub(crate) fn publish(
        &mut self,
        session: SavedSession,
        copy: Option<(Position, HostCopy)>,
        began: Instant,
        now: Instant,
    ) {
        match copy {
            Some((position, copy)) => self.shared.publish(session, position, copy, began),
            None => self.shared.clear(),
        }
        self.is_current = true;
        self.published = Some((began, now - began));
    }
}
