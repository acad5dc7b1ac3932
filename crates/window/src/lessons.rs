//! Lessons in the window: what keys and clicks do to the list and its pages.

use std::time::Instant;

use app::lessons::Lessons;
use app::{LessonSource, World};
use lang::message;
use model::ViewAction;
use screen::{LessonEntry, LessonScreen};
use view::entry_at;

use crate::handler::Handler;

impl<W: World> Handler<W> {
    /// Does something with the lessons, if there are any.
    fn with_lessons(&mut self, does: impl FnOnce(&mut Lessons, &mut dyn LessonSource)) -> bool {
        self.pacer.want(Instant::now());
        let source = self.world.as_mut().and_then(World::lessons);
        let there = source.is_some();
        if let Some(source) = source {
            does(&mut self.lessons, source);
        }
        self.hover();
        there
    }

    pub(super) fn toggle_lessons(&mut self) {
        let there = self.with_lessons(|lessons, source| match lessons.screen {
            None => lessons.show_list(source),
            Some(_) => lessons.close(source),
        });
        if !there {
            self.note(message!("No lessons are available here"));
        }
    }

    /// One page, or one entry of the list, on or back.
    pub(super) fn turn_page(&mut self, on: bool) {
        self.with_lessons(|lessons, source| lessons.turn(source, on));
    }

    /// Opens the selected lesson.
    pub(super) fn open_lesson(&mut self) {
        if let Some(LessonScreen::List { selected, .. }) = self.lessons.screen {
            self.with_lessons(|lessons, source| lessons.open(source, selected));
        }
    }

    /// Opens a lesson, whether the list is open or not.
    pub(super) fn show_lesson(&mut self, index: usize) {
        self.callouts.done_by(ViewAction::ToggleLessons.into());
        self.with_lessons(|lessons, source| {
            lessons.close(source);
            lessons.open(source, index);
        });
    }

    /// The lessons that there are.
    pub(super) fn list_lessons(&mut self) -> Vec<LessonEntry> {
        let source = self.world.as_mut().and_then(World::lessons);
        source.map_or(Vec::new(), |source| source.list())
    }

    /// Opens the lesson that was clicked.
    pub(super) fn click_lesson(&mut self) {
        let (Some(at), Some(layout)) = (self.pointer.at, self.layout()) else {
            return;
        };
        let screen = self.lessons.screen.as_ref();
        if let Some(index) = screen.and_then(|screen| entry_at(screen, &layout, at)) {
            self.with_lessons(|lessons, source| lessons.open(source, index));
        }
    }

    /// Escape: from a page to the list, from the list to nothing.
    pub(super) fn leave_lesson(&mut self) {
        self.with_lessons(|lessons, source| lessons.leave(source));
    }
}
