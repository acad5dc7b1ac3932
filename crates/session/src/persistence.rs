//! Opening a session from a file and saving it there.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::last_known::LastKnown;
use crate::state::Notice;
use crate::{Command, SavedSession, Session};
use lang::{Message, message, tr};
use life::{dated_path, grouped, shown};

/// How long saving waits for the lattices: a long launch may come before their download.
const SAVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Where a session is saved, and what it continues.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// The file to save the session in, if any.
    pub path: Option<PathBuf>,
    /// The saved session to continue; `None` for a new session.
    pub from: Option<SavedSession>,
}

impl Session {
    /// Replaces this session by a saved one, on the devices of this one. A session that has a file
    /// is saved there first; the saved one has no file of its own, so that nothing overwrites it
    /// unasked. If this session cannot be saved or has ended, or memory is lacking for the saved one,
    /// everything stays as it is, this session's file too; a notice says why. `what` is the notice
    /// once it is open.
    pub fn open(&self, saved: SavedSession, what: Message) {
        let (commands, file) = (self.commands.clone(), self.file.clone());
        let saver = self.saver();
        self.in_background("open", move || {
            let command = match saver.map_or(Ok(None), |saver| saver.save()) {
                Ok(_) => Command::Replace(Box::new(saved), file, what),
                Err(why) => Command::Notify(Notice::Warning(why.into())),
            };
            let _ = commands.send(command); // the session may have ended
        });
    }

    /// Works on a thread of its own; where the system gives none, a notice says so.
    fn in_background(&self, name: &str, work: impl FnOnce() + Send + 'static) {
        let thread = std::thread::Builder::new().name(name.into());
        if let Err(error) = thread.spawn(work) {
            let why = message!("cannot start a thread: {error}", error = error);
            let _ = self.commands.send(Command::Notify(Notice::Warning(why)));
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
    /// A sentence for the user that says why it was not saved.
    pub fn save_to_its_file(&self) -> Result<Option<PathBuf>, String> {
        self.saver().map_or(Ok(None), |saver| saver.save())
    }

    /// A handle that saves the session from any thread; `None` if the session has no file.
    pub fn saver(&self) -> Option<Saver> {
        self.file.path()?;
        Some(Saver {
            commands: self.commands.clone(),
            last_known: self.shared.last_known.clone(),
            file: self.file.clone(),
        })
    }

    /// Saves the session in the background, in its file or else in a new one in the present folder,
    /// and shows a notice when it is saved.
    pub(super) fn save_soon(&self) {
        let (commands, file) = (self.commands.clone(), self.file.clone());
        let last_known = self.shared.last_known.clone();
        let path = file.path().unwrap_or_else(|| {
            let path = dated_path(Path::new("."), "json");
            std::path::absolute(&path).unwrap_or(path) // nobody named it: where it is must be said
        });
        self.in_background("save", move || {
            let notice = match save(&commands, &last_known, &file, &path) {
                Ok(true) => Notice::Done(message!("the session is saved in {}", shown(&path))),
                Ok(false) => return,
                Err(why) => Notice::Warning(why.into()),
            };
            let _ = commands.send(Command::Notify(notice)); // the session may have ended
        });
    }
}

/// The file that a session is saved in, if any, until another session is opened in its place.
#[derive(Clone, Default)]
pub(super) struct OwnFile(Arc<Mutex<Option<PathBuf>>>);

impl OwnFile {
    pub(super) fn new(path: Option<PathBuf>) -> OwnFile {
        OwnFile(Arc::new(Mutex::new(path)))
    }

    fn path(&self) -> Option<PathBuf> {
        let path = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        path.clone()
    }

    /// Another session was opened: it must not be written to this file.
    pub(super) fn leave(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
    /// A sentence for the user that says why it was not saved.
    pub fn save(&self) -> Result<Option<PathBuf>, String> {
        let Some(path) = self.file.path() else {
            return Ok(None);
        };
        let is_written = save(&self.commands, &self.last_known, &self.file, &path)?;
        Ok(is_written.then_some(path))
    }
}

/// Saves the session at this path and waits until it is written. Returns `false`, and writes nothing,
/// if another session was opened meanwhile: the file is not that one's.
fn save(
    commands: &Sender<Command>,
    last_known: &LastKnown,
    file: &OwnFile,
    path: &Path,
) -> Result<bool, String> {
    let before = file.path();
    let failed = |why: &str| {
        tr!(
            "the session was not saved in {}: {why}",
            shown(path),
            why = why
        )
    };
    let timeout = platform::timeout(SAVE_TIMEOUT);
    let saved = saved(commands).recv_timeout(timeout);
    if let (Err(RecvTimeoutError::Timeout), Some(known)) = (&saved, last_known.session()) {
        known
            .session
            .save(path)
            .map_err(|error| error.to_string())?;
        return Err(tr!(
            "the device did not finish its work within {timeout} s; the session is saved in {path} as it was {age} s ago, at generation {generation}",
            timeout = timeout.as_secs(),
            path = shown(path),
            age = known.at.elapsed().as_secs(),
            generation = grouped(known.session.timeline().position.generation)
        ));
    }
    let saved = saved.map_err(|why| match why {
        RecvTimeoutError::Timeout => failed(&tr!(
            "the device did not finish its work within {} s",
            timeout.as_secs()
        )),
        RecvTimeoutError::Disconnected => failed(tr!(
            "the session in the file was never restored; the file was not changed"
        )),
    })?;
    if file.path() != before {
        return Ok(false);
    }
    let written = saved.save(path).map_err(|error| error.to_string());
    written.map(|()| true)
}

fn saved(commands: &Sender<Command>) -> Receiver<SavedSession> {
    let (answer, saved) = channel();
    let _ = commands.send(Command::Save(answer)); // if the thread has ended, the channel closes
    saved
}
