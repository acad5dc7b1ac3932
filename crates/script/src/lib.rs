//! Rounds that a person writes: a script makes calls ([`Round`]), and a check says whether their order is
//! right.
//!
//! A script ([`round()`]) knows `N` and the functions of [`CallKind`]. It runs to its end before anything
//! is issued; what it called is data, for the check, the engines, the timeline and generated code alike.
//! The check ([`check()`]) finds races and other faults ([`Fault`]) without running anything.

mod check;
mod interpreter;
mod lesson;

pub use check::{Fault, MAX_FAULTS, Requirement, Verdict, check};
pub use interpreter::{
    Call, CallKind, MAX_CALLS, MAX_EVENTS, MAX_OPERATIONS, MAX_SOURCE_BYTES, MAX_STREAMS, Place,
    Round, ScriptError, ScriptErrorKind, Work, commented, decode, new_round, round,
};
pub use lesson::{Array, Dynamic, HostWork, Numbers, OtherDevice, Recipe, Stage};
