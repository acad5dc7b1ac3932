//! A lecture on screen: which step is shown, what the class predicts, what was measured of it, and the
//! page that says so in the end.
//!
//! Every step has a whole setting. Going to a step asks the session for it, so that
//! after an interruption, whatever was changed meanwhile, the next step finds everything as it should be.

use crate::theme::Palette;
use crate::timeline::{colour, drawn_beside, fill, host_names};
use crate::{Chart, LessonChoice, LessonPage};
use engine::kernels::Kernel;
use lang::numbers::time_us;
use lang::{Message, message, tr};
use lesson::{Lesson, factor_in_words, nearest_factor};
use life::{SaveError, dated_name, write_atomically};
use session::trace::{RecordedGroup, RecordedSetting, Recording, RoundWork};
use session::{Effect, NotSaved, PictureSource, Session, Setup, Status, Switches};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A lecture, and where its notes and its page go.
#[derive(Clone, Debug)]
pub struct LectureOptions {
    /// The lecture.
    pub lecture: Lecture,
    /// Where the speaker's notes go.
    pub notes: Notes,
    /// The page with predictions and results; one with a dated name if the class has predicted or
    /// something was measured, if not given.
    pub report: Option<PathBuf>,
}

/// Where the speaker's notes go.
#[derive(Clone, PartialEq, Debug)]
pub enum Notes {
    /// Nowhere: the terminal shows the session.
    Nowhere,
    /// To the terminal that started the window.
    Stdout,
    /// Behind what this file has.
    File(PathBuf),
}

/// What is seen of the step that is shown.
#[derive(Clone, PartialEq, Debug)]
pub struct LectureScreen {
    /// The number of the step, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// What it says; the lecture's title where it has no text.
    pub text: String,
    /// What the class is asked; may be empty.
    pub question: String,
    /// What it may say.
    pub choices: Vec<LessonChoice>,
    /// What was predicted of the change that led here and what was measured; may be empty.
    pub result: String,
    /// Whether it has room, before it is measured, too.
    pub may_have_result: bool,
    /// Whether the class chose what is nearest to it.
    pub is_right: bool,
}

/// A question, what the class said, and what was measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answer {
    /// The question.
    pub question: String,
    /// What the class predicted.
    pub predicted: Option<String>,
    /// What was measured.
    pub measured: Option<String>,
    /// Whether the class predicted what is nearest to that.
    pub is_right: bool,
}

impl Answer {
    fn is_empty(&self) -> bool {
        self.predicted.is_none() && self.measured.is_none()
    }
}

/// A lecture and how far it is; it can be closed and taken up again.
pub struct LectureRun {
    options: LectureOptions,
    /// Whether a step is shown.
    pub(crate) is_open: bool,
    /// The step that is shown, or was when it was closed.
    at: usize,
    /// What is known of each step's question.
    steps: Vec<StepResult>,
    /// The last change's effect before the present step was entered.
    effect_before: Option<Effect>,
    /// What measures, or was recorded.
    device: String,
    /// Whether kernel and switches are no longer the step's own, once they have been.
    is_changed: Option<bool>,
    /// Why its page is not where it should be.
    pub(crate) unsaved: Option<NotSaved>,
}

#[derive(Clone, Default)]
struct StepResult {
    /// Which of its choices the class predicts.
    chosen: Option<usize>,
    /// The effect of the next step's change, once its measurement has begun.
    effect: Option<Effect>,
    /// A round before that change, and one after it.
    rounds: Vec<Chart>,
    /// The answer to the question of its lesson.
    lesson: Option<Answer>,
}

impl LectureRun {
    /// Not open yet.
    pub fn new(options: LectureOptions) -> LectureRun {
        LectureRun {
            is_open: false,
            at: 0,
            steps: vec![StepResult::default(); options.lecture.steps.len()],
            effect_before: None,
            device: String::new(),
            is_changed: None,
            unsaved: None,
            options,
        }
    }

    /// The step that is shown, or was when it was closed.
    pub fn step(&self) -> &LectureStep {
        &self.options.lecture.steps[self.at]
    }

    /// What is to be shown beside the panels: what this step says, or else the last one before it that does.
    pub fn shows(&self) -> Option<&[LecturePanel]> {
        let steps = self.options.lecture.steps[..=self.at].iter();
        steps.rev().find_map(|step| step.shows.as_deref())
    }

