//! From errors to exit codes: 1 a check failed, 2 the input or the arguments are wrong, 3 the
//! machine lacks something, 130 Ctrl+C ended it.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::EngineError;
use lang::tr;
use life::{MemoryError, PatternError, SaveError, system_reason};
use session::{NotSaved, SavedError};
use ui::INTERRUPTED;
use window::ViewError;
use window::WindowError;

/// A check that failed, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CheckFailed(pub String);

/// Arguments that contradict one another or the machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct BadArguments(pub String);

/// A file that is not read, and why.
pub(super) fn unreadable(path: &Path, why: impl std::fmt::Display) -> BadArguments {
    let path = path.display();
    BadArguments(tr!("{path} cannot be read: {why}"))
}

/// A run that Ctrl+C ended after what it had done, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Interrupted(pub String);

/// Set when the user no longer wants to wait.
pub(super) fn cancelled() -> Arc<AtomicBool> {
    let cancel = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&cancel);
    platform::on_signals(move || signalled.store(true, Ordering::Relaxed)).ok();
    cancel
}

/// What an error says, with what it was about before it.
pub(super) fn in_words(error: &anyhow::Error) -> String {
    let said = error.chain().map(|cause| {
        if let Some(WindowError::Session(error)) = cause.downcast_ref() {
            in_words(error)
        } else if let Some(error) = cause.downcast_ref::<io::Error>() {
            system_reason(error)
        } else {
            cause.to_string()
        }
    });
    said.collect::<Vec<_>>().join(": ")
}

/// The exit code for an error, by what is at its root.
pub(super) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = error.chain().find_map(|cause| {
        let refused = cause.downcast_ref::<SavedError>();
        if cause.is::<CheckFailed>() {
            Some(1)
        } else if cause.is::<Interrupted>() {
            Some(INTERRUPTED as u8)
        } else if cause.is::<MemoryError>()
            || matches!(cause.downcast_ref(), Some(PatternError::Memory(_)))
            || refused.is_some_and(|it| it.lacks_memory)
        {
            Some(3)
        } else if cause.is::<BadArguments>() || cause.is::<PatternError>() || refused.is_some() {
            Some(2)
        } else if let Some(error) = cause.downcast_ref::<SaveError>() {
            Some(if error.is_disk_full { 3 } else { 2 })
        } else if let Some(error) = cause.downcast_ref::<NotSaved>() {
            Some(if error.machine_lacks { 3 } else { 2 })
        } else if let Some(error) = cause.downcast_ref::<EngineError>() {
            Some(if matches!(error, EngineError::UnsupportedSize(_)) {
                2
            } else {
                3
            })
        } else if let Some(error) = cause.downcast_ref::<ViewError>() {
            Some(error.exit_code())
        } else if let Some(error @ (WindowError::View(_) | WindowError::NoMonitor { .. })) =
            cause.downcast_ref::<WindowError>()
        {
            Some(error.exit_code())
        } else {
            None
        }
    });
    ExitCode::from(code.unwrap_or(3)) // a display, a library, a device
}
