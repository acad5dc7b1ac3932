//! What the window and the terminal share: their state ([`AppState`]), the session that they drive
//! and draw ([`SessionHandle`]), a session with [lessons] beside it ([`Classroom`]), when to draw
//! ([`pacing`]), and what is saved when whoever draws is stuck ([`Rescue`]).

mod classroom;
pub mod lessons;
pub mod pacing;
mod rescue;
mod state;

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use life::{Lattice, Size};
use model::{Change, Edit, PicturePlan, PictureSource, SessionAction, Status};
use session::{Saver, Session};

pub use classroom::{Classroom, Unsaved};
pub use lessons::LessonSource;
pub use rescue::{PendingFile, Rescue};
pub use state::AppState;

/// What a window drives and draws: a session, or a test's stand-in.
pub trait SessionHandle: PictureSource + Send + 'static {
    /// As [`Session::act`].
    fn act(&self, action: SessionAction);
    /// As [`Session::watch_population`]; nothing is measured by default.
    fn watch_population(&self, _watch: bool) {}
    /// As [`Session::watch_overlap`]; nothing is measured by default.
    fn watch_overlap(&self, _watch: bool) {}
    /// As [`Session::request_view`].
    fn request_view(&self, request: PicturePlan);
    /// As [`Session::status`].
    fn status(&self) -> Arc<Status>;
    /// As [`Session::edit`]; `None` where nothing can be edited.
    fn edit(&self, _edit: Edit) -> Option<u64> {
        None
    }
    /// As [`Session::copy`]; `None` where there is nothing to copy.
    fn copy(&self, _instance: usize) -> Option<Receiver<(Arc<Lattice>, u64)>> {
        None
    }
    /// As [`Session::saver`]; `None` where there is no file.
    fn saver(&self) -> Option<Saver> {
        None
    }
    /// As [`Session::grow`]; nothing happens where nothing can be edited.
    fn grow(&self, _size: Size, _place: Option<(usize, Change)>) {}
    /// The lessons, where there are any; none by default.
    fn lessons(&mut self) -> Option<&mut dyn LessonSource> {
        None
    }
}

impl SessionHandle for Session {
    fn act(&self, action: SessionAction) {
        Session::act(self, action);
    }

    fn watch_population(&self, watch: bool) {
        Session::watch_population(self, watch);
    }

    fn watch_overlap(&self, watch: bool) {
        Session::watch_overlap(self, watch);
    }

    fn request_view(&self, request: PicturePlan) {
        Session::request_view(self, request);
    }

    fn status(&self) -> Arc<Status> {
        Session::status(self)
    }

    fn edit(&self, edit: Edit) -> Option<u64> {
        Some(Session::edit(self, edit))
    }

    fn copy(&self, instance: usize) -> Option<Receiver<(Arc<Lattice>, u64)>> {
        Some(Session::copy(self, instance))
    }

    fn grow(&self, size: Size, place: Option<(usize, Change)>) {
        Session::grow(self, size, place);
    }

    fn saver(&self) -> Option<Saver> {
        Session::saver(self)
    }
}

/// Tells the window that there is something new; cheap, from any thread.
pub type Wake = Box<dyn Fn() + Send>;
