//! Files that are written whole or not at all.

use lang::tr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::words::shown;

/// Why a file could not be saved. What was there before is still there.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", tr!("cannot save {path}: {reason}", path = .path, reason = .reason))]
pub struct SaveError {
    /// The file that was to be written.
    pub path: String,
    /// Why not, and what to do.
    pub reason: String,
    /// Whether the disk is full, which is no fault of the name's.
    pub disk_full: bool,
}

impl SaveError {
    /// For a file or folder that could not be made.
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

/// Writes a file by way of a temporary one beside it, which takes its name only once it is whole
/// and on the disk: whoever looks finds the old file or the new one, never a part.
///
/// `write` is given a buffered writer. A link is followed.
///
/// # Errors
/// If the folder is missing or closed to us, the disk full, `write` failing, or something other
/// than a regular file has this name. The temporary file is then gone again.
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), SaveError> {
    let named = path.as_ref();
    // A link stays one: what it leads to is replaced.
    let target = named
        .is_symlink()
        .then(|| fs::canonicalize(named).ok())
        .flatten();
    let path = target.as_deref().unwrap_or(named);
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |reason, disk_full| SaveError {
        path: shown(named),
        reason,
        disk_full,
    };
    check_target(path).map_err(|reason| failed(reason, false))?;
    replace(path, folder, write)
        .map_err(|error| failed(why_unsaved(&error, folder), is_full(&error)))
}

/// Whether the name is free, or a regular file's that may be written: a rename would quietly
/// replace even a device.
fn check_target(path: &Path) -> Result<(), String> {
    if path.file_name().is_none() {
        return Err(tr!("this names no file; add a file's name").into());
    }
    let Ok(about) = fs::metadata(path) else {
        return Ok(());
    };
    if about.is_dir() {
        Err(tr!("it is a folder; name a file in it").into())
    } else if !about.is_file() {
        Err(tr!("it is a pipe or a device; name a regular file").into())
    } else if about.permissions().readonly() {
        Err(tr!("it is write-protected; lift that or choose another name").into())
    } else {
        Ok(())
    }
}

fn replace(
    path: &Path,
    folder: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // Opened by ourselves, for a file that `tempfile` opens is closed to all other users.
    let create = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let mut partial = tempfile::Builder::new()
        .prefix(".lifestreams-")
        .suffix(".partial")
        .make_in(folder, create)?;
    let mut buffered = BufWriter::new(partial.as_file_mut());
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    partial.as_file().sync_all()?;
    partial.persist(path)?;
    // So that the new name, too, outlives a power cut; not every system can do so.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
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
            error = error
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
        assert!(error.reason.contains("write-protected"), "{error}");
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
}
