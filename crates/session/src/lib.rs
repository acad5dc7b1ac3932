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
pub mod prediction;
mod saved;
#[cfg(test)]
mod scripted_engine;
mod setting;
mod setup;
mod state;
mod statistics;
mod status;
mod text;
pub mod trace;
mod worker;

use command::{Command, Notice};
use engine::{EngineError, Kernel, Result};
use lang::message;
use life::{Lattice, dated_stem, grouped};
use saved::{OwnFile, Written};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use worker::publisher::LastKnown;

pub use command::{RECORDED_KEY, SLOWER_KEY, SessionAction, timestamps_of_own};
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
pub use status::{
    AbComparison, ClockStatus, Effect, EngineStatus, LabStatus, LatticeStatus, NOTICE_TIME,
    PanelStatus, RateStatus, Recomputing, RecordedStatus, SettingStatus, Settled, Status,
    time_left,
};
pub use trace::{IsolatedOp, Trace};

/// A running session; see the crate's documentation.
pub struct Session {
    device: DeviceChoice,
    file: OwnFile,
    commands: Sender<Command>,
    shared: worker::Shared,
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
        *shared.last_known.drafts.lock() = drafts.unwrap_or_default();
        Ok(Session {
            device,
            file,
            commands,
            shared,
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
        let mut status = self.shared.status.lock().clone();
        let over = self.thread.as_ref().is_some_and(JoinHandle::is_finished);
        if over && status.failed.is_none() {
            let why = message!("internal: the engine's thread has ended unasked");
            Arc::make_mut(&mut status).failed = Some(why);
        }
        status
    }

    /// The latest timed rounds.
    pub fn trace(&self) -> Trace {
        self.shared.trace.lock().clone()
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
        self.shared.pictures.visit_newer(seen, draw);
    }

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let trace = self.shared.trace.try_lock()?;
        (trace.sequence > seen).then(|| trace.clone())
    }

    fn newer_population(&self, of: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        self.shared.populations.try_lock()?.newer(of, seen)
    }
}

impl Session {
    /// Sends an action to the session's thread, which performs the actions in order.
    pub fn act(&self, action: SessionAction) {
        match action {
            SessionAction::SaveSession => self.save_soon(),
            action => self.send(Command::Act(action)),
        }
    }

    /// Takes everything of this setup that a running session can change; of how it starts, the density.
    pub fn apply(&self, setup: Setup) {
        self.send(Command::Apply(Box::new(setup)));
    }

    /// Tells that the CPU computes for want of a GPU, and how recorded rounds are shown, if that is so.
    pub fn offer_recorded_rounds(&self) {
        let status = self.status();
        let is_free = status.engine.is_cpu() && status.notice.is_none();
        if self.device() == DeviceChoice::Auto && is_free {
            let offer = Notice::Done(message!(
                "The CPU computes here; {key} shows rounds that were recorded on a GPU",
                key = RECORDED_KEY
            ));
            self.send(Command::Notify(offer));
        }
    }

    /// Pauses while a lesson is open; with `false`, goes on if it ran then and nobody has paused or
    /// stepped it since.
    pub fn pause_for_lesson(&self, pause: bool) {
        self.send(Command::PauseForLesson(pause));
    }

    /// Measures populations, births and deaths from now on, or only what stopping and reseeding
    /// need.
    pub fn watch_population(&self, watch: bool) {
        self.send(Command::WatchPopulation(watch));
    }

    /// Measures how much of a round's work overlaps, or does not.
    pub fn watch_overlap(&self, watch: bool) {
        self.send(Command::WatchOverlap(watch));
    }

    /// Edits a lattice between two rounds; edits are applied in the order of these calls.
    /// [`Picture::edits`] is the number of the last edit that a picture shows: later ones have higher
    /// numbers.
    pub fn edit(&self, edit: Edit, number: u64) {
        self.send(Command::Edit(edit, number));
    }

    /// Begins anew at a generation and pauses, with this lattice in place of an instance's and the others
    /// as they are; smaller lattices are enlarged to its size. One undo reverts it.
    pub fn open_pattern(&self, instance: usize, lattice: Arc<Lattice>, generation: u64) {
        let command = Command::OpenPattern(instance, lattice, generation);
        self.send(command);
    }

