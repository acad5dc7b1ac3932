//! N instances, stepped round by round on a thread of their own.
//!
//! A [`Session`] owns the engine's thread (`worker`). The window (or the terminal) sends it
//! [`actions`](Action) and draws the newest complete [`pictures`](Pictures); neither ever waits
//! for the other. [`instances`] holds the instances and
//! their engine, and is what the programs without a window use directly.

mod background;
pub mod instances;
pub mod log;
mod persistence;
pub mod round;
mod sampling;
mod saved;
#[cfg(test)]
mod scripted_engine;
mod settling;
pub mod snapshots;
mod start;
mod state;
mod statistics;
mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use persistence::{Saver, SessionFile};
pub use sampling::Sampling;
pub use saved::{SavedComparison, SavedError, SavedSession, SavedTimeline};

use state::Notice;
use worker::requests::Asked;

use engine::{EngineError, Result};
use lang::tr;
use life::Lattice;
use model::{
    Action, Edit, Picture, PicturePlan, PictureSource, Pictures, Series, Setup, Status, Trace,
};

/// What the session's thread is told.
enum Command {
    Act(Action),
    View(PicturePlan),
    Ask(Asked),
    /// Everything that the session can go on from is wanted.
    Save(Sender<SavedSession>),
    /// Goes on from this.
    Open(Box<SavedSession>),
    /// Shows a notice.
    Notify(Notice),
    /// A task in the background has ended: there is something to do.
    Ready,
    Close,
}

/// A running session; see the module.
pub struct Session {
    /// The file that it is saved in, if any.
    file: Option<std::path::PathBuf>,
    commands: Sender<Command>,
    shared: worker::Shared,
    /// How many edits were asked for.
    edits: AtomicU64,
    thread: Option<JoinHandle<()>>,
    closed: Receiver<()>,
}

impl Session {
    /// Makes the engine, the instances and their thread; returns once the start is on its way to
    /// the device. `wake` is called on the engine's thread whenever there is something new to
    /// draw.
    pub fn start(setup: Setup, wake: impl Fn() + Send + 'static) -> Result<Session> {
        Session::start_with(setup, None, wake)
    }

    /// The same, with something to be done before the first round.
    fn start_with(
        setup: Setup,
        first: Option<Command>,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Session> {
        let (commands, received) = channel();
        if let Some(first) = first {
            let _ = commands.send(first); // there is a receiver
        }
        let (ready, started) = channel();
        let own = commands.clone();
        let (closing, closed) = channel();
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || {
                let _closing = closing; // dropped, and so told, when the thread ends
                worker::run(setup, (own, received), Box::new(wake), ready);
            })
            .map_err(|_| EngineError::NoThread)?;
        let shared = match started.recv() {
            Ok(answer) => answer?,
            Err(_) => {
                return Err(EngineError::ContextLost(
                    tr!("its thread has panicked").into(),
                ));
            }
        };
        Ok(Session {
            file: None,
            commands,
            shared,
            edits: AtomicU64::new(0),
            thread: Some(thread),
            closed,
        })
    }

    /// Does what a person asked for, soon, on the engine's thread; `false` if the action is not
    /// the session's but the window's.
    pub fn act(&self, action: Action) -> bool {
        let ours = matches!(
            action,
            Action::TogglePause
                | Action::StepGeneration
                | Action::StepRound
                | Action::StepBack
                | Action::RoundBack
                | Action::RunTo(_)
                | Action::PauseForLesson(_)
                | Action::NextStopWhenStill
                | Action::ToggleReseed
                | Action::WatchPopulation(_)
                | Action::Faster
                | Action::Slower
                | Action::ResetPanel
                | Action::ResetAll
                | Action::NewSeed
                | Action::UseKernel(_)
                | Action::NextKernel
                | Action::PreviousKernel
                | Action::NextOf(_)
                | Action::Choose(..)
                | Action::ToggleHalves
                | Action::ToggleBlocks
                | Action::WatchOverlap(_)
                | Action::Undo
                | Action::Redo
                | Action::SelectNext
                | Action::SelectPrevious
                | Action::Select(_)
        );
        if action == Action::SaveSession {
            self.save_soon();
            return true;
        }
        if ours {
            // A thread that has ended has said why in its status.
            let _ = self.commands.send(Command::Act(action));
        }
        ours
    }

    /// Edits a lattice between two rounds, behind every edit asked for before. Answers the edit's
    /// number, from 1 on: pictures say which was the last that they show ([`Picture::edits`]).
    pub fn edit(&self, edit: Edit) -> u64 {
        let number = self.edits.fetch_add(1, Ordering::Relaxed) + 1;
        let _ = self.commands.send(Command::Ask(Asked::Edit(edit, number)));
        number
    }

    /// Makes every lattice larger, what it has in the middle, and puts something into one of them;
    /// undo takes both back. What went wrong is said in the status.
    pub fn grow(&self, size: life::Size, place: Option<(usize, model::Change)>) {
        let _ = self.commands.send(Command::Ask(Asked::Grow(size, place)));
    }

    /// Asks for an instance's lattice and generation as they are once everything asked for before
    /// is done; they come soon, and `wake` is called then.
    pub fn copy(&self, instance: usize) -> Receiver<(Arc<Lattice>, u64)> {
        let (answer, copy) = channel();
        let _ = self
            .commands
            .send(Command::Ask(Asked::Copy(instance, answer)));
        copy
    }

    /// Says what is drawn from now on.
    pub fn request_view(&self, request: PicturePlan) {
        let _ = self.commands.send(Command::View(request));
    }

    /// The latest figures.
    pub fn status(&self) -> Arc<Status> {
        let shared = &self.shared.status;
        let mut status = shared
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone();
        let over = self.thread.as_ref().is_some_and(JoinHandle::is_finished);
        if over && status.failed.is_none() {
            let why = tr!("internal: the engine's thread has ended unasked");
            Arc::make_mut(&mut status).failed = Some(why.into());
        }
        status
    }

    /// The last timed rounds.
    pub fn trace(&self) -> Trace {
        let trace = &self.shared.trace;
        trace
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()
    }

    /// The last timed rounds, if there are newer ones than those of sequence `seen`. Never waits:
    /// at a moment when a round is being added, there are none yet.
    pub fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let trace = match self.shared.trace.try_lock() {
            Ok(trace) => trace,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        (trace.sequence > seen).then(|| trace.clone())
    }

    /// How the population of an instance, or of all together, went, if there is more of it than
    /// sequence `seen` had; with its own sequence. Never waits: at a moment when measures are
    /// being added, there is nothing yet.
    pub fn newer_population(&self, of: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        match self.shared.populations.try_lock() {
            Ok(populations) => populations.newer(of, seen),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().newer(of, seen),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The newest complete pictures.
    pub fn pictures(&self) -> Pictures {
        self.shared.pictures.clone()
    }
}

impl Drop for Session {
    /// Ends the thread. A launch under way may be long: after a second it is left to the
    /// process's end.
    fn drop(&mut self) {
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
        Session::newer_trace(self, seen)
    }

    fn newer_population(&self, of: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        Session::newer_population(self, of, seen)
    }
}

#[cfg(test)]
mod tests;
