//! What the session tells people, in this thread's language: what happened, the number, what to do.
//! Its notices are data, so that the window, the terminal and the command line say the same.

mod kernel;
mod quantities;

pub use self::kernel::{idea, timestamps_of_own, use_of};
pub use quantities::{shown, time_left};
