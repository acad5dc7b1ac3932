//! Lessons on screen: the page of one, step by step: the question, then each
//! comparison. While a lesson is open the session is paused, so that neither disturbs the other's
//! measurements, and keys that would move the view or run the session go from step to step instead.

use crate::numbers::time_us;
use crate::rung_source::{SourceLine, side_by_side};
use crate::{Answer, Chart, Wake};
use lang::{Message, message, tr};
use lesson::{
    LESSONS, Lesson, LessonImage, OpFigures, Outcome, PartOutcome, Progress, Scene, Speedup,
    SweepSetup,
};
use session::{DeviceChoice, Session, Status};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use State::*;

/// A lesson, where one is open. No method waits for a measurement: the page is
/// busy meanwhile, and the front end is woken whenever there is more to show.
pub struct Lessons {
    state: State,
    /// What the state shows, as of the last update.
    screen: Option<Box<LessonPage>>,
    /// The last lesson that was opened, where a list of them goes on.
    pub last: Option<usize>,
    wake: Wake,
    /// One lesson is measured at a time: the next waits.
    measuring: Arc<Mutex<()>>,
}

enum State {
    Closed,
    Open(Box<OpenLesson>),
    /// The page that closes a lecture.
    Summary(Box<LessonPage>),
}

impl Lessons {
    /// With nothing open; `wake` is called when a lesson has something new to show.
    pub fn new(wake: Wake) -> Lessons {
        Lessons {
            state: Closed,
            screen: None,
            last: None,
            wake,
            measuring: Arc::default(),
        }
    }

    /// The page that is shown, if any.
    pub fn screen(&self) -> Option<&LessonPage> {
        self.screen.as_deref()
    }

    /// Which lesson is open, and whether a step follows the one shown in this direction.
    pub fn page(&self, forward: bool) -> Option<(&'static Lesson, bool)> {
        let Open(open) = &self.state else {
            return None;
        };
        let last = if forward { open.scenes.len() } else { 0 };
        Some((open.lesson, open.step != last))
    }

    /// What the class predicted in the open lesson, and what was measured.
    pub fn answer(&self) -> Option<Answer> {
        let Open(open) = &self.state else {
            return None;
        };
        let predicted = open.choices().into_iter().find(|it| it.is_chosen);
        Some(Answer {
            question: lang::text(open.lesson.question).into(),
            is_right: predicted.as_ref().is_some_and(|it| it.is_right),
            predicted: predicted.map(|it| it.text),
            measured: open.over().map(Outcome::findings_in_words),
        })
    }

    /// Opens a lesson in place of what is open.
    pub fn open(&mut self, session: &Session, lesson: &'static Lesson) {
        self.close(session);
        self.last = LESSONS.iter().position(|it| it.name == lesson.name);
        session.pause_for_lesson(true);
        self.state = Open(Box::new(OpenLesson::new(lesson, &session.status())));
    }

    /// Shows a page that nothing is measured for.
    pub fn show_page(&mut self, page: Box<LessonPage>) {
        self.state = Summary(page);
    }

    /// Shows the speed-up curve in the last step of its lesson. It is measured now, unless that lesson
    /// is open.
    pub fn measure_speedup(&mut self, session: &Session) {
        if let Some(speedup) = lesson::find("speedup")
            && self.page(true).is_none_or(|it| it.0.name != speedup.name)
        {
            self.open(session, speedup);
        }
        if let Open(open) = &mut self.state {
            open.step = open.scenes.len();
        }
        self.measure(session);
    }

    /// Measures the open lesson anew where a step shows what was measured.
    pub fn measure_again(&mut self, session: &Session) {
        if let Open(open) = &mut self.state
            && open.step > 0
            && open.outcome.is_some()
        {
            **open = OpenLesson {
                step: open.step,
                chosen: open.chosen,
                ..OpenLesson::new(open.lesson, &session.status())
            };
            self.measure(session);
        }
    }

    /// Takes one of the open lesson's choices for what the class predicts, or takes it back; once
    /// something is measured, nothing is predicted any more.
    pub fn predict(&mut self, choice: usize) {
        if let Open(open) = &mut self.state
            && choice < open.lesson.choices_in_words().len()
            && open.events.is_none()
        {
            open.chosen = Some(choice).filter(|_| open.chosen != Some(choice));
        }
    }

