//! Opening a session from a file and saving it there.

use crate::command::{Command, Notice, Query};
use crate::last_known::LastKnown;
use crate::saved::SavedSession;
use crate::state::internal;
use crate::{Drafts, Session, lock};
use directories::ProjectDirs;
use lang::{Message, message};
use life::{
    KnownFile, SaveError, SaveLock, SaveTarget, check_writable, dated_name, dated_stem, grouped,
    shown,
};
use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::path::{Display, Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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

// The file of a session: how it is written, and where else if that is impossible.

/// A session that is not in its file: either it could not be saved, or it is saved in another file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct NotSaved {
    /// The sentence.
    pub message: Message,
    /// Whether the machine lacks something: room on the disk of its file, or a device that answers.
    pub machine_lacks: bool,
}

impl NotSaved {
    /// What could not be written for this reason. `told` says in which other file it is, if there is a
    /// folder for that; it may not have been written there either.
    pub fn elsewhere(
        error: &SaveError,
        written: Option<Result<PathBuf, SaveError>>,
        told: impl FnOnce(Display) -> Message,
    ) -> NotSaved {
        NotSaved {
            message: match written {
                None => Message::of(error),
                Some(Ok(path)) => told(path.display()),
                Some(Err(second)) => message!(
                    "{error}; nor could it be saved in {path}: {reason}",
                    path = second.path.display(),
                    reason = second.reason
                ),
            },
            machine_lacks: error.is_disk_full,
        }
    }
}

/// The folder for this program's state, in which what cannot be saved where it should is saved.
pub fn state_folder() -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "lifestreams")?;
    let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
    // Where it cannot be made, neither can a file in it, which says why.
    let _ = fs::create_dir_all(folder);
    Some(folder.to_owned())
}

/// Where a session is saved, and what it continues.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// The file to save the session in, if any.
    pub(crate) own: OwnFile,
    /// The saved session to continue; `None` for a new session.
    pub from: Option<SavedSession>,
}

impl SessionFile {
    /// Reserves this file for a new session, until the session ends or leaves the file. The file is
    /// taken as it is now: a change by another program after this call is noticed.
    ///
    /// # Errors
    /// Nothing can be saved there, or another process has reserved it.
    pub fn reserve(path: &Path) -> Result<SessionFile, SaveError> {
        check_writable(path)?;
        let lock = SaveTarget::find(path)?.lock()?;
        if lock.is_none() {
            tracing::warn!(
                "no lock can be made next to {}: another process that saves there is not noticed",
                shown(path)
            );
        }
        let file = FileInUse {
            path: path.to_owned(),
            written: Mutex::new(Written {
                own: File::open(path).and_then(KnownFile::new).ok(),
                elsewhere: None,
            }),
            _lock: lock,
        };
        Ok(SessionFile {
            own: OwnFile(Arc::new(Mutex::new(Some(Arc::new(file))))),
            from: None,
        })
    }

    /// The file to save the session in, if any.
    pub fn path(&self) -> Option<PathBuf> {
        Some(self.own.get()?.path.clone())
    }
}

/// The file that a session is saved in, if any, until another session is opened in its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnFile(Arc<Mutex<Option<Arc<FileInUse>>>>);

/// A file that is reserved for a session.
#[derive(Debug)]
pub(crate) struct FileInUse {
    pub(crate) path: PathBuf,
    written: Mutex<Written>,
    _lock: Option<SaveLock>,
}

/// Where a session was saved.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// State of the session's own file after its last read or write; `None` if it did not exist.
    own: Option<KnownFile>,
    /// The file that took its place when nothing could be saved in it.
    elsewhere: Option<(PathBuf, KnownFile)>,
}

impl OwnFile {
    pub(crate) fn get(&self) -> Option<Arc<FileInUse>> {
        lock(&self.0).clone()
    }

    /// Another session was opened, which must not be written to this file; or the session ends.
    pub(crate) fn leave(&self) {
        *lock(&self.0) = None;
    }
}

impl FileInUse {
    /// Writes the session in this file, unless another program has changed that: then next to it.
    pub(crate) fn write(&self, saved: &SavedSession) -> Result<PathBuf, NotSaved> {
        let mut written = lock(&self.written);
        let is_changed = fs::metadata(&self.path).is_ok_and(|now| {
            let own = written.own.as_ref();
            !own.is_some_and(|own| own.is_unchanged(&now))
        });
        let dated = self.path.with_file_name(dated_name(&self.path, "json"));
        // What another program wrote is kept, whatever is to be written.
        let fault = if is_changed {
            None
        } else {
            saved.check().err()
        };
        if is_changed || fault.is_some() {
            let beside = written.write_new(saved, &dated)?;
            let (path, beside) = (self.path.display(), beside.display());
            let message = match fault {
                None => message!(
                    "{path} was changed by another program meanwhile and is kept; the session is saved in {beside} instead"
                ),
                Some(why) => message!(
                    "{path} was not changed, because this session could not be opened from it again: {why}; it is saved in {beside} instead, please report it"
                ),
            };
            return Err(NotSaved {
                message,
                machine_lacks: false,
            });
        }
        let target = SaveTarget::find(&self.path);
        match target.and_then(|target| saved.write_to(&target)) {
            Ok((path, file)) => {
                written.own = KnownFile::new(file).ok();
                Ok(path)
            }
            Err(error) => {
                let name = dated.file_name().unwrap_or_default();
                Err(written.write_in_state_folder(saved, name, error))
            }
        }
    }
}

impl Written {
    /// Writes the session in a new file with a date in its name. Returns the file's path.
    pub(crate) fn write_new(
        &mut self,
        saved: &SavedSession,
        path: &Path,
    ) -> Result<PathBuf, NotSaved> {
        // Nobody named it, so where it is must be said.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.write_elsewhere(saved, &path).map_err(|error| {
            let name = path.file_name().unwrap_or_default();
            self.write_in_state_folder(saved, name, error)
        })
    }

    /// Writes a session that could not be saved where it should be in the folder for this program's
    /// state, under a name with a date. Returns what to say.
    fn write_in_state_folder(
        &mut self,
        saved: &SavedSession,
        name: &OsStr,
        error: SaveError,
    ) -> NotSaved {
        let written = state_folder().map(|folder| self.write_elsewhere(saved, &folder.join(name)));
        NotSaved::elsewhere(&error, written, |elsewhere| {
            message!("{error}; the session is saved in {elsewhere} instead")
        })
    }

    /// Writes the session in a new file, or again in the one that it was last saved in instead of
    /// its own. Returns the file's path.
    fn write_elsewhere(&mut self, saved: &SavedSession, new: &Path) -> Result<PathBuf, SaveError> {
        let again = self
            .elsewhere
            .take()
            .filter(|(path, known)| fs::metadata(path).is_ok_and(|now| known.is_unchanged(&now)));
        let target = match again {
            Some((path, _)) => SaveTarget::find(&path)?,
            None => SaveTarget::beside(new.to_owned()),
        };
        let (path, file) = saved.write_to(&target)?;
        self.elsewhere = KnownFile::new(file).ok().map(|known| (path.clone(), known));
        Ok(path)
    }
}
