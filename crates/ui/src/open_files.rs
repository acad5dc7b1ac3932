//! Whether this process can open the files that a window or a terminal needs.

use std::fs::File;
use std::io::{self, ErrorKind};

use lang::tr;

/// More files than a window or a terminal opens before it is shown.
const NEEDED_FILES: usize = 16;

/// Checks that this process can open the files that a window or a terminal needs; their libraries
/// panic or wait for ever where they can open none.
///
/// # Errors
/// The limit of open files is too low: the reason and the remedy.
pub fn check_open_files() -> Result<(), String> {
    let opened = (0..NEEDED_FILES).map(|_| File::open("/dev/null"));
    match opened.collect::<io::Result<Vec<_>>>() {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(tr!(
            "this process cannot open {count} more files; raise its limit with 'ulimit -n 1024'",
            count = NEEDED_FILES
        )),
        _ => Ok(()),
    }
}
