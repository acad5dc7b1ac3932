//! Reads whole regular files. Rejects pipes, devices and too long files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use lang::{Message, mark, message, tr};

use super::memory;
use super::words::system_reason;

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
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
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
