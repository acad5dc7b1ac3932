//! The editor of one's own round or kernel, as data: its text, what was found in it, and the file that it is
//! kept in. The window lays it out, and checks a text on another thread ([`judge`], [`Findings::of_kernel`]).

mod findings;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Kernel;
use engine::kernels::KERNELS;
use lang::tr;
use lesson::{Exercise, KernelTask, RoundTask, Task};
use session::{Order, Status};

pub use findings::{Findings, Race, RoundContext, judge, occupancy_in_words};

/// What is written.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Code {
    /// A round, as a script.
    #[default]
    Round,
    /// A kernel, in CUDA C++.
    Kernel,
}

impl Code {
    /// Both.
    pub const ALL: [Code; 2] = [Code::Round, Code::Kernel];

    /// Its name on a button.
    pub fn name(self) -> &'static str {
        match self {
            Code::Round => tr!("Round"),
            Code::Kernel => tr!("Kernel"),
        }
    }

    /// How the names of its files end.
    pub fn extension(self) -> &'static str {
        match self {
            Code::Round => "rhai",
            Code::Kernel => "cu",
        }
    }

    /// What an exercise asks for.
    pub fn of_exercise(exercise: &Exercise) -> Code {
        match exercise.task {
            Task::Round(_) => Code::Round,
            Task::Kernel(_) => Code::Kernel,
        }
    }

    /// What a file has, by its name.
    pub fn of_file(path: &Path) -> Option<Code> {
        let is_its = |code: &Code| path.extension().is_some_and(|it| it == code.extension());
        Code::ALL.into_iter().find(is_its)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct CodeEditor {
    /// What is written.
    pub code: Code,
    /// The text; [`edit`](CodeEditor::edit) changes it.
    pub text: Arc<str>,
    /// The text that it began with.
    first: Arc<str>,
    /// What was found in it; `None` before its check.
    pub findings: Option<Findings>,
    /// Whether it is being checked.
    pub is_checking: bool,
    /// Its file, and the text of that when it was last read or written.
    pub file: Option<(PathBuf, Arc<str>)>,
    /// The exercise that the text is for.
    pub exercise: Option<&'static Exercise>,
}

impl CodeEditor {
    /// With a copy of the rung that a kernel comes from, or of the first one if its blocks wait for each
    /// other.
    pub fn of_kernel(kernel: &'static Kernel) -> CodeEditor {
        let rung = rung_to_copy(kernel);
        let name = format!("FILE.{}", Code::Kernel.extension());
        CodeEditor::new(Code::Kernel, workshop::skeleton(rung, &name))
    }

    /// With this text, of no file.
    pub fn new(code: Code, text: impl Into<Arc<str>>) -> CodeEditor {
        let text = text.into();
        CodeEditor {
            code,
            first: text.clone(),
            text,
            findings: None,
            is_checking: false,
            file: None,
            exercise: None,
        }
    }

    /// With the text of a file.
    pub fn open(code: Code, path: PathBuf, text: Arc<str>) -> CodeEditor {
        CodeEditor {
            file: Some((path, text.clone())),
            ..CodeEditor::new(code, text)
        }
    }

    /// With the beginning of an exercise.
    pub fn start(exercise: &'static Exercise) -> CodeEditor {
        CodeEditor {
            exercise: Some(exercise),
            ..CodeEditor::new(Code::of_exercise(exercise), exercise.file())
        }
    }

    /// The text, if the user has written in it.
    pub fn draft(&self) -> Option<Arc<str>> {
        (self.text != self.first).then(|| self.text.clone())
    }

    /// Takes over a text that the user changed. What was found in a kernel is of the text before; a round's
    /// check takes no time, so that it stays until there is more.
    pub fn edit(&mut self, text: impl Into<Arc<str>>) {
        self.text = text.into();
        self.findings = self.findings.take().filter(|_| self.code == Code::Round);
        if let Some(findings) = &mut self.findings {
            findings.predicted = None;
        }
    }

    /// Takes over what was found in a text, unless its check was cancelled; not if it was changed meanwhile.
    /// What was predicted of a round before it ran stays.
    pub fn take_findings(&mut self, text: &Arc<str>, findings: Option<Findings>) {
        self.is_checking = false;
        if self.text == *text {
            let before = self.findings.as_ref().and_then(|it| it.predicted);
            self.findings = findings.map(|it| Findings {
                predicted: it.predicted.or(before),
                ..it
            });
        }
    }

    /// The round as its script orders it, if that has a race.
    pub fn race(&self) -> Option<&Race> {
        self.findings.as_ref()?.race.as_ref()
    }

    /// Whether the session runs what is written here, as it stands (`true`) or as it was (`false`).
    pub fn runs(&self, status: &Status) -> Option<bool> {
        let setting = &status.setting;
        match self.code {
            Code::Round if setting.switches.order != Order::Own => None,
            Code::Round => Some(setting.own_round.as_ref()?.source == self.text),
            Code::Kernel => Some(setting.kernel.own.as_ref()?.source == *self.text),
        }
    }

    /// The file of the text.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| &**path)
    }

    /// What its exercise asks for, if that is about a round.
    pub fn round_task(&self) -> Option<&'static RoundTask> {
        match &self.exercise?.task {
            Task::Round(task) => Some(task),
            Task::Kernel(_) => None,
        }
    }

    /// What its exercise asks for, if that is about a kernel.
    pub fn kernel_task(&self) -> Option<&'static KernelTask> {
        match &self.exercise?.task {
            Task::Kernel(task) => Some(task),
            Task::Round(_) => None,
        }
    }

    /// Whether the text is not that of its file.
    pub fn is_edited(&self) -> bool {
        let file = self.file.as_ref();
        file.is_some_and(|(_, saved)| *saved != self.text)
    }

    /// Takes over the present text of the file; whether it is another one than here.
    pub fn file_has(&mut self, text: Arc<str>) -> bool {
        let Some((_, saved)) = self.file.as_mut().filter(|(_, saved)| *saved != text) else {
            return false;
        };
        *saved = text.clone();
        let is_other = self.text != text;
        if is_other {
            self.edit(text);
        }
        is_other
    }

    /// Whether the text is right.
    pub fn is_right(&self) -> bool {
        self.findings.as_ref().is_some_and(|it| it.is_right)
    }

    /// Whether it is an exercise's solution. Of a kernel that was checked on a GPU that is not known here:
    /// `exercise check` looks for races, too, and times it. Nor is it of one that has to be fast.
    pub fn is_solved(&self) -> bool {
        let is_known = !self.is_for_gpu() && self.rung_to_beat().is_none();
        self.exercise.is_some() && self.is_right() && is_known
    }

    /// Whether a GPU has checked the kernel.
    fn is_for_gpu(&self) -> bool {
        let kernel = self.findings.as_ref().and_then(|it| it.kernel);
        let own = kernel.and_then(|kernel| kernel.own.as_ref());
        own.is_some_and(|own| own.gpu.is_some())
    }

    fn rung_to_beat(&self) -> Option<&'static str> {
        self.kernel_task()?.faster_than
    }

    /// What was found, in a line; `None` where nothing is known yet.
    pub fn summary(&self) -> Option<&str> {
        let findings = self.findings.as_ref()?;
        Some(if self.is_solved() {
            tr!("Solved")
        } else {
            &findings.summary
        })
    }

    /// Sentences about what is wrong, about a right kernel, or how fast a right round is that runs: what is
    /// predicted of it is no secret any more then.
    pub fn sentences(&self, status: &Status) -> Vec<String> {
        let Some(findings) = &self.findings else {
            return Vec::new();
        };
        let mut sentences: Vec<String> =
            findings.sentences.iter().map(|it| it.to_string()).collect();
        if let (true, Some(exercise)) = (self.is_right() && !self.is_solved(), self.exercise) {
            let command = format!("lifestreams exercise check {}", exercise.name);
            sentences.push(match self.rung_to_beat() {
                Some(rung) if !self.is_for_gpu() => {
                    tr!("Whether it is faster than {rung} stays open without a GPU")
                }
                _ => tr!("Saved, '{command}' looks for races, times it, and counts it as solved"),
            });
        }
        let runs = self.runs(status) == Some(true);
        let predicted = findings.predicted.filter(|_| runs);
        let predicted = predicted.map(|it| it.in_words(status));
        sentences.extend(predicted.into_iter().flatten());
        sentences
    }
}

