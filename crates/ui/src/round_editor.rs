//! The editor of a round of one's own, as data: its text, what was found in it, and the file that it is
//! kept in. The window lays it out, and checks a text on another thread ([`judge`]).

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Chart;
use exercise::{EXERCISES, Exercise, RoundTask, Task};
use lang::tr;
use model::prediction::{MAX_PREDICTED_CALLS, OpTimes, predict, predicted_factor};
use model::{InWords, Order, SettingChange, Status, Streams};
use script::{CallKind, Fault, Place, Round, ScriptError, Verdict, Work};

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundEditor {
    text: Arc<str>,
    /// What was found in it; `None` before the first check.
    findings: Option<Arc<RoundFindings>>,
    /// How fast it would be, of what is known before it runs.
    predicted: Option<Predicted>,
    /// How fast the user thinks that it is.
    guess: Option<Guess>,
    file: Option<RoundFile>,
    /// The exercise that the text is for, by its place among all.
    exercise: Option<usize>,
    /// Changes with anything that is shown of it.
    revision: u64,
}

/// The file of the text.
#[derive(Clone, PartialEq, Debug)]
struct RoundFile {
    path: PathBuf,
    /// The file's text when it was last read or written.
    saved: Arc<str>,
    /// The text that another program wrote there while the one in the editor was changed, too.
    other: Option<Arc<str>>,
}

/// What another text in the file means for the one in the editor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileChange {
    /// It is known already.
    Known,
    /// It was taken over.
    Reloaded,
    /// Both were changed: [`RoundEditor::conflict`] says so.
    Conflict,
}

/// What the check of a round depends on beside its text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RoundContext {
    /// How many instances there are.
    pub instances: usize,
    /// How long ops take alone, if that is known.
    pub times: Option<OpTimes>,
    /// The built-in order that the effect of the round will be measured against; `None` if it runs
    /// already, or no such order has a stream for each instance.
    pub before: Option<Order>,
}

impl RoundContext {
    /// Of this text, in the present session.
    pub fn of(status: &Status, times: Option<OpTimes>, text: &Arc<str>) -> RoundContext {
        let setting = &status.setting;
        let before = match setting.switches.order {
            Order::Own if is_running(status, text) => None,
            Order::Own => Some(Order::Breadth),
            order => Some(order).filter(|_| setting.switches.streams == Streams::PerInstance),
        };
        RoundContext {
            instances: status.lattices.instances,
            times,
            before,
        }
    }
}

/// Whether the session runs this text.
fn is_running(status: &Status, text: &Arc<str>) -> bool {
    let own = status.setting.own_round.as_ref();
    status.setting.switches.order == Order::Own && own.is_some_and(|own| own.source() == text)
}

/// What was found in a round, and how it would run.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundFindings {
    verdict: Verdict,
    race: Option<Race>,
    predicted: Option<Predicted>,
}

/// A round with a race, drawn as its script orders it.
#[derive(Clone, PartialEq, Debug)]
pub struct Race {
    /// Two calls that nothing orders.
    pub fault: Fault,
    /// The round, with the two marked.
    pub chart: Chart,
    /// Whether ops are as long as they were measured, or all equally long.
    pub is_measured: bool,
}

/// How much faster a round would be than one in a built-in order.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Predicted {
    factor: f64,
    before: Order,
}

/// How fast a round may be, against another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guess {
    /// Faster.
    Faster,
    /// As fast, within 5 %.
    Same,
    /// Slower.
    Slower,
}

impl Guess {
    /// All of them, in the order of their buttons.
    pub const ALL: [Guess; 3] = [Guess::Faster, Guess::Same, Guess::Slower];

    /// Of a round that is so many times faster.
    fn of(factor: f64) -> Guess {
        match factor {
            faster if faster > 1.05 => Guess::Faster,
            slower if slower < 1.0 / 1.05 => Guess::Slower,
            _ => Guess::Same,
        }
    }

    /// Its name on a button.
    pub fn name(self) -> &'static str {
        match self {
            Guess::Faster => tr!("faster"),
            Guess::Same => tr!("same"),
            Guess::Slower => tr!("slower"),
        }
    }
}

