//! The editor of one's own round or kernel: its keys, checks of its text on another thread, and its file.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::handler::background::notice;
use crate::handler::events::Pressed;
use crate::handler::{Editor, Handler, Then, then};
use crate::view::Dialog;
use crate::view::code_editor::{field, go_to_fault};

use egui::text_edit::TextEditState;
use lang::{Message, message, tr};
use lesson::{Exercise, ExerciseProgress};
use life::{ReadError, SaveTarget, dated_stem, read_regular_file, shown};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use script::{MAX_SOURCE_BYTES, Work};
use session::prediction::OpTimes;
use session::{DeviceChoice, Drafts, Order, OwnRoundError, Session, Status, StoredKernel};
use ui::actions::Key;
use ui::code_editor::{Code, Findings, RoundContext, judge};
use ui::{Action, CodeEditor, EditAction, SidePanel, ViewAction};
use winit::event::KeyEvent;
use winit::event_loop::ActiveEventLoop;
use workshop::{Machine, OwnKernel, Workshop};

use Code::*;

/// How long a file that changed is left alone before it is read: who writes it has more to write.
const WRITING_TIME: Duration = Duration::from_millis(50);

impl Editor {
    /// The text that is shown.
    pub(super) fn shown(&self) -> &CodeEditor {
        match self.code {
            Round => &self.round,
            Kernel => &self.kernel,
        }
    }

    fn document(&mut self, code: Code) -> &mut CodeEditor {
        match code {
            Round => &mut self.round,
            Kernel => &mut self.kernel,
        }
    }

    /// Shows another text of the same kind, of no file or of one that is not followed yet.
    pub(super) fn replace(&mut self, text: CodeEditor) {
        self.code = text.code;
        if self.code == Kernel {
            self.cancel_check();
        }
        self.watchers[self.code as usize] = None;
        *self.document(self.code) = text;
    }

    /// Gives up the check of a kernel under way; whether there was one.
    pub(super) fn cancel_check(&mut self) -> bool {
        let cancel = self.check.take();
        self.kernel.is_checking = false;
        cancel.is_some_and(|cancel| !cancel.swap(true, Ordering::AcqRel))
    }
}

/// The file of a round or a kernel, read to be opened in the editor.
pub(super) fn opened_code(code: Code, path: PathBuf) -> Then {
    match read_code(code, &path) {
        Ok(text) => then(move |it| it.open_code(code, path, text)),
        Err(why) => then(|it| it.not_opened(why)),
    }
}

/// Reads the file of a round or a kernel.
///
/// # Errors
/// It cannot be read, is too long, or no text: why, in a sentence.
fn read_code(code: Code, path: &Path) -> Result<Arc<str>, String> {
    let limit = match code {
        Round => MAX_SOURCE_BYTES as u64,
        Kernel => OwnKernel::MAX_BYTES,
    };
    let decode = |bytes: Vec<u8>| match code {
        Round => script::decode(bytes).map_err(|error| error.message.to_string()),
        Kernel => OwnKernel::decode(bytes).map_err(|error| error.to_string()),
    };
    let text = match read_regular_file(path, limit) {
        Ok(bytes) => decode(bytes),
        Err(ReadError::Empty) => Ok(String::new()),
        Err(error) => Err(error.to_string()),
    };
    let name = shown(path.file_name().unwrap_or_default());
    text.map(Arc::from)
        .map_err(|why| tr!("Cannot read {name}: {why}"))
}

impl Handler {
    /// The window's egui.
    fn context(&self) -> Option<&egui::Context> {
        Some(self.surface.as_ref()?.scene.context())
    }

    /// Whether keys are for the text in the editor.
    pub(super) fn editor_has_keys(&self) -> bool {
        let has_focus = |memory: &egui::Memory| memory.has_focus(field(self.editor.code));
        self.context().is_some_and(|it| it.memory(has_focus))
    }