/// The rung that a kernel of one's own is begun from where this kernel is in use.
pub fn rung_to_copy(kernel: &'static Kernel) -> &'static Kernel {
    let rung = kernel.rung();
    if rung.cooperative { &KERNELS[0] } else { rung }
}

impl Default for CodeEditor {
    /// With a round that is right, and says how it is written.
    fn default() -> CodeEditor {
        CodeEditor::new(Code::Round, script::new_round())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use lesson::EXERCISES;
    use session::prediction::OpTimes;
    use workshop::Unchecked;

    fn context(instances: usize, times: Option<OpTimes>, before: Option<Order>) -> RoundContext {
        RoundContext {
            instances,
            times,
            before,
        }
    }

    fn checked(editor: &mut CodeEditor, context: &RoundContext) {
        let text = editor.text.clone();
        editor.take_findings(&text, Some(judge(&text, editor.round_task(), context)));
    }

    #[test]
    fn what_is_found_is_of_the_text_that_it_was_made_for_and_why_a_kernel_is_not_checked_is_said() {
        let mut editor = CodeEditor::default();
        let before = editor.text.clone();
        editor.edit("advance(0, 0);\nadvanc(1, 1);\n");
        let four = context(4, None, None);
        editor.take_findings(&before, Some(judge(&before, None, &four)));
        assert_eq!(editor.summary(), None, "of the text before");
        checked(&mut editor, &four);
        editor.edit("advance(0, 0);\n");
        assert_eq!(editor.summary(), Some("1 fault"), "until there is more");
        let mut kernels = EXERCISES.iter();
        let tile = kernels.find(|it| Code::of_exercise(it) == Code::Kernel);
        let tile = tile.unwrap();
        let status = crate::fixtures::status(4, life::Size::new(64, 64).unwrap());
        let mut editor = CodeEditor::start(tile);
        for (text, summary, said) in [
            ("\n// from: 12_none\n", "1 fault", "12_none"),
            ("// from: 02_shared\n", "1 fault", "__shared__"),
            (tile.answer, "Not checked", "apt-get install g++"),
        ] {
            editor.edit(text);
            assert_eq!(editor.summary(), None, "of the text before");
            let (open, cancel) = (|| Err(Unchecked::NoCppCompiler), AtomicBool::new(false));
            let (text, task) = (editor.text.clone(), editor.kernel_task());
            let findings = Findings::of_kernel(&text, task, &mut None, open, 1, &cancel).unwrap();
            assert!(findings.lines == [2] || !text.starts_with('\n'));
            editor.take_findings(&text, Some(findings));
            assert!(!editor.is_right());
            assert_eq!(editor.summary(), Some(summary));
            assert!(editor.sentences(&status)[0].contains(said), "{said}");
        }
    }

    #[test]
    fn a_round_is_predicted_before_it_runs_and_measured_then() {
        let mut status = crate::fixtures::status(4, life::Size::new(64, 64).unwrap());
        let mut editor = CodeEditor::default();
        editor.edit("for i in 0..N { advance(i, 0); download(i, 0); }");
        checked(&mut editor, &context(4, None, None));
        assert!(editor.sentences(&status).is_empty(), "no times");
        let times = Some(OpTimes::EQUAL);
        let before = RoundContext::of(&status, times, &editor.text);
        checked(&mut editor, &before);
        let predicted =
            "Predicted from the times of ops alone, against breadth-first: 1.59× slower";
        assert!(editor.sentences(&status).is_empty(), "not yet run");
        // It runs now: what was predicted stays, though nothing is predicted any more.
        let own = session::OwnRound::new(editor.text.clone(), 4);
        status.setting.own_round = Some(Arc::new(own));
        status.setting.switches.order = Order::Own;
        let finding = session::Finding::of(0.5, [0.49, 0.51]);
        status.lab.last_effect = Some(session::Effect {
            what: before.before.unwrap().own_instead(),
            round_us: [Some(100.0), Some(200.0)],
            finding: Some(finding),
            source: Default::default(),
        });
        let running = RoundContext::of(&status, times, &editor.text);
        assert_eq!(running.before, None);
        checked(&mut editor, &running);
        let measured = "Measured: 2.00× slower ± 0.05";
        assert_eq!(editor.sentences(&status), [predicted, measured]);
        // A change of a switch has an effect of its own.
        status.lab.last_effect.as_mut().unwrap().what = "blocks of 8x8".into();
        assert_eq!(editor.sentences(&status), [predicted]);
        editor.edit("for i in 0..N { advance(i, i); download(i, i); }");
        assert!(editor.sentences(&status).is_empty(), "of another text");
    }

    #[test]
    fn an_exercise_is_solved_by_its_answer_alone() {
        let rounds = EXERCISES.iter();
        for exercise in rounds.filter(|it| Code::of_exercise(it) == Code::Round) {
            let mut editor = CodeEditor::start(exercise);
            checked(&mut editor, &context(3, None, None));
            assert!(!editor.is_right(), "{}", exercise.name);
            editor.edit(exercise.answer);
            checked(&mut editor, &context(3, None, None));
            assert_eq!(editor.summary(), Some("Solved"), "{}", exercise.name);
            // Arrays are downloaded, and none is advanced.
            let counts = editor.findings.as_ref().unwrap().summary.to_string();
            let advances_none = counts.starts_with("Right: 0 advances");
            let work = editor.round_task().unwrap().work;
            assert_eq!(advances_none, work == script::Work::Arrays, "{counts}");
        }
    }

    #[test]
    fn a_file_that_changes_is_taken_over_once() {
        let mut editor = CodeEditor::open(Code::Round, "round.rhai".into(), "a".into());
        assert!(!editor.file_has("a".into()));
        editor.edit("mine");
        assert!(editor.is_edited() && !editor.file_has("a".into()));
        assert!(editor.file_has("b".into()));
        assert_eq!((&*editor.text, editor.is_edited()), ("b", false));
        // What is written here comes back from the file, and is known.
        editor.edit("mine");
        assert!(!editor.file_has("mine".into()) && !editor.is_edited());
    }
}