/// What a right round is predicted to do, and what was measured of it, in words.
#[derive(Clone, PartialEq, Debug)]
pub struct PredictionTexts {
    /// What is to be predicted.
    pub question: String,
    /// What the user predicts.
    pub guess: Option<Guess>,
    /// What follows from the times of ops alone, and what was measured.
    pub lines: Vec<String>,
}

/// Runs a text, and checks and predicts what it orders; an exercise's text is checked for as many items as
/// the exercise has.
pub fn judge(text: &str, task: Option<&RoundTask>, context: &RoundContext) -> RoundFindings {
    let instances = context.instances as u32;
    let for_instances = || Verdict::of(text, Work::Lattices, instances, &[]);
    let verdict = match task {
        Some(task) => task.check(text),
        None => for_instances(),
    };
    let work = task.map_or(Work::Lattices, |it| it.work);
    let predicted = context
        .times
        .zip(context.before)
        .and_then(|(times, before)| {
            let fits = |it: &Verdict| it.is_right() && it.round.calls.len() <= MAX_PREDICTED_CALLS;
            let round = Some(&verdict).filter(|it| work == Work::Lattices && fits(it))?;
            let other = (round.items != instances).then(for_instances);
            let round = &other.as_ref().unwrap_or(round);
            fits(round).then(|| Predicted {
                factor: predicted_factor(&round.round, before, instances, &times),
                before,
            })
        });
    RoundFindings {
        race: Race::of(&verdict, context.times),
        verdict,
        predicted,
    }
}

impl Race {
    /// The first race of a round, if it has one and is not too long to be drawn.
    fn of(verdict: &Verdict, times: Option<OpTimes>) -> Option<Race> {
        let mut faults = verdict.faults.iter().flatten();
        let (fault, [first, second]) = faults.find_map(|fault| match fault {
            Fault::Race { first, second } | Fault::NotBefore { first, second } => {
                Some((fault, [first.index, second.index]))
            }
            _ => None,
        })?;
        let is_short = verdict.round.calls.len() <= MAX_PREDICTED_CALLS;
        is_short.then(|| {
            let round = predict(&verdict.round, &times.unwrap_or(OpTimes::EQUAL));
            Race {
                fault: fault.clone(),
                chart: Chart::new(Arc::new(round)).with_race([first, second]),
                is_measured: times.is_some(),
            }
        })
    }
}

impl Default for RoundEditor {
    /// With a round that is right, and says how it is written.
    fn default() -> RoundEditor {
        RoundEditor {
            text: script::new_round().into(),
            findings: None,
            predicted: None,
            guess: None,
            file: None,
            exercise: None,
            revision: 0,
        }
    }
}

impl RoundEditor {
    /// The text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Changes with anything that is shown of it.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Takes over a text that the user changed.
    pub fn edit(&mut self, text: impl Into<Arc<str>>) {
        self.text = text.into();
        (self.predicted, self.guess) = (None, None);
        self.revision += 1;
    }

    /// Takes over what was found in a text; not if it was changed meanwhile. What was predicted of it
    /// before it ran stays.
    pub fn take_findings(&mut self, text: &Arc<str>, findings: RoundFindings) {
        if self.text == *text {
            self.predicted = findings.predicted.or(self.predicted);
            self.findings = Some(Arc::new(findings));
            self.revision += 1;
        }
    }

    /// Takes over what the user predicts, or that they no longer do.
    pub fn guess(&mut self, guess: Guess) {
        self.guess = Some(guess).filter(|_| self.guess != Some(guess));
        self.revision += 1;
    }

