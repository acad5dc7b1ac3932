//! Rounds that a person writes: a script makes calls ([`Round`]), and a check says whether their order is
//! right.
//!
//! A script ([`Script`]) knows `N` and the functions of [`CallKind`]. It runs to its end before anything
//! is issued; what it called is data, for the check, the engines, the timeline and generated code alike.
//! The check ([`check()`]) finds races and other faults ([`Fault`]) without running anything.

mod check;
mod happens_before;
mod interpreter;
mod new_round;
mod round;
mod verdict;

pub use check::{Fault, IssuedCall, MAX_FAULTS, Requirement, check};
pub use interpreter::{
    MAX_CALLS, MAX_EVENTS, MAX_OPERATIONS, MAX_SOURCE_BYTES, MAX_STREAMS, Script, ScriptError,
    ScriptErrorKind,
};
pub use new_round::{commented, new_round};
pub use round::{Call, CallKind, Place, Round, Work};
pub use verdict::Verdict;
