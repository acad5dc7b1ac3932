//! Atomic file writes: a file is written whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lang::{Message, message, tr};
use tempfile::NamedTempFile;

use super::locked::{SaveLock, create_locked, is_at, remove_abandoned};
use super::words::without_number;

/// A file that another thread is still writing, such as a recording.
pub trait PendingFile: Send + Sync {
    /// Whether writing has ended, successfully or not.
    fn is_over(&self) -> bool;
    /// Accepts no more data and waits until the file is complete, at most `limit`.
    ///
    /// # Errors
    /// A sentence for the user that says what is lost and why.
    fn finish(&self, limit: Duration) -> Result<(), String>;
}

/// A file that could not be saved. An existing file is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", tr!("cannot save {path}: {reason}", path = .path.display(), reason = .reason))]
pub struct SaveError {
    /// The file's path.
    pub path: PathBuf,
    /// Why.
    pub reason: Message,
    /// Whether the disk is full, so that another name would not help.
    pub is_disk_full: bool,
}

impl SaveError {
    /// An error for a file or folder that could not be created.
    pub fn new(path: &Path, error: &io::Error) -> SaveError {
        let folder = path.parent().map_or(path, |_| folder_of(path));
        SaveError::in_folder(path, folder, error)
    }

    fn in_folder(path: &Path, in_folder: &Path, error: &io::Error) -> SaveError {
        let folder = in_folder.display();
        let is_disk_full = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        );
        let reason = match error.kind() {
            _ if is_disk_full => {
                message!("the disk of {folder} is full; free some space or choose another folder")
            }
            io::ErrorKind::NotFound if in_folder.exists() => {
                message!("no file can be made in the folder {folder}; choose another")
            }
            io::ErrorKind::NotFound => message!("there is no folder {folder}; create it first"),
            io::ErrorKind::NotADirectory => {
                message!("{folder} is not a folder; choose another")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                message!("you may not write to the folder {folder}; choose another")
            }
            io::ErrorKind::AlreadyExists => {
                message!("it is a file, not a folder; choose another")
            }
            // In the words of the system or of whoever wrote the file.
            _ => {
                let error = error.to_string();
                let error = without_number(&error);
                message!("{error}; choose another folder, or try again")
            }
        };
        SaveError {
            is_disk_full,
            ..SaveError::of(path, reason)
        }
    }

    fn of(path: &Path, reason: Message) -> SaveError {
        SaveError {
            path: path.to_owned(),
            reason,
            is_disk_full: false,
        }
    }
}

/// Writes a temporary file next to the target and renames it once it is complete and synced:
/// readers see the old file or the new one, never a part. A replaced file's permissions are kept.
///
/// `write` gets a buffered writer. Links are followed, also to a file that does not exist yet.
///
/// # Errors
/// If the folder is missing or not writable, the disk is full, `write` fails, or the name is not
/// that of a regular file with one name. The temporary file is removed.
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), SaveError> {
    SaveTarget::find(path.as_ref())?.write(write).map(drop)
}

/// Checks that [`write_atomically`] could write there now; leaves everything as it is.
///
/// # Errors
/// As [`write_atomically`].
pub fn check_writable(path: impl AsRef<Path>) -> Result<(), SaveError> {
    let target = SaveTarget::find(path.as_ref())?;
    let made = target.create_partial(); // removed immediately by its drop
    made.map(|_| ()).map_err(|error| target.failed(&error))
}

/// Number of processes that may write the same name at once, and be killed, without anything being
/// left behind.
const MAX_WRITERS: u32 = 8;

/// A file to save: the one that a name refers to, or a new one.
#[derive(Debug)]
pub struct SaveTarget {
    /// The name as given.
    named: PathBuf,
    /// The path after following links.
    path: PathBuf,
    replaced: Option<fs::Metadata>,
    /// Whether a file that is there stays, and this one gets a number behind its name.
    is_beside: bool,
}

impl SaveTarget {
    /// Follows links to the file to write, which must not exist or be a writable regular file: a
    /// rename would silently replace even a device, and separate hard links.
    ///
    /// # Errors
    /// If it is something else, or a cycle of links.
    pub fn find(named: &Path) -> Result<SaveTarget, SaveError> {
        let found = behind_links(named).and_then(|path| {
            let replaced = check_target(&path)?;
            Ok((path, replaced))
        });
        let (path, replaced) = found.map_err(|reason| SaveError::of(named, reason))?;
        Ok(SaveTarget {
            named: named.to_owned(),
            path,
            replaced,
            is_beside: false,
        })
    }

