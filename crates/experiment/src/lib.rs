//! Which of two settings takes less time, and how sure that is: pure functions, with no engine, no
//! clock.
//!
//! *Subjects*, a setting each, take turns in *blocks*: each has one round in every block, in random
//! order ([`Blocks`]). A block gives one ratio of times for two subjects. The estimate is the median of
//! these ratios, with an interval of its own ([`Estimate`]), and what can be said of it is a
//! [`Finding`]. All of it is about **the ratio now, under the load of the seconds in which it was
//! measured**: that is the median of the ratios that blocks would have, were those same seconds to be
//! had again and again. Other programs that take a core for a while add to the time of a round, so
//! under another load the ratio is another one.
//!
//! An [`Executor`] decides whose round is next and which rounds count, and derives the findings. Where
//! somebody waits, it looks at the estimate several times, and the interval keeps its promise over all
//! looks. Where there is more time, it compares windows some seconds apart. `tests/simulation.rs` holds both to what they promise, for the
//! kinds of noise that machines make.

mod estimate;
mod executor;
mod finding;

pub use estimate::{ERROR, Estimate, Finding, compare_blocks, median, nearest};
pub use executor::{Blocks, Executor, Limits, Plan, Round, Turn};
pub use finding::{
    Load, Recorded, Side, Source, finding_in_words, load_in_words, recorded_in_words,
    unknown_in_words,
};
