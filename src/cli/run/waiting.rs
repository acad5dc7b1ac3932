//! What a run waits for: a line on stderr says so when the device takes long, and Ctrl+C ends it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::text::{say, write_over};
use lang::tr;
use session::time_left;
use ui::exit_interrupted;

/// How long a device may take for something before a line says so.
const NOTICE_DELAY: Duration = Duration::from_secs(20);

/// Signals so soon after the first mean the same: `timeout` sends one to the process and one to its
/// group.
const NOT_AGAIN: Duration = Duration::from_millis(500);

/// What the device is to finish, and since when.
#[derive(Clone)]
pub(super) struct Waiting(Arc<Mutex<State>>);

struct State {
    what: &'static str,
    since: Instant,
    is_said: bool,
    /// Whether there is something to lose.
    is_stepping: bool,
    /// When Ctrl+C came first.
    interrupted: Option<Instant>,
}

impl Waiting {
    /// Begins to watch how long the device takes. Until [`step`](Self::step), Ctrl+C ends the run at
    /// once.
    pub(super) fn start(what: &'static str) -> Waiting {
        let waiting = Waiting(Arc::new(Mutex::new(State {
            what,
            since: Instant::now(),
            is_said: false,
            is_stepping: false,
            interrupted: None,
        })));
        let watched = waiting.clone();
        let delay = platform::timeout(NOTICE_DELAY);
        let watch = move || loop {
            thread::sleep(delay / 20);
            watched.say_if_long(delay);
        };
        // Without a thread for it, nothing is said.
        let _ = thread::Builder::new().name("waiting".into()).spawn(watch);
        let signalled = waiting.clone();
        platform::on_signals(move || signalled.interrupt()).ok();
        waiting
    }

    /// Notes that the device has finished something, and what comes next.
    pub(super) fn next(&self, what: &'static str) {
        let mut state = self.state();
        (state.what, state.since, state.is_said) = (what, Instant::now(), false);
    }

    /// Has Ctrl+C end the run after the round in flight from now on. A second one does not wait for
    /// it.
    pub(super) fn step(&self) {
        self.state().is_stepping = true;
    }

    /// Whether Ctrl+C has come.
    pub(super) fn is_interrupted(&self) -> bool {
        self.state().interrupted.is_some()
    }

    fn interrupt(&self) {
        let mut state = self.state();
        if !state.is_stepping {
            exit_interrupted(state.what);
        }
        match state.interrupted {
            Some(first) if first.elapsed() >= NOT_AGAIN => exit_interrupted(state.what),
            Some(_) => {}
            None => {
                state.interrupted = Some(Instant::now());
                state.is_said = false; // what to do now is something else
            }
        }
    }

    fn say_if_long(&self, delay: Duration) {
        let mut state = self.state();
        let took = state.since.elapsed();
        if state.is_said || took < delay {
            return;
        }
        state.is_said = true;
        if terminal::takes_escape_codes(&std::io::stderr()) {
            write_over(""); // how far the run is
        }
        let (what, took) = (state.what, time_left(took.as_secs_f64()));
        say(&match (state.is_stepping, state.interrupted) {
            (false, _) => {
                tr!("the device has not finished {what} for {took}; press Ctrl+C to end the run")
            }
            (true, None) => tr!(
                "the device has not finished {what} for {took}; press Ctrl+C twice to end the run at once"
            ),
            (true, Some(_)) => tr!(
                "the device has not finished {what} for {took}; press Ctrl+C again to end the run at once"
            ),
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
