//! Exercises: what each asks for, a file to begin with and an answer ([`EXERCISES`]), and which of them a
//! person has solved ([`Progress`]).

mod exercise;
mod progress;

pub use exercise::{EXERCISES, Exercise, KernelTask, RoundTask, Task};
pub use progress::Progress;
