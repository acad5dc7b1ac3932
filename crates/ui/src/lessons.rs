//! Lessons on screen: the list of them, then the pages of one. While a lesson is open the session is
//! paused, so that neither disturbs the other's measurements, and keys that would move the view or
//! run the session turn the pages instead.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Builder, JoinHandle};

use crate::Wake;
use crate::{LessonEntry, LessonPage, LessonScreen};
use lang::tr;
use lesson::{
    LESSONS, Lesson, LessonError, Outcome, Page, PartOutcome, Progress, SPEEDUP, SweepSetup,
};
use model::{Action, InWords, SessionAction, Speedup, ViewAction, finding_in_words};
use session::Session;

/// What a lesson's error says, in this thread's language.
pub fn error_in_words(error: &LessonError) -> String {
    match error {
        LessonError::Engine(error) => error.in_words(),
        LessonError::Child(why) => tr!("lifestreams cannot run itself again: {it}", it = why),
        LessonError::Ended => tr!("the lesson was ended before it was measured").into(),
    }
}

/// All lessons, in their order.
pub fn entries() -> Vec<LessonEntry> {
    let entry = |lesson: &Lesson| LessonEntry {
        name: lesson.name.into(),
        title: lang::text(lesson.title).into(),
    };
    LESSONS.iter().map(entry).collect()
}

/// The list of lessons or a lesson, where one is open. No method waits for a measurement: the page is
/// busy meanwhile, and the front end is woken whenever there is more to show.
pub struct Lessons {
    state: State,
    /// What the state shows, as of the last update.
    screen: Option<LessonScreen>,
    /// The last lesson that was opened, where the list goes on.
    last: usize,
    wake: Wake,
    /// The thread that measured last. One measures at a time: the next waits for it.
    measuring: Option<JoinHandle<()>>,
}

enum State {
    Closed,
    List { selected: usize },
    Open(OpenLesson),
}

impl Lessons {
    /// With nothing open; `wake` is called when a lesson has something new to show.
    pub fn new(wake: Wake) -> Lessons {
        Lessons {
            state: State::Closed,
            screen: None,
            last: 0,
            wake,
            measuring: None,
        }
    }

    /// The list or the page that is shown, if any.
    pub fn screen(&self) -> Option<&LessonScreen> {
        self.screen.as_ref()
    }

    /// Whether the list is open.
    pub fn is_list(&self) -> bool {
        matches!(self.state, State::List { .. })
    }

    /// What a key asks for while a lesson or the list is open, given what it asks for otherwise: the
    /// arrow keys turn pages and choose in the list, and the keys that run the session, which is
    /// paused meanwhile, go one page on or open the selected lesson.
    pub fn remap_key(&self, action: Action) -> Action {
        let is_list = match self.state {
            State::Closed => return action,
            State::List { .. } => true,
            State::Open(_) => false,
        };
        match action {
            Action::View(ViewAction::PanRight) => ViewAction::NextPage.into(),
            Action::View(ViewAction::PanLeft) => ViewAction::PreviousPage.into(),
            Action::View(ViewAction::PanDown) if is_list => ViewAction::NextPage.into(),
            Action::View(ViewAction::PanUp) if is_list => ViewAction::PreviousPage.into(),
            Action::Session(SessionAction::TogglePause) if is_list => ViewAction::OpenLesson.into(),
            Action::Session(SessionAction::TogglePause) => ViewAction::NextPage.into(),
            action => action,
        }
    }

    /// Shows the list, or closes what is open.
    pub fn toggle(&mut self, session: &Session) {
        match self.state {
            State::Closed => self.show_list(),
            _ => self.close(session),
        }
    }

    /// Opens a lesson of the list, in place of what is open.
    pub fn open(&mut self, session: &Session, index: usize) {
        self.close(session);
        let Some(lesson) = LESSONS.get(index) else {
            return;
        };
        self.last = index;
        session.pause_for_lesson(true);
        self.state = State::Open(OpenLesson::new(lesson));
        self.update();
    }

    /// Opens the selected lesson of the list.
    pub fn open_selected(&mut self, session: &Session) {
        if let State::List { selected } = self.state {
            self.open(session, selected);
        }
    }

