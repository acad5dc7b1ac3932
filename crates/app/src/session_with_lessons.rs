//! A session and its lessons: while a lesson is open, the session is paused, so that neither
//! disturbs the other's measurements.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use crate::{LessonSource, SessionHandle, Wake, lessons};
use lang::{Message, tr};
use lesson::{LESSONS, Lesson, Outcome, Page, PartOutcome, Progress, SweepSetup};
use life::{Lattice, Size};
use model::PictureSource;
use model::finding_in_words;
use model::{
    Change, DeviceChoice, Edit, Picture, PicturePlan, Series, SessionAction, Setup, Speedup,
    Status, Trace,
};
use screen::{LessonEntry, LessonPage};
use session::{NotSaved, SavedSession, Saver, Session, SessionFile};

/// See the module.
pub struct SessionWithLessons {
    session: Session,
    device: DeviceChoice,
    wake: Arc<Mutex<Wake>>,
    open: Option<OpenLesson>,
    /// What came of saving the session at its end.
    save_result: SharedSaveResult,
    /// The thread that measured last. One measures at a time: the next waits for it.
    measuring: Option<JoinHandle<()>>,
}

/// The file that a session was saved in, or the reason why it was not saved there; set when
/// [`SessionWithLessons`] is dropped, and `None` if the session has no file.
pub type SharedSaveResult = Arc<Mutex<Option<Result<PathBuf, NotSaved>>>>;

impl Drop for SessionWithLessons {
    /// A session with a file is saved, however the window ends.
    fn drop(&mut self) {
        let result = self.session.save_to_its_file().transpose();
        if let Ok(mut shared) = self.save_result.lock() {
            *shared = result;
        }
    }
}

/// A lesson that is open.
struct OpenLesson {
    lesson: &'static Lesson,
    /// Which of its pages is shown.
    page: usize,
    measured: Mutex<Measured>,
}

/// What is known so far.
#[derive(Default)]
struct Measured {
    events: Option<Receiver<LessonEvent>>,
    /// The part that is being measured.
    now: Option<usize>,
    /// Windows that are over, and all of them, while compared parts are measured.
    windows: Option<(usize, usize)>,
    parts: Vec<PartOutcome>,
    speedup: Option<Arc<Speedup>>,
    outcome: Option<Result<Outcome, String>>,
}

enum LessonEvent {
    Measuring(usize),
    Waiting { done: usize, of: usize },
    Measured(PartOutcome),
    Swept(Arc<Speedup>),
    Over(Result<Box<Outcome>, String>),
}

impl SessionWithLessons {
    /// Starts a session; `wake` is called when there is something new to draw, of it or of a
    /// lesson.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn start(setup: Setup, wake: Wake) -> engine::Result<SessionWithLessons> {
        SessionWithLessons::start_from(setup, SessionFile::default(), wake)
    }

    /// The same, with the file that the session is saved in.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn start_from(
        setup: Setup,
        file: SessionFile,
        wake: Wake,
    ) -> engine::Result<SessionWithLessons> {
        let device = setup.device;
        let wake = Arc::new(Mutex::new(wake));
        let woken = wake.clone();
        Ok(SessionWithLessons {
            session: Session::start_from(setup, file, move || wake_ui(&woken))?,
            save_result: SharedSaveResult::default(),
            device,
            wake,
            open: None,
            measuring: None,
        })
    }

    /// A handle that survives this value: after the drop, it holds what came of saving.
    pub fn save_result(&self) -> SharedSaveResult {
        self.save_result.clone()
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Begins to measure, when a page wants it and nobody does yet.
    fn measure(&mut self) {
        let Some(open) = &self.open else { return };
        let wanted = matches!(open.lesson.pages()[open.page], Page::Part(_) | Page::Result);
        let mut measured = open.lock();
        if !wanted || measured.events.is_some() {
            return;
        }
        let (sender, events) = channel();
        measured.events = Some(events);
        let (lesson, device) = (open.lesson, self.device);
        let status = self.session.status();
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
            run_lesson(lesson, device, swept, &sender, &wake);
        });
        match begun {
            Ok(thread) => self.measuring = Some(thread),
            Err(error) => {
                measured.outcome = Some(Err(tr!(
                    "the lesson cannot be measured: {error}",
                    error = error
                )));
            }
        }
    }
}

