//! Sessions that go on from a file and are saved in it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::state::Notice;
use crate::{Command, SavedSession, Session};
use engine::Result;
use lang::tr;
use life::shown;
use model::Setup;

/// How long saving waits for the lattices: the launch before them may be a long one.
const SAVE_TIMEOUT: Duration = Duration::from_secs(20);

/// The file that a session is saved in.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// Where the session is saved, if anywhere.
    pub path: Option<PathBuf>,
    /// What the session goes on from; `None` for a new one.
    pub from: Option<SavedSession>,
}

impl Session {
    /// As [`Session::start`], and goes on from a saved session, if there is one.
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

    /// Asks for everything that the session can go on from, as it is between two rounds. The answer
    /// comes soon; the channel closes without one where a saved session was never restored.
    pub fn saved(&self) -> Receiver<SavedSession> {
        saved(&self.commands)
    }

    /// Saves the session in its file, if it has one, and waits until that is done.
    ///
    /// # Errors
    /// A sentence that says why it was not saved.
    pub fn save_to_its_file(&self) -> Result<(), String> {
        self.saver().map_or(Ok(()), |saver| saver.save())
    }

    /// Saves the session from any thread; `None` if it has no file.
    pub fn saver(&self) -> Option<Saver> {
        Some(Saver {
            commands: self.commands.clone(),
            path: self.file.clone()?,
        })
    }

    /// Saves the session in the background, with a notice once that is done.
    pub(super) fn save_soon(&self) {
        let commands = self.commands.clone();
        let Some(saver) = self.saver() else {
            let sentence = tr!("start with --session FILE to save the session there");
            let _ = commands.send(Command::Notify(Notice::Refused(sentence.into())));
            return;
        };
        let write = move || {
            let notice = match saver.save() {
                Ok(()) => Notice::Done(tr!("the session is saved in {}", shown(&saver.path))),
                Err(why) => Notice::Warning(why),
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
    /// Saves the session and waits until that is done.
    ///
    /// # Errors
    /// A sentence that says why it was not saved.
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
    let _ = commands.send(Command::Save(answer)); // where nobody answers, nothing comes
    saved
}
