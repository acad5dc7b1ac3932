//! Reads whole regular files. Rejects pipes, devices and too long files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::memory;

/// Why a file or a stream was not read.
#[derive(Debug, thiserror::Error)]
#[error("unreadable: {self:?}")]
pub enum ReadError {
    /// The path is a folder.
    Folder,
    /// The path is a pipe or a device.
    NotRegular,
    /// The file's length is 0: it is empty, or made while it is read, as those of `/proc`.
    Empty,
    /// The file is longer than this limit in bytes.
    TooLong(u64),
    /// The stream is longer than this limit in bytes.
    LongStream(u64),
    /// Not enough memory for this many bytes, or for all of a stream.
    NoMemory(Option<u64>),
    /// The system returned an error.
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
        return Err(ReadError::Folder);
    }
    if !about.is_file() {
        return Err(ReadError::NotRegular);
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
        return Err(ReadError::NoMemory(Some(length)));
    }
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLong(limit)); // it has grown since
    }
    Ok(bytes)
}