    /// One step forward or back; leaves the page that closes a lecture.
    pub fn turn_page(&mut self, session: &Session, forward: bool) {
        match &mut self.state {
            Closed => {}
            Summary(_) => self.close(session),
            Open(open) => {
                let by = if forward { 1 } else { -1 };
                open.step = open.step.saturating_add_signed(by).min(open.scenes.len());
                self.measure(session);
            }
        }
    }

    /// Ends the open lesson, so that the session goes on as before, and shows nothing.
    pub fn close(&mut self, session: &Session) {
        if let Open(_) = std::mem::replace(&mut self.state, Closed) {
            session.pause_for_lesson(false);
        }
    }

    /// Takes in what has been measured, and makes anew what is shown.
    pub fn update(&mut self) {
        self.screen = match &mut self.state {
            Closed => None,
            Open(open) => {
                open.receive();
                if let Some(Ok(outcome)) = &mut open.outcome {
                    outcome.close(open.lesson); // in the present language
                }
                Some(Box::new(open.page()))
            }
            State::Summary(page) => Some(page.clone()),
        };
    }

    /// Begins to measure the open lesson once a step shows what is measured.
    fn measure(&mut self, session: &Session) {
        let Open(open) = &mut self.state else {
            return;
        };
        if open.step == 0 || open.events.is_some() {
            return;
        }
        let (sender, events) = channel();
        open.events = Some(events);
        let (lesson, swept) = (open.lesson, open.swept);
        let device = match (session.status().lab.recording.is_some(), session.device()) {
            (true, _) => DeviceChoice::Recorded,
            (false, DeviceChoice::Recorded) => DeviceChoice::Cpu,
            (false, device) => device,
        };
        let (measuring, wake) = (self.measuring.clone(), self.wake.clone());
        let begun = Builder::new().name("lesson".into()).spawn(move || {
            let _alone = measuring.lock();
            let send = |event| {
                let sent = sender.send(event);
                wake();
                match sent {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()), // the lesson was closed
                }
            };
            let mut report = |progress| send(Event::Progress(progress));
            let run = || lesson::run(lesson, device, Some(swept), &mut report);
            let outcome = match platform::catch_panic(run) {
                Ok(outcome) => outcome.map(Box::new).map_err(|it| it.to_string()),
                Err(why) => Err(tr!("internal: {it}", it = why)),
            };
            let _ = send(Event::Over(outcome));
        });
        if let Err(error) = begun {
            open.outcome = Some(Err(tr!("the lesson cannot be measured: {error}")));
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
    scenes: Vec<Scene>,
    /// Which of its steps is shown: 0 is the question, then come the scenes.
    step: usize,
    /// Which of its choices the class predicts.
    chosen: Option<usize>,
    /// What a sweep steps.
    swept: SweepSetup,
    /// What the thread that measures it sends, once it is wanted.
    events: Option<Receiver<Event>>,
    /// How far the measurement is.
    progress: Message,
    parts: Vec<PartOutcome>,
    speedup: Option<Arc<Speedup>>,
    outcome: Option<Result<Box<Outcome>, String>>,
}

impl OpenLesson {
    fn new(lesson: &'static Lesson, status: &Status) -> OpenLesson {
        OpenLesson {
            lesson,
            scenes: lesson.scenes(),
            step: 0,
            chosen: None,
            swept: SweepSetup {
                instances: status.lattices.instances,
                size: status.lattices.size,
                kernel: status.setting.kernel,
                generations_per_round: status.setting.generations_per_round,
            },
            events: None,
            progress: message!("measuring …"),
            parts: Vec::new(),
            speedup: None,
            outcome: None,
        }
    }

    /// Takes in what has been measured.
    fn receive(&mut self) {
        for event in self.events.iter().flat_map(Receiver::try_iter) {
            match event {
                Event::Progress(Progress::Measuring(part)) => {
                    let title = self.lesson.parts[part].title;
                    self.progress = message!("measuring: {}", lang::text(title));
                }
                Event::Progress(Progress::Waiting { done, of }) => {
                    self.progress = message!(
                        "measuring: {done} of {of} windows are done; the next begins in a few seconds"
                    );
                }
                Event::Progress(Progress::Measured(part)) => self.parts.push(*part),
                Event::Progress(Progress::Swept(speedup)) => self.speedup = Some(speedup),
                Event::Over(outcome) => self.outcome = Some(outcome),
            }
        }
    }

    /// What is shown in the end, measured here or recorded; `None` before that.
    fn over(&self) -> Option<&Outcome> {
        Some(self.outcome.as_ref()?.as_ref().ok()?.shown())
    }

