//! Lessons in the window: what keys and clicks do to the list and its pages.

use std::time::Instant;

use app::lessons::Lessons;
use app::{LessonSource, SessionHandle};
use model::ViewAction;
use view::entry_at;

use crate::handler::Handler;

impl<W: SessionHandle> Handler<W> {
    /// Does something with the lessons, if there are any.
    fn with_lessons(&mut self, does: impl FnOnce(&mut Lessons, &mut dyn LessonSource)) {
        self.pacer.request_frame(Instant::now());
        self.app.with_lessons(does);
        self.hover();
    }

    pub(super) fn toggle_lessons(&mut self) {
        self.app.toggle_lessons(Instant::now());
        self.hover();
    }

    /// Measures the speed-up curve, whatever is open of the lessons.
    pub(super) fn measure_speedup(&mut self) {
        self.app.measure_speedup(Instant::now());
        self.hover();
    }

    /// One page, or one entry of the list, on or back.
    pub(super) fn turn_page(&mut self, on: bool) {
        self.with_lessons(|lessons, source| lessons.next_or_previous(source, on));
    }

    /// Opens the selected lesson.
    pub(super) fn open_lesson(&mut self) {
        self.app.open_selected_lesson();
        self.pacer.request_frame(Instant::now());
        self.hover();
    }

    /// Opens a lesson, whether the list is open or not.
    pub(super) fn show_lesson(&mut self, index: usize) {
        self.callouts.done_by(ViewAction::ToggleLessons.into());
        self.with_lessons(|lessons, source| {
            lessons.close(source);
            lessons.open(source, index);
        });
    }

    /// Opens the lesson that was clicked.
    pub(super) fn click_lesson(&mut self) {
        let (Some(at), Some(layout)) = (self.pointer.at, self.layout()) else {
            return;
        };
        let screen = self.app.lessons.screen.as_ref();
        if let Some(index) = screen.and_then(|screen| entry_at(screen, &layout, at)) {
            self.with_lessons(|lessons, source| lessons.open(source, index));
        }
    }

    /// Escape: from a page to the list, from the list to nothing.
    pub(super) fn leave_lesson(&mut self) {
        self.with_lessons(|lessons, source| lessons.go_up(source));
    }
}
