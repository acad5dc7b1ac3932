//! N instances, stepped round by round on a thread of their own.
//!
//! A [`Session`] owns the engine's thread. The window (or the terminal) sends it
//! [`actions`](Action) and draws the newest complete [`pictures`](Pictures); neither ever waits
//! for the other.

pub mod actions;
mod pictures;
mod setup;
mod status;

pub use actions::Action;
pub use pictures::{Picture, Pictures};
pub use setup::{DeviceChoice, Pace, Setup, Start, Streams};
pub use status::Status;

use crate::engine::{Transfer, Viewport};

/// What the drawing side wants to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewRequest {
    /// Bits, or the reduced view.
    pub transfer: Transfer,
    /// The part of every lattice that its panel shows; used by [`Transfer::View`] alone.
    pub viewport: Viewport,
    /// The one instance that is drawn, or all; used by [`Transfer::View`] alone.
    pub only: Option<usize>,
}

/// A running session; see the module.
pub struct Session {}

impl Session {
    /// Makes the engine, the instances and their thread; returns once the start is uploaded.
    /// `wake` is called on the engine's thread whenever there is something new to draw.
    pub fn start(_setup: Setup, _wake: impl Fn() + Send + 'static) -> anyhow::Result<Session> {
        unimplemented!()
    }

    /// Does what a person asked for, soon, on the engine's thread; `false` if the action is not
    /// the session's but the window's.
    pub fn act(&self, _action: Action) -> bool {
        unimplemented!()
    }

    /// Says what is drawn from now on.
    pub fn request_view(&self, _request: ViewRequest) {
        unimplemented!()
    }

    /// The latest figures.
    pub fn status(&self) -> std::sync::Arc<Status> {
        unimplemented!()
    }

    /// The newest complete pictures.
    pub fn pictures(&self) -> Pictures {
        unimplemented!()
    }
}