    /// A key went to the text: some act on the window all the same. Esc leaves the field.
    pub(super) fn key_to_editor(&mut self, event_loop: &ActiveEventLoop, event: &KeyEvent) {
        let Some(pressed) = Pressed::of(event, self.modifiers) else {
            return;
        };
        let (chord, action) = (pressed.chord, pressed.action());
        let acts = match (chord.key, action) {
            (_, Some(Action::Edit(EditAction::SavePattern))) => return self.save_code(),
            (Key::Escape, _) if self.editor.cancel_check() => false,
            (_, Some(Action::View(ViewAction::RunRound))) | (Key::F(_), _) => true,
            (Key::PageUp | Key::PageDown, _) => self.app.open_lecture().is_some(),
            _ => false,
        };
        let Some(action) = self.app.remap_key(chord, action).filter(|_| acts) else {
            return;
        };
        // What an F-key opens takes the keys; switches leave them to the text.
        if let (Key::F(_), Action::View(_), Some(context)) = (chord.key, action, self.context()) {
            context.memory_mut(|memory| memory.surrender_focus(field(self.editor.code)));
        }
        self.act(event_loop, action);
    }

    /// Opens or closes the editor; keys are for its text once it is open.
    pub(super) fn toggle_editor(&mut self) {
        self.app.toggle_side(SidePanel::Editor);
        if self.app.options.side == Some(SidePanel::Editor) {
            self.give_keys_to_text();
        }
    }

    fn give_keys_to_text(&self) {
        if let Some(context) = self.context() {
            context.memory_mut(|memory| memory.request_focus(field(self.editor.code)));
        }
    }

    fn show_editor(&mut self) {
        if self.app.options.side != Some(SidePanel::Editor) {
            self.toggle_editor();
        }
    }

    /// Runs what is in the editor, which opens: a round at once, a kernel once it was checked. A kernel that
    /// never ran here may be from a session's file, so it is shown first.
    pub(super) fn run_code(&mut self) {
        let was_shown = self.app.options.side == Some(SidePanel::Editor);
        self.show_editor();
        match self.editor.code {
            Round => self.run_round(),
            Kernel if was_shown || workshop::is_trusted(&self.editor.kernel.text) => {
                self.check_kernel(self.editor.kernel.text.clone());
            }
            Kernel => self.show_notice(message!(
                "This kernel has not run here yet: Ctrl+Enter again runs it"
            )),
        }
    }

    fn run_round(&mut self) {
        let round = &self.editor.round;
        if round.round_task().is_some_and(|it| it.work == Work::Arrays) {
            return self.show_notice(message!(
                "This exercise is about arrays: its round is checked, and does not run"
            ));
        }
        let session = self.app.session.as_ref();
        self.editor.answer = session.map(|it| it.set_own_round(round.text.clone()));
        self.context().into_iter().for_each(go_to_fault);
    }

    /// Asks about a kernel that came with the session, once; one that was run here before needs no answer.
    pub(super) fn ask_about_kernel(&mut self) {
        let status = self.status();
        let stored = status.and_then(|it| it.setting.stored_kernel.clone());
        let Some(stored) = stored.filter(|it| it.in_use) else {
            return;
        };
        let asked = self.editor.asked.replace(stored.clone());
        if asked.is_some_and(|asked| Arc::ptr_eq(&asked, &stored)) {
            return;
        }
        if workshop::is_trusted(&stored.source) {
            return self.run_stored_kernel(&stored);
        }
        tracing::debug!("asks about the kernel in {}", stored.file);
        self.dialogs.open(Dialog::Kernel(stored));
    }

    /// Runs a kernel that came with the session. It is shown, unless the user has written another one.
    pub(super) fn run_stored_kernel(&mut self, stored: &StoredKernel) {
        workshop::trust(&stored.source);
        self.editor.code = Kernel;
        if self.editor.kernel.draft().is_none() {
            self.editor
                .replace(CodeEditor::new(Kernel, stored.source.clone()));
        }
        self.show_editor();
        self.check_kernel(stored.source.clone());
    }

