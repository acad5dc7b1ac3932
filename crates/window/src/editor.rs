//! The editor of a round of one's own: its keys, checks of its text on another thread, and its file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use winit::event::KeyEvent;
use winit::event_loop::ActiveEventLoop;

use crate::background::BackgroundResult;
use crate::handler::Handler;
use crate::keys;
use crate::view::round_editor::{EditorRequest, field};
use exercise::{EXERCISES, Exercise, Progress};
use lang::{message, tr};
use life::{ReadError, SaveTarget, dated_stem, read_regular_file};
use model::actions::Key;
use model::prediction::OpTimes;
use model::words::shown;
use model::{
    Action, EditAction, InWords, IsolatedOp, Order, OwnRound, OwnRoundError, Status, ViewAction,
};
use script::{MAX_SOURCE_BYTES, Script, Work};
use ui::round_editor::{FileChange, RoundContext, RoundFindings, judge};
use ui::{Lessons, RoundEditor, SidePanel, Wake};

/// How long a file that changed is left alone before it is read: who writes it has more to write.
const WRITING_TIME: Duration = Duration::from_millis(50);

/// The editor, and what goes on for it on other threads.
#[derive(Default)]
pub(super) struct Editor {
    pub(super) round: RoundEditor,
    /// The text that was checked last, or is being checked, and for what.
    checked: Option<(Arc<str>, RoundContext)>,
    /// The ops that were run alone last, and how long they took.
    times: Option<(Arc<[IsolatedOp]>, OpTimes)>,
    is_checking: bool,
    watch: Option<FileWatch>,
    /// The file that remembers which exercises are solved, unless it is not readable, and what it says.
    progress: Option<(PathBuf, Progress)>,
    /// What the session says of the round that it is to run, once it does.
    answer: Option<Receiver<Result<Arc<OwnRound>, OwnRoundError>>>,
}

impl Editor {
    /// With the usual round, and what was solved of the exercises.
    pub(super) fn new() -> Editor {
        let path = Progress::path();
        let read = |path: PathBuf| Progress::read(&path).ok().map(|it| (path, it));
        Editor {
            progress: path.and_then(read),
            ..Editor::default()
        }
    }
}

/// Tells of changes of a file by other programs, as long as it lives.
struct FileWatch {
    changed: Arc<AtomicBool>,
    is_reading: bool,
    _watcher: RecommendedWatcher,
}

impl FileWatch {
    /// Of a file, whose folder is watched: many programs replace a file by another one.
    fn new(path: &Path, wake: Wake) -> notify::Result<FileWatch> {
        let changed = Arc::new(AtomicBool::new(false));
        let name: Option<OsString> = path.file_name().map(Into::into);
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let has_changed = changed.clone();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let is_ours = |path: &PathBuf| path.file_name() == name.as_deref();
                let is_change = |event: notify::Event| {
                    let is_change = !event.kind.is_access() && event.paths.iter().any(is_ours);
                    is_change || event.need_rescan()
                };
                if event.is_ok_and(is_change) {
                    has_changed.store(true, Ordering::Release);
                    wake();
                }
            })?;
        watcher.watch(
            folder.unwrap_or(Path::new(".")),
            RecursiveMode::NonRecursive,
        )?;
        Ok(FileWatch {
            changed,
            is_reading: false,
            _watcher: watcher,
        })
    }
}

/// A script's file, read to be opened in the editor.
pub(super) fn opened_round(path: PathBuf) -> BackgroundResult {
    match read_script(&path) {
        Ok(text) => BackgroundResult::OpenedRound(path, text),
        Err(why) => BackgroundResult::NotOpened(why),
    }
}

/// Reads a script's file.
///
/// # Errors
/// It cannot be read, is too long, or no text: why, in a sentence.
fn read_script(path: &Path) -> Result<Arc<str>, String> {
    let text = match read_regular_file(path, MAX_SOURCE_BYTES as u64) {
        Ok(bytes) => Script::decode(bytes).map_err(|error| error.in_words()),
        Err(ReadError::Empty) => Ok(String::new()),
        Err(error) => Err(error.in_words()),
    };
    let name = shown(path.file_name().unwrap_or_default());
    text.map(Arc::from)
        .map_err(|why| tr!("Cannot read {name}: {why}", name = name, why = why))
}

