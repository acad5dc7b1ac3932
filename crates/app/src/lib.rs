//! What the window and the terminal share: their state ([`AppState`]), the session that they drive
//! and draw ([`SessionHandle`]), a session with [lessons] beside it ([`SessionWithLessons`]), when to
//! draw ([`pacing`]), and saving when the thread that draws is stuck ([`EmergencySave`]).

mod emergency_save;
pub mod lessons;
pub mod pacing;
mod session_with_lessons;
mod state;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use lang::{Message, tr};
use life::{Lattice, Size};
use model::{Change, Edit, PicturePlan, PictureSource, SessionAction, Status};
use session::{SavedSession, Saver};

pub use emergency_save::{EmergencySave, EmergencySaved, UiRunning, say_last};
pub use lessons::LessonSource;
pub use session_with_lessons::{SessionWithLessons, SharedSaveResult};
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

/// What a window drives and draws: a session, or a test's stand-in.
pub trait SessionHandle: PictureSource + Send + 'static {
    /// As [`session::Session::act`].
    fn act(&self, action: SessionAction);
    /// As [`session::Session::watch_population`]; nothing is measured by default.
    fn watch_population(&self, _watch: bool) {}
    /// As [`session::Session::watch_overlap`]; nothing is measured by default.
    fn watch_overlap(&self, _watch: bool) {}
    /// As [`session::Session::request_view`].
    fn request_view(&self, request: PicturePlan);
    /// As [`session::Session::status`].
    fn status(&self) -> Arc<Status>;
    /// As [`session::Session::edit`]; `None` where nothing can be edited.
    fn edit(&self, _edit: Edit) -> Option<u64> {
        None
    }
    /// As [`session::Session::copy`]; `None` where there is nothing to copy.
    fn copy(&self, _instance: usize) -> Option<Receiver<(Arc<Lattice>, u64)>> {
        None
    }
    /// As [`session::Session::saver`]; `None` where there is no file.
    fn saver(&self) -> Option<Saver> {
        None
    }
    /// As [`session::Session::open`]; nothing happens where no session can be opened.
    fn open_saved(&mut self, _saved: SavedSession, _what: Message) {}
    /// As [`session::Session::grow`]; nothing happens where nothing can be edited.
    fn grow(&self, _size: Size, _place: Option<(usize, Change)>) {}
    /// The lessons, where there are any; none by default.
    fn lessons(&mut self) -> Option<&mut dyn LessonSource> {
        None
    }
}

/// Wakes the window because something has changed; cheap, from any thread.
pub type Wake = Box<dyn Fn() + Send>;