    /// Has a kernel checked, to run it if it is right; another check under way is given up first.
    fn check_kernel(&mut self, text: Arc<str>) {
        self.editor.cancel_check();
        let Some(session) = &self.app.session else {
            return;
        };
        let status = session.status();
        if status.lab.recording.is_some() {
            return self.show_notice(message!(
                "A kernel of your own needs a device that computes; J leaves the recorded GPU"
            ));
        }
        let machine = match (status.engine.is_cpu(), session.device()) {
            (true, _) => Machine::Emulator,
            (false, DeviceChoice::CudaOrdinal(ordinal)) => Machine::Gpu(ordinal),
            (false, _) => Machine::Gpu(0),
        };
        let stored = status.setting.stored_kernel.clone();
        let stored = stored.filter(|it| it.source == text && !workshop::is_trusted(&text));
        if let Some(stored) = stored {
            return self.dialogs.open(Dialog::Kernel(stored));
        }
        let cancel = Arc::new(AtomicBool::new(false));
        self.editor.check = Some(cancel.clone());
        let document = &mut self.editor.kernel;
        let is_shown = document.text == text;
        document.is_checking = is_shown;
        document.findings = document.findings.take().filter(|_| !is_shown);
        let task = document.kernel_task().filter(|_| is_shown);
        let (workshop, process) = (self.editor.workshop.clone(), self.options.kernel_process);
        let (of, this) = (text.clone(), cancel.clone());
        let check = move || {
            workshop::trust(&text);
            let mut kept = workshop.lock().unwrap_or_else(PoisonError::into_inner);
            let (of, workshop) = &mut *kept;
            if of.replace(machine) != Some(machine) {
                *workshop = None; // the session goes on elsewhere
            }
            let open = || Workshop::open(machine, process);
            let seed = RandomState::new().build_hasher().finish();
            Findings::of_kernel(&text, task, workshop, open, seed, &cancel)
        };
        self.check(check, move |it, found| it.take_kernel(&this, &of, found));
    }

    /// Does a check on another thread; of one that panicked it is found why nothing was checked.
    fn check(
        &self,
        check: impl FnOnce() -> Option<Findings> + Send + 'static,
        take: impl FnOnce(&mut Handler, Option<Findings>) + Clone + Send + 'static,
    ) {
        let failed = take.clone();
        let work = move || {
            let found = check();
            then(move |it| take(it, found))
        };
        let failed =
            move |it: &mut Handler, why: String| failed(it, Some(Findings::unchecked(why)));
        self.background.start(work, failed);
    }

    /// Takes over what this check has found in a kernel, unless it was given up: one that is right runs.
    fn take_kernel(&mut self, check: &Arc<AtomicBool>, text: &Arc<str>, found: Option<Findings>) {
        let is_its = |it: &mut Arc<AtomicBool>| Arc::ptr_eq(it, check);
        let (Some(_), Some(found)) = (self.editor.check.take_if(is_its), found) else {
            return;
        };
        if let (Some(kernel), Some(session)) = (found.kernel, &self.app.session) {
            session.set_own_kernel(kernel);
        }
        let document = &mut self.editor.kernel;
        if document.text == *text {
            document.take_findings(text, Some(found));
        } else if !found.is_right {
            let why = found.summary;
            self.show_notice(message!("Not run: {why}"));
        }
        self.note_if_solved(Kernel);
        self.context().into_iter().for_each(go_to_fault);
    }