impl Handler {
    /// Whether keys are for the text in the editor.
    pub(super) fn editor_has_keys(&self) -> bool {
        let has_focus = |memory: &egui::Memory| memory.has_focus(field());
        let screen = self.surface.as_ref();
        screen.is_some_and(|screen| screen.scene.context().memory(has_focus))
    }

    /// A key went to the text: some act on the window all the same. Esc leaves the field.
    pub(super) fn key_to_editor(&mut self, event_loop: &ActiveEventLoop, event: &KeyEvent) {
        let Some(chord) = keys::chord(event, self.modifiers) else {
            return;
        };
        let action = keys::action(event, self.modifiers);
        let acts = match (chord.key, action) {
            (_, Some(Action::Edit(EditAction::SavePattern))) => return self.save_round(),
            (_, Some(Action::View(ViewAction::RunRound))) | (Key::F(_), _) => true,
            (Key::PageUp | Key::PageDown, _) => self.app.open_lecture().is_some(),
            _ => false,
        };
        let Some(action) = self.app.remap_key(chord, action).filter(|_| acts) else {
            return;
        };
        // What an F-key opens takes the keys; switches leave them to the text.
        if let (Key::F(_), Action::View(_), Some(screen)) = (chord.key, action, &self.surface) {
            let context = screen.scene.context();
            context.memory_mut(|memory| memory.surrender_focus(field()));
        }
        self.act(event_loop, action);
    }

    /// Opens or closes the editor; keys are for its text once it is open.
    pub(super) fn toggle_editor(&mut self) {
        self.app.toggle_side(SidePanel::Editor);
        if let (Some(SidePanel::Editor), Some(screen)) = (self.app.options.side, &self.surface) {
            let context = screen.scene.context();
            context.memory_mut(|memory| memory.request_focus(field()));
        }
    }

    fn show_editor(&mut self) {
        if self.app.options.side != Some(SidePanel::Editor) {
            self.toggle_editor();
        }
    }

    /// Runs the round in the editor, which opens.
    pub(super) fn run_round(&mut self) {
        self.show_editor();
        let round = &self.editor.round;
        if round.task().is_some_and(|it| it.work == Work::Arrays) {
            return self.show_notice(message!(
                "This exercise is about arrays: its round is checked, and does not run"
            ));
        }
        let session = self.app.session.as_ref();
        self.editor.answer = session.map(|it| it.set_own_round(round.text().clone()));
    }

    /// Says why the session does not run the round, where that is more than the check says.
    pub(super) fn poll_round_answer(&mut self) {
        let answer = self.editor.answer.as_ref();
        let Some(answer) = answer.and_then(|answer| answer.try_recv().ok()) else {
            return;
        };
        self.editor.answer = None;
        let why = answer.err().map(|error| error.in_places());
        if let Some((_, sentence)) = why.and_then(|all| all.into_iter().next()) {
            self.show_notice(message!("Not run: {why}", why = sentence));
        }
    }

    /// Does what was asked for in the editor.
    pub(super) fn editor_requested(&mut self, request: EditorRequest) {
        match request {
            EditorRequest::Edit(text) => self.editor.round.edit(text),
            EditorRequest::Save => self.save_round(),
            EditorRequest::Settle { reload } => self.settle_round(reload),
            EditorRequest::Guess(guess) => self.editor.round.guess(guess),
        }
        self.pacer.request_frame(std::time::Instant::now());
    }

