//! Lessons on the screen: a list, then pages; keys that would move the view or run the session turn
//! the pages instead.

use lang::tr;
use lesson::LessonError;
use model::{Action, InWords, SessionAction, ViewAction};
use screen::{LessonEntry, LessonPage, LessonScreen};

/// What a lesson's error says, in this thread's language.
pub fn error_in_words(error: &LessonError) -> String {
    match error {
        LessonError::Engine(error) => error.in_words(),
        LessonError::Child(why) => tr!("lifestreams cannot run itself again: {it}", it = why),
        LessonError::Ended => tr!("the lesson was ended before it was measured").into(),
    }
}

/// Runs lessons for a front end. No method blocks on a measurement: [`page`](Self::page) returns a
/// busy page, and the window is woken when there is a new one.
pub trait LessonSource {
    /// All lessons, in their order.
    fn list(&self) -> Vec<LessonEntry>;
    /// Begins the lesson of this place in the list, at its first page.
    fn open(&mut self, index: usize);
    /// The present page as far as it is known; `None` where no lesson is open.
    fn page(&self) -> Option<LessonPage>;
    /// Goes one page on, if there is one.
    fn next(&mut self);
    /// Goes one page back, if there is one.
    fn previous(&mut self);
    /// Goes to the open lesson's last page, its result, so that it is measured at once.
    fn go_to_result(&mut self);
    /// Closes the open lesson, if any; the session then goes on as before.
    fn close(&mut self);
}

/// The open list of lessons or the open lesson.
#[derive(Debug, Default)]
pub struct Lessons {
    /// The list or the page that is shown, if any.
    pub screen: Option<LessonScreen>,
    /// The last lesson that was opened, where the list goes on.
    last: usize,
}

impl Lessons {
    /// What a key asks for while a lesson or the list is open, given what it asks for otherwise: the
    /// arrow keys turn pages and choose in the list, and the keys that run the session, which is
    /// paused meanwhile, go one page on.
    pub fn remap_key(&self, action: Action) -> Action {
        let is_list = match &self.screen {
            None => return action,
            Some(LessonScreen::List { .. }) => true,
            Some(LessonScreen::Page(_)) => false,
        };
        match action {
            Action::View(ViewAction::PanRight) => ViewAction::NextPage.into(),
            Action::View(ViewAction::PanLeft) => ViewAction::PreviousPage.into(),
            Action::View(ViewAction::PanDown) if is_list => ViewAction::NextPage.into(),
            Action::View(ViewAction::PanUp) if is_list => ViewAction::PreviousPage.into(),
            Action::Session(SessionAction::TogglePause) if !is_list => ViewAction::NextPage.into(),
            action => action,
        }
    }

    /// Whether a key that asks for this opens the selected lesson of the list: Enter and Space do.
    pub fn opens_selected(&self, action: Action) -> bool {
        self.is_list() && action == SessionAction::TogglePause.into()
    }

    /// Whether the list is open.
    pub fn is_list(&self) -> bool {
        matches!(self.screen, Some(LessonScreen::List { .. }))
    }

    /// Shows the list, at the lesson that was opened last.
    pub fn show_list(&mut self, source: &dyn LessonSource) {
        let entries = source.list();
        let selected = self.last.min(entries.len().saturating_sub(1));
        self.screen = Some(LessonScreen::List { entries, selected });
    }

    /// Opens a lesson of the list.
    pub fn open(&mut self, source: &mut dyn LessonSource, index: usize) {
        self.last = index;
        source.open(index);
        self.screen = source.page().map(LessonScreen::Page).or(self.screen.take());
    }

    /// Shows the result of the lesson of this name, measured now unless it is the one that is open.
    pub fn show_result(&mut self, source: &mut dyn LessonSource, name: &str) {
        let Some(index) = source.list().iter().position(|entry| entry.name == name) else {
            return;
        };
        let is_open = self.last == index && source.page().is_some();
        if !is_open {
            self.open(source, index);
        }
        source.go_to_result();
        self.update(source);
    }

    /// One page, or one entry, on or back.
    pub fn next_or_previous(&mut self, source: &mut dyn LessonSource, on: bool) {
        match &mut self.screen {
            None => {}
            Some(LessonScreen::List { entries, selected }) => {
                let last = entries.len().saturating_sub(1);
                *selected = if on {
                    (*selected + 1).min(last)
                } else {
                    selected.saturating_sub(1)
                };
            }
            Some(LessonScreen::Page(_)) => {
                if on {
                    source.next();
                } else {
                    source.previous();
                }
                self.update(source);
            }
        }
    }

    /// From a page to the list, from the list to nothing.
    pub fn go_up(&mut self, source: &mut dyn LessonSource) {
        if self.is_list() {
            self.screen = None;
        } else {
            source.close();
            self.show_list(source);
        }
    }

    /// Ends the open lesson, and shows nothing.
    pub fn close(&mut self, source: &mut dyn LessonSource) {
        source.close();
        self.screen = None;
    }

