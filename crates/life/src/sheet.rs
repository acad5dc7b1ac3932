//! What is written into a pattern file.

use std::io::{self, Write};

use crate::notes::Notes;
use crate::{Rule, Size};

/// What a pattern file says of its cells before them.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The size of the lattice.
    pub size: Size,
    /// The rule; plaintext cannot store it.
    pub rule: Rule,
    /// Whether the lattice is a whole torus, not a part of one. RLE stores that.
    pub torus: bool,
    /// The generation; plaintext cannot store it.
    pub generation: u64,
    /// Name, author and comments.
    pub notes: &'a Notes,
}

/// A function that writes the words of a lattice.
pub type Writer = fn(Head, &[u32], &mut dyn Write) -> io::Result<()>;
