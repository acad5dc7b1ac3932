//! The log against an independent account of what happened: random histories, and the cases that
//! are hard.

mod cases;
mod device;
mod histories;