    /// Runs this script for the present number of instances, and if what it orders is right, issues
    /// rounds in that order from now on. The answer is the round, or why it is not right: then nothing
    /// changes. The channel is closed without an answer if the session has ended.
    pub fn set_own_round(
        &self,
        source: Arc<str>,
    ) -> Receiver<Result<Arc<OwnRound>, OwnRoundError>> {
        let (query, answer) = channel();
        self.send(Command::SetOwnRound(source, query));
        answer
    }

    /// Steps the lattices by this kernel of the user's own ([`Kernel::own`]) from now on, and keeps it beside
    /// the rungs, in place of another one. If it cannot step them, nothing changes, and a notice in the
    /// status says why.
    pub fn set_own_kernel(&self, kernel: &'static Kernel) {
        self.send(Command::SetOwnKernel(kernel));
    }

    /// Requests an instance's lattice and its generation, as of when every earlier request is done.
    /// `wake` is called once they can be received. The channel is closed without them if there is no
    /// such instance.
    pub fn copy(&self, instance: usize) -> Receiver<(Arc<Lattice>, u64)> {
        let (query, copy) = channel();
        self.send(Command::ReadCells(instance, query));
        copy
    }

    fn send(&self, command: Command) {
        let _ = self.commands.send(command); // if the thread has ended, its status says why
    }

    /// Sets which pictures are downloaded from now on.
    pub fn request_view(&self, request: PicturePlan) {
        self.send(Command::View(request));
    }
}

// Opening a session from a file and saving it there, also while its thread hangs in a call of the driver.

/// How long saving waits for the lattices: a long launch may come before their download.
const SAVE_TIMEOUT: Duration = Duration::from_secs(20);

impl Session {
    /// Replaces this session by a saved one, on the devices of this one. A session that has a file
    /// is saved there first; the saved one has no file of its own, so that nothing overwrites it
    /// unasked. If this session cannot be saved or has ended, or memory is lacking for the saved one,
    /// everything stays as it is, this session's file too; a notice says why. Once it is open, a
    /// notice says so with the `name` of its file.
    pub fn open(&self, saved: SavedSession, name: String) {
        let saver = self.any_saver();
        self.in_background("open", move || {
            let command = match saver.save() {
                Ok(_) => {
                    *saver.last_known.drafts.lock() = saved.drafts.clone();
                    Command::Replace(Box::new(saved), saver.file, name)
                }
                Err(why) => Command::Notify(Notice::Warning(why.message)),
            };
            let _ = saver.commands.send(command); // the session may have ended
        });
    }

    /// The texts in the editor, which are saved with the session.
    pub fn drafts(&self) -> Drafts {
        self.shared.last_known.drafts.lock().clone()
    }

    /// Notes what is in the editor now.
    pub fn set_drafts(&self, drafts: Drafts) {
        *self.shared.last_known.drafts.lock() = drafts;
    }

    /// Works on a thread of its own; where the system gives none, or the work panics, a notice says so.
    pub(crate) fn in_background(&self, name: &str, work: impl FnOnce() + Send + 'static) {
        let commands = self.commands.clone();
        let warn = move |why| drop(commands.send(Command::Notify(Notice::Warning(why))));
        let panicked = warn.clone();
        let body = move || match platform::catch_panic(work) {
            Ok(()) => {}
            Err(it) => panicked(message!("internal: {it}")),
        };
        let thread = std::thread::Builder::new().name(name.into());
        if let Err(error) = thread.spawn(body) {
            warn(message!("cannot start a thread: {error}"));
        }
    }

    /// Requests the session in a form that can be saved, as of a moment between two rounds. The
    /// channel closes without an answer if the session was opened from a file that was never
    /// restored.
    pub fn saved(&self) -> Receiver<SavedSession> {
        saved(&self.commands)
    }

    /// Saves the session in its file, if it has one, and waits until the file is written. Returns the
    /// file.
    ///
    /// # Errors
    /// It is not saved in its file, but it may be in another one.
    pub fn save_to_its_file(&self) -> Result<Option<PathBuf>, NotSaved> {
        self.any_saver().save()
    }

