//! Copies of all lattices at positions of the log, within a budget of memory.
