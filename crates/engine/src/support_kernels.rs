//! The table of kernels that serve the ladder: they convert, make, change and measure lattices. Their
//! sources are in `kernels/support`.

use crate::kernels::{Layout, Parameter};

/// A kernel that serves the ladder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SupportKernel {
    /// Packs one `i32` per cell into bits.
    PackI32,
    /// Packs planar words into bits.
    PackPlanar,
    /// Unpacks bits into one `i32` per cell.
    UnpackI32,
    /// Unpacks bits into planar words.
    UnpackPlanar,
    /// Makes the bits of a random start.
    Soup,
    /// Changes cells in any layout.
    Edit,
    /// Reduces a region of the bits to pixels.
    Reduce,
    /// Counts the live cells that a band has in each pixel.
    Count,
    /// Measures the bits.
    Measure,
    /// Reads `%globaltimer`.
    Clock,
}

/// What a launch needs to know about a support kernel.
pub struct SupportRow {
    /// Stem of its source file and of its PTX.
    pub file: &'static str,
    /// Its function in that file.
    pub symbol: &'static str,
    /// What the function takes, in order.
    pub parameters: &'static [Parameter],
}

impl SupportKernel {
    /// All of them.
    pub const ALL: [SupportKernel; 10] = [
        SupportKernel::PackI32,
        SupportKernel::PackPlanar,
        SupportKernel::UnpackI32,
        SupportKernel::UnpackPlanar,
        SupportKernel::Soup,
        SupportKernel::Edit,
        SupportKernel::Reduce,
        SupportKernel::Count,
        SupportKernel::Measure,
        SupportKernel::Clock,
    ];

    /// The kernel that packs a layout into bits; `None` for bits.
    pub const fn pack(layout: Layout) -> Option<SupportKernel> {
        match layout {
            Layout::Bits => None,
            Layout::I32 => Some(SupportKernel::PackI32),
            Layout::Planar => Some(SupportKernel::PackPlanar),
        }
    }

    /// The kernel that unpacks bits into a layout; `None` for bits.
    pub const fn unpack(layout: Layout) -> Option<SupportKernel> {
        match layout {
            Layout::Bits => None,
            Layout::I32 => Some(SupportKernel::UnpackI32),
            Layout::Planar => Some(SupportKernel::UnpackPlanar),
        }
    }

    /// Its row of the table.
    pub const fn row(self) -> SupportRow {
        use Parameter::*;
        let (file, symbol, parameters): (_, _, &[Parameter]) = match self {
            SupportKernel::PackI32 => ("pack", "pack_i32", &[From, To, Width, Height]),
            SupportKernel::PackPlanar => ("planar", "pack_planar", &[From, To, Width, Height]),
            SupportKernel::UnpackI32 => ("unpack", "unpack_i32", &[From, To, Width, Height]),
            SupportKernel::UnpackPlanar => ("planar", "unpack_planar", &[From, To, Width, Height]),
            SupportKernel::Soup => ("soup", "make_soup", &[To, Width, Height, Chance, Key]),
            SupportKernel::Edit => (
                "edit",
                "edit_cells",
                &[Edits, EditCount, Cells, Width, LayoutIndex],
            ),
            SupportKernel::Reduce => (
                "reduce",
                "reduce_bits",
                &[
                    From, To, Width, Height, Left, Top, Step, Columns, Rows, Pitch,
                ],
            ),
            SupportKernel::Count => (
                "reduce",
                "count_bits",
                &[
                    From, To, Width, Height, FirstRow, OwnRows, Left, Top, Step, Columns, Rows,
                ],
            ),
            SupportKernel::Measure => (
                "measure",
                "measure_bits",
                &[From, Before, Shares, Arrived, To, Words, FirstWord],
            ),
            SupportKernel::Clock => ("clock", "read_clock", &[To]),
        };
        SupportRow {
            file,
            symbol,
            parameters,
        }
    }
}