    /// Whether there is a step before or behind the one that is shown.
    pub fn has_step(&self, forward: bool) -> bool {
        if forward {
            self.at + 1 < self.steps.len()
        } else {
            self.at > 0
        }
    }

    /// Shows the step that is `by` steps away: asks the session for its setting, and gives its note.
    ///
    /// Returns what to tell the speaker if the file of the notes cannot be written.
    pub fn go(&mut self, by: isize, session: &Session) -> Option<Message> {
        let status = session.status();
        self.update(&status, session); // no frame may have come since
        self.at = self.at.saturating_add_signed(by);
        (self.is_open, self.is_changed) = (true, None);
        self.effect_before = status.lab.last_effect.clone();
        session.apply(self.step().setup.clone());
        self.give_note().err().map(Message::of)
    }

    /// Takes one of the choices for what the class predicts, or takes it back, until that is measured.
    pub fn predict(&mut self, choice: usize) {
        let count = self.step().choices.len();
        let result = &mut self.steps[self.at];
        if choice < count && result.effect.is_none() {
            result.chosen = Some(choice).filter(|_| result.chosen != Some(choice));
        }
    }

    /// Whether the rounds of all steps are recorded.
    pub fn is_recorded(&self) -> bool {
        let mut steps = self.options.lecture.steps.iter();
        steps.all(|step| step.recorded().is_some())
    }

    /// Takes in what was answered and measured in the lesson of this step; nothing does not replace it.
    pub fn note_lesson(&mut self, lesson: &Lesson, answer: Option<Answer>) {
        let is_this = self.step().has_lesson(lesson);
        let known = &mut self.steps[self.at].lesson;
        if let Some(answer) = answer.filter(|it| is_this && (known.is_none() || !it.is_empty())) {
            *known = Some(answer);
        }
    }

    /// Takes in what is measured of the change that led to the present step. What the class does
    /// meanwhile is not: neither another change, nor this one while the setting is another.
    pub fn update(&mut self, status: &Status, rounds: &dyn PictureSource) {
        let now = self.step();
        let is_here = now.measured() == (status.setting.kernel, status.setting.switches);
        let before = self.at.checked_sub(1);
        if is_here || self.is_changed.is_some() {
            self.is_changed = Some(!is_here);
        }
        let Some(before) = before.filter(|_| self.is_open && is_here) else {
            return;
        };
        let effect = status.lab.last_effect.as_ref();
        let Some(effect) = effect.filter(|it| Some(*it) != self.effect_before.as_ref()) else {
            return;
        };
        let known = &mut self.steps[before].effect;
        let is_new = known
            .as_ref()
            .is_none_or(|known| known.finding.is_none() && known.what == effect.what);
        if is_new {
            *known = Some(effect.clone());
            let trace = rounds.newer_trace(0);
            let both = trace.and_then(|it| Some([it.drawn_before()?, it.drawn()?].map(Arc::clone)));
            if let Some(both) = both {
                self.steps[before].rounds = Chart::on_one_axis(both.into());
            }
            let engine = &status.engine;
            let device = engine.devices.first().map_or("–", |it| &*it.name);
            self.device = tr!("{device} ({})", lang::text(engine.name));
        }
    }

    /// What is seen of it; `None` while it is closed.
    pub fn screen(&self) -> Option<LectureScreen> {
        if !self.is_open {
            return None;
        }
        let step = self.step();
        let shows = self.shows();
        let is_drawn = shows.is_none_or(|it| it.contains(&LecturePanel::Timeline));
        // What nobody was asked goes with the timeline.
        let is_said = |at: usize| is_drawn || self.options.lecture.steps[at].question.is_some();
        let before = self.at.checked_sub(1).filter(|at| is_said(*at));
        let may_have_result = before.is_some();
        // Another setting has findings of its own.
        let before = before.filter(|_| self.is_changed != Some(true));
        let led_here = before.and_then(|before| {
            let measured = self.measured(before)?;
            // A device's name and a figure stay in one line each.
            let whole = |text: &str| text.replace(' ', "\u{a0}");
            let answer = self.answer(before);
            let is_right = answer.is_right;
            let result = match answer.predicted {
                None => {
                    let found = format!("{}: {}", measured.what, measured.in_short());
                    lang::sentence_case(&found)
                }
                Some(predicted) => tr!(
                    "You: {predicted} · {device}: {measured}",
                    device = whole(&self.device),
                    measured = whole(&measured.in_short())
                ),
            };
            Some((result, is_right))
        });
        let (result, is_right) = led_here.unwrap_or_default();
        let (known, nearest) = (&self.steps[self.at], self.nearest(self.at));
        let (text, choices) = (step.text.as_ref(), step.choices.iter().enumerate());
        Some(LectureScreen {
            number: self.at + 1,
            of: self.steps.len(),
            text: text.unwrap_or(&self.options.lecture.title).to_string(),
            question: self.answer(self.at).question,
            choices: choices
                .map(|(at, &factor)| {
                    let [is_chosen, is_nearest] = [known.chosen, nearest].map(|it| it == Some(at));
                    LessonChoice::new(factor_in_words(factor), is_chosen, is_nearest, true)
                })
                .collect(),
            result,
            may_have_result,
            is_right,
        })
    }

