//! Atomic file writes: a file is written whole or not at all.

use super::memory;
use super::words::{system_reason, without_number};
use lang::{Message, mark, message, tr};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::NamedTempFile;

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

// Files that are locked as long as the process that created them lives. The system releases a lock
// however a process ends, so a file without one was left behind by a killed process.

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

// Default names with date and time, for files that are saved without a name.

/// `lifestreams-YYYYMMDD-HHMMSS` of now, in UTC.
pub fn dated_stem() -> String {
    dated("lifestreams")
}

/// Maximum length in bytes of what precedes a date: every file system has names of twice this.
const MAX_STEM_BYTES: usize = 64;

/// A file's name with the time in UTC behind it: `NAME-YYYYMMDD-HHMMSS.ENDING`. A long one is cut.
pub fn dated_name(path: &Path, ending: &str) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let cut = stem.floor_char_boundary(MAX_STEM_BYTES);
    format!("{}.{ending}", dated(&stem[..cut]))
}

/// The present day in UTC: `YYYY-MM-DD`.
pub fn date() -> String {
    let now = timestamp(now());
    format!("{}-{}-{}", &now[..4], &now[4..6], &now[6..8])
}

fn dated(stem: &str) -> String {
    format!("{stem}-{}", timestamp(now()))
}

/// Seconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |time| time.as_secs())
}

/// `YYYYMMDD-HHMMSS` of `seconds` since 1970, in UTC.
fn timestamp(seconds: u64) -> String {
    // Days to a civil date: years are counted from March, so that the leap day comes last.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

// Reads whole regular files. Rejects pipes, devices and too long files.

/// Why a file or a stream was not read: without a remedy, since that depends on what it is for.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file's length is 0: it is empty, or made while it is read, as those of `/proc`.
    #[error("{}", tr!("it is 0 bytes long"))]
    Empty,
    /// It is no regular file, or too long.
    #[error("{0}")]
    Unfit(Message),
    /// There is no memory for it, or it is a stream that is too long.
    #[error("{0}")]
    NoRoom(Message),
    /// The system returned an error.
    #[error("{}", system_reason(.0))]
    Io(#[from] io::Error),
}

/// A regular file's bytes, if there are no more than `limit` of them. A file whose length is 0 is not
/// opened, since some of those that the system makes while they are read never end.
///
/// # Errors
/// Each case of [`ReadError`].
pub fn read_regular_file(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let unfit =
        |what: &'static str| ReadError::Unfit(message!("it is {what}", what = lang::text(what)));
    let too_long = || {
        let (mib, gib) = (limit >> 20, limit >> 30);
        let limit = match gib {
            0 => format!("{mib} MiB"),
            _ => format!("{gib} GiB"),
        };
        ReadError::Unfit(message!("it is more than {limit} long"))
    };
    // Checked before opening, since opening a pipe blocks until its other end is open.
    let about = fs::metadata(path)?;
    if about.is_dir() {
        return Err(unfit(mark!("a folder")));
    }
    if !about.is_file() {
        return Err(unfit(mark!("a pipe or a device, not a regular file")));
    }
    let length = about.len();
    if length == 0 {
        return Err(ReadError::Empty);
    }
    if length > limit {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    let reserved = usize::try_from(length).map(|length| bytes.try_reserve_exact(length));
    if !matches!(reserved, Ok(Ok(()))) || memory::lacks(length) {
        return Err(ReadError::NoRoom(message!(
            "it is {} bytes long, and there is no memory left for it",
            length
        )));
    }
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_long()); // it has grown since
    }
    Ok(bytes)
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

#[cfg(test)]
#[cfg(unix)] // links are of Unix
mod locked_tests {
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
        use std::sync::atomic::AtomicUsize;
        use std::sync::atomic::Ordering::SeqCst;
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

#[cfg(test)]
mod dated_tests {
    use super::*;

    #[test]
    fn times_are_written_as_dates() {
        assert_eq!(timestamp(0), "19700101-000000");
        assert_eq!(timestamp(951_827_696), "20000229-123456");
        assert_eq!(timestamp(1_798_761_599), "20261231-235959");
    }

    #[test]
    fn a_dated_name_is_cut_between_letters() {
        let name = |stem: &str| dated_name(Path::new(&format!("folder/{stem}.life")), "json");
        assert!(name("s").starts_with("s-2") && name("s").ends_with(".json"));
        let long = name(&"生命".repeat(100));
        assert!(long.starts_with("生命生命") && long.len() < 100, "{long}");
    }
}
