//! Sentences for the user.

use lang::Message;

/// A sentence for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// What a command did.
    Done(Message),
    /// What the last change does to the time of a round, which the status says elsewhere.
    Effect,
    /// Why a command was refused.
    Refused(Message),
    /// What went wrong.
    Warning(Message),
}
