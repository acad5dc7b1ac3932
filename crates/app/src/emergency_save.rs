//! Saves the session and recordings when the UI thread cannot: while it is blocked in Xlib, or in a
//! write to a terminal that takes nothing.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lang::tr;
use session::Saver;

/// How long the end of the program waits for a recording to be whole.
const RECORDING_TIMEOUT: Duration = Duration::from_secs(20);

/// A file that another thread is still writing, such as a recording.
pub trait PendingFile: Send + Sync {
    /// Whether writing has ended, successfully or not.
    fn is_over(&self) -> bool;
    /// Accepts no more data and waits until the file is complete, at most `limit`. Returns whether
    /// writing ended in time.
    fn finish(&self, limit: Duration) -> bool;
}

/// The session and the recordings that would be lost now.
#[derive(Default)]
pub struct EmergencySave(Mutex<PendingSaves>);

#[derive(Default)]
struct PendingSaves {
    session: Option<Saver>,
    recordings: Vec<Box<dyn PendingFile>>,
}

/// What came of saving everything.
#[derive(Default)]
pub struct EmergencySaved {
    /// The file of the session; `None` if it has none, or was not saved.
    pub session: Option<PathBuf>,
    /// A sentence for each failure.
    pub unsaved: Vec<String>,
}

impl EmergencySave {
    /// Sets the session that is saved from now on; `None` if it has no file.
    pub fn set_saver(&self, saver: Option<Saver>) {
        self.lock().session = saver;
    }

    /// Adds a recording to complete before the process ends.
    pub fn add_recording(&self, file: Box<dyn PendingFile>) {
        let recordings = &mut self.lock().recordings;
        recordings.retain(|recording| !recording.is_over());
        recordings.push(file);
    }

    /// Forgets the session and the recordings, once they have been saved normally.
    pub fn forget(&self) {
        *self.lock() = PendingSaves::default();
    }

    /// Saves everything and waits for it, on any thread.
    pub fn save(&self) -> EmergencySaved {
        // Held throughout: whoever else comes here to end the process waits until all is saved.
        let mut lost = self.lock();
        let PendingSaves {
            session,
            recordings,
        } = std::mem::take(&mut *lost);
        let mut saved = EmergencySaved::default();
        // Each has its time; the recordings get theirs while the session is written.
        std::thread::scope(|scope| {
            let all = scope.spawn(|| recordings.iter().all(|file| file.finish(RECORDING_TIMEOUT)));
            match session.map(Saver::save_and_leave).transpose() {
                Ok(path) => saved.session = path.flatten(),
                Err(why) => saved.unsaved.push(why.to_string()),
            }
            if !all.join().unwrap_or(false) {
                let why = tr!("A recording is incomplete: writing it took too long");
                saved.unsaved.push(why.into());
            }
        });
        saved
    }

    fn lock(&self) -> MutexGuard<'_, PendingSaves> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