    /// A new file with a date in its name: no file is replaced, but a number comes behind the name
    /// if it is taken.
    pub fn beside(path: PathBuf) -> SaveTarget {
        SaveTarget {
            named: path.clone(),
            path,
            replaced: None,
            is_beside: true,
        }
    }

    fn folder(&self) -> &Path {
        folder_of(&self.path)
    }

    /// A hidden file next to the target, the same for every process that saves there.
    fn hidden(&self, ending: &str) -> PathBuf {
        // Names with dates differ each time; those with the same extension share their files.
        let name = if self.is_beside {
            self.path.extension()
        } else {
            self.path.file_name()
        };
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        // The name itself may be as long as names can be.
        let name = format!(".lifestreams-{:016x}{ending}", hasher.finish());
        self.folder().join(name)
    }

    fn failed(&self, error: &io::Error) -> SaveError {
        SaveError::in_folder(&self.named, self.folder(), error)
    }

    /// Reserves the file for this process: others that ask for it are refused. `None` if no lock can
    /// be made there.
    ///
    /// # Errors
    /// The process that has reserved it is named.
    pub fn lock(&self) -> Result<Option<SaveLock>, SaveError> {
        SaveLock::acquire(self.hidden(".lock")).map_err(|id| {
            let reason = message!(
                "process {id} is using it; end that process first, or choose another name",
                id = id.trim()
            );
            SaveError::of(&self.named, reason)
        })
    }

    /// Creates an empty temporary file next to the target, with the permissions of the file that it
    /// will replace. It is removed when dropped, unless it is persisted. Those that killed processes
    /// have left behind are removed first.
    ///
    /// # Errors
    /// The system's error.
    pub fn create_partial(&self) -> io::Result<NamedTempFile> {
        let partial = self.create_first_free_partial()?;
        if let Some(replaced) = &self.replaced {
            let file = partial.as_file();
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt as _, fchown};
                // Only root may change owners; for other users this has no effect.
                let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
            }
            // Restores bits that the umask removed, after the change of owner, which clears some.
            file.set_permissions(replaced.permissions())?;
        }
        Ok(partial)
    }

    fn create_first_free_partial(&self) -> io::Result<NamedTempFile> {
        // Opened here, since `tempfile` would give access to this user only.
        let create = |path: &Path| {
            let mut options = OpenOptions::new();
            #[cfg(unix)]
            if let Some(replaced) = &self.replaced {
                use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
                // From creation on, so that no other user can read it meanwhile.
                options.mode(replaced.permissions().mode() & 0o777);
            }
            options.write(true).create_new(true).open(path)
        };
        let numbered = |number: u32| self.hidden(&format!("-{number}.partial"));
        let mut number = 1;
        loop {
            let path = numbered(number);
            number += 1;
            match create_locked(&path, create) {
                // Another process is writing it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok((file, _)) => {
                    for other in number..number + MAX_WRITERS {
                        remove_abandoned(&numbered(other));
                    }
                    let path = tempfile::TempPath::try_from_path(path)?;
                    return Ok(NamedTempFile::from_parts(file, path));
                }
            }
        }
    }

    /// Gives a complete temporary file its name. Returns the name and the file.
    ///
    /// # Errors
    /// The system's error. The temporary file is removed.
    pub fn persist(&self, mut partial: NamedTempFile) -> io::Result<(PathBuf, File)> {
        partial.as_file().sync_all()?;
        if !is_at(partial.as_file(), partial.path()) {
            // The folder was removed; one that was made anew may have another process's file.
            partial.disable_cleanup(true);
            return Err(io::ErrorKind::NotFound.into());
        }
        let (path, file) = if self.is_beside {
            self.persist_beside(partial)?
        } else {
            (self.named.clone(), partial.persist(&self.path)?)
        };
        // Makes the rename durable. Not every system supports this.
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
        Ok((path, file))
    }

    fn persist_beside(&self, mut partial: NamedTempFile) -> io::Result<(PathBuf, File)> {
        let part = |part: Option<&OsStr>| part.unwrap_or_default().display().to_string();
        let (stem, ending) = (part(self.path.file_stem()), part(self.path.extension()));
        let mut path = self.path.clone();
        let mut number = 2;
        loop {
            match partial.persist_noclobber(&path) {
                Ok(file) => return Ok((path, file)),
                Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => {
                    path = self
                        .path
                        .with_file_name(format!("{stem}-{number}.{ending}"));
                    number += 1;
                    partial = taken.file;
                }
                Err(error) => return Err(error.error),
            }
        }
    }

    /// Writes the file as [`write_atomically`] does. Returns its name and the file.
    ///
    /// # Errors
    /// As [`write_atomically`].
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(PathBuf, File), SaveError> {
        let written = self.create_partial().and_then(|mut partial| {
            let mut buffered = BufWriter::new(partial.as_file_mut());
            write(&mut buffered)?;
            buffered.flush()?;
            drop(buffered);
            self.persist(partial)
        });
        written.map_err(|error| self.failed(&error))
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Maximum links to follow, as on Linux; more are a cycle.
const MAX_LINKS: usize = 40;

/// Follows links to a file, which need not exist.
fn behind_links(named: &Path) -> Result<PathBuf, Message> {
    let mut path = named.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            // Relative links start at the link's own folder.
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path), // not a link
        }
    }
    Err(message!(
        "it is a link that leads back to itself; name a regular file"
    ))
}