    /// Says why the session does not run the round, where that is more than the check says.
    pub(super) fn poll_round_answer(&mut self) {
        let answer = self.editor.answer.as_ref();
        let Some(answer) = answer.and_then(|answer| answer.try_recv().ok()) else {
            return;
        };
        self.editor.answer = None;
        if let Err(OwnRoundError { message: why, .. }) = answer {
            // What to do in an exercise is a hint, which is to be opened.
            let round = &self.editor.round;
            let faults = round.summary().filter(|_| round.exercise.is_some());
            let why = faults.map_or(why, Message::from);
            self.show_notice(message!("Not run: {why}"));
        }
    }

    /// The text was changed to this one.
    pub(super) fn edit_code(&mut self, text: String) {
        let code = self.editor.code;
        if code == Kernel {
            self.editor.cancel_check();
        }
        self.editor.document(code).edit(text);
    }

    /// Has the round checked where it is new, or something else that counts; one check goes on at a time.
    pub(super) fn check_round(&mut self) {
        let is_shown = self.app.options.side == Some(SidePanel::Editor);
        let is_shown = is_shown && self.editor.code == Round;
        let is_checking = self.editor.round.is_checking;
        let Some(status) = &self.status().filter(|_| is_shown && !is_checking) else {
            return;
        };
        self.take_times(status);
        let times = self.editor.times.as_ref().map(|(_, times)| *times);
        let round = &mut self.editor.round;
        let (text, task) = (round.text.clone(), round.round_task());
        let context = RoundContext::of(status, times, &text);
        let checked = self.editor.checked.as_ref();
        if checked.is_some_and(|(of, before)| Arc::ptr_eq(of, &text) && *before == context) {
            return;
        }
        round.is_checking = true;
        self.editor.checked = Some((text.clone(), context));
        let of = text.clone();
        let check = move || Some(judge(&text, task, &context));
        self.check(check, move |it, found| it.take_round(&of, found));
    }

    /// Takes over the times of ops alone where they were measured anew, with the calls of the round that
    /// is drawn.
    fn take_times(&mut self, status: &Status) {
        let Some(isolated) = &status.lab.isolated else {
            return;
        };
        let known = self.editor.times.as_ref();
        let round = self.app.timeline.chart.as_ref();
        let round = round.map(|chart| &chart.round);
        if let (false, Some(round)) = (known.is_some_and(|it| Arc::ptr_eq(&it.0, isolated)), round)
        {
            let times = OpTimes::of(isolated, round);
            self.editor.times = times.map(|times| (isolated.clone(), times));
        }
    }

    /// Takes over what was found in a round.
    fn take_round(&mut self, text: &Arc<str>, found: Option<Findings>) {
        self.editor.round.take_findings(text, found);
        self.note_if_solved(Round);
    }

    /// Opens an exercise in the editor.
    pub(super) fn start_exercise(&mut self, exercise: &'static Exercise) {
        self.app.close_lesson();
        self.editor.code = Code::of_exercise(exercise);
        if self.editor.shown().exercise.map(|it| it.name) != Some(exercise.name) {
            self.editor.replace(CodeEditor::start(exercise));
        }
        self.note_progress(exercise, ExerciseProgress::start);
        self.show_editor();
        self.give_keys_to_text();
    }

    /// Notes that the exercise in the editor is solved, where it is.
    fn note_if_solved(&mut self, code: Code) {
        let text = self.editor.document(code);
        if let Some(exercise) = text.exercise.filter(|_| text.is_solved()) {
            self.note_progress(exercise, ExerciseProgress::solve);
        }
    }

    /// Notes what was done with an exercise, here and in the file of that.
    fn note_progress(
        &mut self,
        exercise: &'static Exercise,
        note: fn(&mut ExerciseProgress, &Exercise),
    ) {
        let before = self.app.progress.clone();
        note(&mut self.app.progress, exercise);
        let path = ExerciseProgress::path().filter(|_| self.app.progress != before);
        let Some(path) = path else { return };
        let update = move || ExerciseProgress::update(&path, |progress| note(progress, exercise));
        self.run_in_background(move || match update() {
            Ok((_, None)) => then(|_| {}),
            Ok((_, Some(kept))) => notice(tr!("the damaged file is kept as {}", kept.display())),
            Err(error) => notice(error.to_string()),
        });
    }

