//! What the session tells people, in this thread's language: what happened, the number, what to do.
//! Its notices are data, so that the window, the terminal and the command line say the same.

use std::fmt;

use lang::Message;

mod kernel;
mod quantities;
mod saved;

pub use self::kernel::{idea, timestamps_of_own, use_of};
pub use quantities::{shown, time_left};

/// Data that has a sentence, such as an error.
pub trait InWords: fmt::Debug {
    /// The sentence, in this thread's language.
    fn in_words(&self) -> String;

    /// The sentence, to be read in the language of the reader.
    fn message(&self) -> Message {
        Message::new(|| self.in_words())
    }
}
