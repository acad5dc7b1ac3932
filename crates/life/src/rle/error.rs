//! What can be wrong with an RLE text.

use crate::text::{self, Located, Shown};
use crate::{RuleError, Size, SizeError};
use lang::tr;

/// What is wrong with an RLE text, and where; lines and columns count from 1.
pub type RleError = Located<RleFault>;

/// What is wrong at one place of an RLE text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RleFault {
    /// The text ends before a header.
    #[error("{}", tr!("the text ends without a header; an RLE pattern has a line such as 'x = 3, y = 3, rule = B3/S23', then the cells"))]
    Empty,
    /// Something else stands where the header should.
    #[error("{}", tr!("this is not an RLE pattern; after any lines with # it must go on with a line such as 'x = 3, y = 3, rule = B3/S23'"))]
    NoHeader,
    /// A field that no header has, twice the same, or one that lacks its `=`.
    #[error("{}", tr!("the header must be x = WIDTH, y = HEIGHT and at most rule = RULE after them, such as 'x = 3, y = 3, rule = B3/S23'"))]
    Field,
    /// No number where one belongs.
    #[error("{}", tr!("{it} must be a whole number of cells, such as '{it} = 3'", it = .0))]
    Number(char),
    /// A header without its width or height at all.
    #[error("{}", tr!("the header lacks {it}; write it as x = WIDTH, y = HEIGHT", it = .0))]
    Missing(char),
    /// A rule that cannot be run.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A topology other than a finite torus.
    #[error("{}", tr!("'{it}' is no torus, and only a torus can be run; write its sides, such as :T100,100, or leave it out", it = .0))]
    Topology(String),
    /// A torus that is no lattice.
    #[error("{}", tr!("the torus {it}", it = .0))]
    Torus(#[source] SizeError),
    /// A character that a body does not have.
    #[error("{}", tr!("unknown {it}; cells are b (dead) and o (alive), or . and A to X by their states, a row ends with $ and the pattern with !", it = .0))]
    Letter(Shown),
    /// A count longer than a lattice's side.
    #[error("{}", tr!("a count is more than {max}, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE))]
    Count,
    /// A live cell further out than a lattice reaches.
    #[error("{}", tr!("live cells lie beyond {max} cells, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE))]
    Far,
}

/// A fault and the offset of its byte.
pub(super) type Flaw = text::Flaw<RleFault>;
