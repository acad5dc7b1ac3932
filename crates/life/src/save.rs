//! Atomic file writes: a file is written whole or not at all.

use lang::tr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::words::{shown, system_reason};

/// A file that could not be saved. An existing file is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", tr!("cannot save {path}: {reason}", path = .path, reason = .reason))]
pub struct SaveError {
    /// The file's path.
    pub path: String,
    /// The reason and the remedy.
    pub reason: String,
    /// Whether the disk is full, so that another name would not help.
    pub disk_full: bool,
}

impl SaveError {
    /// An error for a file or folder that could not be created.
    pub fn new(path: &Path, error: &io::Error) -> SaveError {
        let folder = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => path,
        };
        SaveError {
            path: shown(path),
            reason: why_unsaved(error, folder),
            disk_full: is_full(error),
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
/// that of a regular file. The temporary file is removed.
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), SaveError> {
    let target = SaveTarget::find(path.as_ref())?;
    target.replace(write).map_err(|error| target.failed(&error))
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

/// The file that a name refers to after following links, and the metadata of an existing file
/// there.
#[derive(Debug)]
pub struct SaveTarget {
    /// The name as given.
    named: PathBuf,
    /// The path after following links.
    path: PathBuf,
    replaced: Option<fs::Metadata>,
}

impl SaveTarget {
    /// Follows links to the file to write, which must not exist or be a writable regular file: a
    /// rename would silently replace even a device.
    ///
    /// # Errors
    /// If it is something else, or a cycle of links.
    pub fn find(named: &Path) -> Result<SaveTarget, SaveError> {
        let found = behind_links(named).and_then(|path| {
            let replaced = check_target(&path)?;
            Ok((path, replaced))
        });
        let (path, replaced) = found.map_err(|reason| SaveError {
            path: shown(named),
            reason,
            disk_full: false,
        })?;
        Ok(SaveTarget {
            named: named.to_owned(),
            path,
            replaced,
        })
    }

    /// The path after following links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn folder(&self) -> &Path {
        folder_of(&self.path)
    }

    fn failed(&self, error: &io::Error) -> SaveError {
        SaveError {
            path: shown(&self.named),
            reason: why_unsaved(error, self.folder()),
            disk_full: is_full(error),
        }
    }

    fn permissions(&self) -> Option<Permissions> {
        self.replaced.as_ref().map(fs::Metadata::permissions)
    }

    /// Creates an empty temporary file next to the target, with the permissions of the file that it
    /// will replace. It is removed when dropped, unless it is persisted.
    ///
    /// # Errors
    /// The system's error.
    pub fn create_partial(&self) -> io::Result<tempfile::NamedTempFile> {
        // Opened here, since `tempfile` would give access to this user only.
        let create = |path: &Path| {
            let mut options = OpenOptions::new();
            #[cfg(unix)]
            if let Some(permissions) = self.permissions() {
                use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
                // From creation on, so that no other user can read it meanwhile.
                options.mode(permissions.mode() & 0o777);
            }
            options.write(true).create_new(true).open(path)
        };
        let partial = tempfile::Builder::new()
            .prefix(".lifestreams-")
            .suffix(".partial")
            .make_in(self.folder(), create)?;
        let file = partial.as_file();
        #[cfg(unix)]
        if let Some(replaced) = &self.replaced {
            use std::os::unix::fs::{MetadataExt as _, fchown};
            // Only root may change owners; for other users this has no effect.
            let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
        }
        // Restores bits that the umask removed, after the change of owner, which clears some.
        if let Some(permissions) = self.permissions() {
            file.set_permissions(permissions)?;
        }
        Ok(partial)
    }

    fn replace(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut partial = self.create_partial()?;
        let mut buffered = BufWriter::new(partial.as_file_mut());
        write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        partial.as_file().sync_all()?;
        partial.persist(&self.path)?;
        // Makes the rename durable. Not every system supports this.
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
        Ok(())
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
fn behind_links(named: &Path) -> Result<PathBuf, String> {
    let mut path = named.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            // Relative links start at the link's own folder.
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path), // not a link
        }
    }
    Err(tr!("it is a link that leads back to itself; name a regular file").into())
}