    /// Takes over what the present page says now; a lesson that has ended by itself goes back to
    /// the list.
    pub fn update(&mut self, source: &mut dyn LessonSource) {
        if let Some(LessonScreen::Page(shown)) = &mut self.screen {
            match source.page() {
                Some(page) => *shown = page,
                None => self.show_list(source),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lessons of three pages each: the open one with its page, and how often one was opened.
    #[derive(Default)]
    struct Three(Option<(usize, usize)>, u32);

    impl LessonSource for Three {
        fn list(&self) -> Vec<LessonEntry> {
            let entry = |name: &str| LessonEntry {
                name: name.into(),
                title: format!("about {name}"),
            };
            ["conway", "event", "pinned"].map(entry).into()
        }

        fn open(&mut self, index: usize) {
            self.0 = Some((index, 1));
            self.1 += 1;
        }

        fn page(&self) -> Option<LessonPage> {
            self.0.map(|(index, number)| LessonPage {
                title: self.list()[index].title.clone(),
                number,
                of: 3,
                ..Default::default()
            })
        }

        fn next(&mut self) {
            self.0 = self.0.map(|(index, number)| (index, (number + 1).min(3)));
        }

        fn previous(&mut self) {
            self.0 = self.0.map(|(index, number)| (index, (number - 1).max(1)));
        }

        fn go_to_result(&mut self) {
            self.0 = self.0.map(|(index, _)| (index, 3));
        }

        fn close(&mut self) {
            self.0 = None;
        }
    }

    fn shown(lessons: &Lessons) -> String {
        match &lessons.screen {
            None => "nothing".into(),
            Some(LessonScreen::List { selected, .. }) => format!("list at {selected}"),
            Some(LessonScreen::Page(page)) => format!("{}, page {}", page.title, page.number),
        }
    }

    #[test]
    fn arrows_choose_and_turn_and_escape_goes_back() {
        let (mut lessons, mut source) = (Lessons::default(), Three::default());
        let (right, next): (Action, Action) =
            (ViewAction::PanRight.into(), ViewAction::NextPage.into());
        let run: Action = SessionAction::TogglePause.into();
        assert_eq!(lessons.remap_key(right), right);
        assert_eq!(lessons.remap_key(run), run);
        assert!(!lessons.opens_selected(run));
        lessons.show_list(&source);
        assert_eq!(lessons.remap_key(ViewAction::PanDown.into()), next);
        assert!(lessons.opens_selected(run) && !lessons.opens_selected(right));
        for _ in 0..5 {
            lessons.next_or_previous(&mut source, true);
        }
        assert_eq!(shown(&lessons), "list at 2");
        lessons.next_or_previous(&mut source, false);
        lessons.open(&mut source, 1);
        assert_eq!(shown(&lessons), "about event, page 1");
        assert_eq!(lessons.remap_key(right), next);
        assert_eq!(lessons.remap_key(run), next);
        assert!(!lessons.opens_selected(run));
        for other in [ViewAction::PanUp.into(), SessionAction::StepRound.into()] {
            assert_eq!(lessons.remap_key(other), other);
        }
        lessons.next_or_previous(&mut source, true);
        assert_eq!(shown(&lessons), "about event, page 2");
        lessons.next_or_previous(&mut source, false);
        assert_eq!(shown(&lessons), "about event, page 1");
        lessons.go_up(&mut source);
        assert_eq!(shown(&lessons), "list at 1");
        assert_eq!(source.page(), None);
        lessons.go_up(&mut source);
        assert_eq!(shown(&lessons), "nothing");
    }

    #[test]
    fn a_lesson_s_result_is_shown_from_anywhere_and_measured_once_while_it_is_open() {
        let (mut lessons, mut source) = (Lessons::default(), Three::default());
        lessons.show_result(&mut source, "event");
        assert_eq!(shown(&lessons), "about event, page 3");
        lessons.next_or_previous(&mut source, false);
        lessons.show_result(&mut source, "event");
        assert_eq!(
            (shown(&lessons).as_str(), source.1),
            ("about event, page 3", 1)
        );
        lessons.go_up(&mut source);
        lessons.show_result(&mut source, "event");
        assert_eq!(
            (shown(&lessons).as_str(), source.1),
            ("about event, page 3", 2)
        );
        lessons.show_result(&mut source, "pinned");
        assert_eq!(
            (shown(&lessons).as_str(), source.1),
            ("about pinned, page 3", 3)
        );
        lessons.show_result(&mut source, "no such lesson");
        assert_eq!(source.1, 3);
    }

    #[test]
    fn a_lesson_that_ends_by_itself_goes_back_to_the_list() {
        let (mut lessons, mut source) = (Lessons::default(), Three::default());
        lessons.open(&mut source, 2);
        source.next();
        lessons.update(&mut source);
        assert_eq!(shown(&lessons), "about pinned, page 2");
        source.close();
        lessons.update(&mut source);
        assert_eq!(shown(&lessons), "list at 2");
        lessons.open(&mut source, 0);
        lessons.close(&mut source);
        assert_eq!((shown(&lessons).as_str(), source.page()), ("nothing", None));
    }
}
