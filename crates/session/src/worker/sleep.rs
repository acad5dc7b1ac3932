//! Sleeping between turns: in the engine, on the command channel, or spinning.

use super::lab::SessionWorker;
use crate::command::Command;
use std::sync::OnceLock;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// A core that sleeps between two rounds loses the driver's data from its caches, and the calls of
/// the next round take longer: 280 µs instead of 200 µs for 64 calls at 60 rounds/s on the host of
/// an H200. So on a machine with at least this many cores, the thread spins through short waits.
const MIN_CORES_TO_SPIN: usize = 8;
const MAX_SPIN: Duration = Duration::from_millis(40);

/// Longest sleep: notices expire and dead panels are refilled in between.
const MAX_SLEEP: Duration = Duration::from_millis(500);

/// How long the thread waits in the engine before it looks for commands.
const ENGINE_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The next command, if one comes before `until`. Spins instead of sleeping.
fn spin(commands: &Receiver<Command>, until: Instant) -> Option<Command> {
    loop {
        match commands.try_recv() {
            Err(_) if Instant::now() < until => std::hint::spin_loop(),
            answer => return answer.ok(),
        }
    }
}

/// Whether the machine has enough cores for one to spin.
fn may_spin() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    let count = || std::thread::available_parallelism().map_or(1, usize::from);
    *CORES.get_or_init(count) >= MIN_CORES_TO_SPIN
}

impl SessionWorker {
    /// Sleeps until something may have happened, at most until `until`. Returns the command that
    /// came, if any.
    pub(super) fn sleep(
        &mut self,
        until: Option<Instant>,
        commands: &Receiver<Command>,
    ) -> Option<Command> {
        let now = self.now();
        if let Some(sim) = self.sim.as_mut().filter(|it| !it.is_idle()) {
            let command = commands.try_recv().ok();
            if command.is_none() {
                sim.wait(ENGINE_POLL_INTERVAL);
            }
            return command;
        }
        let until = until.into_iter().chain(self.publisher.due()).min();
        let at_most = until.map_or(MAX_SLEEP, |until| {
            until.saturating_duration_since(now).min(MAX_SLEEP)
        });
        let is_running = self.state.is_at_work() && self.ended.is_none();
        let is_on_gpu = self.engine_name() == Some("cuda");
        if at_most < MAX_SPIN && is_running && is_on_gpu && may_spin() {
            return spin(commands, Instant::now() + at_most);
        }
        // This thread has a sender itself, so that the channel stays open.
        commands.recv_timeout(at_most).ok()
    }
}