/// The metadata of an existing regular file; `None` if there is none. Errors if the name cannot be
/// a file's.
fn check_target(path: &Path) -> Result<Option<fs::Metadata>, String> {
    if path.file_name().is_none() {
        return Err(tr!("this names no file; add a file's name").into());
    }
    let Ok(about) = fs::metadata(path) else {
        return Ok(None);
    };
    if about.is_dir() {
        Err(tr!("it is a folder; name a file in it").into())
    } else if !about.is_file() {
        Err(tr!("it is a pipe or a device; name a regular file").into())
    } else if about.permissions().readonly() {
        Err(tr!("it is read-only; make it writable (chmod u+w), or choose another name").into())
    } else {
        Ok(Some(about))
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

fn why_unsaved(error: &io::Error, folder: &Path) -> String {
    let (exists, folder) = (folder.exists(), shown(folder));
    match error.kind() {
        io::ErrorKind::NotFound if !exists => {
            tr!(
                "there is no folder {folder}; create it first",
                folder = folder
            )
        }
        io::ErrorKind::NotFound => {
            tr!(
                "no file can be made in the folder {folder}; choose another",
                folder = folder
            )
        }
        io::ErrorKind::NotADirectory => {
            tr!("{folder} is not a folder; choose another", folder = folder)
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            tr!(
                "you may not write to the folder {folder}; choose another",
                folder = folder
            )
        }
        io::ErrorKind::AlreadyExists => tr!("it is a file, not a folder; choose another").into(),
        _ if is_full(error) => {
            tr!(
                "the disk of {folder} is full; free some space or choose another folder",
                folder = folder
            )
        }
        _ => tr!(
            "{error}; choose another folder, or try again",
            error = system_reason(error)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_written_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000.rle");
        for text in ["first", "second"] {
            write_atomically(&path, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["000.rle"]);
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
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains("000.rle") && message.contains("is full; free some space"),
            "{message}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["000.rle"]);
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let save = |path: &Path| {
            let error =
                write_atomically(path, |_| panic!("nothing should be written")).unwrap_err();
            assert_eq!(error.path, path.display().to_string());
            error.reason
        };
        assert_eq!(save(folder.path()), "it is a folder; name a file in it");
        let missing = folder.path().join("missing");
        let reason = format!("there is no folder {}; create it first", missing.display());
        assert_eq!(save(&missing.join("a.rle")), reason);
        if Path::new("/dev/null").exists() {
            assert_eq!(
                save(Path::new("/dev/null")),
                "it is a pipe or a device; name a regular file"
            );
        }
        assert_eq!(save(Path::new("")), "this names no file; add a file's name");
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        assert!(save(&file.join("a.rle")).contains("is not a folder"));
    }

    #[test]
    fn a_protected_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        fs::write(&path, "old").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        let error = write_atomically(&path, |out| out.write_all(b"new")).unwrap_err();
        assert!(error.reason.contains("chmod u+w"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_file_that_is_still_to_be_made_is_followed_and_a_circle_is_refused() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deeper")).unwrap();
        symlink("deeper/second", at("first")).unwrap();
        symlink("../file", at("deeper/second")).unwrap();
        write_atomically(at("first"), |out| out.write_all(b"new")).unwrap();
        assert!(at("first").is_symlink() && at("deeper/second").is_symlink());
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "new");
        symlink("nowhere/file", at("broken")).unwrap();
        let error = write_atomically(at("broken"), |_| panic!("nowhere")).unwrap_err();
        assert!(error.reason.contains("there is no folder"), "{error}");
        symlink("circle", at("circle")).unwrap();
        let error = write_atomically(at("circle"), |_| panic!("nowhere")).unwrap_err();
        assert!(error.reason.contains("leads back to itself"), "{error}");
        assert!(at("broken").is_symlink() && at("circle").is_symlink());
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
            fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
            let meanwhile = || {
                let partial = names(folder.path());
                let partial = partial.iter().find(|name| name.ends_with(".partial"));
                mode(&folder.path().join(partial.unwrap()))
            };
            write_atomically(&path, |out| {
                assert_eq!(meanwhile(), kept);
                out.write_all(b"new")
            })
            .unwrap();
            assert_eq!(mode(&path), kept);
        }
    }

    #[test]
    fn whether_a_file_could_be_written_is_found_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        check_writable(at("new")).unwrap();
        fs::write(at("old"), "old").unwrap();
        check_writable(at("old")).unwrap();
        assert_eq!(fs::read_to_string(at("old")).unwrap(), "old");
        assert_eq!(names(folder.path()), ["old"]);
        let error = check_writable(at("missing/new")).unwrap_err();
        assert!(error.reason.contains("there is no folder"), "{error}");
        assert!(check_writable(folder.path()).is_err(), "a folder");
    }
}
