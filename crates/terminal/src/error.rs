//! What ends the terminal other than the person.

use lang::tr;

/// What ends the terminal other than the person.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The terminal takes nothing, or has gone.
    #[error("{}", tr!("the terminal failed: {it}; use --display none to go on without it", it = .0))]
    Terminal(String),
    /// The session could not be started; what was said is the cause.
    #[error("{0:#}")]
    Session(anyhow::Error),
}
