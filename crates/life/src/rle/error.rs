//! Errors in RLE texts.

use crate::text::{self, Located, Shown};
use crate::{RuleError, Size, SizeError};
use lang::tr;

/// An error in an RLE text with its line and column, which count from 1.
pub type RleError = Located<RleFault>;

/// An error in an RLE text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RleFault {
    /// The text ends before a header.
    #[error("{}", tr!("the text ends without a header; an RLE pattern has a line such as 'x = 3, y = 3, rule = B3/S23', then the cells"))]
    Empty,
    /// The header is missing.
    #[error("{}", tr!("this is not an RLE pattern; after any lines with # it must go on with a line such as 'x = 3, y = 3, rule = B3/S23'"))]
    NoHeader,
    /// An unknown or repeated field, or one without `=`.
    #[error("{}", tr!("the header must be x = WIDTH, y = HEIGHT and at most rule = RULE after them, such as 'x = 3, y = 3, rule = B3/S23'"))]
    Field,
    /// A number is missing.
    #[error("{}", tr!("{it} must be a whole number of cells, such as '{it} = 3'", it = .0))]
    Number(char),
    /// The header lacks width or height.
    #[error("{}", tr!("the header lacks {it}; write it as x = WIDTH, y = HEIGHT", it = .0))]
    Missing(char),
    /// A rule that cannot be run.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A topology other than a finite torus.
    #[error("{}", tr!("'{it}' is no torus, and only a torus can be run; write its sides, such as :T100,100, or leave it out", it = .0))]
    Topology(String),
    /// The torus is not a valid lattice size.
    #[error("{}", tr!("the torus {it}", it = .0))]
    Torus(#[source] SizeError),
    /// An invalid character in the body.
    #[error("{}", tr!("unknown {it}; cells are b (dead) and o (alive), or . and A to X by their states, a row ends with $ and the pattern with !", it = .0))]
    Letter(Shown),
    /// A count exceeds the maximum side of a lattice.
    #[error("{}", tr!("a count is more than {max}, the longest side of a lattice; a smaller pattern is needed", max = Size::MAX_SIDE))]
    Count,
    /// A live cell lies beyond the maximum side of a lattice.
    #[error("{}", tr!("live cells lie beyond {max} cells, the longest side of a lattice; a smaller pattern is needed", max = Size::MAX_SIDE))]
    Far,
}

/// An error and the byte offset where it occurs.
pub(super) type Flaw = text::Flaw<RleFault>;
