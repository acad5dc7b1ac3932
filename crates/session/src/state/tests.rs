//! What comes next, in single cases.

mod order;
