//! The parameters of kernels that work on lattices.

/// What a kernel expects at a place of its parameter list. A row of a kernel table lists them in
/// order, and a launch fills them from that list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// Address of the data that the kernel only reads.
    From,
    /// Address of the data that it only writes.
    To,
    /// Address of cells that it changes in place.
    Cells,
    /// Address of the [mail](super::cooperative::Division::mail_words) between blocks.
    Mail,
    /// Address of the edits, three words each.
    Edits,
    /// Address of the bits at the previous measure.
    Before,
    /// Address of the partial measures, one per block.
    Shares,
    /// Address of the number of finished blocks.
    Arrived,
    /// Width of the lattice in cells.
    Width,
    /// Height of the lattice in cells.
    Height,
    /// The rule's table ([`Rule::table`](life::Rule::table)).
    RuleTable,
    /// Generations of this launch.
    Generations,
    /// Number of edits.
    EditCount,
    /// The layout of the cells, as its [index](super::Layout::index).
    LayoutIndex,
    /// Chance of a live cell ([`Soup::chance`](life::Soup::chance)).
    Chance,
    /// Key of the soup ([`Soup::key`](life::Soup::key)).
    Key,
    /// Words of the lattice's bits.
    Words,
    /// Left edge of the region, in fixed-point cells.
    Left,
    /// Top edge of the region, in fixed-point cells.
    Top,
    /// Cells per pixel, fixed-point.
    Step,
    /// Width of the region in pixels.
    Columns,
    /// Height of the region in pixels.
    Rows,
    /// Bytes from one lattice's view to the next.
    Pitch,
}

impl Parameter {
    /// Its size in bytes: addresses and some numbers have 64 bits.
    pub const fn bytes(self) -> usize {
        match self {
            Parameter::From
            | Parameter::To
            | Parameter::Cells
            | Parameter::Mail
            | Parameter::Edits
            | Parameter::Before
            | Parameter::Shares
            | Parameter::Arrived
            | Parameter::Key
            | Parameter::Words
            | Parameter::Left
            | Parameter::Top
            | Parameter::Step
            | Parameter::Pitch => 8,
            Parameter::Width
            | Parameter::Height
            | Parameter::RuleTable
            | Parameter::Generations
            | Parameter::EditCount
            | Parameter::LayoutIndex
            | Parameter::Chance
            | Parameter::Columns
            | Parameter::Rows => 4,
        }
    }
}