    fn page(&self) -> LessonPage {
        let asked = &self.scenes[self.lesson.asked()];
        let at = self.step.checked_sub(1);
        let scene = at.map_or(asked, |at| &self.scenes[at]);
        let mut page = LessonPage {
            title: lang::text(self.lesson.title).into(),
            about: about(self.lesson),
            question: lang::text(self.lesson.question).into(),
            // Beside another comparison, the right one would seem to be of that.
            choices: if scene == asked {
                self.choices()
            } else {
                Vec::new()
            },
            number: self.step + 1,
            of: self.scenes.len() + 1,
            columns: self.columns(scene),
            ..LessonPage::default()
        };
        if self.step == 0 {
            page.intro = lang::text(self.lesson.intro).into();
        } else {
            self.show_measured(scene, &mut page);
        }
        page
    }

    fn choices(&self) -> Vec<LessonChoice> {
        // No step before the one with the evidence says which it is.
        let over = self.over().filter(|_| self.step > self.lesson.asked());
        let right = over.and_then(|it| self.lesson.right(it));
        let texts = self.lesson.choices_in_words().into_iter().enumerate();
        texts
            .map(|(at, text)| {
                let is_factor = self.lesson.factor(at).is_some();
                LessonChoice::new(text, self.chosen == Some(at), right == Some(at), is_factor)
            })
            .collect()
    }

    /// The parts of a scene, with their programs.
    fn columns(&self, scene: &Scene) -> Vec<LessonColumn> {
        let parts: Vec<_> = scene
            .parts
            .iter()
            .map(|&at| &self.lesson.parts[at])
            .collect();
        let codes: Vec<&str> = parts.iter().map(|part| &*part.code).collect();
        let column = |(part, code): (&&lesson::Part, Vec<SourceLine>)| LessonColumn {
            title: lang::text(part.title).into(),
            code,
            ..LessonColumn::default()
        };
        parts.iter().zip(side_by_side(&codes)).map(column).collect()
    }

    /// What has been measured of a scene.
    fn show_measured(&self, scene: &Scene, page: &mut LessonPage) {
        page.speedup = self.speedup.clone();
        let is_last = self.step == self.scenes.len();
        match &self.outcome {
            None => page.progress = Some(self.progress.to_string()),
            Some(Err(why)) => page.note = why.clone(),
            Some(Ok(measured)) => {
                let outcome = measured.shown();
                let closing = || self.lesson.closing(outcome);
                let concluded = scene
                    .comparison
                    .and_then(|at| outcome.conclusions[at].clone());
                page.conclusion = match outcome.missing {
                    Some(_) => outcome.closing.clone(),
                    None => {
                        let closing = is_last.then(closing).filter(|text| !text.is_empty());
                        let all = concluded.into_iter().chain(closing);
                        all.reduce(|all, next| tr!("{} {}", all, next))
                            .unwrap_or_default()
                    }
                };
                let checks = measured
                    .checks
                    .iter()
                    .filter(|check| is_last || !check.passed);
                page.checks = checks.map(|it| (it.what.clone(), it.passed)).collect();
                page.note = remarks(measured);
                page.pictures = measured.pictures.clone();
                if let Some(recorded) = outcome.recorded_in_words() {
                    page.recorded = lang::sentence_case(&recorded);
                    page.speedup = outcome.speedup.clone().map(Arc::new);
                }
                if outcome.missing.is_some() {
                    return; // its times would say otherwise
                }
            }
        }
        // Where the engine may lack what the lesson is about, times say nothing before that is known.
        let is_clear = self.lesson.missing_on_cpu.is_none() || self.over().is_some();
        let parts = self.over().map_or(&self.parts, |it| &it.parts);
        let known: Vec<_> = scene.parts.iter().map(|&part| parts.get(part)).collect();
        if !is_clear || !known.iter().all(Option::is_some) {
            return;
        }
        let known: Vec<&PartOutcome> = known.into_iter().flatten().collect();
        let is_drawn = self.over().is_none_or(|it| it.draws(self.lesson, scene));
        let of = scene.parts.iter().map(|&part| &self.lesson.parts[part]);
        for ((column, part), of) in page.columns.iter_mut().zip(&known).zip(of) {
            let row = |it: &lesson::MeasuredValue| (it.name(), it.in_words());
            column.figures = part.figures.iter().map(row).collect();
            if is_drawn && page.speedup.is_none() {
                if self.lesson.ops {
                    column.ops = part.ops();
                }
                column.note = of.remarks(part);
            } else {
                // Ops of rounds that are not drawn would contradict the times, too.
                column.note = part.note.as_deref().map(lang::shown).unwrap_or_default();
            }
        }
        if is_drawn {
            let rounds = known.iter().filter_map(|part| part.trace.clone());
            page.rounds = Chart::on_one_axis(rounds.map(Arc::new).collect());
        } else {
            let why = tr!(
                "the rounds are not drawn: with each op timed, and without what the host does between ops, they do not add up to the times"
            );
            page.note = [&*page.note, why].join(" · ");
        }
        page.bars = self.bars(scene, &known);
    }