    /// Closes it and writes its page, if there is anything to say or one was asked for. Returns what to
    /// tell the speaker.
    pub fn close(&mut self) -> Option<Message> {
        if !std::mem::take(&mut self.is_open) {
            return None;
        }
        let answers = self.answers();
        if self.options.report.is_none() && answers.iter().all(Answer::is_empty) {
            return None;
        }
        let page = page(&self.summary(), &self.drawings());
        let dated = || dated_name(Path::new("lecture"), "html").into();
        let path = &*self.options.report.get_or_insert_with(dated);
        let write = |path: &Path| write_atomically(path, |out| out.write_all(page.as_bytes()));
        Some(match write(path) {
            Ok(()) => message!("Predictions and results: {}", path.display()),
            Err(error) => {
                let ending = path.extension().unwrap_or_default().to_string_lossy();
                let elsewhere = session::state_folder();
                let elsewhere = elsewhere.map(|it| it.join(dated_name(path, &ending)));
                let written = elsewhere.map(|path| write(&path).map(|()| path));
                let unsaved = NotSaved::elsewhere(&error, written, |elsewhere| {
                    message!("{error}; what belongs there is in {elsewhere} instead")
                });
                self.unsaved.insert(unsaved).message.clone()
            }
        })
    }

    /// What is known of all questions.
    fn answers(&self) -> Vec<Answer> {
        let all = (0..self.steps.len()).map(|at| {
            let own = Some(self.answer(at)).filter(|answer| !answer.question.is_empty());
            [own, self.steps[at].lesson.clone()]
        });
        all.flatten().flatten().collect()
    }

    /// What was measured of the next step's change.
    fn measured(&self, at: usize) -> Option<&Effect> {
        let effect = self.steps[at].effect.as_ref();
        effect.filter(|it| it.finding.is_some())
    }

    /// Which of a step's choices is nearest to that.
    fn nearest(&self, at: usize) -> Option<usize> {
        let finding = self.steps[at].effect.as_ref()?.finding?;
        nearest_factor(&self.options.lecture.steps[at].choices, finding)
    }

    /// What is known of a step's own question.
    fn answer(&self, at: usize) -> Answer {
        let (step, known) = (&self.options.lecture.steps[at], &self.steps[at]);
        let question = step.question.as_ref();
        Answer {
            question: question.map_or_else(String::new, Message::to_string),
            predicted: known.chosen.map(|at| factor_in_words(step.choices[at])),
            measured: self.measured(at).map(Effect::in_words),
            is_right: known.chosen.is_some() && known.chosen == self.nearest(at),
        }
    }

    /// The rounds before and after each change, below what was measured of it.
    fn drawings(&self) -> String {
        let drawn = self.steps.iter().filter_map(|step| {
            let (found, rounds) = (step.effect.as_ref()?, &step.rounds);
            let drawn = drawn_beside(rounds.iter().map(Some), found.round_us).unwrap_or_default();
            let [found, drawn] = [found.in_words(), drawn].map(|it| escaped(&it));
            let is_drawn = !rounds.is_empty();
            is_drawn.then(|| format!("<h2>{found}</h2>\n{}\n<p>{drawn}</p>\n", svg(rounds)))
        });
        drawn.collect()
    }

