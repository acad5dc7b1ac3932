//! Whether a session works: what stopped its rounds, and what ended it.

use lang::{Message, message};

/// Turns in a row that may fail before the session ends: without an end, notices would come
/// thousands of times per second.
const MAX_FAILURES: u32 = 3;

/// The message about a bug in the program: work panicked, with this reason.
pub(crate) fn internal(it: String) -> Message {
    message!("internal: {it}")
}

/// The message that no copy is left to restore lattices from.
pub(crate) fn no_snapshot() -> Message {
    message!("no snapshot of the lattices is left")
}

/// What has gone wrong, if anything.
#[derive(Default)]
pub(crate) struct Health {
    /// Why the session has ended.
    pub(crate) ended: Option<Message>,
    /// The error that stopped the rounds, until they resume.
    pub(crate) halted: Option<Message>,
    /// Number of turns in a row that have failed.
    pub(crate) failures: u32,
}

impl Health {
    /// Notes a turn whose work failed. Returns whether there were too many in a row.
    pub(crate) fn turn_failed(&mut self, why: &Message) -> bool {
        self.failures += 1;
        self.halted = Some(why.clone());
        self.failures > MAX_FAILURES
    }
}