    /// The times of a scene's parts, and what was predicted of them.
    fn bars(&self, scene: &Scene, known: &[&PartOutcome]) -> Vec<TimeBar> {
        let of = |label: String, milliseconds: f64, interval, is_prediction| TimeBar {
            label,
            milliseconds,
            interval,
            text: time_us(1e3 * milliseconds),
            is_prediction,
        };
        let measured = known.iter().filter_map(|part| {
            let title = lang::text(part.title).into();
            Some(of(title, part.time_ms?, part.interval_ms, false))
        });
        let mut bars: Vec<TimeBar> = measured.collect();
        if bars.len() < 2 {
            return Vec::new(); // it is among the figures
        }
        let predicted = self.chosen.and_then(|choice| self.lesson.factor(choice));
        if let (Some((comparison, factor)), [slow, ..]) = (predicted, &bars[..])
            && scene.comparison == Some(comparison)
        {
            let title = tr!("predicted: {}", lang::text(known[1].title));
            bars.push(of(title, slow.milliseconds / factor, None, true));
        }
        bars
    }
}

/// Where and when a lesson's times were measured, or what they lack.
fn remarks(measured: &Outcome) -> String {
    let outcome = measured.shown();
    let is_here = outcome.recorded_in_words().is_none() && measured.missing.is_none();
    let device = is_here.then(|| tr!("measured on {}", outcome.device));
    let remarks = [device, outcome.windows_in_words(), measured.missing.clone()];
    Vec::from_iter(remarks.into_iter().flatten()).join(" · ")
}

/// Where a lesson comes from, what it needs and how long it takes.
fn about(lesson: &Lesson) -> String {
    let needs = match lesson.missing_on_cpu {
        Some(_) => tr!("needs an NVIDIA GPU"),
        None => tr!("runs on every machine"),
    };
    let takes = tr!("about {} s", lesson.takes().as_secs());
    [lesson.source.in_words(), needs.into(), takes].join(" · ")
}

/// The page of a lesson: its question and what the class may predict, the settings that are
/// compared side by side, and what was measured of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LessonPage {
    /// The lesson's title.
    pub title: String,
    /// Where it comes from, what it needs and how long it takes.
    pub about: String,
    /// What is done, in a sentence or two; empty once something is measured.
    pub intro: String,
    /// What the class is asked to predict.
    pub question: String,
    /// What it may say.
    pub choices: Vec<LessonChoice>,
    /// Which step of the lesson is shown, from 1: the question, then each comparison.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// What is compared, or seen by itself.
    pub columns: Vec<LessonColumn>,
    /// Where and when columns' figures, rounds, bars and the conclusion were recorded; empty if they were
    /// measured here.
    pub recorded: String,
    /// A timed round of each column, on one axis, where both have one.
    pub rounds: Vec<Chart>,
    /// What was predicted and what was measured; empty where nothing is compared.
    pub bars: Vec<TimeBar>,
    /// What is concluded from it; may be empty.
    pub conclusion: String,
    /// A remark on it; may be empty.
    pub note: String,
    /// What was checked, and whether it holds.
    pub checks: Vec<(String, bool)>,
    /// How far the measurement is, while it goes on.
    pub progress: Option<String>,
    /// The speed-up curve, as far as it is measured.
    pub speedup: Option<Arc<Speedup>>,
    /// What the lesson painted.
    pub pictures: Vec<LessonImage>,
}

/// Something that the class may predict.
#[derive(Clone, PartialEq, Debug)]
pub struct LessonChoice {
    /// What it says.
    pub text: String,
    /// Whether the class has chosen it.
    pub is_chosen: bool,
    /// Whether it is the one that was measured, or of factors the nearest.
    pub is_right: bool,
}

