//! Opening a session from a file and saving it there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::command::{Command, Query};
use crate::last_known::LastKnown;
use crate::state::Notice;
use crate::{SavedSession, Session};
use directories::ProjectDirs;
use lang::{Message, message, tr};
use life::{KnownFile, SaveError, SaveLock, SaveTarget, check_writable};
use life::{dated_name, dated_stem, grouped, shown};

/// How long saving waits for the lattices: a long launch may come before their download.
const SAVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Where a session is saved, and what it continues.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// The file to save the session in, if any.
    pub(super) own: OwnFile,
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

/// A session that is not in its file: either it could not be saved, or it is saved in another file,
/// which the sentence then names.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct NotSaved {
    sentence: String,
    /// Whether the machine lacks something: room on the disk of its file, or a device that answers.
    pub machine_lacks: bool,
}

impl NotSaved {
    fn new(sentence: String) -> NotSaved {
        NotSaved {
            sentence,
            machine_lacks: false,
        }
    }

    /// The device has not finished its work within this time.
    fn no_answer(sentence: String) -> NotSaved {
        NotSaved {
            machine_lacks: true,
            ..NotSaved::new(sentence)
        }
    }
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
                Err(why) => Command::Notify(Notice::Warning(why.to_string().into())),
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
    /// It is not saved in its file, but it may be in another one.
    pub fn save_to_its_file(&self) -> Result<Option<PathBuf>, NotSaved> {
        self.saver().map_or(Ok(None), |saver| saver.save())
    }

    /// A handle that saves the session from any thread; `None` if the session has no file.
    pub fn saver(&self) -> Option<Saver> {
        self.file.get()?;
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
        self.in_background("save", move || {
            let notice = match save(&commands, &last_known, &file) {
                Ok(Some(path)) => {
                    Notice::Done(message!("the session is saved in {}", shown(&path)))
                }
                Ok(None) => return,
                Err(why) => Notice::Warning(why.to_string().into()),
            };
            let _ = commands.send(Command::Notify(notice)); // the session may have ended
        });
    }
}

/// The file that a session is saved in, if any, until another session is opened in its place.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnFile(Arc<Mutex<Option<Arc<FileInUse>>>>);

/// A file that is reserved for a session.
#[derive(Debug)]
struct FileInUse {
    path: PathBuf,
    written: Mutex<Written>,
    _lock: Option<SaveLock>,
}

/// Where a session was saved.
#[derive(Debug, Default)]
struct Written {
    /// State of the session's own file after its last read or write; `None` if it did not exist.
    own: Option<KnownFile>,
    /// The file that took its place when nothing could be saved in it.
    elsewhere: Option<(PathBuf, KnownFile)>,
}

impl OwnFile {
    fn get(&self) -> Option<Arc<FileInUse>> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.clone()
    }

    /// Another session was opened, which must not be written to this file; or the session ends.
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
    /// It is not saved in its file, but it may be in another one.
    pub fn save(&self) -> Result<Option<PathBuf>, NotSaved> {
        match self.file.get() {
            Some(_) => save(&self.commands, &self.last_known, &self.file),
            None => Ok(None),
        }
    }

    /// Leaves the file, so that another process can save there: this one ends.
    pub fn leave(&self) {
        self.file.leave();
    }
}

/// Saves the session in its file, or in a new one in the present folder if it has none, and waits
/// until it is written. Returns `None`, and writes nothing, if another session was opened meanwhile:
/// the file is not that one's.
fn save(
    commands: &Sender<Command>,
    last_known: &LastKnown,
    file: &OwnFile,
) -> Result<Option<PathBuf>, NotSaved> {
    let before = file.get();
    let failed = |why: &str| {
        let path = before.as_ref().map_or(Path::new("."), |file| &file.path);
        tr!(
            "the session was not saved in {}: {why}",
            shown(path),
            why = why
        )
    };
    let timeout = platform::timeout(SAVE_TIMEOUT);
    let saved = saved(commands).recv_timeout(timeout);
    if before.is_some() && file.get().is_none() {
        return Ok(None);
    }
    let write = |session: &SavedSession| match &before {
        Some(file) => file.write(session),
        None => {
            let path = PathBuf::from(dated_stem()).with_extension("json");
            Written::default().write_new(session, &path)
        }
    };
    if let (Err(RecvTimeoutError::Timeout), Some(known)) = (&saved, last_known.session()) {
        let path = write(&known.session)?;
        return Err(NotSaved::no_answer(tr!(
            "the device did not finish its work within {timeout} s; the session is saved in {path} as it was {age} s ago, at generation {generation}",
            timeout = timeout.as_secs(),
            path = shown(&path),
            age = known.at.elapsed().as_secs(),
            generation = grouped(known.session.timeline().position.generation)
        )));
    }
    let saved = saved.map_err(|why| match why {
        RecvTimeoutError::Timeout => NotSaved::no_answer(failed(&tr!(
            "the device did not finish its work within {} s",
            timeout.as_secs()
        ))),
        RecvTimeoutError::Disconnected => NotSaved::new(failed(tr!(
            "the session in the file was never restored; the file was not changed"
        ))),
    })?;
    write(&saved).map(Some)
}

impl FileInUse {
    /// Writes the session in this file, unless another program has changed that: then next to it.
    fn write(&self, saved: &SavedSession) -> Result<PathBuf, NotSaved> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let is_changed = fs::metadata(&self.path).is_ok_and(|now| {
            let own = written.own.as_ref();
            !own.is_some_and(|own| own.is_unchanged(&now))
        });
        let dated = self.path.with_file_name(dated_name(&self.path, "json"));
        if is_changed {
            let beside = written.write_new(saved, &dated)?;
            return Err(NotSaved::new(tr!(
                "{path} was changed by another program meanwhile and is kept; the session is saved in {beside} instead",
                path = shown(&self.path),
                beside = shown(beside)
            )));
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
    fn write_new(&mut self, saved: &SavedSession, path: &Path) -> Result<PathBuf, NotSaved> {
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
        let machine_lacks = error.disk_full;
        let written = ProjectDirs::from("", "", "lifestreams").map(|folders| {
            let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
            // Where it cannot be made, neither can the file, which says why.
            let _ = fs::create_dir_all(folder);
            self.write_elsewhere(saved, &folder.join(name))
        });
        let sentence = match written {
            None => error.to_string(),
            Some(Ok(elsewhere)) => tr!(
                "{error}; the session is saved in {elsewhere} instead",
                error = error,
                elsewhere = shown(elsewhere)
            ),
            Some(Err(second)) => tr!(
                "{error}; nor could it be saved in {path}: {reason}",
                error = error,
                path = second.path,
                reason = second.reason
            ),
        };
        NotSaved {
            sentence,
            machine_lacks,
        }
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

fn saved(commands: &Sender<Command>) -> Receiver<SavedSession> {
    let (query, saved) = Query::new();
    let _ = commands.send(Command::Save(query)); // if the thread has ended, the channel closes
    saved
}
