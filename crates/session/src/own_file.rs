//! The file of a session: how it is written, and where else if that is impossible.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Display, Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::lock;
use crate::saved::SavedSession;
use directories::ProjectDirs;
use lang::{Message, message};
use life::{KnownFile, SaveError, SaveLock, SaveTarget, check_writable};
use life::{dated_name, shown};

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
