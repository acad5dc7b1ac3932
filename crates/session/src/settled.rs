//! How a lattice goes on, once it is known.

use std::fmt;

use lang::tr;

/// How a lattice goes on for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Settled {
    /// No cell lives, and by its rule none is born of nothing.
    Dead,
    /// Nothing changes.
    Still,
    /// It repeats every this many generations, and not in between.
    Period(u64),
    /// It repeats every this many generations; those in between were not compared.
    Repeats(u64),
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Settled::Dead => f.write_str(tr!("dead")),
            Settled::Still => f.write_str(tr!("still")),
            Settled::Period(period) => f.write_str(&tr!("period {period}")),
            Settled::Repeats(every) => f.write_str(&tr!("repeats every {every}")),
        }
    }
}
