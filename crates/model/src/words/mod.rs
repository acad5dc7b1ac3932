//! What errors say to people, in this thread's language: what happened, the number, what to do.
//!
//! The crate `engine` has errors of data alone. Every sentence about them is here, so that
//! the window, the terminal and the command line say the same.

mod engine;

pub use engine::reason;

/// An error that has a sentence.
pub trait InWords {
    /// The sentence, in this thread's language.
    fn in_words(&self) -> String;
}