/// Measures, and sends the results as long as somebody receives them.
fn run_lesson(
    lesson: &'static Lesson,
    device: DeviceChoice,
    swept: SweepSetup,
    sender: &Sender<LessonEvent>,
    wake: &Mutex<Wake>,
) {
    let tell = |event| {
        let sent = sender.send(event);
        wake_ui(wake);
        match sent {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()), // a lesson that was closed has no listener
        }
    };
    let outcome = lesson::run(
        lesson,
        device,
        Some(swept),
        &mut |progress| match progress {
            Progress::Measuring(part) => tell(LessonEvent::Measuring(part)),
            Progress::Waiting { done, of } => tell(LessonEvent::Waiting { done, of }),
            Progress::Measured(_, part) => tell(LessonEvent::Measured(part.clone())),
            Progress::Swept(speedup) => tell(LessonEvent::Swept(Arc::new(speedup.clone()))),
        },
    );
    let outcome = outcome
        .map(Box::new)
        .map_err(|error| lessons::error_in_words(&error));
    let _ = tell(LessonEvent::Over(outcome));
}

fn wake_ui(wake: &Mutex<Wake>) {
    if let Ok(wake) = wake.lock() {
        wake();
    }
}

impl OpenLesson {
    fn lock(&self) -> std::sync::MutexGuard<'_, Measured> {
        let mut measured = self
            .measured
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let events: Vec<LessonEvent> = measured
            .events
            .iter()
            .flat_map(|events| events.try_iter())
            .collect();
        for event in events {
            match event {
                LessonEvent::Measuring(part) => {
                    (measured.now, measured.windows) = (Some(part), None)
                }
                LessonEvent::Waiting { done, of } => measured.windows = Some((done, of)),
                LessonEvent::Measured(part) => measured.parts.push(part),
                LessonEvent::Swept(speedup) => measured.speedup = Some(speedup),
                LessonEvent::Over(outcome) => {
                    measured.outcome = Some(outcome.map(|outcome| *outcome))
                }
            }
        }
        measured
    }

    fn shown(&self) -> LessonPage {
        let (lesson, pages) = (self.lesson, self.lesson.pages());
        let measured = self.lock();
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
                measured.part(part, &mut page);
            }
            Page::Result => measured.result(&mut page),
        }
        page
    }
}

