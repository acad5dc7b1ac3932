//! The editor of one's own round or kernel: its keys, checks of its text on another thread, and its file.

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::background::{Then, notice, then};
use crate::handler::Handler;
use crate::keys::Pressed;
use crate::view::Dialog;
use crate::view::code_editor::field;

use engine::kernels::KERNELS;
use lang::{message, tr};
use lesson::{EXERCISES, Exercise, ExerciseProgress};
use life::{ReadError, SaveTarget, dated_stem, read_regular_file, shown};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use script::{MAX_SOURCE_BYTES, Script, Work};
use session::{
    DeviceChoice, Drafts, IsolatedOp, Order, OwnRound, OwnRoundError, Session, Status, StoredKernel,
};
use ui::actions::Key;
use ui::code_editor::{Code, FileChange, KernelFindings, Race, RoundContext, RoundFindings, judge};
use ui::prediction::OpTimes;
use ui::{Action, CodeEditor, EditAction, Lessons, SidePanel, ViewAction, Wake};
use winit::event::KeyEvent;
use winit::event_loop::ActiveEventLoop;
use workshop::{Machine, OwnKernel, Workshop};

/// How long a file that changed is left alone before it is read: who writes it has more to write.
const WRITING_TIME: Duration = Duration::from_millis(50);

/// The editor, and what goes on for it on other threads.
pub(super) struct Editor {
    /// Which of its documents is shown.
    pub(super) code: Code,
    round: Document,
    kernel: Document,
    /// The round that was checked last, or is being checked, and for what.
    checked: Option<(Arc<str>, RoundContext)>,
    is_checking_round: bool,
    /// The ops that were run alone last, and how long they took.
    times: Option<(Arc<[IsolatedOp]>, OpTimes)>,
    /// Checks kernels on a machine; opened by the first check.
    workshop: Arc<Mutex<Option<Workshop>>>,
    machine: Option<Machine>,
    /// Gives up the check of a kernel under way.
    check: Option<Arc<AtomicBool>>,
    /// Whether another one was asked for meanwhile.
    checks_again: bool,
    /// The kernel of a session's file that was asked about last.
    asked: Option<Arc<StoredKernel>>,
    /// The texts that the session has of this, to be saved with it.
    drafts: Drafts,
    /// A kernel's text that another one takes the place of while that is checked.
    draft_before: Option<Arc<str>>,
    /// The file that remembers which exercises are solved, and what it says.
    progress: Option<(PathBuf, ExerciseProgress)>,
    /// What the session says of the round that it is to run, once it does.
    answer: Option<Receiver<Result<Arc<OwnRound>, OwnRoundError>>>,
}

/// A text, and the file that it is kept in.
struct Document {
    text: CodeEditor,
    watch: Option<FileWatch>,
    /// Whether its file is being read.
    is_reading: bool,
}

impl Document {
    fn new(text: CodeEditor) -> Document {
        Document {
            text,
            watch: None,
            is_reading: false,
        }
    }
}

impl Editor {
    /// With the usual round and kernel, and what was solved of the exercises.
    pub(super) fn new() -> Editor {
        let path = ExerciseProgress::path();
        let read = |path: PathBuf| {
            let progress = ExerciseProgress::read(&path).unwrap_or_default();
            (path, progress)
        };
        Editor {
            code: Code::Round,
            round: Document::new(CodeEditor::of_round()),
            kernel: Document::new(CodeEditor::of_kernel(&KERNELS[0])),
            checked: None,
            is_checking_round: false,
            times: None,
            workshop: Arc::default(),
            machine: None,
            check: None,
            checks_again: false,
            asked: None,
            drafts: Drafts::default(),
            draft_before: None,
            progress: path.map(read),
            answer: None,
        }
    }

    /// The text that is shown.
    pub(super) fn shown(&self) -> &CodeEditor {
        match self.code {
            Code::Round => &self.round.text,
            Code::Kernel => &self.kernel.text,
        }
    }

    /// What is solved of the exercises.
    pub(super) fn progress(&self) -> ExerciseProgress {
        let progress = self.progress.as_ref();
        progress.map_or_else(ExerciseProgress::default, |(_, progress)| progress.clone())
    }