    /// A handle that saves the session from any thread; `None` if the session has no file.
    pub fn saver(&self) -> Option<Saver> {
        self.file.get().map(|_| self.any_saver())
    }

    fn any_saver(&self) -> Saver {
        Saver {
            commands: self.commands.clone(),
            last_known: self.shared.last_known.clone(),
            file: self.file.clone(),
        }
    }

    /// Saves the session in the background, in its file or else in a new one in the present folder,
    /// and shows a notice when it is saved.
    fn save_soon(&self) {
        let saver = self.any_saver();
        self.in_background("save", move || {
            let notice = match saver.write() {
                Ok(Some(path)) => {
                    Notice::Done(message!("the session is saved in {}", path.display()))
                }
                Ok(None) => return,
                Err(why) => Notice::Warning(why.message),
            };
            let _ = saver.commands.send(Command::Notify(notice)); // the session may have ended
        });
    }
}

/// Saves a session in its file while the session runs, even if its window hangs.
#[derive(Clone)]
pub struct Saver {
    commands: Sender<Command>,
    last_known: LastKnown,
    file: OwnFile,
}

impl Saver {
    /// Saves the session and waits until the file is written. Returns the file, or `None` once another
    /// session was opened in its place: then nothing is written.
    ///
    /// # Errors
    /// It is not saved in its file, but it may be in another one.
    pub fn save(&self) -> Result<Option<PathBuf>, NotSaved> {
        self.file.get().map_or(Ok(None), |_| self.write())
    }

    /// Saves the session in its file, or in a new one in the present folder if it has none, and waits
    /// until it is written. Returns `None`, and writes nothing, if another session was opened meanwhile:
    /// the file is not that one's.
    fn write(&self) -> Result<Option<PathBuf>, NotSaved> {
        let before = self.file.get();
        let path = || {
            let path = before.as_ref().map(|file| file.path.clone());
            path.unwrap_or(".".into())
        };
        let timeout = platform::timeout(SAVE_TIMEOUT);
        let saved = saved(&self.commands).recv_timeout(timeout);
        if before.is_some() && self.file.get().is_none() {
            return Ok(None);
        }
        let write = |session: SavedSession| {
            let drafts = self.last_known.drafts.lock().clone();
            let session = SavedSession { drafts, ..session };
            match &before {
                Some(file) => file.write(&session),
                None => {
                    let path = PathBuf::from(dated_stem()).with_extension("json");
                    Written::default().write_new(&session, &path)
                }
            }
        };
        let known = self.last_known.published.lock().clone();
        if let (Err(RecvTimeoutError::Timeout), Some(known)) = (&saved, known) {
            let generation = known.session.timeline.position.generation;
            let path = write(known.session)?;
            return Err(NotSaved {
                message: message!(
                    "the device did not finish its work within {timeout} s; the session is saved in {path} as it was {age} s ago, at generation {generation}",
                    timeout = timeout.as_secs(),
                    path = path.display(),
                    age = known.at.elapsed().as_secs(),
                    generation = grouped(generation)
                ),
                machine_lacks: true,
            });
        }
        let saved = saved.map_err(|error| {
            let why = match error {
                RecvTimeoutError::Timeout => message!(
                    "the device did not finish its work within {} s",
                    timeout.as_secs()
                ),
                RecvTimeoutError::Disconnected => {
                    message!("the session in the file was never restored; the file was not changed")
                }
            };
            NotSaved {
                message: message!("the session was not saved in {}: {why}", path().display()),
                machine_lacks: error == RecvTimeoutError::Timeout,
            }
        })?;
        write(saved).map(Some)
    }

    /// Leaves the file, so that another process can save there: this one ends.
    pub fn leave(&self) {
        self.file.leave();
    }
}

fn saved(commands: &Sender<Command>) -> Receiver<SavedSession> {
    let (query, saved) = channel();
    let _ = commands.send(Command::Save(query)); // if the thread has ended, the channel closes
    saved
}

#[cfg(test)]
mod tests;
