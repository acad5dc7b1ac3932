//! Rounds that a person writes: a script makes calls ([`Round`]), and a check says whether their order is
//! right.
//!
//! A script knows `N` and the functions of [`CallKind`]. It runs to its end before anything is issued;
//! what it called is data, for the check, the engines, the timeline and generated code alike.

mod round;

pub use round::{Call, CallKind, Place, Round, Work};
