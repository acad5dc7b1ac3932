//! Saves the session and recordings when the UI thread cannot: while it is blocked in Xlib, or in a
//! write to a terminal that takes nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use lang::{single_line, tr};
use life::PendingFile;
use session::{NotSaved, Saver, Session};

/// How long the end of the program waits for a recording to be whole.
const RECORDING_TIMEOUT: Duration = Duration::from_secs(20);

/// How long the UI thread may take to end after everything is saved. Past this time twice, it is
/// blocked.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a terminal may take to show the last sentences.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(1);

/// The exit code of a program that Ctrl+C ends, as shells say it: 128 and the number of `SIGINT`.
pub const INTERRUPTED: i32 = 130;

/// The session and the recordings that would be lost now.
#[derive(Default)]
pub struct EmergencySave {
    session: Mutex<Option<Saver>>,
    /// Whether there is a session.
    has_started: AtomicBool,
    recordings: Mutex<Vec<Arc<dyn PendingFile>>>,
}

/// What came of saving everything.
pub struct EmergencySaved {
    /// The file of the session, `None` if it has none; or why it is not saved there.
    session: Result<Option<PathBuf>, NotSaved>,
    /// A sentence for each recording that is lost.
    lost: Vec<String>,
}

/// Held while the UI runs; see [`EmergencySave::end_on_signal`].
pub struct UiRunning(#[expect(dead_code, reason = "its drop closes the channel")] Sender<()>);

impl EmergencySave {
    /// Sets the session that is saved from now on; `None` if it has no file. Until then, signals end the
    /// process at once.
    pub fn set_saver(&self, saver: Option<Saver>) {
        *lock(&self.session) = saver;
        self.has_started.store(true, Ordering::Release);
    }

    /// Adds a recording to complete before the process ends.
    pub fn add_recording(&self, file: Arc<dyn PendingFile>) {
        let mut recordings = lock(&self.recordings);
        recordings.retain(|recording| !recording.is_over());
        recordings.push(file);
    }

    /// Saves a session in its file, if it has one, as at every end of the program, and says where. A
    /// signal that comes meanwhile waits for it.
    ///
    /// # Errors
    /// It is not saved in its file.
    pub fn save_at_end(&self, session: Session) -> Result<(), NotSaved> {
        let mut saver = lock(&self.session);
        *saver = None;
        let saved = session.save_to_its_file();
        drop((session, saver));
        if let Some(path) = saved? {
            say_last(vec![saved_in(&path)]);
        }
        Ok(())
    }

    /// Saves everything and waits for it, on any thread.
    pub fn save(&self) -> EmergencySaved {
        // The recordings get their time while the session is written. Both stay locked until then:
        // whoever else comes here to end the process waits.
        std::thread::scope(|scope| {
            let finish = || finish(&mut lock(&self.recordings));
            let recordings = Builder::new().spawn_scoped(scope, finish);
            let saver = lock(&self.session);
            let session = saver.as_ref().map_or(Ok(None), Saver::save);
            drop(saver);
            let lost = recordings.map_or_else(|_| finish(), |it| it.join().unwrap_or_default());
            EmergencySaved { session, lost }
        })
    }

    /// Leaves the session's file to other processes, before this one ends.
    pub fn leave_file(&self) {
        if let Some(saver) = lock(&self.session).take() {
            saver.leave();
        }
    }

    /// Makes the first signal save everything at once, on a thread of its own, and ask the UI thread
    /// to end with `request_exit`; later signals change nothing. If the UI thread is blocked, so that
    /// the returned value is not dropped in time, the process ends after `before_exit`.
    pub fn end_on_signal(
        self: &Arc<Self>,
        request_exit: impl Fn() + Send + 'static,
        before_exit: fn(),
    ) -> UiRunning {
        let (running, ended) = channel();
        let emergency_save = self.clone();
        let mut is_first = true;
        let handled = platform::on_signals(move || {
            if !std::mem::take(&mut is_first) {
                return;
            }
            if ended.try_recv() == Err(TryRecvError::Disconnected) {
                return; // this front end has ended, and another one saves
            }
            if !emergency_save.has_started.load(Ordering::Acquire) {
                before_exit();
                exit_interrupted(tr!("its start"));
            }
            request_exit();
            let saved = emergency_save.save();
            let ends = || ended.recv_timeout(EXIT_TIMEOUT) == Err(RecvTimeoutError::Disconnected);
            // A session that could not be saved now is not tried again.
            if saved.session.is_ok() && ends() {
                return;
            }
            let session = lock(&emergency_save.session); // the UI thread may be saving it
            if ends() {
                return;
            }
            session.iter().for_each(Saver::leave);
            before_exit();
            say_last(saved.sentences());
            platform::exit_at_once(saved.exit_code())
        });
        if let Err(error) = handled {
            tracing::warn!("signals end the program without saving: {error}");
        }
        UiRunning(running)
    }
}

impl EmergencySaved {
    /// What to tell the user: where the session is saved, and what is lost.
    pub fn sentences(&self) -> Vec<String> {
        let session = match &self.session {
            Ok(path) => path.as_deref().map(saved_in),
            Err(why) => Some(why.to_string()),
        };
        session.into_iter().chain(self.lost.clone()).collect()
    }

    /// 2 if the session is not saved in its file, 3 if the machine lacked something for that or a
    /// recording is lost, else 0.
    fn exit_code(&self) -> i32 {
        match &self.session {
            Err(why) if !why.machine_lacks => 2,
            Ok(_) if self.lost.is_empty() => 0,
            _ => 3,
        }
    }
}

fn saved_in(path: &Path) -> String {
    tr!("the session is saved in {}", path.display())
}

/// Completes recordings one after another, all within their time; a sentence for each that is lost.
fn finish(recordings: &mut Vec<Arc<dyn PendingFile>>) -> Vec<String> {
    let until = Instant::now() + platform::timeout(RECORDING_TIMEOUT);
    let left = || until.saturating_duration_since(Instant::now());
    let finish = |file: Arc<dyn PendingFile>| file.finish(left()).err();
    recordings.drain(..).filter_map(finish).collect()
}

/// Ends the process for a signal that came before the device had finished something.
pub fn exit_interrupted(what: &'static str) -> ! {
    say_last(vec![tr!("interrupted: the device had not finished {what}")]);
    platform::exit_at_once(INTERRUPTED)
}

/// Prints sentences on stderr, as the last thing before the process ends. A terminal that takes
/// nothing does not hold it up.
pub fn say_last(sentences: Vec<String>) {
    let (said, is_said) = channel();
    let line = |sentence| format!("lifestreams: {}\n", single_line(sentence));
    let lines: Arc<str> = sentences.into_iter().map(line).collect::<String>().into();
    let say = |lines: &str| {
        // Where stderr is closed there is nobody left to tell.
        let _ = std::io::stderr().write_all(lines.as_bytes());
    };
    let of_thread = lines.clone();
    let thread = Builder::new().spawn(move || {
        say(&of_thread);
        let _ = said.send(()); // nobody waits any more
    });
    if thread.is_err() {
        say(&lines);
    }
    let _ = is_said.recv_timeout(LAST_WORDS_TIMEOUT);
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
