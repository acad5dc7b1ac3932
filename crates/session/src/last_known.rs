//! The session as other threads know it, for saving it while its own thread hangs in a call of the
//! driver.
//!
//! The worker publishes its log and position with the newest copy of the lattices that is on the
//! host. Whoever loads the file steps from the copy to the position, so that only what came after the
//! publication is missing.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use crate::instances::read_lattice;
use crate::log::Position;
use crate::saved::{Drafts, SavedSession};
use engine::{Slot, Slots};
use life::{Lattice, Size};

/// A copy of all lattices on the host.
pub(crate) enum HostCopy {
    /// Unpacked.
    Lattices(Vec<Arc<Lattice>>),
    /// In a slot of the engine's, which may be overwritten or freed meanwhile.
    Slot {
        slots: Weak<dyn Slots>,
        slot: Slot,
        instances: usize,
        size: Size,
    },
    /// Those of the log's base, which is a start.
    Start,
}

/// What was published last.
struct Published {
    /// Everything but the newest lattices.
    session: SavedSession,
    position: Position,
    copy: HostCopy,
    /// When this was the session's state last.
    at: Instant,
}

/// A session that can be saved although its thread does not answer.
pub(crate) struct KnownSession {
    pub(crate) session: SavedSession,
    /// When this was the session's state last.
    pub(crate) at: Instant,
}

/// The newest known state of a session; clones share it.
#[derive(Clone, Default)]
pub(crate) struct LastKnown {
    published: Arc<Mutex<Option<Published>>>,
    /// As the front end has them now.
    drafts: Arc<Mutex<Drafts>>,
}

impl LastKnown {
    /// Publishes a session, whose newest lattices are `copy`, at `position`.
    pub(crate) fn publish(
        &self,
        session: SavedSession,
        position: Position,
        copy: HostCopy,
        at: Instant,
    ) {
        let published = Published {
            session,
            position,
            copy,
            at,
        };
        *self.lock() = Some(published);
    }

    pub(crate) fn drafts(&self) -> Drafts {
        let drafts = self.drafts.lock();
        drafts.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_drafts(&self, drafts: Drafts) {
        *self.drafts.lock().unwrap_or_else(PoisonError::into_inner) = drafts;
    }

    /// Notes that what was published is still the session's state.
    pub(crate) fn confirm(&self, at: Instant) {
        if let Some(published) = &mut *self.lock() {
            published.at = at;
        }
    }

    /// Forgets what was published: nothing of it may be saved any more.
    pub(crate) fn clear(&self) {
        *self.lock() = None;
    }

    /// The session that was published last, with its lattices; `None` if there is none, or if its
    /// lattices are gone.
    pub(crate) fn session(&self) -> Option<KnownSession> {
        let published = self.lock();
        let published = published.as_ref()?;
        let mut session = published.session.clone();
        let lattices = match &published.copy {
            HostCopy::Lattices(lattices) => lattices.clone(),
            HostCopy::Slot {
                slots,
                slot,
                instances,
                size,
            } => {
                let slots = slots.upgrade()?;
                let read = |i| read_lattice(&*slots, i, *slot, *size).map(Arc::new);
                (0..*instances).map(read).collect::<Result<_, _>>().ok()?
            }
            HostCopy::Start => {
                let parameters = session.timeline().log.base_parameters();
                let start = |i| parameters.start_lattice(i);
                let all = (0..parameters.instances).map(start);
                all.collect::<Result<_, _>>().ok()?
            }
        };
        session.set_newest(published.position, lattices);
        Some(KnownSession {
            session,
            at: published.at,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Published>> {
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
