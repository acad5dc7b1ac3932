//! Which callouts the window still shows, kept in a small file: each one until what it points at was
//! used or it was closed, all until they are dismissed, and only in a machine's first runs.
//!
//! The file has a line for each thing that happened and is only ever appended to, so that two
//! windows do not undo each other's lines. A file that cannot be written makes callouts come again,
//! and is no error.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use life::{ReadError, read_regular_file};
use model::Action;
use ui::Callout;

/// How many runs show callouts.
const MAX_RUNS: usize = 5;
/// The line of a run that showed some.
const RUN: &str = "run";
/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 16;
const HEADER: &str =
    "# The hints of first runs that are done; without this file they come again.\n";

/// The callouts that are shown.
#[derive(Debug, Default)]
pub(super) struct Callouts {
    shown: Vec<Callout>,
    /// Whether the file knows of this run.
    counted: bool,
    path: Option<PathBuf>,
}

fn name(callout: Callout) -> &'static str {
    match callout {
        Callout::Streams => "streams",
        Callout::Timeline => "timeline",
        Callout::Lessons => "lessons",
    }
}

/// What a file leaves to be shown.
fn left(text: &str) -> Vec<Callout> {
    let lines = || text.lines().map(str::trim);
    if lines().filter(|line| *line == RUN).count() >= MAX_RUNS {
        return Vec::new();
    }
    let is_left = |callout: &Callout| lines().all(|line| line != name(*callout));
    Callout::ALL.into_iter().filter(is_left).collect()
}

impl Callouts {
    /// Loads the callouts that are not done yet; none without a path or with an unreadable file.
    pub(super) fn load(path: Option<&Path>) -> Callouts {
        let Some(path) = path else {
            return Callouts::default();
        };
        let shown = match read_regular_file(path, MAX_BYTES) {
            Ok(bytes) => left(&String::from_utf8_lossy(&bytes)),
            Err(ReadError::Empty) => left(""),
            Err(ReadError::Io(error)) if error.kind() == ErrorKind::NotFound => left(""),
            Err(_) => Vec::new(),
        };
        Callouts {
            shown,
            counted: false,
            path: Some(path.to_owned()),
        }
    }

    /// The callouts to show.
    pub(super) fn shown(&self) -> &[Callout] {
        &self.shown
    }

    /// A frame has shown them: the run counts.
    pub(super) fn count_run(&mut self) {
        if !self.counted && !self.shown.is_empty() {
            self.counted = true;
            self.append(&[RUN]);
        }
    }

    /// An action was carried out: what points at it is done.
    pub(super) fn done_by(&mut self, action: Action) {
        self.remove(|callout| callout.is_done_by(action));
    }

    /// One was closed: it is done.
    pub(super) fn close(&mut self, closed: Callout) {
        self.remove(|callout| *callout == closed);
    }

    /// All are done.
    pub(super) fn dismiss(&mut self) {
        self.remove(|_| true);
    }

    fn remove(&mut self, is_done: impl Fn(&Callout) -> bool) {
        let all = std::mem::take(&mut self.shown).into_iter();
        let (done, left): (Vec<Callout>, Vec<Callout>) = all.partition(is_done);
        self.shown = left;
        if !done.is_empty() {
            tracing::debug!("callouts left: {:?}", self.shown);
            self.append(&done.into_iter().map(name).collect::<Vec<_>>());
        }
    }

    /// A few bytes that nobody waits to have on the disk: the event loop can write them.
    fn append(&self, lines: &[&str]) {
        let Some(path) = &self.path else { return };
        let write = || {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let header = if path.exists() { "" } else { HEADER };
            let mut file = OpenOptions::new().append(true).create(true).open(path)?;
            file.write_all(format!("{header}{}\n", lines.join("\n")).as_bytes())
        };
        if let Err(error) = write() {
            tracing::debug!("the callouts' file cannot be written: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{SessionAction, Switch, ViewAction};

    fn loaded(path: &Path) -> Callouts {
        Callouts::load(Some(path))
    }

    #[test]
    fn each_comes_until_its_action_was_used_in_whatever_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not/there/yet.txt");
        let mut first = loaded(&path);
        assert_eq!(first.shown(), Callout::ALL);
        first.done_by(ViewAction::ToggleTimeline.into());
        first.done_by(SessionAction::TogglePause.into());
        assert_eq!(first.shown(), [Callout::Streams, Callout::Lessons]);
        let mut second = loaded(&path);
        assert_eq!(second.shown(), first.shown());
        second.done_by(SessionAction::SetSwitch(Switch::Streams, 1).into());
        assert_eq!(loaded(&path).shown(), [Callout::Lessons]);
    }

    #[test]
    fn one_that_is_closed_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("callouts");
        let mut run = loaded(&path);
        run.close(Callout::Timeline);
        assert_eq!(run.shown(), [Callout::Streams, Callout::Lessons]);
        assert_eq!(loaded(&path).shown(), run.shown());
    }

    #[test]
    fn what_was_dismissed_or_shown_often_stays_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("callouts");
        for _ in 0..MAX_RUNS {
            let mut run = loaded(&path);
            assert_eq!(run.shown(), Callout::ALL);
            for _ in 0..3 {
                run.count_run();
            }
        }
        assert_eq!(loaded(&path).shown(), []);
        fs::remove_file(&path).unwrap();
        let mut run = loaded(&path);
        run.dismiss();
        assert_eq!((run.shown(), loaded(&path).shown()), (&[][..], &[][..]));
    }

    #[test]
    fn a_file_that_cannot_be_written_or_read_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let mut run = loaded(&folder.path().join("file/below"));
        run.count_run();
        run.dismiss();
        assert_eq!(run.shown(), []);
        assert_eq!(loaded(folder.path()).shown(), [], "a folder");
        assert_eq!(Callouts::load(None).shown(), []);
    }
}
