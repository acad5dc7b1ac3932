//! The editor of one's own round or kernel, as data: its text, what was found in it, and the file that it is
//! kept in. The window lays it out, and checks a text on another thread ([`judge`], [`KernelFindings::of`]).

mod findings;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Kernel;
use engine::kernels::KERNELS;
use lang::tr;
use lesson::{EXERCISES, Exercise, KernelTask, RoundTask, Task};
use session::{Order, Status};

use findings::Predicted;
pub use findings::{
    KernelFindings, Race, RoundContext, RoundFindings, judge, occupancy_in_words,
};

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// A round, as a script.
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
#[derive(Clone, PartialEq, Debug)]
pub struct CodeEditor {
    code: Code,
    text: Arc<str>,
    /// The text that it began with.
    first: Arc<str>,
    /// What was found in it; `None` before its check.
    findings: Option<Arc<Findings>>,
    /// Whether it is being checked.
    is_checking: bool,
    /// How fast a round would be, of what is known before it runs.
    predicted: Option<Predicted>,
    file: Option<CodeFile>,
    /// The exercise that the text is for, by its place among all.
    exercise: Option<usize>,
}

#[derive(Clone, PartialEq, Debug)]
enum Findings {
    Round(RoundFindings),
    Kernel(KernelFindings),
}

/// The file of the text.
#[derive(Clone, PartialEq, Debug)]
struct CodeFile {
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
    /// Both were changed: [`CodeEditor::conflict`] says so.
    Conflict,
}

impl CodeEditor {
    /// With a round that is right, and says how it is written.
    pub fn of_round() -> CodeEditor {
        CodeEditor::new(Code::Round, script::new_round().into())
    }

    /// With a copy of the rung that a kernel comes from, or of the first one if its blocks wait for each
    /// other.
    pub fn of_kernel(kernel: &'static Kernel) -> CodeEditor {
        let rung = rung_to_copy(kernel);
        let name = format!("FILE.{}", Code::Kernel.extension());
        CodeEditor::new(Code::Kernel, workshop::skeleton(rung, &name).into())
    }

    fn new(code: Code, text: Arc<str>) -> CodeEditor {
        CodeEditor {
            code,
            first: text.clone(),
            text,
            findings: None,
            is_checking: false,
            predicted: None,
            file: None,
            exercise: None,
        }
    }

    /// Begins with another text, of no file.
    pub fn begin(&mut self, text: impl Into<Arc<str>>) {
        *self = CodeEditor::new(self.code, text.into());
    }

    /// The text, if the user has written in it.
    pub fn draft(&self) -> Option<Arc<str>> {
        (self.text != self.first).then(|| self.text.clone())
    }

    /// What is written.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Takes over a text that the user changed. What was found in a kernel is of the text before; a round's
    /// check takes no time, so that it stays until there is more.
    pub fn edit(&mut self, text: impl Into<Arc<str>>) {
        self.text = text.into();
        self.predicted = None;
        if self.code == Code::Kernel {
            self.findings = None;
        }
    }

    /// Takes over what was found in a round; not if it was changed meanwhile. What was predicted of it
    /// before it ran stays.
    pub fn take_findings(&mut self, text: &Arc<str>, findings: RoundFindings) {
        if self.text == *text && self.code == Code::Round {
            self.predicted = findings.predicted.or(self.predicted);
            self.findings = Some(Arc::new(Findings::Round(findings)));
        }
    }

    /// A kernel is being checked.
    pub fn begin_check(&mut self) {
        (self.is_checking, self.findings) = (true, None);
    }

    /// Takes over what was found in a kernel, unless that was cancelled; not if it was changed meanwhile.
    pub fn end_check(&mut self, text: &Arc<str>, findings: Option<KernelFindings>) {
        self.is_checking = false;
        if self.text == *text && self.code == Code::Kernel {
            self.findings = findings.map(|it| Arc::new(Findings::Kernel(it)));
        }
    }