    /// Has what is written saved with the session, and shows what came with one that was opened in its
    /// place.
    pub(crate) fn keep_drafts(&mut self) {
        let Some(kept) = self.app.session.as_ref().map(Session::drafts) else {
            return;
        };
        if kept != self.editor.drafts {
            self.show_drafts(&kept);
        }
        let drafts = Drafts {
            round: self.editor.round.draft(),
            kernel: self.editor.kernel.draft(),
        };
        if let (Some(session), true) = (&self.app.session, kept != drafts) {
            session.set_drafts(drafts.clone());
        }
        self.editor.drafts = drafts;
    }

    /// Shows what a session had in the editor, without checking it.
    fn show_drafts(&mut self, drafts: &Drafts) {
        for (code, text) in [(Round, &drafts.round), (Kernel, &drafts.kernel)] {
            if let Some(text) = text {
                self.editor.watchers[code as usize] = None;
                let document = self.editor.document(code);
                *document = CodeEditor::new(code, "");
                document.edit(text.clone());
            }
        }
    }

    /// Shows the round or kernel that the session began with: its file, or what was saved with the session.
    pub(super) fn show_first_code(&mut self) {
        let Some(status) = self.status() else { return };
        let setting = &status.setting;
        if let Some(own) = &setting.own_round {
            self.editor.round = CodeEditor::new(Round, own.source.clone());
        }
        let own = setting.own_kernel.and_then(|it| it.own.as_ref());
        // The command line has said why one that is trusted does not run.
        let is_trusted = |it: &Arc<StoredKernel>| workshop::is_trusted(&it.source);
        self.editor.asked = setting.stored_kernel.clone().filter(is_trusted);
        let own = own.map(|it| it.source.as_str().into());
        let own = own.or(setting.stored_kernel.as_ref().map(|it| it.source.clone()));
        self.editor.kernel = match own {
            Some(source) => CodeEditor::new(Kernel, source),
            None => CodeEditor::of_kernel(setting.kernel),
        };
        if let Some(session) = &self.app.session {
            self.show_drafts(&session.drafts());
        }
        for (code, path) in std::mem::take(&mut self.options.code) {
            let open = move || opened_code(code, path);
            self.background.start(open, Handler::not_opened);
        }
    }

    /// Shows the text of a file in the editor, and follows the file.
    fn open_code(&mut self, code: Code, path: PathBuf, text: Arc<str>) {
        self.dialogs.close_pending_file();
        self.editor.replace(CodeEditor::open(code, path, text));
        self.watch_code(code);
        self.show_editor();
    }

    /// Saves the text to its file, or to a new one in the present folder.
    pub(super) fn save_code(&mut self) {
        let (code, document) = (self.editor.code, self.editor.shown());
        let (text, own) = (document.text.clone(), document.path().map(Path::to_owned));
        // `exercise check` looks for it by the exercise's name.
        let stem = document
            .exercise
            .map_or_else(dated_stem, |it| it.name.to_owned());
        self.run_in_background(move || {
            let target = match &own {
                Some(path) => SaveTarget::find(path),
                None => {
                    let name = format!("{stem}.{}", code.extension());
                    Ok(SaveTarget::beside(name.into()))
                }
            };
            let write = |target: SaveTarget| target.write(|out| out.write_all(text.as_bytes()));
            match target.and_then(write) {
                Ok((path, _)) => then(move |it| it.saved_code(code, own.unwrap_or(path), text)),
                Err(error) => notice(error.to_string()),
            }
        });
    }

    /// A text was saved: its file is followed from now on.
    fn saved_code(&mut self, code: Code, path: PathBuf, text: Arc<str>) {
        self.show_notice(tr!("Saved {path}", path = path.display()));
        let document = self.editor.document(code);
        let is_new = document.path() != Some(&path);
        document.file = Some((path, text));
        if is_new {
            self.watch_code(code);
        }
    }