    /// The page that closes it: all predictions and results.
    pub fn summary(&self) -> LessonPage {
        let row = |it: Answer| {
            let sign = match (&it.predicted, &it.measured) {
                (Some(_), Some(_)) if it.is_right => "✓ ",
                (Some(_), Some(_)) => "× ",
                _ => "",
            };
            let [predicted, measured] =
                [it.predicted, it.measured].map(|it| it.unwrap_or("–".into()));
            let found = tr!("Predicted: {predicted} · result: {measured}");
            format!("{}\n{sign}{found}", it.question)
        };
        let rows: Vec<String> = self.answers().into_iter().map(row).collect();
        let meaning =
            tr!("2× slower: a round takes twice as long; 2× faster: it takes half as long.");
        LessonPage {
            title: self.options.lecture.title.to_string(),
            about: format!("{} · {}", life::date(), self.device),
            number: self.steps.len(),
            of: self.steps.len(),
            conclusion: rows.join("\n"),
            note: meaning.into(),
            ..LessonPage::default()
        }
    }

    fn give_note(&self) -> Result<(), SaveError> {
        let Some(note) = &self.step().note else {
            return Ok(());
        };
        let (number, of) = (self.at + 1, self.steps.len());
        let line = tr!("Step {number} of {of}: {note}");
        match &self.options.notes {
            Notes::Nowhere => Ok(()),
            Notes::Stdout => {
                // A reader that has gone needs no notes.
                let _ = writeln!(std::io::stdout(), "{line}");
                Ok(())
            }
            Notes::File(path) => {
                let file = OpenOptions::new().append(true).create(true).open(path);
                let written = file.and_then(|mut file| writeln!(file, "{line}"));
                written.map_err(|error| SaveError::new(path, &error))
            }
        }
    }
}

/// The page with predictions and results, and drawings below them.
fn page(summary: &LessonPage, drawings: &str) -> String {
    let title = escaped(&summary.title);
    let all = [&*summary.about, &*summary.conclusion, &*summary.note].join("\n");
    let paragraph = |it: &str| format!("<p>{}</p>\n", escaped(it));
    let lines: String = all.lines().map(paragraph).collect();
    format!(
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n\
         body {{ font: 18px sans-serif; max-width: 60em; margin: 2em auto; }}\n\
         svg {{ font-size: 10px; }}\n\
         </style>\n<h1>{title}</h1>\n{lines}{drawings}"
    )
}

/// Rounds on one axis: a row for each lane, a bar for each span, and how long the axis is.
fn svg(rounds: &[Chart]) -> String {
    let (mut bars, mut bottom, mut axis) = (String::new(), 0, 0.0);
    for (chart, host) in rounds.iter().zip(host_names(rounds.len(), false)) {
        axis = chart.whole;
        let streams = chart.lanes.iter().map(|lane| (&*lane.name, lane));
        for (name, lane) in [(host, &chart.host)].into_iter().chain(streams) {
            let (name, base) = (escaped(name), bottom + 9);
            bars += &format!("<text x=\"92\" y=\"{base}\" text-anchor=\"end\">{name}</text>\n");
            for bar in &lane.bars {
                let [x, end] = [bar.start, bar.end].map(|ns| 100.0 + 800.0 * ns / axis);
                let [red, green, blue] = colour(bar.kind, bar.number, &Palette::LIGHT);
                let (width, opacity) = ((end - x).max(0.5), fill(bar.kind).max(0.3));
                bars += &format!(
                    "<rect x=\"{x:.2}\" y=\"{bottom}\" width=\"{width:.2}\" height=\"10\" \
                     fill=\"rgb({red},{green},{blue})\" fill-opacity=\"{opacity}\"/>\n"
                );
            }
            bottom += 12;
        }
        bottom += 8;
    }
    let (end, height) = (time_us(axis / 1e3), bottom + 12);
    format!(
        "<svg viewBox=\"0 0 900 {height}\">\n{bars}\
         <text x=\"900\" y=\"{bottom}\" text-anchor=\"end\">{end}</text>\n</svg>"
    )
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

// Lectures: steps, each with a setting of the session, a lesson, texts, and a question about the change
// that the next step makes. The command line reads them from files.

/// A lecture.
#[derive(Clone, Debug)]
pub struct Lecture {
    /// Its title.
    pub title: Message,
    /// At least one step.
    pub steps: Vec<LectureStep>,
}

/// A step of a lecture.
#[derive(Clone, Debug)]
pub struct LectureStep {
    /// The whole setting of the session in this step. Of how it starts, only the density counts.
    pub setup: Setup,
    /// What is shown beside the panels; `None` leaves what the step before it shows.
    pub shows: Option<Vec<LecturePanel>>,
    /// The lesson that is open.
    pub lesson: Option<&'static Lesson>,
    /// What the class reads.
    pub text: Option<Message>,
    /// What the class is asked.
    pub question: Option<Message>,
    /// What it may say: by what factor the next step makes a round faster; less than 1 is slower.
    pub choices: Vec<f64>,
    /// What the speaker reads.
    pub note: Option<Message>,
}

/// Something that a step shows beside the panels.
#[derive(Clone, Copy, PartialEq, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LecturePanel {
    /// The timeline of the streams.
    Timeline,
    /// The lab.
    Lab,
    /// The ladder of kernels.
    Ladder,
}

