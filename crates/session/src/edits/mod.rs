//! What lattices were before they were edited, for undo.

mod history;

#[cfg(test)]
mod tests;

pub use history::History;