    /// What is predicted and known of how fast the round is, if it is right.
    pub fn predictions(&self, status: &Status) -> Option<PredictionTexts> {
        let Predicted { factor, before } = self.predicted.filter(|_| self.is_right())?;
        let question = match before {
            Order::Depth => tr!("Predict: against depth-first, a round is"),
            Order::Breadth | Order::Own => tr!("Predict: against breadth-first, a round is"),
        };
        let factor = match Guess::of(factor) {
            Guess::Faster => tr!("{factor}× faster", factor = format!("{factor:.1}")),
            Guess::Same => tr!("within 5 %").into(),
            Guess::Slower => tr!("{factor}× slower", factor = format!("{:.1}", 1.0 / factor)),
        };
        let alone = tr!("From the times of ops alone: {factor}", factor = factor);
        let effect = status.lab.last_effect.as_ref();
        let is_its =
            effect.filter(|effect| effect.what == SettingChange::OwnRound(before).message());
        let measured = is_its.filter(|_| is_running(status, &self.text));
        let measured = measured.map(|it| tr!("Measured: {factor}", factor = it.in_short()));
        Some(PredictionTexts {
            question: question.into(),
            guess: self.guess,
            lines: [alone].into_iter().chain(measured).collect(),
        })
    }

    /// The round as its script orders it, if that has a race.
    pub fn race(&self) -> Option<&Race> {
        self.findings.as_ref()?.race.as_ref()
    }

    /// What its check found.
    fn verdict(&self) -> Option<&Verdict> {
        self.findings.as_ref().map(|it| &it.verdict)
    }

    /// The file of the text.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| &*file.path)
    }

    /// The exercise that the text is for, if it is for one.
    pub fn exercise(&self) -> Option<&'static Exercise> {
        EXERCISES.get(self.exercise?)
    }

    /// What that exercise asks for.
    pub fn task(&self) -> Option<&'static RoundTask> {
        match &self.exercise()?.task {
            Task::Round(task) => Some(task),
            Task::Kernel(_) => None,
        }
    }

    /// Opens the text of a file in place of the present one.
    pub fn open(&mut self, path: PathBuf, text: Arc<str>) {
        *self = RoundEditor {
            revision: self.revision + 1,
            text: text.clone(),
            findings: None,
            predicted: None,
            guess: None,
            exercise: None,
            file: Some(RoundFile {
                path,
                saved: text,
                other: None,
            }),
        };
    }

    /// Begins the exercise of this place, instead of the present text.
    pub fn start(&mut self, index: usize) {
        let Some(exercise) = EXERCISES.get(index) else {
            return;
        };
        *self = RoundEditor {
            revision: self.revision + 1,
            text: exercise.file().into(),
            findings: None,
            predicted: None,
            guess: None,
            exercise: Some(index),
            file: None,
        };
    }

    /// Takes note that a text was written to a file, which is the text's from now on.
    pub fn saved(&mut self, path: PathBuf, text: Arc<str>) {
        self.file = Some(RoundFile {
            path,
            saved: text,
            other: None,
        });
        self.revision += 1;
    }

    /// Whether the text is not that of its file.
    pub fn is_edited(&self) -> bool {
        self.file
            .as_ref()
            .is_some_and(|file| file.saved != self.text)
    }

    /// Takes over the present text of the file, unless the text in the editor was changed, too.
    pub fn file_has(&mut self, text: Arc<str>) -> FileChange {
        let is_edited = self.is_edited();
        let Some(file) = &mut self.file else {
            return FileChange::Known;
        };
        if file.saved == text {
            return FileChange::Known;
        }
        self.revision += 1;
        if self.text == text {
            (file.saved, file.other) = (text, None);
            FileChange::Known
        } else if is_edited {
            file.other = Some(text);
            FileChange::Conflict
        } else {
            file.saved = text.clone();
            self.edit(text);
            FileChange::Reloaded
        }
    }

    /// Whether the file and the text in the editor were both changed.
    pub fn conflict(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.other.is_some())
    }

    /// Settles that: the file's text replaces the one in the editor, or that one stays, to be saved over
    /// the file's.
    pub fn settle_conflict(&mut self, reload: bool) {
        let Some(file) = &mut self.file else { return };
        let Some(other) = file.other.take() else {
            return;
        };
        file.saved = other.clone();
        self.revision += 1;
        if reload {
            self.edit(other);
        }
    }

    /// Whether the text is right.
    pub fn is_right(&self) -> bool {
        let verdict = self.verdict();
        verdict.is_some_and(|verdict| verdict.is_right())
    }

    /// What was found, in a line.
    pub fn summary(&self) -> Option<String> {
        let verdict = self.verdict()?;
        Some(match (self.fault_count(), self.exercise) {
            (0, Some(_)) => tr!("Solved").into(),
            (0, None) => counts(&verdict.round),
            (1, _) => tr!("1 fault").into(),
            (count, _) => tr!("{count} faults", count = count),
        })
    }

    /// How many faults were found.
    pub fn fault_count(&self) -> usize {
        let verdict = self.verdict();
        verdict.map_or(0, |verdict| verdict.faults.as_ref().map_or(1, Vec::len))
    }

    /// The lines that faults are about, numbered from 1.
    pub fn wrong_lines(&self) -> HashSet<u32> {
        let line = |place: &Place| place.line;
        match self.verdict().map(|verdict| &verdict.faults) {
            None => HashSet::new(),
            Some(Err(error)) => error.place.iter().map(line).collect(),
            Some(Ok(faults)) => faults
                .iter()
                .flat_map(Fault::places)
                .map(|it| it.line)
                .collect(),
        }
    }

    /// A sentence about each fault, made when it is asked for: there can be a thousand.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let found = self.verdict().map(|verdict| &verdict.faults);
        let error = found.and_then(|found| found.as_ref().err());
        let faults = found.and_then(|found| found.as_ref().ok());
        let of_error = |error: &ScriptError| match error.place {
            Some(Place { line, .. }) => tr!(
                "Line {line}: {sentence}",
                line = line,
                sentence = error.in_words()
            ),
            None => error.in_words(),
        };
        let faults = faults.into_iter().flatten().map(InWords::in_words);
        error.into_iter().map(of_error).chain(faults)
    }
}

