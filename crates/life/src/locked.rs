//! Files that are locked as long as the process that created them lives. The system releases a lock
//! however a process ends, so a file without one was left behind by a killed process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Creates a file and locks it until it is closed; a file of this name that a killed process left
/// behind is removed first. Also returns whether it is locked: not every file system has locks.
///
/// # Errors
/// `AlreadyExists` if the process that created such a file may be alive; otherwise as `create`.
pub(super) fn create_locked(
    path: &Path,
    create: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<(File, bool)> {
    loop {
        remove_abandoned(path);
        let file = create(path)?;
        let locked = try_lock(&file);
        // Before it was locked, another process may have taken it for abandoned: that one has locked
        // it or removed it.
        if !matches!(locked, Err(TryLockError::WouldBlock)) && is_at(&file, path) {
            return Ok((file, locked.is_ok()));
        }
    }
}

/// Removes a file of [`create_locked`] that a killed process left behind. Returns whether it did.
pub(super) fn remove_abandoned(path: &Path) -> bool {
    let Some(file) = open(path) else { return false };
    // While it is locked, the path leads to no other file.
    try_lock(&file).is_ok() && is_at(&file, path) && fs::remove_file(path).is_ok()
}

/// Opens an existing regular file, for writing if possible: some network file systems lock no other.
fn open(path: &Path) -> Option<File> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    let for_writing = || OpenOptions::new().read(true).write(true).open(path);
    is_file.then(|| for_writing().or_else(|_| File::open(path)).ok())?
}

/// Only on Unix: elsewhere a lock keeps others from writing to the file.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    if cfg!(unix) {
        file.try_lock()
    } else {
        Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
    }
}

/// Whether the path leads to this open file, and through no link.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => is_same(&open, &there),
        _ => false,
    }
}

/// Whether both are of the same file.
#[cfg(unix)]
pub(super) fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether both may be of the same file.
#[cfg(not(unix))]
pub(super) fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    one.is_file() && other.is_file()
}

/// The right to save in a file: another process that wants it learns of this one. It ends with this
/// value, or with the process.
#[derive(Debug)]
pub struct SaveLock {
    file: File,
    path: PathBuf,
}

impl SaveLock {
    /// `None` if no lock can be made there.
    ///
    /// # Errors
    /// The id of the process that has it.
    pub(super) fn acquire(path: PathBuf) -> Result<Option<SaveLock>, String> {
        let create = |path: &Path| {
            let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
            // Before it is locked, so that whoever finds it locked can read it.
            match write!(file, "{}", std::process::id()) {
                Ok(()) => Ok(file),
                Err(error) => fs::remove_file(path).and(Err(error)),
            }
        };
        match create_locked(&path, create) {
            Ok((file, is_locked)) => {
                let lock = SaveLock { file, path };
                Ok(is_locked.then_some(lock))
            }
            Err(_) => holder(&path).map_or(Ok(None), Err),
        }
    }
}

/// The id of the process that has locked this file.
fn holder(path: &Path) -> Option<String> {
    let mut file = open(path)?;
    let is_held = matches!(try_lock(&file), Err(TryLockError::WouldBlock));
    let mut id = String::new();
    (is_held && file.read_to_string(&mut id).is_ok()).then_some(id)
}

impl Drop for SaveLock {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path); // a folder that has become read-only keeps it
        }
    }
}

/// A file as it was when it was read or written last, to notice that another program has changed or
/// replaced it since.
#[derive(Debug)]
pub struct KnownFile {
    metadata: fs::Metadata,
    /// Kept open: some file systems number files, and round their times, anew when they are opened.
    _open: File,
}

impl KnownFile {
    /// The file as it is now.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(file: File) -> io::Result<KnownFile> {
        Ok(KnownFile {
            metadata: file.metadata()?,
            _open: file,
        })
    }

    /// Whether a file's metadata is as it was.
    pub fn is_unchanged(&self, now: &fs::Metadata) -> bool {
        let written = |metadata: &fs::Metadata| (metadata.len(), metadata.modified().ok());
        is_same(&self.metadata, now) && written(&self.metadata) == written(now)
    }
}

#[cfg(unix)] // links are of Unix
#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_is_no_regular_file_is_left_alone() {
        let (_folder, at) = folder();
        fs::write(at("file"), "kept").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        for name in ["link", "folder", "missing"] {
            assert!(!remove_abandoned(&at(name)), "{name}");
        }
        assert!(at("link").is_symlink() && at("folder").is_dir());
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "kept");
        assert!(SaveLock::acquire(at("link")).unwrap().is_none());
    }

    #[test]
    fn a_lock_names_its_process_and_goes_with_its_owner() {
        let (_folder, at) = folder();
        let path = at("lock");
        let acquire = || SaveLock::acquire(path.clone());
        let first = acquire().unwrap().unwrap();
        assert_eq!(acquire().unwrap_err(), std::process::id().to_string());
        // The folder was made anew, and another process has the lock there.
        fs::remove_file(&path).unwrap();
        let second = acquire().unwrap().unwrap();
        drop(first);
        assert!(path.exists(), "the second one's");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn many_threads_get_a_lock_one_after_the_other() {
        use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
        let (_folder, at) = folder();
        let path = at("lock");
        let inside = AtomicUsize::new(0);
        let have_it_often = || {
            let mut had = 0;
            while had < 50 {
                let Ok(Some(_lock)) = SaveLock::acquire(path.clone()) else {
                    std::thread::yield_now();
                    continue;
                };
                assert_eq!(inside.fetch_add(1, SeqCst), 0, "only one has it");
                std::thread::yield_now();
                inside.fetch_sub(1, SeqCst);
                had += 1;
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(have_it_often);
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn a_file_is_known_until_it_is_changed_or_replaced() {
        let (_folder, at) = folder();
        let path = at("file");
        let write = |path: &Path, text: &str, seconds| {
            fs::write(path, text).unwrap();
            let file = OpenOptions::new().write(true).open(path).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            file.set_modified(time).unwrap();
        };
        write(&path, "text", 1);
        let known = KnownFile::new(File::open(&path).unwrap()).unwrap();
        let is_unchanged = || known.is_unchanged(&fs::metadata(&path).unwrap());
        assert!(is_unchanged());
        write(&path, "longer text", 1);
        assert!(!is_unchanged(), "another length");
        write(&path, "text", 2);
        assert!(!is_unchanged(), "another time");
        write(&path, "text", 1);
        assert!(is_unchanged());
        let copy = at("copy");
        write(&copy, "text", 1);
        fs::rename(&copy, &path).unwrap();
        assert!(!is_unchanged(), "another file");
    }
}
