//! Errors that end the terminal view.

use lang::tr;

/// An error that ends the terminal view.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The terminal takes nothing, or has gone.
    #[error("{}", tr!("the terminal failed: {it}; use --display none to go on without it", it = .0))]
    Terminal(String),
    /// The session could not be started or saved; what was said is the cause.
    #[error("{0:#}")]
    Session(anyhow::Error),
}