    /// Shows the speed-up curve on the last page of its lesson. It is measured now, unless that lesson
    /// is open.
    pub fn measure_speedup(&mut self, session: &Session) {
        let is_open = matches!(&self.state, State::Open(open) if open.lesson.name == SPEEDUP.name);
        let index = LESSONS.iter().position(|it| it.name == SPEEDUP.name);
        if let (false, Some(index)) = (is_open, index) {
            self.open(session, index);
        }
        if let State::Open(open) = &mut self.state {
            open.page = open.lesson.pages().len() - 1;
        }
        self.measure(session);
        self.update();
    }

    /// One page, or one entry of the list, forward.
    pub fn next_page(&mut self, session: &Session) {
        self.turn_page(session, true);
    }

    /// One page, or one entry of the list, back.
    pub fn previous_page(&mut self, session: &Session) {
        self.turn_page(session, false);
    }

    fn turn_page(&mut self, session: &Session, forward: bool) {
        let (at, count) = match &mut self.state {
            State::Closed => return,
            State::List { selected } => (selected, LESSONS.len()),
            State::Open(open) => (&mut open.page, open.lesson.pages().len()),
        };
        *at = if forward {
            (*at + 1).min(count - 1)
        } else {
            at.saturating_sub(1)
        };
        self.measure(session);
        self.update();
    }

    /// From a page to the list, from the list to nothing.
    pub fn go_up(&mut self, session: &Session) {
        let is_page = matches!(self.state, State::Open(_));
        self.close(session);
        if is_page {
            self.show_list();
        }
    }

    /// Ends the open lesson, so that the session goes on as before, and shows nothing.
    pub fn close(&mut self, session: &Session) {
        if let State::Open(_) = std::mem::replace(&mut self.state, State::Closed) {
            session.pause_for_lesson(false);
        }
        self.update();
    }

    /// Takes in what has been measured.
    pub fn update(&mut self) {
        self.screen = match &mut self.state {
            State::Closed => None,
            State::List { selected } => Some(LessonScreen::List {
                entries: entries(),
                selected: *selected,
            }),
            State::Open(open) => {
                open.receive();
                Some(LessonScreen::Page(open.page()))
            }
        };
    }

    fn show_list(&mut self) {
        let selected = self.last;
        self.state = State::List { selected };
        self.update();
    }

    /// Begins to measure the open lesson once a page shows what is measured.
    fn measure(&mut self, session: &Session) {
        let State::Open(open) = &mut self.state else {
            return;
        };
        let shows_it = matches!(open.lesson.pages()[open.page], Page::Part(_) | Page::Result);
        if !shows_it || open.events.is_some() {
            return;
        }
        let (sender, events) = channel();
        open.events = Some(events);
        let (lesson, device, status) = (open.lesson, session.device(), session.status());
        let swept = SweepSetup {
            instances: status.lattices.instances,
            size: status.lattices.size,
            kernel: status.setting.kernel,
            generations_per_round: status.setting.generations_per_round,
        };
        let (before, wake) = (self.measuring.take(), self.wake.clone());
        let begun = Builder::new().name("lesson".into()).spawn(move || {
            if let Some(before) = before {
                let _ = before.join();
            }
            let send = |event| {
                let sent = sender.send(event);
                wake();
                match sent {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()), // the lesson was closed
                }
            };
            let outcome = lesson::run(lesson, device, Some(swept), &mut |progress| {
                send(Event::Progress(progress))
            });
            let outcome = outcome.map(Box::new).map_err(|it| error_in_words(&it));
            let _ = send(Event::Over(outcome));
        });
        match begun {
            Ok(thread) => self.measuring = Some(thread),
            Err(error) => {
                open.outcome = Some(Err(tr!(
                    "the lesson cannot be measured: {error}",
                    error = error
                )));
            }
        }
    }
}

/// What the thread that measures a lesson sends.
enum Event {
    Progress(Progress),
    Over(Result<Box<Outcome>, String>),
}

