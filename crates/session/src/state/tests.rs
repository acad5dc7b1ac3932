//! What comes next, in single cases and in random histories.

mod choices;
mod histories;
mod model;
mod order;
