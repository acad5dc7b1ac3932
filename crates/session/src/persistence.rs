//! Opening a session from a file and saving it there.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::state::Notice;
use crate::{Command, SavedSession, Session};
use engine::Result;
use lang::{message, tr};
use life::shown;
use model::Setup;

/// How long saving waits for the lattices: a long launch may come before their download.
const SAVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Where a session is saved, and what it continues.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// The file to save the session in, if any.
    pub path: Option<PathBuf>,
    /// The saved session to continue; `None` for a new session.
    pub from: Option<SavedSession>,
}

impl Session {
    /// Starts a session as [`Session::start`] does, and continues a saved session if there is one.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn start_from(
        setup: Setup,
        file: SessionFile,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Session> {
        let first = file.from.map(|saved| Command::Open(Box::new(saved)));
        let mut session = Session::start_with(setup, first, wake)?;
        session.file = file.path;
        Ok(session)
    }

    /// Requests the session in a form that can be saved, as of a moment between two rounds. The
    /// channel closes without an answer if the session was opened from a file that was never
    /// restored.
    pub fn saved(&self) -> Receiver<SavedSession> {
        saved(&self.commands)
    }

    /// Saves the session in its file, if it has one, and waits until the file is written.
    ///
    /// # Errors
    /// A sentence for the user that says why it was not saved.
    pub fn save_to_its_file(&self) -> Result<(), String> {
        self.saver().map_or(Ok(()), |saver| saver.save())
    }

    /// A handle that saves the session from any thread; `None` if the session has no file.
    pub fn saver(&self) -> Option<Saver> {
        Some(Saver {
            commands: self.commands.clone(),
            path: self.file.clone()?,
        })
    }

    /// Saves the session in the background and shows a notice when it is saved.
    pub(super) fn save_soon(&self) {
        let commands = self.commands.clone();
        let Some(saver) = self.saver() else {
            let sentence = message!("start with --session FILE to save the session there");
            let _ = commands.send(Command::Notify(Notice::Refused(sentence)));
            return;
        };
        let write = move || {
            let notice = match saver.save() {
                Ok(()) => Notice::Done(message!("the session is saved in {}", shown(&saver.path))),
                Err(why) => Notice::Warning(why.into()),
            };
            let _ = commands.send(Command::Notify(notice)); // the session may have ended
        };
        let _ = std::thread::Builder::new().name("save".into()).spawn(write);
    }
}

/// Saves a session in its file while the session runs, even if its window hangs.
#[derive(Clone)]
pub struct Saver {
    commands: Sender<Command>,
    path: PathBuf,
}

impl Saver {
    /// Saves the session and waits until the file is written.
    ///
    /// # Errors
    /// A sentence for the user that says why it was not saved.
    pub fn save(&self) -> Result<(), String> {
        let failed = |why: &str| {
            tr!(
                "the session was not saved in {}: {why}",
                shown(&self.path),
                why = why
            )
        };
        let saved = saved(&self.commands).recv_timeout(SAVE_TIMEOUT);
        let saved = saved.map_err(|why| match why {
            RecvTimeoutError::Timeout => failed(&tr!(
                "the device did not finish its work within {} s",
                SAVE_TIMEOUT.as_secs()
            )),
            RecvTimeoutError::Disconnected => failed(tr!(
                "the session in the file was never restored; the file was not changed"
            )),
        })?;
        saved.save(&self.path).map_err(|error| error.to_string())
    }
}

fn saved(commands: &Sender<Command>) -> Receiver<SavedSession> {
    let (answer, saved) = channel();
    let _ = commands.send(Command::Save(answer)); // if the thread has ended, the channel closes
    saved
}
