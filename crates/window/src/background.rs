//! Background tasks and their results: files read or written, recordings finished, desktop dialogs
//! answered. Results arrive on one channel. The window waits only for recordings, and only when it
//! closes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::editing::PatternToSave;
use crate::view::{FileList, ViewError};
use lang::tr;
use life::{Lattice, Rule};
use session::SavedSession;
use ui::Wake;
use ui::code_editor::{Code, KernelFindings, RoundFindings};

/// The result of a background task.
pub(crate) enum BackgroundResult {
    /// The user cancelled.
    Nothing,
    /// Something to be said.
    Notice(String),
    /// A recording's file is whole, or why not; and the error that is the program's failure too, if
    /// `--record` asked for the recording.
    RecordingEnded(String, Option<ViewError>),
    /// A pattern that was read for a panel, as a whole lattice; its generation, its rule, if it has one,
    /// and what is to be said of it.
    Opened(usize, Arc<Lattice>, u64, Option<Rule>, Vec<String>),
    /// A text in the editor that was checked, and what was found.
    CheckedRound(Arc<str>, Box<RoundFindings>),
    /// A kernel in the editor that was checked, and what was found unless that was cancelled.
    CheckedKernel(Arc<str>, Option<Box<KernelFindings>>),
    /// The file of a round or a kernel, which is opened in the editor.
    OpenedCode(Code, PathBuf, Arc<str>),
    /// What a file of the editor has now, or why that is not known.
    ReadCode(Code, PathBuf, Result<Arc<str>, String>),
    /// A text that was saved to a file from the editor.
    SavedCode(Code, PathBuf, Arc<str>),
    /// A session that was read, and the name of its file.
    OpenedSession(Box<SavedSession>, String),
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

/// Starts background work, and has its results.
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

    /// Tells the event loop that something has changed.
    pub(super) fn wake(&self) -> Wake {
        self.wake.clone()
    }

    /// Starts work on a thread of its own. `failed` makes its result of why there is none: the work
    /// panicked, or no thread could be started.
    pub(super) fn start(
        &self,
        work: impl FnOnce() -> BackgroundResult + Send + 'static,
        failed: impl FnOnce(String) -> BackgroundResult + Clone + Send + 'static,
    ) -> Option<JoinHandle<()>> {
        let (sender, wake, panicked) = (self.sender.clone(), self.wake.clone(), failed.clone());
        let body = move || {
            let result = platform::catch_panic(work);
            let result = result.unwrap_or_else(|why| panicked(tr!("internal: {it}", it = why)));
            // Nobody is left to be told only when the window has gone.
            let _ = sender.send(result);
            wake();
        };
        let thread = std::thread::Builder::new().name("background".into());
        let not_started = |error| {
            let _ = self
                .sender
                .send(failed(tr!("cannot start a thread: {error}")));
            (self.wake)();
        };
        thread.spawn(body).map_err(not_started).ok()
    }

    /// Starts work that [`Background::finish`] waits for.
    pub(super) fn start_awaited(
        &mut self,
        work: impl FnOnce() -> BackgroundResult + Send + 'static,
        failed: impl FnOnce(String) -> BackgroundResult + Clone + Send + 'static,
    ) {
        self.awaited.retain(|thread| !thread.is_finished());
        self.awaited.extend(self.start(work, failed));
    }

    /// The next result, if one has come.
    pub(super) fn next(&self) -> Option<BackgroundResult> {
        self.receiver.try_recv().ok()
    }

    /// Waits for the work that the program must not end without; the first failure among its results
    /// that nobody has taken in yet.
    pub(super) fn finish(&mut self) -> Option<ViewError> {
        for thread in self.awaited.drain(..) {
            let _ = thread.join(); // its result says if it panicked
        }
        self.receiver.try_iter().find_map(|result| match result {
            BackgroundResult::RecordingEnded(_, failure) => failure,
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_has_a_result() {
        let background = Background::new(Arc::new(|| {}));
        let work = || panic!("as the test wants");
        let thread = background.start(work, BackgroundResult::NotOpened);
        thread.unwrap().join().unwrap();
        let result = background.next();
        assert!(
            matches!(result, Some(BackgroundResult::NotOpened(why)) if why == "internal: as the test wants")
        );
    }
}
