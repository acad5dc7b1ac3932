//! Opening a session from a file and saving it there, also while its thread hangs in a call of the driver.

use crate::command::{Command, Notice, Query};
use crate::saved::{Drafts, NotSaved, OwnFile, SavedSession, Written};
use crate::{Session, internal, lock};
use lang::message;
use life::{dated_stem, grouped};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long saving waits for the lattices: a long launch may come before their download.
const SAVE_TIMEOUT: Duration = Duration::from_secs(20);

impl Session {
    /// Replaces this session by a saved one, on the devices of this one. A session that has a file
    /// is saved there first; the saved one has no file of its own, so that nothing overwrites it
    /// unasked. If this session cannot be saved or has ended, or memory is lacking for the saved one,
    /// everything stays as it is, this session's file too; a notice says why. Once it is open, a
    /// notice says so with the `name` of its file.
    pub fn open(&self, saved: SavedSession, name: String) {
        let (commands, file) = (self.commands.clone(), self.file.clone());
        let (saver, last_known) = (self.saver(), self.shared.last_known.clone());
        self.in_background("open", move || {
            let command = match saver.map_or(Ok(None), |saver| saver.save()) {
                Ok(_) => {
                    last_known.set_drafts(saved.drafts.clone());
                    Command::Replace(Box::new(saved), file, name)
                }
                Err(why) => Command::Notify(Notice::Warning(why.message)),
            };
            let _ = commands.send(command); // the session may have ended
        });
    }

    /// The texts in the editor, which are saved with the session.
    pub fn drafts(&self) -> Drafts {
        self.shared.last_known.drafts()
    }

    /// Notes what is in the editor now.
    pub fn set_drafts(&self, drafts: Drafts) {
        self.shared.last_known.set_drafts(drafts);
    }

    /// Works on a thread of its own; where the system gives none, or the work panics, a notice says so.
    pub(crate) fn in_background(&self, name: &str, work: impl FnOnce() + Send + 'static) {
        let commands = self.commands.clone();
        let warn = move |why| drop(commands.send(Command::Notify(Notice::Warning(why))));
        let panicked = warn.clone();
        let body = move || match platform::catch_panic(work) {
            Ok(()) => {}
            Err(why) => panicked(internal(why)),
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
        self.saver().map_or(Ok(None), |saver| saver.save())
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
    pub(super) fn save_soon(&self) {
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
            let drafts = self.last_known.drafts();
            let session = SavedSession { drafts, ..session };
            match &before {
                Some(file) => file.write(&session),
                None => {
                    let path = PathBuf::from(dated_stem()).with_extension("json");
                    Written::default().write_new(&session, &path)
                }
            }
        };
        if let (Err(RecvTimeoutError::Timeout), Some(known)) = (&saved, self.last_known.session()) {
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
    let (query, saved) = Query::new();
    let _ = commands.send(Command::Save(query)); // if the thread has ended, the channel closes
    saved
}

// The session as other threads know it, for saving it while its own thread hangs in a call of the
// driver.
// The worker publishes its log and position with the newest copy of the lattices. Whoever loads the file
// steps from the copy to the position, so that only what came after the publication is missing.

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