impl LectureStep {
    /// Whether this lesson is open in it.
    pub(crate) fn has_lesson(&self, lesson: &Lesson) -> bool {
        self.lesson.is_some_and(|it| it.name == lesson.name)
    }

    /// The recorded rounds of its setting, and those that were timed in turn with them.
    pub fn recorded(&self) -> Option<(&'static RecordedGroup, &'static RecordedSetting)> {
        let (kernel, switches) = self.measured();
        let setup = &self.setup;
        let work = RoundWork::of(setup, setup.instances, setup.generations_per_round);
        let group = Recording::shipped().group(&work)?;
        Some((group, group.find(kernel, switches)?))
    }

    /// The kernel and the switches, by which the times of rounds are compared.
    pub fn measured(&self) -> (&'static Kernel, Switches) {
        let setting = &self.setup.setting;
        (setting.kernel, setting.switches)
    }

    /// Whether another step differs in one switch or in the kernel, and in nothing else: the session
    /// then measures what that does to a round.
    pub fn is_one_change_from(&self, other: &LectureStep) -> bool {
        let (a, b) = (&self.setup, &other.setup);
        let kernel = a.setting.kernel;
        let switches = a.setting.switches.differing(b.setting.switches, kernel);
        let changed = switches.len() + usize::from(kernel.name != b.setting.kernel.name);
        let is_same_otherwise = a.instances == b.instances
            && a.size == b.size
            && a.rule == b.rule
            && a.start == b.start
            && a.generations_per_round == b.generations_per_round
            && a.pace == b.pace;
        is_same_otherwise && changed == 1
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::fixtures::{Timed, lecture_options, serial_round, timed_round};
    use crate::{App, AppOptions, ViewAction};
    use session::{Finding, SessionAction, Source, Switch};
    use test_support::compare_with_stored;

    fn until(mut is_so: impl FnMut() -> bool) {
        while !is_so() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the session has the setting of this step.
    #[track_caller]
    fn reaches(app: &App, at: usize) {
        let lecture = app.lecture.as_ref().unwrap();
        assert_eq!(lecture.at, at);
        let wanted = &lecture.step().setup;
        until(|| {
            let status = app.session.as_ref().unwrap().status();
            let (lattices, setting) = (&status.lattices, &status.setting);
            status.lab.comparison.is_none()
                && (lattices.instances, lattices.size, lattices.rule)
                    == (wanted.instances, wanted.size, wanted.rule)
                && setting.kernel.name == wanted.setting.kernel.name
                && setting.switches == wanted.setting.switches
                && (setting.generations_per_round, setting.pace)
                    == (wanted.generations_per_round, wanted.pace)
        });
    }

    #[test]
    fn steps_reach_their_settings_forward_back_and_after_an_interruption() {
        let folder = tempfile::tempdir().unwrap();
        let options = lecture_options(folder.path());
        let setup = options.lecture.steps[0].setup.clone();
        let options = AppOptions {
            lecture: Some(options),
            ..AppOptions::default()
        };
        let mut app = App::new(options, Arc::new(|| {}), Arc::default());
        app.start(Session::start(setup, || {}).unwrap());
        reaches(&app, 0);
        app.turn_page(true);
        reaches(&app, 1);
        // The class asks, and things are changed.
        app.send(SessionAction::SetInstances(3));
        app.send(SessionAction::CycleSwitch(Switch::HostMemory));
        app.send(SessionAction::ToggleComparison);
        let session = app.session.as_ref().unwrap();
        until(|| session.status().lab.comparison.is_some());
        app.turn_page(false);
        reaches(&app, 0);
        // Faster than any status: the lesson opens over its setting.
        app.turn_page(true);
        app.turn_page(true);
        reaches(&app, 2);
        let number = |app: &App| app.lessons.screen().map(|page| (page.number, page.of));
        let (first, of) = number(&app).expect("the lesson's page");
        assert_eq!(first, 1);
        // Another lesson is opened meanwhile: behind it the lecture goes on where it was.
        app.open_lesson(&::lesson::LESSONS[0]);
        app.turn_page(false);
        assert_eq!(number(&app), Some((1, of)));
        app.predict(0);
        for page in 2..=of {
            app.turn_page(true);
            assert_eq!(number(&app), Some((page, of)));
        }
        app.act(ViewAction::Escape);
        assert!(number(&app).is_none() && app.open_lecture().is_some());
        app.turn_page(true);
        reaches(&app, 3);
        assert_eq!(number(&app), None);
        app.turn_page(false);
        app.turn_page(false);
        reaches(&app, 1);
        let answer = app.lecture.as_ref().unwrap().steps[2].lesson.as_ref();
        assert!(answer.unwrap().predicted.is_some(), "it is kept");
        app.options.presentation = true;
        app.show_timeline(false);
        app.act(ViewAction::Escape);
        assert!(
            app.open_lecture().is_none() && app.options.presentation,
            "it is left first"
        );
        app.options.presentation = false;
        app.toggle_lecture();
        reaches(&app, 1);
        let shown = (app.options.presentation, app.options.timeline);
        assert_eq!(shown, (true, true), "it is taken up as it was left");
        let notes = std::fs::read_to_string(folder.path().join("notes")).unwrap();
        assert_eq!(notes, "Step 1 of 4: Ask the class.\n".repeat(2));
        (0..of + 2).for_each(|_| app.turn_page(true));
        assert!(app.open_lecture().is_none(), "it ends behind its last step");
        let page = app.lessons.screen().expect("what closes it");
        let first = "How much slower?\nPredicted: – · result: –";
        assert!(page.conclusion.starts_with(first), "{page:?}");
        app.act(ViewAction::Escape);
        assert_eq!(app.lessons.screen(), None);
    }

    /// What is said of a prediction until it is measured, and the page with both.
    #[test]
    fn the_page_has_what_was_predicted_and_what_was_measured() {
        let folder = tempfile::tempdir().unwrap();
        let options = lecture_options(folder.path());
        let steps = options.lecture.steps.clone();
        let session = Session::start(steps[0].setup.clone(), || {}).unwrap();
        let mut run = LectureRun::new(options);
        // The next step changes something else, too.
        run.options.lecture.steps[0].setup.instances += 1;
        let mut status = Status::before_start(&steps[1].setup);
        status.engine = crate::fixtures::status(1, steps[1].setup.size).engine;
        run.go(0, &session);
        [0, 1, 7].iter().for_each(|choice| run.predict(*choice));
        run.go(1, &session);
        let found = Some(Finding::of(1.0 / 3.9, [1.0 / 4.0, 1.0 / 3.8]));
        let mut said = String::new();
        // Another change of the class, and this one's finding after it.
        for (what, finding) in [
            ("one stream", None),
            ("pageable", found),
            ("one stream", found),
        ] {
            status.lab.last_effect = Some(Effect {
                what: what.to_owned().into(),
                round_us: [Some(1000.0), Some(3900.0)],
                finding,
                source: Source::default(),
            });
            run.update(&status, &Timed(serial_round(2), Some(timed_round(2))));
            said += &format!("{:?}\n", run.screen().unwrap().result);
        }
        run.go(-1, &session);
        run.predict(0);
        said += &format!("{:#?}\n", run.screen().unwrap().choices);
        let closed = run.close().unwrap().to_string();
        let report = folder.path().join("report.html");
        said += &closed.replace(&report.display().to_string(), "report.html");
        let page = std::fs::read_to_string(report).unwrap();
        said += &format!("\n{}", page.replace(&life::date(), "DATE"));
        compare_with_stored("lecture-page.txt", &said);
        assert!(run.close().is_none(), "it is closed");
        // What nobody was asked is said where a step draws it.
        (run.is_open, run.at, run.steps[0].chosen) = (true, 1, None);
        run.options.lecture.steps[0].question = None;
        assert_ne!(run.screen().unwrap().result, "");
        run.options.lecture.steps[1].shows = Some(Vec::new());
        assert_eq!(run.screen().unwrap().result, "");
    }
}