/// What a right round does, in numbers.
fn counts(round: &Round) -> String {
    let count = |is: fn(CallKind) -> bool| {
        let calls = round.calls.iter().filter(|call| is(call.kind));
        calls.count()
    };
    tr!(
        "Right: {advances} advances, {downloads} downloads, {streams} streams, {events} events",
        advances = count(|kind| matches!(kind, CallKind::Advance(_))),
        downloads = count(|kind| matches!(kind, CallKind::Download(_))),
        streams = round.streams(),
        events = round.events()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Arc<str> {
        text.into()
    }

    fn opened() -> RoundEditor {
        let mut editor = RoundEditor::default();
        editor.open("round.rhai".into(), text("a"));
        editor
    }

    fn context(instances: usize) -> RoundContext {
        RoundContext {
            instances,
            times: None,
            before: None,
        }
    }

    fn checked(editor: RoundEditor, instances: usize) -> RoundEditor {
        checked_in(editor, &context(instances))
    }

    fn checked_in(mut editor: RoundEditor, context: &RoundContext) -> RoundEditor {
        let text = editor.text().clone();
        editor.take_findings(&text, judge(&text, editor.task(), context));
        editor
    }

    #[test]
    fn the_first_text_is_right_for_any_number_of_instances() {
        for instances in [1, 2, 16, 64] {
            let editor = checked(RoundEditor::default(), instances);
            assert!(editor.is_right(), "{:?}", editor.summary());
        }
        let summary = checked(RoundEditor::default(), 16).summary().unwrap();
        assert_eq!(
            summary,
            "Right: 16 advances, 16 downloads, 16 streams, 0 events"
        );
    }

    #[test]
    fn a_verdict_is_of_the_text_that_it_was_made_for() {
        let mut editor = RoundEditor::default();
        let before = editor.text().clone();
        editor.edit("for i in 0..N { download(i, i) }");
        editor.take_findings(&before, judge(&before, None, &context(4)));
        assert_eq!(editor.summary(), None, "of the text before");
        let mut editor = checked(editor, 4);
        assert!(!editor.is_right() && editor.sentences().next().is_some());
        editor.edit("advance(0, 0);\nadvanc(1, 1);\n");
        let editor = checked(editor, 4);
        assert_eq!(editor.wrong_lines(), [2].into());
        assert_eq!(editor.summary().as_deref(), Some("1 fault"));
    }

    #[test]
    fn a_race_is_drawn_until_the_script_is_right() {
        let mut editor = RoundEditor::default();
        editor.edit("for i in 0..N {\n    advance(i, i);\n    download(i, 9);\n}\n");
        let editor = checked(editor, 2);
        let race = editor.race().unwrap();
        assert_eq!(race.fault.name(), "race");
        let [(lane, first), (other, second)] = race.chart.data.race.unwrap();
        assert_eq!(
            (race.chart.name(&first), race.chart.name(&second)),
            ("advance", "download")
        );
        assert!(lane != other && second.start < first.end, "they overlap");
        let mut editor = editor;
        editor.edit("for i in 0..N { advance(i, i); download(i, i); }");
        assert!(checked(editor, 2).race().is_none());
    }

    #[test]
    fn a_round_is_predicted_before_it_runs_and_measured_then() {
        let mut status = crate::fixtures::status(4, life::Size::new(64, 64).unwrap());
        let mut editor = RoundEditor::default();
        editor.edit("for i in 0..N { advance(i, 0); download(i, 0); }");
        assert!(
            checked(editor.clone(), 4).predictions(&status).is_none(),
            "no times"
        );
        let times = Some(OpTimes::EQUAL);
        let context = RoundContext::of(&status, times, editor.text());
        let mut editor = checked_in(editor, &context);
        editor.guess(Guess::Faster);
        let before = editor.predictions(&status).unwrap();
        assert_eq!(before.guess, Some(Guess::Faster));
        assert_eq!(before.lines, ["From the times of ops alone: 1.6× slower"]);
        // It runs now: what was predicted stays, though nothing is predicted any more.
        let own = model::OwnRound::new(editor.text().clone(), 4);
        status.setting.own_round = Some(Arc::new(own));
        status.setting.switches.order = Order::Own;
        let finding = model::Finding::of(0.5, [0.49, 0.51]);
        status.lab.last_effect = Some(model::Effect {
            what: SettingChange::OwnRound(context.before.unwrap()).message(),
            round_us: [Some(100.0), Some(200.0)],
            finding: Some(finding),
            source: Default::default(),
        });
        let context = RoundContext::of(&status, times, editor.text());
        assert_eq!(context.before, None);
        let mut editor = checked_in(editor, &context);
        let lines = editor.predictions(&status).unwrap().lines;
        assert_eq!(lines[1], "Measured: 2.00× slower ± 0.05");
        // A change of a switch has an effect of its own.
        status.lab.last_effect.as_mut().unwrap().what = "blocks of 8x8".into();
        assert_eq!(editor.predictions(&status).unwrap().lines.len(), 1);
        editor.edit("for i in 0..N { advance(i, i); download(i, i); }");
        assert!(editor.predictions(&status).is_none(), "of another text");
    }

    #[test]
    fn an_exercise_is_solved_by_its_answer_alone() {
        for (index, exercise) in EXERCISES.iter().enumerate() {
            let mut editor = RoundEditor::default();
            editor.start(index);
            let mut editor = checked(editor, 3);
            assert!(!editor.is_right(), "{}", exercise.name);
            editor.edit(exercise.answer);
            let summary = checked(editor, 3).summary();
            assert_eq!(summary.as_deref(), Some("Solved"), "{}", exercise.name);
        }
    }

    #[test]
    fn a_file_that_changes_is_taken_over_unless_the_text_was_changed_too() {
        let mut editor = opened();
        assert_eq!(editor.file_has(text("a")), FileChange::Known);
        assert_eq!(editor.file_has(text("b")), FileChange::Reloaded);
        assert_eq!((&**editor.text(), editor.is_edited()), ("b", false));
        editor.edit("mine");
        assert_eq!(editor.file_has(text("b")), FileChange::Known);
        assert_eq!(editor.file_has(text("c")), FileChange::Conflict);
        assert!(editor.conflict() && &**editor.text() == "mine");
        let mut kept = editor.clone();
        editor.settle_conflict(true);
        assert_eq!((&**editor.text(), editor.is_edited()), ("c", false));
        kept.settle_conflict(false);
        assert_eq!((&**kept.text(), kept.is_edited()), ("mine", true));
        assert!(!kept.conflict() && !editor.conflict());
        // What is written here comes back from the file, and is known.
        kept.saved("round.rhai".into(), text("mine"));
        assert_eq!(kept.file_has(text("mine")), FileChange::Known);
        assert!(!kept.is_edited());
    }
}
