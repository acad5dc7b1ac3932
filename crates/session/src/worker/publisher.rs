//! What other threads see of a session: its status, pictures and trace, the notice that is shown, and the
//! session as it is saved.

use super::SessionWorker;
use crate::command::Notice;
use crate::saved::{Drafts, SavedSession};
use crate::trace::Trace;
use crate::{Pictures, Setup, Status};
use lang::{Message, english};
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

impl SessionWorker {
    /// The present time.
    pub(super) fn now(&self) -> Instant {
        (self.clock)()
    }

    /// Shows a notice for some seconds, and logs it.
    pub(super) fn notify(&mut self, notice: Notice) {
        match &notice {
            Notice::Done(what) => tracing::debug!("{}", english(what)),
            Notice::Effect => {}
            Notice::Refused(why) => tracing::info!("{}", english(why)),
            Notice::Warning(what) => tracing::warn!("{}", english(what)),
        }
        self.publisher.notice = Some((notice, self.now()));
        self.publisher.is_changed = true;
    }

    /// Whether rounds follow one another, or will after a move.
    pub(super) fn is_running(&self) -> bool {
        self.ended.is_none() && self.state.is_running()
    }
}

// The session as it is saved, also by other threads while this one hangs.

impl SessionWorker {
    /// The session as it is saved; `None` if nothing leads to its position.
    pub(super) fn saved_session(&self) -> Option<SavedSession> {
        let timeline = self.state.saved()?;
        let parameters = timeline.log.parameters(timeline.position.records);
        let b_switches = if self.is_comparing() {
            Some(self.changed_setting().switches)
        } else {
            self.lab.b_switches
        };
        let (setting, kernel_choice) = self.chosen_setting();
        let mut setup = Setup {
            setting,
            kernel_choice,
            pace: self.state.pacing.pace,
            generations_per_round: self.state.pacing.chosen,
            rounds: None,
            ..self.setup.clone()
        };
        parameters.set(&mut setup);
        Some(SavedSession {
            b_switches: b_switches.filter(|_| timeline.log.comparison().is_some()),
            notices: Vec::new(),
            timeline,
            running: self.is_running(),
            selected: self.watch.selected.min(setup.instances - 1),
            setup,
            drafts: Drafts::default(),
        })
    }

    /// Publishes the session for those who save it while this thread hangs, if that is due.
    pub(super) fn publish_last_known(&mut self, interval: Duration) {
        let began = self.now();
        if self.safety_copy.is_due(interval, began) {
            let session = self.saved_session();
            let now = self.now();
            self.safety_copy.publish(session, began, now);
        }
    }
}
