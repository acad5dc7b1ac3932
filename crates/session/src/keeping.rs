//! Sessions that go on from a file and are kept in it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::{Command, Kept, Session};
use engine::Result;
use lang::tr;
use model::Setup;

/// How long the end of the program waits for the last lattices: a launch may take long.
const PATIENCE: Duration = Duration::from_secs(20);

/// The file that a session is kept in.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// Where it is saved, if anywhere.
    pub path: Option<PathBuf>,
    /// What it goes on from, if it does.
    pub from: Option<Kept>,
}

impl Session {
    /// As [`Session::start`], and goes on from what was kept, if anything was.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn start_from(
        setup: Setup,
        keep: Keep,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Session> {
        let first = keep.from.map(|kept| Command::Restore(Box::new(kept)));
        let mut session = Session::start_with(setup, first, wake)?;
        session.kept_in = keep.path;
        Ok(session)
    }

    /// Asks for everything that the session can go on from, as it is between two rounds; it comes
    /// soon, or never where the engine is lost meanwhile.
    pub fn kept(&self) -> Receiver<Kept> {
        let (answer, kept) = channel();
        let _ = self.commands.send(Command::Keep(answer));
        kept
    }

    /// Saves it to its file, if it has one, and waits for it: the last thing that is done.
    ///
    /// # Errors
    /// A sentence.
    pub fn save_to_its_file(&self) -> Result<(), String> {
        match &self.kept_in {
            Some(path) => save(self.kept(), path),
            None => Ok(()),
        }
    }

    /// Saves it to its file meanwhile, and says so.
    pub(super) fn save_soon(&self) {
        let commands = self.commands.clone();
        let Some(path) = self.kept_in.clone() else {
            let sentence = tr!("start with --session FILE to save the session there");
            let _ = commands.send(Command::Say(sentence.into()));
            return;
        };
        let kept = self.kept();
        let write = move || {
            let said = match save(kept, &path) {
                Ok(()) => Command::Tell(tr!("the session is saved in {}", path.display())),
                Err(why) => Command::Say(why),
            };
            // Nobody is left to be told only when the session has ended.
            let _ = commands.send(said);
        };
        let _ = std::thread::Builder::new().name("keep".into()).spawn(write);
    }
}

fn save(kept: Receiver<Kept>, path: &Path) -> Result<(), String> {
    let failed = |why: &str| {
        tr!(
            "the session is not saved in {}: {why}",
            path.display(),
            why = why
        )
    };
    let kept = kept.recv_timeout(PATIENCE).map_err(|why| match why {
        RecvTimeoutError::Timeout => failed(tr!("the launch under way does not end")),
        RecvTimeoutError::Disconnected => failed(tr!(
            "what it was to go on from was never taken up, and is left as it is"
        )),
    })?;
    kept.save(path).map_err(|error| error.to_string())
}