    /// The race in the round that is shown, if it has one.
    pub(super) fn race(&self) -> Option<&Race> {
        self.shown().race()
    }

    fn document(&mut self, code: Code) -> &mut Document {
        match code {
            Code::Round => &mut self.round,
            Code::Kernel => &mut self.kernel,
        }
    }

    pub(super) fn shown_mut(&mut self) -> &mut CodeEditor {
        &mut self.document(self.code).text
    }

    /// Gives up the check of a kernel under way; whether there was one.
    pub(super) fn cancel_check(&mut self) -> bool {
        self.checks_again = false;
        let cancel = self.check.as_ref();
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
        Code::Round => MAX_SOURCE_BYTES as u64,
        Code::Kernel => OwnKernel::MAX_BYTES,
    };
    let decode = |bytes: Vec<u8>| match code {
        Code::Round => Script::decode(bytes).map_err(|error| error.message.to_string()),
        Code::Kernel => OwnKernel::decode(bytes).map_err(|error| error.to_string()),
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
    /// Whether keys are for the text in the editor.
    pub(super) fn editor_has_keys(&self) -> bool {
        let has_focus = |memory: &egui::Memory| memory.has_focus(field(self.editor.code));
        let screen = self.surface.as_ref();
        screen.is_some_and(|screen| screen.scene.context().memory(has_focus))
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
        if let (Key::F(_), Action::View(_), Some(screen)) = (chord.key, action, &self.surface) {
            let context = screen.scene.context();
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
        if let Some(screen) = &self.surface {
            let context = screen.scene.context();
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
            Code::Round => self.run_round(),
            Code::Kernel if was_shown || workshop::is_trusted(self.editor.kernel.text.text()) => {
                self.check_kernel();
            }
            Code::Kernel => self.show_notice(message!(
                "This kernel has not run here yet: Ctrl+Enter again runs it"
            )),
        }
    }

    fn run_round(&mut self) {
        let round = &self.editor.round.text;
        if round.round_task().is_some_and(|it| it.work == Work::Arrays) {
            return self.show_notice(message!(
                "This exercise is about arrays: its round is checked, and does not run"
            ));
        }
        let session = self.app.session.as_ref();
        self.editor.answer = session.map(|it| it.set_own_round(round.text().clone()));
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

    /// Runs a kernel that came with the session: it is checked in the editor.
    pub(super) fn run_stored_kernel(&mut self, stored: &StoredKernel) {
        workshop::trust(&stored.source);
        self.editor.code = Code::Kernel;
        if *self.editor.kernel.text.text() != stored.source {
            self.editor.draft_before = self.editor.kernel.text.draft();
            self.editor.kernel = Document::new(CodeEditor::of_kernel(stored.rung));
            self.editor.kernel.text.edit(stored.source.clone());
        }
        self.run_code();
    }

    /// Has the kernel checked, to run it if it is right; another check under way is given up first.
    fn check_kernel(&mut self) {
        let Some(session) = &self.app.session else {
            return;
        };
        if self.editor.check.is_some() {
            self.editor.cancel_check();
            return self.editor.checks_again = true;
        }
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
        let text = self.editor.kernel.text.text();
        let stored = status.setting.stored_kernel.clone();
        let stored = stored.filter(|it| it.source == *text && !workshop::is_trusted(text));
        if let Some(stored) = stored {
            return self.dialogs.open(Dialog::Kernel(stored));
        }
        let cancel = Arc::new(AtomicBool::new(false));
        self.editor.check = Some(cancel.clone());
        let document = &mut self.editor.kernel.text;
        document.begin_check();
        let (text, task) = (document.text().clone(), document.kernel_task());
        if self.editor.machine.replace(machine) != Some(machine) {
            // The session goes on elsewhere. To end a process may take a while.
            let before = std::mem::take(&mut self.editor.workshop);
            self.run_in_background(move || {
                drop(before);
                then(|_| {})
            });
        }
        let (workshop, process) = (self.editor.workshop.clone(), self.options.kernel_process);
        let unchecked = text.clone();
        let check = move || {
            workshop::trust(&text);
            let mut workshop = workshop.lock().unwrap_or_else(PoisonError::into_inner);
            let open = || Workshop::open(machine, process);
            let seed = RandomState::new().build_hasher().finish();
            let findings = KernelFindings::of(&text, task, &mut workshop, open, seed, &cancel);
            then(move |it| it.take_kernel(&text, findings))
        };
        let failed = move |it: &mut Handler, why: String| {
            let findings = KernelFindings::Unchecked(why.into());
            it.take_kernel(&unchecked, Some(findings));
        };
        self.background.start(check, failed);
    }

    /// Takes over what was found in a kernel: one that is right runs.
    fn take_kernel(&mut self, text: &Arc<str>, findings: Option<KernelFindings>) {
        self.editor.check = None;
        let document = &mut self.editor.kernel.text;
        document.end_check(text, findings);
        let (kernel, is_solved) = (document.right_kernel(), document.is_solved());
        if std::mem::take(&mut self.editor.checks_again) {
            return self.check_kernel();
        }
        if let (Some(kernel), Some(session)) = (kernel, &self.app.session) {
            session.set_own_kernel(kernel);
        }
        if is_solved {
            self.note_progress(Code::Kernel, ExerciseProgress::solve);
        }
        if let Some(draft) = self.editor.draft_before.take() {
            self.editor.kernel.text.edit(draft);
        }
    }

    /// Says why the session does not run the round, where that is more than the check says.
    pub(super) fn poll_round_answer(&mut self) {
        let answer = self.editor.answer.as_ref();
        let Some(answer) = answer.and_then(|answer| answer.try_recv().ok()) else {
            return;
        };
        self.editor.answer = None;
        if let Err(OwnRoundError { message: why, .. }) = answer {
            self.show_notice(message!("Not run: {why}"));
        }
    }

    /// The text was changed to this one.
    pub(super) fn edit_code(&mut self, text: String) {
        if self.editor.code == Code::Kernel {
            self.editor.cancel_check();
        }
        self.editor.shown_mut().edit(text);
    }

    /// Begins a kernel as a copy of the rung in use.
    pub(super) fn begin_kernel(&mut self) {
        if let Some(status) = self.status() {
            self.editor.cancel_check();
            self.editor.kernel.watch = None;
            self.editor.kernel.text = CodeEditor::of_kernel(status.setting.kernel);
        }
    }

    /// Has the round checked where it is new, or something else that counts; one check goes on at a time.
    pub(super) fn check_round(&mut self, status: Option<&Status>) {
        let is_shown = self.app.options.side == Some(SidePanel::Editor);
        let is_shown = is_shown && self.editor.code == Code::Round;
        let Some(status) = status.filter(|_| is_shown && !self.editor.is_checking_round) else {
            return;
        };
        self.take_times(status);
        let times = self.editor.times.as_ref().map(|(_, times)| *times);
        let round = &self.editor.round.text;
        let (text, task) = (round.text().clone(), round.round_task());
        let context = RoundContext::of(status, times, &text);
        let checked = self.editor.checked.as_ref();
        if checked.is_some_and(|(of, before)| Arc::ptr_eq(of, &text) && *before == context) {
            return;
        }
        self.editor.checked = Some((text.clone(), context));
        self.editor.is_checking_round = true;
        let unchecked = text.clone();
        let check = move || {
            let findings = judge(&text, task, &context);
            then(move |it| it.take_findings(&text, findings))
        };
        let failed = move |it: &mut Handler, why| {
            it.take_findings(&unchecked, RoundFindings::unchecked(why));
        };
        self.background.start(check, failed);
    }

    /// Takes over the times of ops alone where they were measured anew, with the calls of the round that
    /// is drawn.
    fn take_times(&mut self, status: &Status) {
        let Some(isolated) = &status.lab.isolated else {
            return;
        };
        let known = self.editor.times.as_ref();
        let round = self.timeline.timeline.chart.as_ref();
        let round = round.map(|chart| &chart.round);
        if let (false, Some(round)) = (known.is_some_and(|it| Arc::ptr_eq(&it.0, isolated)), round)
        {
            let times = OpTimes::of(isolated, round);
            self.editor.times = times.map(|times| (isolated.clone(), times));
        }
    }

    /// Takes over what was found in a text.
    fn take_findings(&mut self, text: &Arc<str>, findings: RoundFindings) {
        self.editor.is_checking_round = false;
        self.editor.round.text.take_findings(text, findings);
        if self.editor.round.text.is_solved() {
            self.note_progress(Code::Round, ExerciseProgress::solve);
        }
    }

    /// Opens an exercise in the editor.
    pub(super) fn start_exercise(&mut self, index: usize) {
        self.app.with_lessons(Lessons::close);
        let Some(exercise) = EXERCISES.get(index) else {
            return;
        };
        let code = Code::of_exercise(exercise);
        if code == Code::Kernel {
            self.editor.cancel_check();
        }
        self.editor.code = code;
        let document = self.editor.document(code);
        if document.text.exercise().map(|it| it.name) != Some(exercise.name) {
            document.text.start(index);
            document.watch = None;
        }
        self.note_progress(code, ExerciseProgress::start);
        self.show_editor();
        self.give_keys_to_text();
    }

    /// Notes what was done with the exercise in the editor, if there is one.
    fn note_progress(&mut self, code: Code, note: fn(&mut ExerciseProgress, &Exercise)) {
        let exercise = self.editor.document(code).text.exercise();
        let (Some((path, progress)), Some(exercise)) = (&mut self.editor.progress, exercise) else {
            return;
        };
        let before = progress.clone();
        note(progress, exercise);
        if *progress != before {
            let path = path.clone();
            let update =
                move || ExerciseProgress::update(&path, |progress| note(progress, exercise));
            self.run_in_background(move || match update() {
                Ok((_, None)) => then(|_| {}),
                Ok((_, Some(kept))) => {
                    notice(tr!("the damaged file is kept as {}", kept.display()))
                }
                Err(error) => notice(error.to_string()),
            });
        }
    }

    /// Has what is written saved with the session, and shows what came with one that was opened in its
    /// place.
    pub(super) fn keep_drafts(&mut self) {
        let Some(kept) = self.app.session.as_ref().map(Session::drafts) else {
            return;
        };
        if kept != self.editor.drafts {
            self.show_drafts(kept.clone());
        }
        self.editor.drafts = Drafts {
            round: self.editor.round.text.draft(),
            kernel: self.editor.kernel.text.draft(),
        };
        if let Some(session) = self
            .app
            .session
            .as_ref()
            .filter(|_| kept != self.editor.drafts)
        {
            session.set_drafts(self.editor.drafts.clone());
        }
    }

    /// Shows what a session had in the editor, without checking it.
    fn show_drafts(&mut self, drafts: Drafts) {
        for (code, text) in [(Code::Round, drafts.round), (Code::Kernel, drafts.kernel)] {
            let document = self.editor.document(code);
            if let Some(text) = text {
                document.watch = None;
                document.text.begin("");
                document.text.edit(text);
            }
        }
    }

    /// Shows the round or kernel that the session began with: its file, or what was saved with the session.
    pub(super) fn show_first_code(&mut self) {
        let Some(status) = self.status() else { return };
        let setting = &status.setting;
        if let Some(own) = &setting.own_round {
            self.editor.round.text.begin(own.source.clone());
        }
        let own = setting.own_kernel.and_then(|it| it.own.as_ref());
        // The command line has said why one that is trusted does not run.
        let is_trusted = |it: &Arc<StoredKernel>| workshop::is_trusted(&it.source);
        self.editor.asked = setting.stored_kernel.clone().filter(is_trusted);
        match (own, &setting.stored_kernel) {
            (Some(own), _) => self.editor.kernel.text.begin(own.source.as_str()),
            (None, Some(stored)) => self.editor.kernel.text.begin(stored.source.clone()),
            (None, None) => self.editor.kernel.text = CodeEditor::of_kernel(setting.kernel),
        }
        if let Some(session) = &self.app.session {
            self.show_drafts(session.drafts());
        }
        for (code, path) in std::mem::take(&mut self.options.code) {
            let open = move || opened_code(code, path);
            self.background.start(open, Handler::not_opened);
        }
    }

    /// Shows the text of a file in the editor, and follows the file.
    fn open_code(&mut self, code: Code, path: PathBuf, text: Arc<str>) {
        self.dialogs.close_pending_file();
        if code == Code::Kernel {
            self.editor.cancel_check();
        }
        self.editor.code = code;
        self.editor.document(code).text.open(path, text);
        self.watch_code(code);
        self.show_editor();
    }

    /// Saves the text to its file, or to a new one in the present folder.
    pub(super) fn save_code(&mut self) {
        let (code, document) = (self.editor.code, self.editor.shown());
        let (text, own) = (document.text().clone(), document.path().map(Path::to_owned));
        if document.conflict() {
            return self.show_notice(message!(
                "Not saved: the file was changed, too; load it or keep this text first"
            ));
        }
        // `exercise check` looks for it by the exercise's name.
        let exercise = self.editor.shown().exercise();
        let stem = exercise.map_or_else(dated_stem, |exercise| exercise.name.to_owned());
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
        let is_new = document.text.path() != Some(&path);
        document.text.saved(path, text);
        if is_new {
            self.watch_code(code);
        }
    }

    fn watch_code(&mut self, code: Code) {
        let wake = self.background.wake.clone();
        let document = self.editor.document(code);
        let Some(path) = document.text.path() else {
            return;
        };
        let watch = FileWatch::new(path, wake);
        let name = shown(path.file_name().unwrap_or_default());
        let why = watch.as_ref().err().map(|error| error.to_string());
        document.watch = watch.ok();
        if let Some(why) = why {
            self.show_notice(message!(
                "Changes of {name} by other programs are not noticed: {why}"
            ));
        }
    }

    /// Reads files of the editor where another program has changed them.
    pub(super) fn follow_code_files(&mut self) {
        for code in Code::ALL {
            let document = self.editor.document(code);
            let path = document.text.path().map(Path::to_owned);
            let watch = document.watch.as_ref().filter(|_| !document.is_reading);
            if let (true, Some(path)) = (watch.is_some_and(FileWatch::take_change), path) {
                document.is_reading = true;
                let unread = path.clone();
                let read = move || {
                    std::thread::sleep(WRITING_TIME);
                    let text = read_code(code, &path);
                    then(move |it| it.code_file_has(code, &path, text))
                };
                let failed = move |it: &mut Handler, why| {
                    it.code_file_has(code, &unread, Err(why));
                };
                self.background.start(read, failed);
            }
        }
    }

    /// Takes over what the file has now, unless the text was edited, too.
    fn code_file_has(&mut self, code: Code, path: &Path, text: Result<Arc<str>, String>) {
        let document = self.editor.document(code);
        document.is_reading = false;
        if document.text.path() != Some(path) {
            return;
        }
        match text.map(|text| document.text.file_has(text)) {
            Err(why) => self.show_notice(why),
            Ok(FileChange::Reloaded) => self.reloaded_code(code),
            Ok(FileChange::Known | FileChange::Conflict) => {}
        }
    }

    /// Takes the file's text, or keeps the one in the editor.
    pub(super) fn settle_code(&mut self, reload: bool) {
        self.editor.shown_mut().settle_conflict(reload);
        if reload {
            self.reloaded_code(self.editor.code);
        }
    }

    /// The text is another program's; it runs if the one before did, or was to.
    fn reloaded_code(&mut self, code: Code) {
        let path = self.editor.document(code).text.path();
        let name = shown(path.and_then(Path::file_name).unwrap_or_default());
        self.show_notice(message!("Loaded {name}, which has changed"));
        let Some(status) = self.status() else { return };
        let runs = match code {
            Code::Round => status.setting.switches.order == Order::Own,
            Code::Kernel => status.setting.kernel.own.is_some() || self.editor.check.is_some(),
        };
        match code {
            Code::Round if runs => self.run_round(),
            Code::Kernel if runs => self.check_kernel(),
            Code::Round | Code::Kernel => {}
        }
    }
}

/// Tells of changes of a file by other programs, as long as it lives.
pub(crate) struct FileWatch {
    changed: Arc<AtomicBool>,
    _watcher: RecommendedWatcher,
}

impl FileWatch {
    /// Of a file, whose folder is watched: many programs replace a file by another one.
    pub(crate) fn new(path: &Path, wake: Wake) -> notify::Result<FileWatch> {
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
            _watcher: watcher,
        })
    }

    /// Whether the file has changed since this was asked last.
    pub(crate) fn take_change(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
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
            assert!(watch.take_change() && !watch.take_change());
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
