//! The Game of Life, independent of engines and devices: [`Rule`], [`Lattice`], random starts
//! ([`soup()`]), patterns and their files ([`Pattern`], [`Format`], the
//! [`SHELF`]), atomic file writes ([`write_atomically`]), and the [`reference`](mod@reference) step
//! that all engines are checked against.

mod formats;
mod frame;
mod lattice;
pub mod memory;
mod pattern;
pub mod reference;
pub mod rle;
mod rule;
mod run;
mod save;
mod settle;
mod shelf;
mod size;
mod soup;
#[cfg(test)]
mod testing;
mod text;
mod words;

pub use frame::{Format, Head, MAX_GENERATION, Notes, RuleAndTorus, Writer};
pub use lang::numbers::grouped;
pub use lattice::Lattice;
pub use memory::MemoryError;
pub use pattern::{Pattern, PatternError, too_large};
pub use rule::{Rule, RuleError};
pub use run::Run;
pub use save::{
    KnownFile, PendingFile, ReadError, SaveError, SaveLock, SaveTarget, check_writable, date,
    dated_name, dated_stem, read_regular_file, write_atomically,
};
pub use settle::{settle, settle_generation};
pub use shelf::{Behaviour, Kind, SHELF, Shelved};
pub use size::Size;
pub use soup::{Soup, SplitMix64, soup};
pub use words::{counted_lattices, nearest, shown, system_reason};
