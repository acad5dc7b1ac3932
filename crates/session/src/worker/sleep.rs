//! How a turn of the loop sleeps: in the engine, for commands, or not at all.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::{STATUS_INTERVAL, SessionWorker};
use crate::Command;

/// A core that sleeps between two rounds forgets what the driver needs for the next, whose calls
/// then take half as long again: on an H200's host a round of 64 calls at 60 rounds a second took
/// 280 µs, 200 with the core awake. So one of at least so many stays awake for a wait so long.
const MIN_CORES_TO_SPIN: usize = 8;
const MAX_SPIN: Duration = Duration::from_millis(40);

/// The longest sleep: notices go, and soups are filled anew, without anybody's asking.
const MAX_SLEEP: Duration = Duration::from_millis(500);

/// How long the engine is waited for at a time: commands come in between.
const ENGINE_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Nobody is left who could ask for anything.
pub(super) struct Gone;

/// The next command, if there is one already.
pub(super) fn poll_command(commands: &Receiver<Command>) -> Result<Option<Command>, Gone> {
    match commands.try_recv() {
        Ok(command) => Ok(Some(command)),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Disconnected) => Err(Gone),
    }
}

/// The next command, if one comes before the time. The thread keeps its core all the while.
fn spin(commands: &Receiver<Command>, until: Instant) -> Result<Option<Command>, Gone> {
    loop {
        match poll_command(commands) {
            Ok(None) if Instant::now() < until => std::hint::spin_loop(),
            answer => return answer,
        }
    }
}

/// Whether there are cores enough for one to stay awake.
fn may_spin() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    let count = || std::thread::available_parallelism().map_or(1, usize::from);
    *CORES.get_or_init(count) >= MIN_CORES_TO_SPIN
}

impl SessionWorker {
    /// Sleeps until something may have happened, at most until a time; the command that came, if
    /// one did.
    pub(super) fn sleep(
        &mut self,
        until: Option<Instant>,
        commands: &Receiver<Command>,
    ) -> Result<Option<Command>, Gone> {
        let now = self.now();
        if let Some(instances) = self.instances.as_mut().filter(|it| !it.is_idle()) {
            let command = poll_command(commands);
            if let Ok(None) = command {
                instances.wait(ENGINE_POLL_INTERVAL);
            }
            return command;
        }
        let told = self.changed.then(|| self.status_made + STATUS_INTERVAL);
        let until = until.into_iter().chain(told).min();
        let at_most = until.map_or(MAX_SLEEP, |until| {
            until.saturating_duration_since(now).min(MAX_SLEEP)
        });
        let on_a_gpu = |it: &crate::instances::Instances| it.engine().name() == "cuda";
        let is_running = self.state.is_at_work() && self.failed.is_none();
        if at_most < MAX_SPIN
            && is_running
            && self.instances.as_ref().is_some_and(on_a_gpu)
            && may_spin()
        {
            return spin(commands, Instant::now() + at_most);
        }
        match commands.recv_timeout(at_most) {
            Ok(command) => Ok(Some(command)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }
}
