//! The Game of Life, independent of engines and devices: [`Rule`], [`Lattice`], random starts
//! ([`soup()`]), patterns and their files ([`Pattern`], [`Format`], the
//! [`SHELF`]), atomic file writes ([`write_atomically`]), and the [`reference`](mod@reference) step
//! that all engines are checked against.

mod dated;
mod fault;
mod format;
mod formats;
mod frame;
mod lattice;
mod locked;
pub mod memory;
mod notes;
mod part;
mod pattern;
mod random;
mod read;
pub mod reference;
pub mod rle;
mod rule;
mod run;
mod save;
mod settle;
mod sheet;
mod shelf;
mod soup;
#[cfg(test)]
mod testing;
mod text;
mod words;

pub use dated::{date, dated_name, dated_stem};
pub use format::Format;
pub use frame::{MAX_GENERATION, RuleAndTorus};
pub use lang::numbers::grouped;
pub use lattice::{Lattice, Size};
pub use locked::{KnownFile, SaveLock};
pub use memory::MemoryError;
pub use notes::Notes;
pub use pattern::{Pattern, PatternError, too_large};
pub use random::SplitMix64;
pub use read::{ReadError, read_regular_file};
pub use rle::Rle;
pub use rule::{Rule, RuleError};
pub use run::Run;
pub use save::{PendingFile, SaveError, SaveTarget, check_writable, write_atomically};
pub use settle::{settle, settle_generation};
pub use sheet::{Head, Writer};
pub use shelf::{Behaviour, Kind, SHELF, Shelved};
pub use soup::{Soup, soup};
pub use words::{counted_lattices, shown, system_reason};