    /// Has the text's file read whenever another program changes it.
    fn watch_code(&mut self, code: Code) {
        let send = self.background.sender();
        let Some(path) = self.editor.document(code).path().map(Path::to_owned) else {
            return;
        };
        let name = shown(path.file_name().unwrap_or_default());
        let read = {
            let path = path.clone();
            move || {
                std::thread::sleep(WRITING_TIME);
                let (text, path) = (read_code(code, &path), path.clone());
                send(then(move |it| it.code_file_has(code, &path, text)));
            }
        };
        match watch_file(&path, read) {
            Ok(watcher) => self.editor.watchers[code as usize] = Some(watcher),
            Err(why) => self.show_notice(message!(
                "Changes of {name} by other programs are not noticed: {why}"
            )),
        }
    }

    /// Takes over what the file has now. Undo leads back to a text that was edited here.
    fn code_file_has(&mut self, code: Code, path: &Path, text: Result<Arc<str>, String>) {
        let document = self.editor.document(code);
        if document.path() != Some(path) {
            return;
        }
        let text = match text {
            Ok(text) => text,
            Err(why) => return self.show_notice(why),
        };
        let before = document.is_edited().then(|| document.text.to_string());
        if !document.file_has(text) {
            return;
        }
        let name = shown(path.file_name().unwrap_or_default());
        match (before, self.context()) {
            (Some(before), Some(context)) => {
                let mut state = TextEditState::load(context, field(code)).unwrap_or_default();
                let mut undoer = state.undoer();
                undoer.add_undo(&(Default::default(), before));
                state.set_undoer(undoer);
                state.store(context, field(code));
                self.show_notice(message!(
                    "Loaded {name}, which has changed; Ctrl+Z brings your text back"
                ));
            }
            _ => self.show_notice(message!("Loaded {name}, which has changed")),
        }
        self.reloaded_code(code);
    }

    /// The text is another program's; it runs if the one before did, or was to.
    fn reloaded_code(&mut self, code: Code) {
        let Some(status) = self.status() else { return };
        let runs = match code {
            Round => status.setting.switches.order == Order::Own,
            Kernel => status.setting.kernel.own.is_some() || self.editor.check.is_some(),
        };
        match code {
            Round if runs => self.run_round(),
            Kernel if runs => self.check_kernel(self.editor.kernel.text.clone()),
            Round | Kernel => {}
        }
    }
}

/// Tells of changes of a file by other programs, as long as the watcher lives. The folder is watched: many
/// programs replace a file by another one.
fn watch_file(
    path: &Path,
    changed: impl Fn() + Send + 'static,
) -> notify::Result<RecommendedWatcher> {
    let name = path.file_name().map(ToOwned::to_owned);
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let is_ours = move |path: &PathBuf| path.file_name() == name.as_deref();
    let is_change = move |event: notify::Event| {
        let is_access = event.kind.is_access();
        event.need_rescan() || !is_access && event.paths.iter().any(&is_ours)
    };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<_>| {
        if event.is_ok_and(&is_change) {
            changed();
        }
    })?;
    let folder = folder.unwrap_or(Path::new("."));
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
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
            let changed = move || sender.send(()).unwrap_or_default();
            let _watcher = watch_file(&path, changed).unwrap();
            change();
            wakes.recv().unwrap();
        };
        notices(&|| fs::write(&path, "advance(0, 0);").unwrap());
        notices(&|| {
            let other = folder.path().join(".round.rhai.new");
            fs::write(&other, "download(0, 0);").unwrap();
            fs::rename(other, &path).unwrap();
        });
        notices(&|| fs::remove_file(&path).unwrap());
        notices(&|| fs::write(&path, "advance(0, 1);").unwrap());
    }
}