    /// Has the text checked where it is new, or something else that counts; one check goes on at a time.
    pub(super) fn check_round(&mut self, status: Option<&Status>) {
        let is_shown = self.app.options.side == Some(SidePanel::Editor);
        let Some(status) = status.filter(|_| is_shown && !self.editor.is_checking) else {
            return;
        };
        self.take_times(status);
        let times = self.editor.times.as_ref().map(|(_, times)| *times);
        let round = &self.editor.round;
        let (text, task) = (round.text().clone(), round.task());
        let context = RoundContext::of(status, times, &text);
        let checked = self.editor.checked.as_ref();
        if checked.is_some_and(|(of, before)| Arc::ptr_eq(of, &text) && *before == context) {
            return;
        }
        self.editor.checked = Some((text.clone(), context));
        self.editor.is_checking = true;
        self.run_in_background(move || {
            let findings = judge(&text, task, &context);
            BackgroundResult::CheckedRound(text, Box::new(findings))
        });
    }

    /// Takes over the times of ops alone where they were measured anew, with the calls of the round that
    /// is drawn.
    fn take_times(&mut self, status: &Status) {
        let Some(isolated) = &status.lab.isolated else {
            return;
        };
        let known = self.editor.times.as_ref();
        let round = self.timeline.timeline().chart().map(|chart| &chart.round);
        if let (false, Some(round)) = (known.is_some_and(|it| Arc::ptr_eq(&it.0, isolated)), round)
        {
            let times = OpTimes::of(isolated, round);
            self.editor.times = times.map(|times| (isolated.clone(), times));
        }
    }

    /// Takes over what was found in a text.
    pub(super) fn take_findings(&mut self, text: &Arc<str>, findings: RoundFindings) {
        self.editor.is_checking = false;
        self.editor.round.take_findings(text, findings);
        if self.editor.round.is_right() {
            self.note_progress(Progress::solve);
        }
    }

    /// Opens or closes the list of lessons, with the exercises.
    pub(super) fn toggle_lessons(&mut self) {
        let progress = self.editor.progress.as_ref();
        let progress = progress.map(|(_, progress)| progress.clone());
        let lessons = &mut self.app.lessons;
        lessons.offer_exercises(progress.unwrap_or_default());
        self.app.with_lessons(Lessons::toggle);
    }

    /// Opens an exercise in the editor.
    pub(super) fn start_exercise(&mut self, index: usize) {
        self.app.with_lessons(Lessons::close);
        let present = self.editor.round.exercise().map(|it| it.name);
        if present != EXERCISES.get(index).map(|it| it.name) {
            self.editor.round.start(index);
            self.editor.watch = None;
        }
        self.note_progress(Progress::start);
        self.show_editor();
    }

    /// Notes what was done with the exercise in the editor, if there is one.
    fn note_progress(&mut self, note: fn(&mut Progress, &Exercise)) {
        let exercise = self.editor.round.exercise();
        let (Some((path, progress)), Some(exercise)) = (&mut self.editor.progress, exercise) else {
            return;
        };
        let before = progress.clone();
        note(progress, exercise);
        if *progress != before {
            let (path, progress) = (path.clone(), progress.clone());
            self.run_in_background(move || match progress.write(&path) {
                Ok(()) => BackgroundResult::Nothing,
                Err(error) => BackgroundResult::Notice(error.in_words()),
            });
        }
    }

    /// Shows the round that the session began with: its file, or the script that was saved with it.
    pub(super) fn show_first_round(&mut self) {
        if let Some(path) = self.options.round.take() {
            return self.run_in_background(move || opened_round(path));
        }
        let own = self.status().and_then(|it| it.setting.own_round.clone());
        if let Some(own) = own {
            self.editor.round.edit(own.source().clone());
        }
    }

    /// Shows the text of a file in the editor, and follows the file.
    pub(super) fn open_round(&mut self, path: PathBuf, text: Arc<str>) {
        self.editor.round.open(path, text);
        self.watch_round();
        self.show_editor();
    }

    /// Saves the text to its file, or to a new one in the present folder.
    pub(super) fn save_round(&mut self) {
        let (text, own) = (self.editor.round.text().clone(), self.editor.round.path());
        let own = own.map(Path::to_owned);
        if self.editor.round.conflict() {
            return self.show_notice(message!(
                "Not saved: the file was changed, too; load it or keep this text first"
            ));
        }
        self.run_in_background(move || {
            let target = match &own {
                Some(path) => SaveTarget::find(path),
                None => Ok(SaveTarget::beside(format!("{}.rhai", dated_stem()).into())),
            };
            let write = |target: SaveTarget| target.write(|out| out.write_all(text.as_bytes()));
            match target.and_then(write) {
                Ok((path, _)) => BackgroundResult::SavedRound(own.unwrap_or(path), text),
                Err(error) => BackgroundResult::Notice(error.in_words()),
            }
        });
    }