/// The metadata of an existing regular file; `None` if there is none. Errors if the name cannot be
/// a file's.
fn check_target(path: &Path) -> Result<Option<fs::Metadata>, Message> {
    if path.file_name().is_none() {
        return Err(message!("this names no file; add a file's name"));
    }
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
            return Err(message!("its name is too long; choose a shorter one"));
        }
        Err(_) => return Ok(None),
    };
    if about.is_dir() {
        Err(message!("it is a folder; name a file in it"))
    } else if !about.is_file() {
        Err(message!("it is a pipe or a device; name a regular file"))
    } else if about.permissions().readonly() {
        Err(message!(
            "it is read-only; make it writable (chmod u+w), or choose another name"
        ))
    } else if hard_links(&about) > 1 {
        Err(message!(
            "it is one of {} hard links to a file, and saving would separate it from the others; choose another name, or copy it (cp) and save in the copy",
            hard_links(&about)
        ))
    } else {
        Ok(Some(about))
    }
}

/// Number of names that a file has.
#[cfg(unix)]
fn hard_links(about: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(about)
}

/// Number of names that a file has, as far as that is known.
#[cfg(not(unix))]
fn hard_links(_about: &fs::Metadata) -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;

    /// The names of a folder's files, sorted.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    fn write_new(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"new")
    }

    #[test]
    fn a_failure_midway_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000.rle");
        fs::write(&path, "old").unwrap();
        let error = write_atomically(&path, |out| {
            out.write_all(&[b'n'; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let error = error.unwrap_err();
        assert!(error.is_disk_full);
        let said = format!(
            "cannot save {}: the disk of {} is full; free some space or choose another folder",
            path.display(),
            folder.path().display()
        );
        assert_eq!((error.to_string(), error.path), (said, path.clone()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["000.rle"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_must_not_be_written_is_refused_and_stays_as_it_is() {
        use std::os::unix::fs::symlink;
        let (folder, at) = folder();
        let no_folder =
            |name| format!("there is no folder {}; create it first", at(name).display());
        for name in ["one", "read-only", "file"] {
            fs::write(at(name), "old").unwrap();
        }
        fs::hard_link(at("one"), at("two")).unwrap();
        symlink("two", at("link")).unwrap();
        symlink("nowhere/file", at("broken")).unwrap();
        symlink("circle", at("circle")).unwrap();
        let mut permissions = fs::metadata(at("read-only")).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(at("read-only"), permissions).unwrap();
        let before = names(folder.path());
        for (path, why) in [
            (at(""), "it is a folder; name a file in it"),
            (at("missing/a.rle"), &no_folder("missing")),
            (
                "/dev/null".into(),
                "it is a pipe or a device; name a regular file",
            ),
            ("".into(), "this names no file; add a file's name"),
            (
                at("file/a.rle"),
                &format!("{} is not a folder; choose another", at("file").display()),
            ),
            (at("read-only"), "it is read-only;"),
            (at("one"), "it is one of 2 hard links to a file,"),
            (at("link"), "it is one of 2 hard links to a file,"),
            (at("broken"), &no_folder("nowhere")),
            (at("circle"), "it is a link that leads back to itself;"),
            (at(&"n".repeat(256)), "its name is too long;"),
        ] {
            let written = write_atomically(&path, |_| panic!("nothing should be written"));
            for refused in [written, check_writable(&path)] {
                let error = refused.unwrap_err();
                assert!(error.reason.starts_with(why), "{error}");
                assert_eq!(error.path, path);
            }
        }
        assert_eq!(names(folder.path()), before);
        assert_eq!(fs::read_to_string(at("read-only")).unwrap(), "old");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_also_to_a_file_that_is_still_to_be_made() {
        use std::os::unix::fs::symlink;
        let (folder, at) = folder();
        let file = &"n".repeat(255);
        fs::create_dir(at("deeper")).unwrap();
        symlink("deeper/second", at("first")).unwrap();
        symlink(format!("../{file}"), at("deeper/second")).unwrap();
        check_writable(at("first")).unwrap();
        assert_eq!(names(folder.path()), ["deeper", "first"], "without a trace");
        write_atomically(at("first"), write_new).unwrap();
        assert!(at("first").is_symlink() && at("deeper/second").is_symlink());
        assert_eq!(fs::read_to_string(at(file)).unwrap(), "new");
        check_writable(at(file)).unwrap();
        assert_eq!(fs::read_to_string(at(file)).unwrap(), "new");
        assert_eq!(names(folder.path()), ["deeper", "first", file]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_hands_its_permissions_on() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for kept in [0o600, 0o640, 0o666] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            let written = write_atomically(&path, |out| {
                // The hidden one comes first.
                assert_eq!(mode(&folder.path().join(&names(folder.path())[0])), kept);
                write_new(out)
            });
            written.unwrap();
            assert_eq!(mode(&path), kept);
        }
    }

    /// However many processes have written a name, and however they have ended, the next one removes
    /// what the ended ones have left, and nothing else.
    #[cfg(unix)]
    #[test]
    fn partial_files_that_nobody_writes_any_more_are_removed_at_the_next_save() {
        let folder = tempfile::tempdir().unwrap();
        let target = |name: &str| SaveTarget::find(&folder.path().join(name)).unwrap();
        let hidden = || {
            let names = names(folder.path()).into_iter();
            names.filter(|name| name.ends_with(".partial")).count()
        };
        let others = target("another").create_partial().unwrap();
        for alive in 0..1 << 4 {
            let writers = [(); 4].map(|()| target("file").create_partial().unwrap());
            assert_eq!(hidden(), 5, "each writer has a file of its own");
            let mut living = Vec::new();
            for (index, mut writer) in writers.into_iter().enumerate() {
                if alive >> index & 1 == 1 {
                    living.push(writer);
                } else {
                    writer.disable_cleanup(true); // it was killed
                }
            }
            check_writable(folder.path().join("file")).unwrap();
            target("file").write(write_new).unwrap();
            assert_eq!(hidden(), 1 + living.len());
            for living in living {
                target("file").persist(living).unwrap(); // nobody has removed it
            }
        }
        target("another").persist(others).unwrap();
        assert_eq!(hidden(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_partial_file_is_not_taken_for_another_process_s() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        let create = || {
            fs::create_dir_all(&inner).unwrap();
            let target = SaveTarget::find(&inner.join("file")).unwrap();
            (target.create_partial().unwrap(), target)
        };
        let (first, _) = create();
        fs::remove_dir_all(&inner).unwrap();
        let (second, target) = create();
        assert_eq!(first.path(), second.path());
        assert!(target.persist(first).is_err());
        target.persist(second).unwrap();
        assert_eq!(names(&inner), ["file"]);
    }

    #[test]
    fn a_file_beside_others_gets_a_number() {
        let (folder, at) = folder();
        for name in ["a.json", "a-2.json", "a-3.json"] {
            let target = SaveTarget::beside(at("a.json"));
            let (path, _) = target.write(|out| out.write_all(name.as_bytes())).unwrap();
            assert_eq!(path, at(name));
        }
        assert_eq!(fs::read_to_string(at("a.json")).unwrap(), "a.json");
        assert_eq!(names(folder.path()), ["a-2.json", "a-3.json", "a.json"]);
    }
}