impl LessonChoice {
    /// Of several factors, the right one is the nearest to what was measured, and its text says so.
    pub(crate) fn new(text: String, is_chosen: bool, is_right: bool, is_factor: bool) -> Self {
        let near = is_right && is_factor;
        let text = if near { tr!("{text} (nearest)") } else { text };
        LessonChoice {
            text,
            is_chosen,
            is_right,
        }
    }
}

/// A setting of a lesson.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LessonColumn {
    /// What it is, in a few words.
    pub title: String,
    /// The program, line by line.
    pub code: Vec<SourceLine>,
    /// What was measured, and the value with its unit.
    pub figures: Vec<(String, String)>,
    /// What was measured of the ops of its round.
    pub ops: Vec<OpFigures>,
    /// A remark on them; may be empty.
    pub note: String,
}

/// A time, as a bar.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeBar {
    /// Of what.
    pub label: String,
    /// Its length.
    pub milliseconds: f64,
    /// The interval that the time lies in, if there were enough runs.
    pub interval: Option<[f64; 2]>,
    /// The time with its unit.
    pub text: String,
    /// Whether it was predicted and not measured.
    pub is_prediction: bool,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::rung_source::Change;
    use engine::kernels;
    use lang::Language;
    use life::Size;
    use session::{DeviceChoice, Setup};

    fn start() -> (Session, Lessons) {
        let kernel = kernels::find("bits").unwrap();
        let setup = Setup::new(2, Size::new(32, 32).unwrap(), kernel, DeviceChoice::Cpu);
        let session = Session::start(setup, || {}).unwrap();
        (session, Lessons::new(Arc::new(|| {})))
    }

    /// The page that is shown now.
    fn page(lessons: &mut Lessons) -> LessonPage {
        lessons.update();
        lessons.screen().expect("a page").clone()
    }

    /// The page once it is measured; each until then is looked at.
    fn measured(lessons: &mut Lessons, mut look: impl FnMut(LessonPage)) -> LessonPage {
        loop {
            let page = page(lessons);
            if page.progress.is_none() {
                return page;
            }
            look(page);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn pages_are_turned_up_to_the_last_one_and_back() {
        let (session, mut lessons) = start();
        let mut walk = |times: usize, does: fn(&mut Lessons, &Session), expected: &str| {
            (0..times).for_each(|_| does(&mut lessons, &session));
            lessons.update();
            let shown = match lessons.screen() {
                None => "nothing".into(),
                Some(page) => format!("{}, step {}", page.title, page.number),
            };
            assert_eq!(shown, expected);
        };
        let title = lang::text(LESSONS[0].title);
        let [first, second] = [1, 2].map(|step| format!("{title}, step {step}"));
        let (forward, back) = (
            |it: &mut Lessons, session: &Session| it.turn_page(session, true),
            |it: &mut Lessons, session: &Session| it.turn_page(session, false),
        );
        walk(1, |it, session| it.open(session, &LESSONS[0]), &first);
        walk(1, forward, &second);
        walk(2, back, &first);
        walk(1, Lessons::close, "nothing");
    }

    #[test]
    fn a_lesson_is_stepped_from_its_choice_to_its_result_while_the_session_rests() {
        let (session, mut lessons) = start();
        lessons.open(&session, lesson::find("default-stream").unwrap());
        let first = page(&mut lessons);
        assert_eq!((first.number, first.progress), (1, None));
        let mut lines = first.columns.iter().flat_map(|it| &it.code);
        assert!(lines.any(|line| line.change != Change::Same));
        // A choice is taken back by choosing it again, and once it is measured no other is taken.
        let mut predict = |choice: usize, expected: Option<usize>| {
            lessons.predict(choice);
            let choices = page(&mut lessons).choices;
            assert_eq!(choices.iter().position(|it| it.is_chosen), expected);
        };
        predict(1, Some(1));
        predict(1, None);
        predict(0, Some(0));
        predict(9, Some(0));
        lessons.turn_page(&session, true);
        measured(&mut lessons, drop);
        assert!(!session.status().clock.running, "the session rests");
        lessons.predict(2);
        lessons.measure_again(&session);
        let mut seen = Vec::new();
        let result = measured(&mut lessons, |page| seen.push(page.number));
        assert!(seen.starts_with(&[2]), "again from the same step");
        assert!(result.choices[0].is_chosen && result.rounds.len() == 2);
        assert!(result.columns.iter().all(|it| !it.figures.is_empty()));
        // No difference was predicted: as long as the slower part's.
        let bars = result.bars.iter().map(|it| it.is_prediction);
        assert_eq!(bars.collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(result.bars[2].milliseconds, result.bars[0].milliseconds);
        assert!(!result.conclusion.is_empty());
        (0..first.of).for_each(|_| lessons.turn_page(&session, true));
        let last = page(&mut lessons);
        assert!(
            last.number == last.of && !last.checks.is_empty(),
            "{last:?}"
        );
        assert!(last.checks.iter().all(|(_, passed)| *passed), "{last:?}");
        lessons.close(&session);
        while !session.status().clock.running {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_an_engine_lacks_has_the_times_recorded_on_a_gpu_and_checks_of_here() {
        let lesson = lesson::find("rgb-to-gray").unwrap();
        let recorded = lesson::recorded(lesson).unwrap();
        let device = recorded.recorded_in_words().unwrap();
        let (session, mut lessons) = start();
        lessons.open(&session, lesson);
        lessons.turn_page(&session, true);
        let shown = measured(&mut lessons, |early| {
            let mut columns = early.columns.iter();
            assert!(columns.all(|it| it.figures.is_empty()) && early.bars.is_empty());
        });
        let chinese = test_support::with(Language::Chinese, || page(&mut lessons));
        let said = |page: LessonPage| [page.recorded, page.note, page.conclusion];
        let expected = [&device[1..], "The CPU engine has no", &recorded.closing];
        let chinese = said(chinese).into_iter().zip(said(shown.clone()));
        for ((chinese, english), expected) in chinese.zip(expected) {
            assert!(
                english.contains(expected) && chinese != english,
                "{english}"
            );
        }
        assert!(shown.bars.len() == 2 && shown.choices.iter().any(|it| it.is_right));
        assert!(!shown.checks.is_empty() && shown.checks.iter().all(|it| it.1));
        let answer = lessons.answer().unwrap().measured.unwrap();
        assert!(answer.contains(&device), "{answer}");
    }

    #[test]
    fn recorded_rounds_that_contradict_the_figures_are_not_drawn() {
        let (session, _) = start();
        let mut hidden = 0;
        for lesson in LESSONS.iter() {
            let mut open = OpenLesson::new(lesson, &session.status());
            let scene = open.scenes.remove(0);
            let (Some(mut outcome), &[slow, fast]) = (lesson::recorded(lesson), &scene.parts[..])
            else {
                continue;
            };
            let trace = outcome.parts[slow].trace.take();
            outcome.parts[slow].trace = std::mem::replace(&mut outcome.parts[fast].trace, trace);
            let agrees = outcome.draws(lesson, &scene);
            open.outcome = Some(Ok(Box::new(outcome)));
            let mut page = LessonPage::default();
            open.show_measured(&scene, &mut page);
            let says_why = page.note.contains("the rounds are not drawn");
            assert_eq!(says_why, !agrees, "{}", lesson.name);
            assert!(agrees || page.rounds.is_empty());
            hidden += usize::from(!agrees);
        }
        assert!(hidden > 3, "{hidden}");
    }

    #[test]
    fn the_speed_up_curve_is_of_the_session_s_lattices_and_comes_point_by_point() {
        let (session, mut lessons) = start();
        lessons.measure_speedup(&session);
        let mut curves = vec![None];
        let result = measured(&mut lessons, |page| {
            assert_eq!(page.number, page.of);
            curves.push(page.speedup);
        });
        let mut points: Vec<_> = curves.iter().flatten().map(|it| it.measured()).collect();
        points.dedup();
        assert!(points.starts_with(&[1]), "{points:?}");
        // In the end, the one that was recorded on a GPU takes its place.
        let curve = curves.pop().flatten().expect("it is measured");
        let of = (&*curve.kernel, curve.width, curve.height);
        assert_eq!((of, &curve.instances[..]), (("bits", 32, 32), &[1, 2][..]));
        assert!(curve.series[2].unavailable.is_some(), "bits takes no batch");
        assert!(result.checks.iter().all(|(_, passed)| *passed));
        // It is measured once while it is open, and again once it was closed or another lesson is open.
        lessons.turn_page(&session, false);
        lessons.measure_speedup(&session);
        assert_eq!(page(&mut lessons), result);
        lessons.open(&session, &LESSONS[0]);
        lessons.measure_speedup(&session);
        assert!(page(&mut lessons).speedup.is_none());
    }
}
