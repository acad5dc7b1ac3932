//! What a round downloads for its pictures.

use engine::{ReduceRegion, Transfer};

/// What a round downloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PicturePlan {
    /// Bits, the reduced view, or the cells.
    pub transfer: Transfer,
    /// The part of every lattice that its panel shows; used by [`Transfer::View`] alone.
    pub region: ReduceRegion,
    /// The one instance that is drawn, or all; used by [`Transfer::View`] alone.
    pub only: Option<usize>,
}

impl PicturePlan {
    /// Maximum bytes of a round's reduced views, all instances together.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// Maximum bytes of all lattices' bits with
    /// [`TransferChoice::Auto`](crate::TransferChoice::Auto); more are reduced to views. Handing 32
    /// MiB to the drawing GPU would take the host 5 ms per frame, more than everything else.
    pub const MAX_AUTO_BITS_BYTES: u64 = 8 << 20;

    /// Every instance's bits.
    pub const BITS: PicturePlan = PicturePlan {
        transfer: Transfer::Bits,
        region: ReduceRegion::of_cells(4, 1),
        only: None,
    };
}
