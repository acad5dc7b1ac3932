//! What is written into a pattern file.

use std::io::{self, Write};

use crate::notes::Notes;
use crate::{Lattice, Rule, Size};

/// The content of a pattern file to write.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// The cells.
    pub lattice: &'a Lattice,
    /// The rule; plaintext cannot store it.
    pub rule: Rule,
    /// Whether the lattice is a whole torus, not a part of one. RLE stores that.
    pub torus: bool,
    /// The generation; plaintext cannot store it.
    pub generation: u64,
    /// Name, author and comments.
    pub notes: &'a Notes,
}

/// A function that writes a sheet.
pub type Writer = fn(Sheet, &mut dyn Write) -> io::Result<()>;

/// What a pattern file says of its cells before them.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The size of the lattice.
    pub size: Size,
    /// The rule.
    pub rule: Rule,
    /// Whether the lattice is a whole torus.
    pub torus: bool,
    /// The generation.
    pub generation: u64,
    /// Name, author and comments.
    pub notes: &'a Notes,
}

impl<'a> Sheet<'a> {
    /// The notes before the cells.
    pub(crate) fn head(&self) -> Head<'a> {
        Head {
            size: self.lattice.size(),
            rule: self.rule,
            torus: self.torus,
            generation: self.generation,
            notes: self.notes,
        }
    }
}

impl Head<'_> {
    /// The rule as RLE writes it, with the torus if the lattice is one.
    pub(crate) fn rule_and_torus(&self) -> String {
        if self.torus {
            let (width, height) = (self.size.width(), self.size.height());
            format!("{}:T{width},{height}", self.rule)
        } else {
            self.rule.to_string()
        }
    }
}
