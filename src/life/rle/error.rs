//! What can be wrong with an RLE text.

use crate::life::text::{self, Located, Shown};
use crate::life::{RuleError, Size, SizeError};

/// What is wrong with an RLE text, and where; lines and columns count from 1.
pub type RleError = Located<RleFault>;

/// What is wrong at one place of an RLE text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RleFault {
    /// The text ends before a header.
    #[error(
        "the text ends without a header; an RLE pattern has a line such as 'x = 3, y = 3, rule = B3/S23', then the cells"
    )]
    Empty,
    /// Something else stands where the header should.
    #[error(
        "this is not an RLE pattern; after any lines with # it must go on with a line such as 'x = 3, y = 3, rule = B3/S23'"
    )]
    NoHeader,
    /// A field that no header has, twice the same, or one that lacks its `=`.
    #[error(
        "the header must be x = WIDTH, y = HEIGHT and at most rule = RULE after them, such as 'x = 3, y = 3, rule = B3/S23'"
    )]
    Field,
    /// No number where one belongs.
    #[error("{0} must be a whole number of cells, such as '{0} = 3'")]
    Number(char),
    /// A header without its width or height.
    #[error("the header lacks {0}; write it as x = WIDTH, y = HEIGHT")]
    Missing(char),
    /// An extent longer than a lattice's side.
    #[error("{0} is more than {max}, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE)]
    Side(char),
    /// A rule that cannot be run.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A topology other than a finite torus.
    #[error(
        "'{0}' is no torus, and only a torus can be run; write both sides, such as :T100,100, or leave it out"
    )]
    Topology(String),
    /// A torus that is no lattice.
    #[error("the torus {0}")]
    Torus(#[source] SizeError),
    /// A character that a body does not have.
    #[error(
        "unknown {0}; cells are b (dead) and o (alive), a row ends with $ and the pattern with !, and only two-state patterns can be run"
    )]
    Letter(Shown),
    /// A run of nothing.
    #[error("a count of 0; leave the count out for 1, or leave out the whole run")]
    Zero,
    /// A count longer than a lattice's side.
    #[error("a count is more than {max}, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE)]
    Count,
    /// A live cell further out than a lattice reaches.
    #[error("live cells lie beyond {max} cells, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE)]
    Far,
    /// The text ends before the pattern does.
    #[error(
        "the pattern has no '!' at its end, so it seems cut short; fetch it again, or add the '!' if it is whole"
    )]
    NoEnd,
}

/// A fault and the offset of its byte.
pub(super) type Flaw = text::Flaw<RleFault>;
