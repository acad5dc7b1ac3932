//! The editor of a round of one's own, as data: its text, what was found in it, and the file that it is
//! kept in. The window lays it out, and checks a text on another thread ([`judge`]).

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use exercise::{EXERCISES, Exercise, RoundTask, Task};
use lang::tr;
use model::InWords;
use script::{CallKind, Fault, Place, Round, ScriptError, Verdict, Work};

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundEditor {
    text: Arc<str>,
    /// What was found in it; `None` before the first check.
    verdict: Option<Arc<Verdict>>,
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

/// Runs a text for so many instances, and checks what it orders; that of an exercise for as many as the
/// exercise has.
pub fn judge(text: &str, instances: usize, task: Option<&RoundTask>) -> Verdict {
    match task {
        Some(task) => task.check(text),
        None => Verdict::of(text, Work::Lattices, instances as u32, &[]),
    }
}

impl Default for RoundEditor {
    /// With a round that is right, and says how it is written.
    fn default() -> RoundEditor {
        RoundEditor {
            text: script::new_round().into(),
            verdict: None,
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
        self.revision += 1;
    }

    /// Takes over what was found in a text; not if it was changed meanwhile.
    pub fn take_verdict(&mut self, text: &Arc<str>, verdict: Verdict) {
        if self.text == *text {
            self.verdict = Some(Arc::new(verdict));
            self.revision += 1;
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
            verdict: None,
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
            verdict: None,
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
        let verdict = self.verdict.as_ref();
        verdict.is_some_and(|verdict| verdict.is_right())
    }

    /// What was found, in a line.
    pub fn summary(&self) -> Option<String> {
        let verdict = self.verdict.as_ref()?;
        Some(match (self.fault_count(), self.exercise) {
            (0, Some(_)) => tr!("Solved").into(),
            (0, None) => counts(&verdict.round),
            (1, _) => tr!("1 fault").into(),
            (count, _) => tr!("{count} faults", count = count),
        })
    }

    /// How many faults were found.
    pub fn fault_count(&self) -> usize {
        let verdict = self.verdict.as_ref();
        verdict.map_or(0, |verdict| verdict.faults.as_ref().map_or(1, Vec::len))
    }

    /// The lines that faults are about, numbered from 1.
    pub fn wrong_lines(&self) -> HashSet<u32> {
        let line = |place: &Place| place.line;
        match self.verdict.as_ref().map(|verdict| &verdict.faults) {
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
        let found = self.verdict.as_ref().map(|verdict| &verdict.faults);
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

    fn checked(mut editor: RoundEditor, instances: usize) -> RoundEditor {
        let text = editor.text().clone();
        editor.take_verdict(&text, judge(&text, instances, editor.task()));
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
        editor.take_verdict(&before, judge(&before, 4, None));
        assert_eq!(editor.summary(), None, "of the text before");
        let mut editor = checked(editor, 4);
        assert!(!editor.is_right() && editor.sentences().next().is_some());
        editor.edit("advance(0, 0);\nadvanc(1, 1);\n");
        let editor = checked(editor, 4);
        assert_eq!(editor.wrong_lines(), [2].into());
        assert_eq!(editor.summary().as_deref(), Some("1 fault"));
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
