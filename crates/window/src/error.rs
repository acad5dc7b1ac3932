//! Why a window could not be opened or kept, or something could not be drawn, each with its remedy.

use std::fmt::Display;

use lang::{Message, message, tr};
use life::SaveError;

/// An error that keeps a window from opening, or ends it.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// No display to open a window on; the session was not started.
    #[error("{}", tr!("no window can be opened here: {it}; set DISPLAY or WAYLAND_DISPLAY, or use --display terminal, 'lifestreams run' or 'snapshot', which need none", it = .0))]
    NoDisplay(String),
    /// Shared libraries that windows need are not there; the session was not started.
    #[error("{}", tr!("no window can be opened here: {} cannot be loaded; apt-get install libxcursor1 libxi6 libxkbcommon-x11-0", .0.join(", ")))]
    MissingLibraries(Vec<&'static str>),
    /// The display is there but gave no window, or went away.
    #[error("{}", tr!("the display failed: {it}", it = .0))]
    Display(String),
    /// The monitor that was asked for is not there.
    #[error("{}", tr!("no monitor '{requested}'; available: {there}", requested = .requested, there = .there))]
    NoMonitor {
        /// What was asked for.
        requested: String,
        /// What there is, in words.
        there: String,
    },
    /// Drawing failed.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The session could not be started or saved; what was said is the cause.
    #[error("{0:#}")]
    Session(anyhow::Error),
}

impl WindowError {
    /// 2 where the arguments are wrong, 3 where the machine lacks something, else 1; what a
    /// session's error means is its maker's to say.
    pub fn exit_code(&self) -> u8 {
        match self {
            WindowError::NoDisplay(_)
            | WindowError::MissingLibraries(_)
            | WindowError::Display(_) => 3,
            WindowError::NoMonitor { .. } => 2,
            WindowError::View(error) => error.exit_code(),
            WindowError::Session(_) => 1,
        }
    }
}

/// Why something could not be drawn.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ViewError {
    /// What was asked for cannot be drawn or recorded.
    #[error("{0}")]
    Refused(Message),
    /// No adapter, or one that gave no device or does not draw to this window.
    #[error("{0}")]
    NoDevice(Message),
    /// The drawing GPU was lost and did not come back.
    #[error("{}", tr!("the drawing GPU is lost ({it}); start again, or choose another with --adapter", it = .0))]
    DeviceLost(String),
    /// Memory of the drawing GPU ran out, or writing a recording took too long.
    #[error("{0}")]
    Lacking(Message),
    /// A defect of this program.
    #[error("{}", tr!("internal: drawing failed: {it}", it = .0))]
    Internal(String),
    /// A picture could not be written.
    #[error("{0}")]
    Write(#[from] SaveError),
}

impl ViewError {
    /// The adapter of this name gave no device.
    pub(crate) fn unusable(adapter: &str, reason: impl Display) -> ViewError {
        ViewError::NoDevice(message!(
            "the drawing GPU '{adapter}' cannot be used ({reason}); choose another with --adapter"
        ))
    }

    /// 2 where the arguments are wrong, 3 where the machine lacks something, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            ViewError::Refused(_) => 2,
            ViewError::Write(error) if !error.is_disk_full => 2,
            ViewError::Write(_)
            | ViewError::NoDevice(_)
            | ViewError::DeviceLost(_)
            | ViewError::Lacking(_) => 3,
            ViewError::Internal(_) => 1,
        }
    }
}
