//! N instances of the Game of Life, stepped round by round on a thread of their own.
//!
//! A [`Session`] owns the thread that drives the engine (`worker`). A window or a terminal sends it
//! [`SessionAction`]s and draws the newest complete [`Pictures`]; neither side waits for the other.
//! [`instances`] holds the lattices and their engine and issues rounds, each with a [`Setting`] of its
//! own; the bench, `verify` and the lessons use it directly. [`fastest`] says how a round is done in
//! the least time. [`log`] is what a session remembers.

mod command;
pub mod conformance;
pub mod copies;
mod engines;
pub mod fastest;
pub mod instances;
pub mod log;
mod pictures;
pub mod population;
mod saved;
#[cfg(test)]
mod scripted_engine;
mod setting;
mod setup;
mod state;
pub mod trace;
mod worker;

use command::Command;
use engine::{EngineError, Result};
use lang::{Message, message};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use command::{RECORDED_KEY, SLOWER_KEY, Saver, SessionAction, timestamps_of_own};
pub use copies::SavedTimeline;
pub use engines::{Losses, make_again};
pub use experiment::{
    Finding, Load, Recorded, Side, Source, finding_in_words, load_in_words, median,
    recorded_in_words, unknown_in_words,
};
pub use fastest::{DEFAULT_KERNEL, KernelChoice, default_kernels};
pub use instances::{Request, Share};
pub use log::{Area, Change, Edit, flipped, turned};
pub use pictures::{Picture, PicturePlan, PictureSource, Pictures};
pub use population::Series;
pub use saved::{Drafts, NotSaved, SavedError, SavedSession, SessionFile, state_folder};
pub use setting::{
    Choice, Order, OwnOrder, OwnRound, OwnRoundError, Setting, Streams, Switch, SwitchContext,
    Switches, TransferChoice, Wait,
};
pub use setup::{
    DEFAULT_DENSITY, DeviceChoice, NewCells, Pace, Setup, Split, Start, StopWhenStill,
    StoredKernel, TimeSettings,
};
pub use trace::{IsolatedOp, Trace};
pub use worker::lab::Sampling;
pub use worker::status::{
    AbComparison, ClockStatus, Effect, EngineStatus, LabStatus, LatticeStatus, NOTICE_TIME,
    PanelStatus, RateStatus, Recomputing, RecordedStatus, SettingStatus, Settled, Status,
    time_left,
};

/// A running session; see the crate's documentation.
pub struct Session {
    device: DeviceChoice,
    file: saved::OwnFile,
    commands: Sender<Command>,
    shared: worker::Shared,
    /// Number of edits requested so far.
    edits: AtomicU64,
    thread: Option<JoinHandle<()>>,
    closed: Receiver<()>,
}

impl Session {
    /// Starts a thread with an engine and the setup's instances; returns once their lattices are on
    /// the way to the device. `wake` is called on that thread whenever there is something new to
    /// draw.
    ///
    /// # Errors
    /// The device cannot be opened, it or the host has too little memory, or the system gives no
    /// thread.
    pub fn start(setup: Setup, wake: impl Fn() + Send + 'static) -> Result<Session> {
        Session::start_from(setup, SessionFile::default(), wake)
    }

    /// Starts a session as [`Session::start`] does, and continues a saved session if there is one.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn start_from(
        setup: Setup,
        file: SessionFile,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Session> {
        let (commands, received) = channel();
        let SessionFile { own: file, from } = file;
        let drafts = from.as_ref().map(|from| from.drafts.clone());
        let device = setup.device;
        let (ready, started) = channel();
        let own = commands.clone();
        let (closing, closed) = channel();
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || {
                let _closing = closing; // dropped when the thread ends, which `drop` below waits for
                worker::run(setup, from, (own, received), Box::new(wake), ready);
            })
            .map_err(|_| EngineError::NoThread)?;
        let shared = match started.recv() {
            Ok(answer) => answer?,
            Err(_) => {
                return Err(EngineError::thread_panicked());
            }
        };
        shared.last_known.set_drafts(drafts.unwrap_or_default());
        Ok(Session {
            device,
            file,
            commands,
            shared,
            edits: AtomicU64::new(0),
            thread: Some(thread),
            closed,
        })
    }

    /// The device that was asked for; the recorded one while recorded rounds are shown.
    pub fn device(&self) -> DeviceChoice {
        match (self.device, &self.status().lab.recording) {
            (_, Some(_)) => DeviceChoice::Recorded,
            (DeviceChoice::Recorded, None) => DeviceChoice::Cpu,
            (device, None) => device,
        }
    }

    /// The latest status. Never waits for the session's thread.
    pub fn status(&self) -> Arc<Status> {
        let mut status = lock(&self.shared.status).clone();
        let over = self.thread.as_ref().is_some_and(JoinHandle::is_finished);
        if over && status.failed.is_none() {
            let why = message!("internal: the engine's thread has ended unasked");
            Arc::make_mut(&mut status).failed = Some(why);
        }
        status
    }

    /// The latest timed rounds.
    pub fn trace(&self) -> Trace {
        lock(&self.shared.trace).clone()
    }

    /// The newest complete pictures.
    pub fn pictures(&self) -> Pictures {
        self.shared.pictures.clone()
    }
}

impl Drop for Session {
    /// Ends the thread. A launch may take long: after a second the thread is left to the end of the
    /// process.
    fn drop(&mut self) {
        self.file.leave(); // savers on other threads may outlive the session
        let _ = self.commands.send(Command::Close);
        let ended = self.closed.recv_timeout(Duration::from_secs(1));
        if let (Err(RecvTimeoutError::Disconnected), Some(thread)) = (ended, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl PictureSource for Session {
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        self.pictures().visit_newer(seen, draw);
    }

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let trace = try_lock(&self.shared.trace)?;
        (trace.sequence > seen).then(|| trace.clone())
    }

    fn newer_population(&self, of: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        try_lock(&self.shared.populations)?.newer(of, seen)
    }
}

/// The message about a bug in the program: work panicked, with this reason.
fn internal(it: String) -> Message {
    message!("internal: {it}")
}

/// Locks what several threads share. Each leaves it whole, so that a panic of one hurts no other.
fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// [`lock`], unless another thread has it.
fn try_lock<T>(it: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match it.try_lock() {
        Ok(it) => Some(it),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests;
