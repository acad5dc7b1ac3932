//! What can be wrong with a pattern's text, in any format, and where.

use super::{RuleError, SizeError};

/// What is wrong with a text, and where; lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// The line.
    pub line: u64,
    /// The character in that line.
    pub column: u64,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong, and the byte offset where it is.
pub(crate) type Flaw = (usize, Fault);

impl TextError {
    /// Converts a byte offset in this text to line and column. A line ends with LF, CR or both; a
    /// column is a UTF-8 character.
    pub(crate) fn new(text: &[u8], (offset, fault): Flaw) -> TextError {
        let before = &text[..offset.min(text.len())];
        let ends_line = |at: usize| match before[at] {
            b'\n' => true,
            b'\r' => text.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let line = 1 + (0..before.len()).filter(|&at| ends_line(at)).count() as u64;
        let line_start = (0..before.len())
            .rposition(ends_line)
            .map_or(0, |at| at + 1);
        let is_first_of_character = |byte: &&u8| **byte & 0xc0 != 0x80;
        let column = 1 + before[line_start..]
            .iter()
            .filter(is_first_of_character)
            .count() as u64;
        TextError {
            line,
            column,
            fault,
        }
    }
}

/// What is wrong with a pattern's text. Bytes are those that have no meaning there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The gzip data is corrupt, for this reason.
    Gzip(String),
    /// The unpacked text would be longer than so many bytes.
    LongGzip(u64),
    /// A ZIP archive.
    Archive,
    /// A Golly script.
    Script,
    /// A file in MCell's own format for this kind of rules, mostly with more than two states.
    MCell(String),
    /// A rule that cannot be run.
    Rule(RuleError),
    /// A topology other than a finite torus.
    Topology(String),
    /// The torus is not a valid lattice size.
    Torus(SizeError),

    /// RLE: the text ends before a header.
    NoPattern,
    /// RLE: the header is missing.
    NoHeader,
    /// RLE: an unknown or repeated field of the header, or one without `=`.
    Field,
    /// RLE: a field of the header is no number.
    Number(char),
    /// RLE: the header lacks width or height.
    Missing(char),
    /// RLE: a byte in the body.
    RleByte(u8),
    /// RLE: a count exceeds the maximum side of a lattice.
    Count,
    /// RLE: a live cell lies beyond the maximum side of a lattice.
    FarCell,

    /// Plaintext: the text is empty.
    NoRows,
    /// Plaintext: a byte in a row.
    PlaintextByte(u8),
    /// Plaintext: a row or a column longer than a lattice's side.
    LongSide,

    /// Life 1.05 or 1.06: an unknown version.
    LifeVersion,
    /// Life 1.05: a block without a position.
    Block,
    /// Life 1.05: a byte in a block's row.
    BlockByte(u8),
    /// Life 1.06: a line that is not a cell.
    Cell,
    /// Life 1.05 or 1.06 or a macrocell: live cells too far apart for a lattice.
    FarApart,

    /// Macrocell: a wrong first line.
    MacrocellVersion,
    /// Macrocell: an invalid cell state.
    State,
    /// Macrocell: a line that is not a node.
    Node,
    /// Macrocell: a level out of range.
    Level,
    /// Macrocell: a quarter that is not an earlier node.
    Quarter(i64),
    /// Macrocell: a quarter of the wrong size.
    QuarterLevel {
        /// The quarter's number.
        node: i64,
        /// Its level.
        found: u8,
        /// The level it must have.
        wanted: u8,
    },
    /// Macrocell: a byte in a square of cells.
    SquareByte(u8),
    /// Macrocell: more than eight cells in a row, or more than eight rows.
    Square,
    /// Macrocell: no nodes.
    NoNodes,
    /// Macrocell: more nodes than [`MAX_NODES`](crate::formats::macrocell::MAX_NODES).
    ManyNodes,
    /// Macrocell: not enough memory for so many nodes.
    NodeMemory(usize),
}
