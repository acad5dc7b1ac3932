//! Sessions that go on from a file and are kept in it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::{Command, SavedSession, Session};
use engine::Result;
use lang::tr;
use life::shown;
use model::Setup;

/// How long the end of the program waits for the last lattices: a launch may take long.
const PATIENCE: Duration = Duration::from_secs(20);

/// The file that a session is kept in.
#[derive(Clone, Debug, Default)]
pub struct SessionFile {
    /// Where it is saved, if anywhere.
    pub path: Option<PathBuf>,
    /// What it goes on from, if it does.
    pub from: Option<SavedSession>,
}

impl Session {
    /// As [`Session::start`], and goes on from what was kept, if anything was.
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

    /// Asks for everything that the session can go on from, as it is between two rounds; it comes
    /// soon, or never where the engine is lost meanwhile.
    pub fn saved(&self) -> Receiver<SavedSession> {
        saved(&self.commands)
    }

    /// Saves it to its file, if it has one, and waits for it: the last thing that is done.
    ///
    /// # Errors
    /// A sentence.
    pub fn save_to_its_file(&self) -> Result<(), String> {
        self.saver().map_or(Ok(()), |saver| saver.save())
    }

    /// What saves it to its file from any thread, if it has a file.
    pub fn saver(&self) -> Option<Saver> {
        Some(Saver {
            commands: self.commands.clone(),
            path: self.file.clone()?,
        })
    }

    /// Saves it to its file meanwhile, and says so.
    pub(super) fn save_soon(&self) {
        let commands = self.commands.clone();
        let Some(saver) = self.saver() else {
            let sentence = tr!("start with --session FILE to save the session there");
            let _ = commands.send(Command::Say(sentence.into()));
            return;
        };
        let write = move || {
            let said = match saver.save() {
                Ok(()) => Command::Tell(tr!("the session is saved in {}", shown(&saver.path))),
                Err(why) => Command::Say(why),
            };
            // Nobody is left to be told only when the session has ended.
            let _ = commands.send(said);
        };
        let _ = std::thread::Builder::new().name("keep".into()).spawn(write);
    }
}

/// Saves a session to its file, also where whoever shows it is stuck, as long as the session runs.
#[derive(Clone)]
pub struct Saver {
    commands: Sender<Command>,
    path: PathBuf,
}

impl Saver {
    /// Saves it and waits for it.
    ///
    /// # Errors
    /// A sentence.
    pub fn save(&self) -> Result<(), String> {
        let failed = |why: &str| {
            tr!(
                "the session is not saved in {}: {why}",
                shown(&self.path),
                why = why
            )
        };
        let saved = saved(&self.commands).recv_timeout(PATIENCE);
        let saved = saved.map_err(|why| match why {
            RecvTimeoutError::Timeout => failed(tr!("the launch under way does not end")),
            RecvTimeoutError::Disconnected => failed(tr!(
                "what it was to go on from was never taken up, and is left as it is"
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
