//! The Game of Life itself, with no thought of machines: [`Rule`], [`Lattice`], [`soup`],
//! pattern files ([`rle`], [`pattern`]) and the [`reference`] step that everything else is held
//! against.

mod lattice;
mod rule;

pub use lattice::{Lattice, Size, SizeError};
pub use rule::{Rule, RuleError};