impl Measured {
    fn part(&self, part: usize, page: &mut LessonPage) {
        page.speedup = self.speedup.clone();
        match (self.parts.get(part), &self.outcome) {
            (Some(known), _) => {
                let row = |figure: &lesson::MeasuredValue| {
                    let value = format!("{} {}", number(figure.value), figure.unit);
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

    fn result(&self, page: &mut LessonPage) {
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

/// A number with about three significant digits.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 || v == v.trunc() => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

impl LessonSource for SessionWithLessons {
    fn list(&self) -> Vec<LessonEntry> {
        let entry = |lesson: &Lesson| LessonEntry {
            name: lesson.name.into(),
            title: lang::text(lesson.title).into(),
        };
        LESSONS.iter().map(entry).collect()
    }

    fn open(&mut self, index: usize) {
        self.close();
        let Some(lesson) = LESSONS.get(index) else {
            return;
        };
        self.session.pause_for_lesson(true);
        self.open = Some(OpenLesson {
            lesson,
            page: 0,
            measured: Mutex::default(),
        });
    }

    fn page(&self) -> Option<LessonPage> {
        Some(self.open.as_ref()?.shown())
    }

    fn next(&mut self) {
        if let Some(open) = &mut self.open {
            open.page = (open.page + 1).min(open.lesson.pages().len() - 1);
        }
        self.measure();
    }

    fn previous(&mut self) {
        if let Some(open) = &mut self.open {
            open.page = open.page.saturating_sub(1);
        }
    }

    fn go_to_result(&mut self) {
        if let Some(open) = &mut self.open {
            open.page = open.lesson.pages().len() - 1;
        }
        self.measure();
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.session.pause_for_lesson(false);
        }
    }
}

impl PictureSource for SessionWithLessons {
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        self.session.visit_newer(seen, draw);
    }

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        self.session.newer_trace(seen)
    }

    fn newer_population(&self, of: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        self.session.newer_population(of, seen)
    }
}

impl SessionHandle for SessionWithLessons {
    fn saver(&self) -> Option<Saver> {
        self.session.saver()
    }

    fn open_saved(&mut self, saved: SavedSession, what: Message) {
        LessonSource::close(self); // it would go on with the former session
        self.session.open(saved, what);
    }

    fn grow(&self, size: Size, place: Option<(usize, Change)>) {
        self.session.grow(size, place);
    }

    fn act(&self, action: SessionAction) {
        self.session.act(action);
    }

    fn watch_population(&self, watch: bool) {
        self.session.watch_population(watch);
    }

    fn watch_overlap(&self, watch: bool) {
        self.session.watch_overlap(watch);
    }

    fn request_view(&self, request: PicturePlan) {
        self.session.request_view(request);
    }

    fn status(&self) -> Arc<Status> {
        self.session.status()
    }

    fn edit(&self, edit: Edit) -> Option<u64> {
        Some(self.session.edit(edit))
    }

    fn copy(&self, instance: usize) -> Option<Receiver<(Arc<Lattice>, u64)>> {
        Some(self.session.copy(instance))
    }

    fn lessons(&mut self) -> Option<&mut dyn LessonSource> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use engine::kernels;
    use life::Size;
    use model::Pace;

    fn room() -> SessionWithLessons {
        let kernel = kernels::find("bits").unwrap();
        let setup = Setup {
            pace: Pace::PerSecond(60.0),
            ..Setup::new(2, Size::new(32, 32).unwrap(), kernel, DeviceChoice::Cpu)
        };
        SessionWithLessons::start(setup, Box::new(|| {})).unwrap()
    }

    #[test]
    fn a_lesson_is_stepped_to_its_result_while_the_session_rests() {
        let mut room = room();
        assert!(room.page().is_none());
        assert_eq!(room.list().len(), LESSONS.len());
        let event = LESSONS.iter().position(|lesson| lesson.name == "pinned");
        room.open(event.unwrap());
        let first = room.page().unwrap();
        assert_eq!((first.number, first.busy), (1, false));
        room.previous();
        assert_eq!(room.page().unwrap().number, 1);
        for _ in 0..first.of + 3 {
            room.next();
        }
        assert_eq!(room.page().unwrap().number, first.of);
        let began = Instant::now();
        while room.page().unwrap().busy {
            assert!(began.elapsed() < Duration::from_secs(240));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!room.status().clock.running, "the session rests");
        let result = room.page().unwrap();
        assert!(!result.checks.is_empty(), "{result:?}");
        assert!(
            result.checks.iter().all(|(_, passed)| *passed),
            "{result:?}"
        );
        room.previous();
        assert!(!room.page().unwrap().rows.is_empty());
        room.close();
        assert!(room.page().is_none());
        let began = Instant::now();
        while !room.status().clock.running {
            assert!(began.elapsed() < Duration::from_secs(240), "it goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_speed_up_curve_is_of_the_session_s_lattices_and_comes_point_by_point() {
        let mut room = room();
        let index = LESSONS
            .iter()
            .position(|it| it.name == lesson::SPEEDUP.name);
        room.open(index.unwrap());
        room.go_to_result();
        let first = room.page().unwrap();
        assert_eq!((first.number, first.busy), (first.of, true));
        let began = Instant::now();
        let mut seen = vec![0];
        while room.page().unwrap().busy {
            assert!(began.elapsed() < Duration::from_secs(240));
            let page = room.page().unwrap();
            let measured = page.speedup.map_or(0, |curve| curve.measured());
            if seen.last() != Some(&measured) {
                seen.push(measured);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(seen.starts_with(&[0, 1]), "{seen:?}");
        let page = room.page().unwrap();
        let curve = page.speedup.expect("it is measured");
        assert_eq!(
            (&*curve.kernel, curve.width, curve.height),
            ("bits", 32, 32)
        );
        assert_eq!(curve.instances, [1, 2]);
        assert_eq!(curve.measured(), 2);
        assert!(curve.series[2].unavailable.is_some(), "bits takes no batch");
        assert!(
            page.checks.iter().all(|(_, passed)| *passed),
            "{:?}",
            page.checks
        );
    }

    /// What was asked for just before a lesson counts, whatever the status still says.
    #[test]
    fn a_lesson_pauses_and_leaves_the_session_as_it_was_asked_to_be() {
        let mut room = room();
        // Behind everything that was asked for before.
        let runs = |room: &SessionWithLessons| {
            let kept = room.session.saved();
            kept.recv_timeout(Duration::from_secs(240)).unwrap().running
        };
        assert!(runs(&room));
        room.open(0);
        assert!(!runs(&room));
        room.close();
        assert!(runs(&room), "it goes on");
        SessionHandle::act(&room, SessionAction::TogglePause);
        room.open(0);
        assert!(!runs(&room), "paused just before");
        room.close();
        assert!(!runs(&room), "and so it stays");
        SessionHandle::act(&room, SessionAction::TogglePause);
        room.open(0);
        SessionHandle::act(&room, SessionAction::StepGeneration);
        room.close();
        assert!(!runs(&room), "stepped by hand meanwhile");
    }

    #[test]
    fn a_run_to_a_generation_ends_there_behind_a_lesson_too() {
        let mut room = room();
        const FAR: u64 = 100_000;
        SessionHandle::act(&room, SessionAction::RunTo(FAR));
        room.open(0);
        room.close();
        let began = Instant::now();
        let status = loop {
            let status = room.status();
            if !status.clock.running && status.clock.generation >= FAR {
                break status;
            }
            assert!(began.elapsed() < Duration::from_secs(240), "{status:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.clock.generation, FAR);
    }

    #[test]
    fn figures_have_the_digits_they_deserve() {
        let shown = [12_345.6, 43.21, 5.678, 3.0, 0.0123].map(number);
        assert_eq!(shown, ["12346", "43.2", "5.68", "3", "0.01"]);
    }
}
