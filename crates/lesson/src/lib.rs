//! Lessons: what streams, copies and events do, asked, measured and checked.
//!
//! A lesson is a file: a few words, a question to the class, parts to measure, and ends that depend on what
//! was measured ([`Lesson`]). A part is rounds of lattices, or a script of ops on arrays and lattices.
//! [`run`] measures the parts one after the other, tells of each, and gives an [`Outcome`]. It blocks for as
//! long as that takes: whoever draws calls it on another thread.
//!
//! A lesson whose parts are a sweep is measured for 1, 2, 4 … instances: its outcome has a speed-up curve
//! besides (module `speedup`).
//!
//! Parts that are compared are measured in turn, in three windows ten seconds apart
//! (module `interleave`). A conclusion is chosen by these findings ([`Compare`]): it has a sentence for
//! each, so that it says of no run what that run did not show.
//!
//! What a GPU measured of the lessons is in the program, too ([`recorded()`]), for machines without one.
//!
//! An exercise asks for a round or a kernel of one's own ([`EXERCISES`]), and which of them a user has solved
//! is in a file ([`ExerciseProgress`]).
//!
//! The checks of a lesson concern results, never times: factors are reported as measured. Parts
//! that are not listed in [`Lesson::compared`] get no factor; the conclusion must not compare them.

mod bench;
mod connections;
mod data;
mod exercise;
mod file;
mod interleave;
mod lattices;
mod measure;
mod outcome;
mod question;
mod recorded;
mod rounds_run;
mod script_run;
mod speedup;

pub use bench::{Bench, LessonError, Ran, Result, SweepSetup};
pub use connections::serve as serve_connections;
pub use exercise::{EXERCISES, Exercise, ExerciseProgress, KernelTask, RoundTask, Task};
pub use file::{
    Choice, Closing, Compare, Group, LESSONS, Lesson, Missing, Origin, Part, Rounds, Scene, Text,
    TimeOf, find, shipped_file,
};
pub use interleave::limits;
pub use measure::{OnProgress, Progress};
pub use outcome::{
    Check, Factor, LessonImage, Measured, MeasuredValue, OpFigures, Outcome, PartOutcome, Windows,
};
pub use question::{factor_in_words, nearest_factor};
pub use recorded::{record, recorded, recording_order, run};
pub use speedup::{Speedup, SpeedupPoint, SpeedupSeries};