    /// A text was saved: its file is followed from now on.
    pub(super) fn saved_round(&mut self, path: PathBuf, text: Arc<str>) {
        let is_new = self.editor.round.path() != Some(&path);
        self.show_notice(tr!("Saved {path}", path = shown(&path)));
        self.editor.round.saved(path, text);
        if is_new {
            self.watch_round();
        }
    }

    fn watch_round(&mut self) {
        let Some(path) = self.editor.round.path() else {
            return;
        };
        let watch = FileWatch::new(path, self.background.wake());
        let name = shown(path.file_name().unwrap_or_default());
        if let Err(error) = &watch {
            let why = error.to_string();
            self.show_notice(message!(
                "Changes of {name} by other programs are not noticed: {why}",
                name = name,
                why = why
            ));
        }
        self.editor.watch = watch.ok();
    }

    /// Reads the text's file where another program has changed it.
    pub(super) fn follow_round_file(&mut self) {
        let Some(watch) = self.editor.watch.as_mut().filter(|it| !it.is_reading) else {
            return;
        };
        let path = self.editor.round.path().map(Path::to_owned);
        if let (true, Some(path)) = (watch.changed.swap(false, Ordering::AcqRel), path) {
            watch.is_reading = true;
            self.run_in_background(move || {
                std::thread::sleep(WRITING_TIME);
                let text = read_script(&path);
                BackgroundResult::ReadRound(path, text)
            });
        }
    }

    /// Takes over what the file has now, unless the text was edited, too.
    pub(super) fn round_file_has(&mut self, path: &Path, text: Result<Arc<str>, String>) {
        if let Some(watch) = &mut self.editor.watch {
            watch.is_reading = false;
        }
        if self.editor.round.path() != Some(path) {
            return;
        }
        match text.map(|text| self.editor.round.file_has(text)) {
            Err(why) => self.show_notice(why),
            Ok(FileChange::Reloaded) => self.reloaded_round(),
            Ok(FileChange::Known | FileChange::Conflict) => {}
        }
    }

    /// Takes the file's text, or keeps the one in the editor.
    fn settle_round(&mut self, reload: bool) {
        self.editor.round.settle_conflict(reload);
        if reload {
            self.reloaded_round();
        }
    }

    /// The text is another program's.
    fn reloaded_round(&mut self) {
        let path = self.editor.round.path().unwrap_or(Path::new(""));
        let name = shown(path.file_name().unwrap_or_default());
        self.show_notice(message!("Loaded {name}, which has changed", name = name));
        let runs = |status: Arc<Status>| status.setting.switches.order == Order::Own;
        if self.status().is_some_and(runs) {
            self.run_round();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::channel;

    use super::*;

    /// Whatever a program does to a file that it saves is noticed.
    #[test]
    fn a_file_that_is_written_replaced_removed_or_made_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("round.rhai");
        fs::write(&path, "").unwrap();
        let notices = |change: &dyn Fn()| {
            let (sender, wakes) = channel();
            let wake = Arc::new(move || sender.send(()).unwrap_or_default());
            let watch = FileWatch::new(&path, wake).unwrap();
            change();
            wakes.recv().unwrap();
            assert!(watch.changed.load(Ordering::Acquire));
        };
        notices(&|| fs::write(&path, "advance(0, 0);").unwrap());
        notices(&|| {
            let other = folder.path().join(".round.rhai.new");
            fs::write(&other, "download(0, 0);").unwrap();
            fs::rename(other, &path).unwrap();
        });
        notices(&|| fs::remove_file(&path).unwrap());
        notices(&|| fs::write(&path, "advance(0, 1);").unwrap());
        assert_eq!(&*read_script(&path).unwrap(), "advance(0, 1);");
    }
}
