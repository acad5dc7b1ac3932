//! Reads whole regular files. Rejects pipes, devices and too long files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::memory;
use super::words::system_reason;
use lang::tr;

/// Why a file was not read. The message has no remedy, since that depends on the file's purpose.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The path is a folder, a pipe or a device.
    #[error("{}", tr!("it is {what}", what = .0))]
    NotRegular(&'static str),
    /// The file's length is 0: it is empty, or made while it is read, as those of `/proc`.
    #[error("{}", tr!("it is 0 bytes long"))]
    Empty,
    /// The file is longer than this limit in bytes.
    #[error("{}", tr!("it is more than {limit} long", limit = in_bytes(*.0)))]
    TooLong(u64),
    /// Not enough memory for this many bytes.
    #[error("{}", tr!("it is {} bytes long, and there is no memory left for it", .0))]
    NoMemory(u64),
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
    // Checked before opening, since opening a pipe blocks until its other end is open.
    let about = fs::metadata(path)?;
    if about.is_dir() {
        return Err(ReadError::NotRegular(tr!("a folder")));
    }
    if !about.is_file() {
        return Err(ReadError::NotRegular(tr!(
            "a pipe or a device, not a regular file"
        )));
    }
    let length = about.len();
    if length == 0 {
        return Err(ReadError::Empty);
    }
    if length > limit {
        return Err(ReadError::TooLong(limit));
    }
    let mut bytes = Vec::new();
    let reserved = usize::try_from(length).map(|length| bytes.try_reserve_exact(length));
    if !matches!(reserved, Ok(Ok(()))) || memory::lacks(length) {
        return Err(ReadError::NoMemory(length));
    }
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLong(limit)); // it has grown since
    }
    Ok(bytes)
}

fn in_bytes(limit: u64) -> String {
    match limit >> 30 {
        0 => format!("{} MiB", limit >> 20),
        gib => format!("{gib} GiB"),
    }
}