/// A lesson that is open, and what is known of it so far.
struct OpenLesson {
    lesson: &'static Lesson,
    /// Which of its pages is shown.
    page: usize,
    /// What the thread that measures it sends, once it is wanted.
    events: Option<Receiver<Event>>,
    /// The part that is being measured.
    now: Option<usize>,
    /// Windows that are over, and all of them, while compared parts are measured.
    windows: Option<(usize, usize)>,
    parts: Vec<PartOutcome>,
    speedup: Option<Arc<Speedup>>,
    outcome: Option<Result<Box<Outcome>, String>>,
}

impl OpenLesson {
    fn new(lesson: &'static Lesson) -> OpenLesson {
        OpenLesson {
            lesson,
            page: 0,
            events: None,
            now: None,
            windows: None,
            parts: Vec::new(),
            speedup: None,
            outcome: None,
        }
    }

    fn receive(&mut self) {
        for event in self.events.iter().flat_map(Receiver::try_iter) {
            match event {
                Event::Progress(Progress::Measuring(part)) => {
                    (self.now, self.windows) = (Some(part), None);
                }
                Event::Progress(Progress::Waiting { done, of }) => self.windows = Some((done, of)),
                Event::Progress(Progress::Measured(part)) => self.parts.push(part),
                Event::Progress(Progress::Swept(speedup)) => self.speedup = Some(speedup),
                Event::Over(outcome) => self.outcome = Some(outcome),
            }
        }
    }

    fn page(&self) -> LessonPage {
        let (lesson, pages) = (self.lesson, self.lesson.pages());
        let mut page = LessonPage {
            title: lang::text(lesson.title).into(),
            number: self.page + 1,
            of: pages.len(),
            ..LessonPage::default()
        };
        match pages[self.page] {
            Page::Intro => {
                page.text = lang::text(lesson.intro).into();
                page.note = lang::text(lesson.source).into();
            }
            Page::Question => {
                page.text = tr!("Make a prediction:").into();
                page.question = lang::text(lesson.question).into();
            }
            Page::Part(part) => {
                page.text = lang::text(lesson.parts[part].title).into();
                self.show_part(part, &mut page);
            }
            Page::Result => self.show_result(&mut page),
        }
        page
    }

    fn show_part(&self, part: usize, page: &mut LessonPage) {
        page.speedup = self.speedup.clone();
        match (self.parts.get(part), &self.outcome) {
            (Some(known), _) => {
                let row = |figure: &lesson::MeasuredValue| {
                    let value = format!("{} {}", figure.digits(), figure.unit);
                    (lang::shown(&figure.label), value.trim_end().into())
                };
                page.rows = known.figures.iter().map(row).collect();
                page.note = known.note.clone().unwrap_or_default();
            }
            (None, Some(Err(why))) => page.note = why.clone(),
            (None, _) => {
                page.busy = true;
                page.note = match (self.now, self.windows) {
                    (Some(now), _) if now < part => tr!("part {} comes first", now + 1),
                    (_, Some((done, of))) => tr!(
                        "{done} of {of} windows measured; the next begins in a few seconds",
                        done = done,
                        of = of
                    ),
                    _ => String::new(),
                };
            }
        }
    }

    fn show_result(&self, page: &mut LessonPage) {
        page.speedup = self.speedup.clone();
        match &self.outcome {
            None => page.busy = true,
            Some(Err(why)) => page.note = why.clone(),
            Some(Ok(outcome)) => {
                page.text = outcome.closing.clone();
                let row = |factor: &lesson::Factor| {
                    (lang::shown(factor.label), finding_in_words(factor.finding))
                };
                page.rows = outcome.factors.iter().map(row).collect();
                let check = |check: &lesson::Check| (check.what.clone(), check.passed);
                page.checks = outcome.checks.iter().map(check).collect();
                let windows = outcome.windows_in_words();
                page.note = outcome.missing.clone().or(windows).unwrap_or_default();
                page.picture = outcome
                    .pictures
                    .last()
                    .map(|picture| (picture.width, picture.height, picture.rgba[..].into()));
            }
        }
    }
}

#[cfg(test)]
mod tests;