    /// The right kernel of this text, once it was checked.
    pub fn right_kernel(&self) -> Option<&'static Kernel> {
        match self.findings.as_deref()? {
            Findings::Kernel(KernelFindings::Right { kernel, .. }) => Some(kernel),
            Findings::Kernel(_) | Findings::Round(_) => None,
        }
    }

    /// What is predicted and known of how fast the round is, if it is right.
    pub fn predictions(&self, status: &Status) -> Option<Vec<String>> {
        let predicted = self.predicted.filter(|_| self.is_right())?;
        Some(predicted.in_words(&self.text, status))
    }

    /// The round as its script orders it, if that has a race.
    pub fn race(&self) -> Option<&Race> {
        match self.findings.as_deref()? {
            Findings::Round(findings) => findings.race.as_ref(),
            Findings::Kernel(_) => None,
        }
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
        self.file.as_ref().map(|file| &*file.path)
    }

    /// The exercise that the text is for, if it is for one.
    pub fn exercise(&self) -> Option<&'static Exercise> {
        EXERCISES.get(self.exercise?)
    }

    /// What that exercise asks for, if it is about a round.
    pub fn round_task(&self) -> Option<&'static RoundTask> {
        match &self.exercise()?.task {
            Task::Round(task) => Some(task),
            Task::Kernel(_) => None,
        }
    }

    /// What that exercise asks for, if it is about a kernel.
    pub fn kernel_task(&self) -> Option<&'static KernelTask> {
        match &self.exercise()?.task {
            Task::Kernel(task) => Some(task),
            Task::Round(_) => None,
        }
    }

    /// Opens the text of a file in place of the present one.
    pub fn open(&mut self, path: PathBuf, text: Arc<str>) {
        let mut opened = CodeEditor::new(self.code, text.clone());
        opened.saved(path, text);
        *self = opened;
    }

    /// Begins the exercise of this place, instead of the present text.
    pub fn start(&mut self, index: usize) {
        if let Some(exercise) = EXERCISES.get(index) {
            *self = CodeEditor {
                exercise: Some(index),
                ..CodeEditor::new(self.code, exercise.file().into())
            };
        }
    }

    /// Takes note that a text was written to a file, which is the text's from now on.
    pub fn saved(&mut self, path: PathBuf, text: Arc<str>) {
        self.file = Some(CodeFile {
            path,
            saved: text,
            other: None,
        });
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
        if reload {
            self.edit(other);
        }
    }

    /// Whether the text is right.
    pub fn is_right(&self) -> bool {
        match self.findings.as_deref() {
            None => false,
            Some(Findings::Round(findings)) => findings.is_right(),
            Some(Findings::Kernel(findings)) => matches!(findings, KernelFindings::Right { .. }),
        }
    }

    /// Whether it is an exercise's solution. Of a kernel that was checked on a GPU that is not known here:
    /// `exercise check` looks for races, too, and times it.
    pub fn is_solved(&self) -> bool {
        let on_gpu = self.right_kernel().and_then(|kernel| kernel.own.as_ref());
        let on_gpu = on_gpu.is_some_and(|own| own.gpu.is_some());
        self.exercise.is_some() && self.is_right() && !on_gpu
    }

    /// What was found, in a line; `None` where nothing is known yet.
    pub fn summary(&self) -> Option<String> {
        if self.is_solved() {
            return Some(tr!("Solved").into());
        }
        Some(match self.findings.as_deref()? {
            Findings::Round(findings) => findings.summary(),
            Findings::Kernel(findings) => findings.summary(),
        })
    }

    /// Whether it is being checked, or will be without being asked for.
    pub fn is_checking(&self) -> bool {
        self.is_checking || self.code == Code::Round
    }

    /// The lines that faults are about, numbered from 1.
    pub fn wrong_lines(&self) -> HashSet<u32> {
        let lines = match self.findings.as_deref() {
            None => Vec::new(),
            Some(Findings::Round(findings)) => findings.lines(),
            Some(Findings::Kernel(findings)) => findings.lines(),
        };
        lines.into_iter().collect()
    }

    /// Sentences about what is wrong, or about a right kernel.
    pub fn sentences(&self) -> Box<dyn Iterator<Item = String> + '_> {
        match self.findings.as_deref() {
            None => Box::new(std::iter::empty()),
            Some(Findings::Round(findings)) => Box::new(findings.sentences()),
            Some(Findings::Kernel(findings)) => {
                let is_open = self.is_right() && !self.is_solved();
                let to_check = self.exercise().filter(|_| is_open).map(|exercise| {
                    let command = format!("lifestreams exercise check {}", exercise.name);
                    tr!("Saved, '{command}' looks for races, times it, and counts it as solved")
                });
                Box::new(findings.sentences().into_iter().chain(to_check))
            }
        }
    }
}

