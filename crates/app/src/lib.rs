//! What the window and the terminal share: their state ([`AppState`]) with the session that they drive
//! and draw and the [lessons] beside it, when to draw ([`pacing`]), and saving when the thread that
//! draws is stuck ([`EmergencySave`]).

mod emergency_save;
pub mod lessons;
pub mod pacing;
mod state;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use lang::tr;

pub use emergency_save::{EmergencySave, EmergencySaved, UiRunning, say_last};
pub use lessons::Lessons;
pub use state::AppState;

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

/// Wakes the window because something has changed; cheap, from any thread.
pub type Wake = Arc<dyn Fn() + Send + Sync>;
