//! How a turn of the loop sleeps: in the engine, for commands, or not at all.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::{Pilot, STATUS_EVERY};
use crate::Command;

/// A core that sleeps between two rounds forgets what the driver needs for the next, whose calls
/// then take half as long again: on an H200's host a round of 64 calls at 60 rounds a second took
/// 280 µs, 200 with the core awake. So one of at least so many stays awake for a wait so long.
const AWAKE_FROM_CORES: usize = 8;
const AWAKE_FOR: Duration = Duration::from_millis(40);

/// How a turn sleeps.
enum Rest {
    Engine(Duration),
    Commands(Duration),
    /// Not at all: until a command comes, or the time.
    Awake(Instant),
}

/// Nobody is left who could ask for anything.
pub(super) struct Gone;

/// The next command, if one comes before the time. The thread keeps its core all the while.
fn hear_awake(commands: &Receiver<Command>, until: Instant) -> Result<Option<Command>, Gone> {
    loop {
        match commands.try_recv() {
            Ok(command) => return Ok(Some(command)),
            Err(TryRecvError::Disconnected) => return Err(Gone),
            Err(TryRecvError::Empty) if Instant::now() >= until => return Ok(None),
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
}

/// Whether there are cores enough for one to stay awake.
fn stays_awake() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    let count = || std::thread::available_parallelism().map_or(1, usize::from);
    *CORES.get_or_init(count) >= AWAKE_FROM_CORES
}

impl Pilot {
    /// Sleeps until something may have happened; the command that came, if one did.
    pub(super) fn next_command(
        &mut self,
        commands: &Receiver<Command>,
    ) -> Result<Option<Command>, Gone> {
        match self.rest(Instant::now()) {
            Rest::Engine(at_most) => {
                let command = commands.try_recv();
                if let (Err(_), Some(worlds)) = (&command, &mut self.worlds) {
                    worlds.wait(at_most);
                }
                match command {
                    Ok(command) => Ok(Some(command)),
                    Err(TryRecvError::Empty) => Ok(None),
                    Err(TryRecvError::Disconnected) => Err(Gone),
                }
            }
            Rest::Awake(until) => hear_awake(commands, until),
            Rest::Commands(at_most) => match commands.recv_timeout(at_most) {
                Ok(command) => Ok(Some(command)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(Gone),
            },
        }
    }

    /// How to sleep: in the engine while something is under way there, else for commands.
    fn rest(&self, now: Instant) -> Rest {
        const LONG: Duration = Duration::from_millis(500);
        let Some(worlds) = self.worlds.as_ref().filter(|_| self.failed.is_none()) else {
            return Rest::Commands(if self.changed { STATUS_EVERY } else { LONG });
        };
        if !worlds.is_idle() {
            return Rest::Engine(Duration::from_millis(1));
        }
        let until_due = match (
            self.running,
            self.refresh
                || !self.steps.is_empty()
                || !self.pending.is_empty()
                || self.editor.is_busy()
                || self.is_reading()
                || self.left_of_round.is_some()
                || self.run_to.is_some()
                || self.copies_soon()
                || (self.owed().is_some() && !self.running),
        ) {
            (_, true) => Duration::from_micros(200),
            (true, _) => {
                let until_due = self.due.saturating_duration_since(now);
                if until_due < AWAKE_FOR && worlds.engine().name() == "cuda" && stays_awake() {
                    let told = self.status_made + STATUS_EVERY;
                    return Rest::Awake(if self.changed {
                        self.due.min(told)
                    } else {
                        self.due
                    });
                }
                until_due
            }
            (false, false) => LONG,
        };
        Rest::Commands(if self.changed {
            until_due.min(STATUS_EVERY)
        } else {
            until_due
        })
    }
}