/// The rung that a kernel of one's own is begun from where this kernel is in use.
pub fn rung_to_copy(kernel: &'static Kernel) -> &'static Kernel {
    let rung = kernel.rung();
    if rung.cooperative { &KERNELS[0] } else { rung }
}

impl Default for CodeEditor {
    fn default() -> CodeEditor {
        CodeEditor::of_round()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::prediction::OpTimes;
    use workshop::Unchecked;

    fn text(text: &str) -> Arc<str> {
        text.into()
    }

    fn opened() -> CodeEditor {
        let mut editor = CodeEditor::default();
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

    fn checked(editor: CodeEditor, instances: usize) -> CodeEditor {
        checked_in(editor, &context(instances))
    }

    fn checked_in(mut editor: CodeEditor, context: &RoundContext) -> CodeEditor {
        let text = editor.text().clone();
        editor.take_findings(&text, judge(&text, editor.round_task(), context));
        editor
    }

    #[test]
    fn a_verdict_is_of_the_text_that_it_was_made_for() {
        let mut editor = CodeEditor::default();
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
        let mut editor = CodeEditor::default();
        editor.edit("for i in 0..N {\n    advance(i, i);\n    download(i, 9);\n}\n");
        let editor = checked(editor, 2);
        let race = editor.race().unwrap();
        assert_eq!(race.fault.name, "race");
        let [(lane, first), (other, second)] = race.chart.race.unwrap();
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
        let mut editor = CodeEditor::default();
        editor.edit("for i in 0..N { advance(i, 0); download(i, 0); }");
        assert!(
            checked(editor.clone(), 4).predictions(&status).is_none(),
            "no times"
        );
        let times = Some(OpTimes::EQUAL);
        let context = RoundContext::of(&status, times, editor.text());
        let editor = checked_in(editor, &context);
        let before = editor.predictions(&status).unwrap();
        let predicted = "Predicted from the times of ops alone, against breadth-first: 1.6× slower";
        assert_eq!(before, [predicted]);
        // It runs now: what was predicted stays, though nothing is predicted any more.
        let own = session::OwnRound::new(editor.text().clone(), 4);
        status.setting.own_round = Some(Arc::new(own));
        status.setting.switches.order = Order::Own;
        let finding = session::Finding::of(0.5, [0.49, 0.51]);
        status.lab.last_effect = Some(session::Effect {
            what: context.before.unwrap().own_instead(),
            round_us: [Some(100.0), Some(200.0)],
            finding: Some(finding),
            source: Default::default(),
        });
        let context = RoundContext::of(&status, times, editor.text());
        assert_eq!(context.before, None);
        let mut editor = checked_in(editor, &context);
        let lines = editor.predictions(&status).unwrap();
        assert_eq!(lines[1], "Measured: 2.00× slower ± 0.05");
        // A change of a switch has an effect of its own.
        status.lab.last_effect.as_mut().unwrap().what = "blocks of 8x8".into();
        assert_eq!(editor.predictions(&status).unwrap().len(), 1);
        editor.edit("for i in 0..N { advance(i, i); download(i, i); }");
        assert!(editor.predictions(&status).is_none(), "of another text");
    }

    #[test]
    fn an_exercise_is_solved_by_its_answer_alone() {
        let rounds = EXERCISES.iter().enumerate();
        for (index, exercise) in rounds.filter(|(_, it)| Code::of_exercise(it) == Code::Round) {
            let mut editor = CodeEditor::default();
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

    fn kernel_editor() -> CodeEditor {
        CodeEditor::of_kernel(engine::kernels::find("shared").unwrap())
    }

    #[test]
    fn what_was_found_in_a_kernel_goes_with_an_edit() {
        let mut editor = kernel_editor();
        assert!(!editor.is_checking() && editor.summary().is_none());
        let text = editor.text().clone();
        editor.begin_check();
        assert!(editor.is_checking());
        let error = |line, text: &str| workshop::CompilerError {
            line: Some(line),
            column: None,
            text: text.into(),
        };
        let errors = vec![error(7, "expected ';'"), error(9, "no 'x' here")];
        let fault = workshop::Fault::DoesNotCompile { errors, more: 1 };
        let wrong = KernelFindings::Wrong(Box::new(fault));
        editor.end_check(&text, Some(wrong.clone()));
        assert_eq!(editor.wrong_lines(), [7, 9].into());
        assert_eq!(editor.summary().as_deref(), Some("Does not compile"));
        let sentences: Vec<_> = editor.sentences().collect();
        let expected = ["Line 7: expected ';'", "Line 9: no 'x' here", "and 1 more"];
        assert_eq!(sentences, expected);
        editor.edit("// from: 02_shared");
        assert!(editor.wrong_lines().is_empty() && editor.summary().is_none());
        editor.begin_check();
        editor.end_check(&text, Some(wrong));
        assert_eq!(editor.summary(), None, "of the text before");
        assert!(!editor.is_checking());
    }

    #[test]
    fn a_kernel_that_cannot_be_checked_says_why() {
        let cancel = AtomicBool::new(false);
        let checked = |source: &str, task| {
            let open = || Err(Unchecked::NoCppCompiler);
            KernelFindings::of(source, task, &mut None, open, 1, &cancel)
        };
        let mut editor = kernel_editor();
        editor.edit("\n// from: 12_none\n");
        let text = editor.text().clone();
        editor.end_check(&text, checked(&text, None));
        assert_eq!(editor.wrong_lines(), [2].into());
        let kernels = EXERCISES.iter().enumerate();
        let mut kernels = kernels.filter(|(_, it)| Code::of_exercise(it) == Code::Kernel);
        let (index, tile) = kernels.next().unwrap();
        editor.start(index);
        editor.edit("// from: 02_shared\n");
        let text = editor.text().clone();
        editor.end_check(&text, checked(&text, editor.kernel_task()));
        assert!(!editor.is_right() && editor.sentences().next().unwrap().contains("__shared__"));
        editor.edit(tile.answer);
        let text = editor.text().clone();
        editor.end_check(&text, checked(&text, editor.kernel_task()));
        assert_eq!(editor.summary().as_deref(), Some("Not checked"));
        assert!(
            editor
                .sentences()
                .next()
                .unwrap()
                .contains("apt-get install g++")
        );
    }
}
