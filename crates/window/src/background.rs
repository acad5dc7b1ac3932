//! Background tasks and their results: files read or written, recordings finished, desktop dialogs
//! answered. Results arrive on one channel. The window waits only for recordings, and only when it
//! closes.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::editing::PatternToSave;
use crate::handler::Handler;
use crate::resize::OversizedPattern;
use crate::view::{FileList, ViewError};
use lang::tr;
use life::{Lattice, Rule};
use session::SavedSession;
use ui::Wake;

/// The result of a background task.
pub(crate) enum BackgroundResult {
    /// The user cancelled.
    Nothing,
    /// Something to be said.
    Notice(String),
    /// A recording's file is whole, or why not; and the error that is the program's failure too, if
    /// `--record` asked for the recording.
    RecordingEnded(String, Option<ViewError>),
    /// A pattern that was read for a panel, as a whole lattice; its rule, if it has one, and what is
    /// to be said of it.
    Opened(usize, Arc<Lattice>, Option<Rule>, Vec<String>),
    /// A session that was read, and the name of its file.
    OpenedSession(Box<SavedSession>, String),
    /// A pattern that is larger than the panel's lattice, and what is to be said of it.
    TooLarge(usize, OversizedPattern, String),
    /// Such a pattern in the middle of a larger lattice, and for which instance.
    Centred(usize, Arc<Lattice>),
    /// A pattern to be placed, its rule, and what is to be said of how it was read, if anything.
    Ghost(Lattice, Option<Rule>, Vec<String>),
    /// Text for the clipboard, and what is to be said of it.
    Copied(String, String),
    /// A file was chosen: to save the pattern to, or, without one, to open.
    Chosen(String, Option<PatternToSave>),
    /// The desktop has no dialog for files: one of these is opened, or a path is typed.
    ListedFiles(FileList),
    /// The desktop has no dialog for files: a path is typed to save to.
    NoFileDialog(PatternToSave),
    /// A file could not be opened, and why.
    NotOpened(String),
    /// A file was saved, and what is to be said of it.
    Saved(String),
    /// It could not be saved; it is kept for another try.
    NotSaved(PatternToSave, String),
}

/// Starts background work and takes in its results.
pub(super) struct Background {
    sender: Sender<BackgroundResult>,
    receiver: Receiver<BackgroundResult>,
    wake: Wake,
    /// The threads whose files must be whole before the program ends.
    awaited: Vec<JoinHandle<()>>,
}

impl Background {
    /// `wake` tells the event loop of a result.
    pub(super) fn new(wake: Wake) -> Background {
        let (sender, receiver) = channel();
        Background {
            sender,
            receiver,
            wake,
            awaited: Vec::new(),
        }
    }

    /// Starts work on a thread of its own; why not, if there is none.
    fn start(
        &self,
        work: impl FnOnce() -> BackgroundResult + Send + 'static,
    ) -> Result<JoinHandle<()>, String> {
        let (sender, wake) = (self.sender.clone(), self.wake.clone());
        let body = move || {
            // Nobody is left to be told only when the window has gone.
            let _ = sender.send(work());
            wake();
        };
        let thread = std::thread::Builder::new().name("background".into());
        let started = thread.spawn(body);
        started.map_err(|error| tr!("cannot start a thread: {error}", error = error))
    }

    /// Starts work that [`Background::finish`] waits for.
    pub(super) fn start_awaited(
        &mut self,
        work: impl FnOnce() -> BackgroundResult + Send + 'static,
    ) -> Result<(), String> {
        self.awaited.retain(|thread| !thread.is_finished());
        self.awaited.push(self.start(work)?);
        Ok(())
    }

    /// Waits for the work that the program must not end without; the first failure among its results
    /// that nobody has taken in yet.
    pub(super) fn finish(&mut self) -> Option<ViewError> {
        for thread in self.awaited.drain(..) {
            let _ = thread.join(); // one that panicked has said so, and has no result
        }
        self.receiver.try_iter().find_map(|result| match result {
            BackgroundResult::RecordingEnded(_, failure) => failure,
            _ => None,
        })
    }
}

impl Handler {
    /// Does something on a thread of its own.
    pub(super) fn run_in_background(
        &mut self,
        work: impl FnOnce() -> BackgroundResult + Send + 'static,
    ) {
        if let Err(why) = self.background.start(work) {
            self.show_notice(why);
        }
    }

    /// Handles the results of background work.
    pub(super) fn take_background_results(&mut self) {
        while let Ok(result) = self.background.receiver.try_recv() {
            self.take_background_result(result);
            self.pacer.request_frame(Instant::now());
        }
    }

    fn take_background_result(&mut self, result: BackgroundResult) {
        match result {
            BackgroundResult::Nothing => {}
            BackgroundResult::Notice(what) => self.show_notice(what),
            BackgroundResult::RecordingEnded(what, failure) => {
                if let Some(error) = failure {
                    self.failed.get_or_insert(error.into());
                }
                self.show_notice(what);
            }
            BackgroundResult::Opened(instance, lattice, rule, mut what) => {
                self.dialogs.close_pending_file();
                self.place_whole(instance, lattice);
                what.extend(self.offer_rule(rule));
                self.show_notice(what.join("; "));
            }
            BackgroundResult::OpenedSession(saved, name) => {
                self.dialogs.close_pending_file();
                self.open_session(*saved, name);
            }
            BackgroundResult::TooLarge(instance, pattern, why) => {
                self.dialogs.close_pending_file();
                self.offer_resize(instance, pattern, why);
            }
            BackgroundResult::Centred(instance, lattice) => self.grow(instance, lattice),
            BackgroundResult::Ghost(pattern, rule, remarks) => {
                self.begin_paste(pattern, rule, remarks);
            }
            BackgroundResult::Copied(text, what) => {
                self.set_clipboard(text);
                self.show_notice(what);
            }
            BackgroundResult::Chosen(path, None) => self.open_path(&path),
            BackgroundResult::Chosen(path, Some(saving)) => self.save_to(path, saving),
            BackgroundResult::ListedFiles(list) => self.ask_which_to_open(list),
            BackgroundResult::NoFileDialog(saving) => self.ask_where_to_save(saving),
            BackgroundResult::NotOpened(why) => self.not_opened(why),
            BackgroundResult::Saved(what) => {
                self.dialogs.close_pending_file();
                self.show_notice(what);
            }
            BackgroundResult::NotSaved(saving, why) => self.not_saved(saving, why),
        }
    }
}
