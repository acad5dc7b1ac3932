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
    /// The most bytes that a round's pictures take where nobody says what is to cross the bus.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// The most of them that are bits then: beyond, the host would spend more of a frame handing
    /// them to the GPU that draws than all else takes (of 32 MiB, 5 ms).
    pub const MAX_AUTO_BITS_BYTES: u64 = 8 << 20;

    /// Every instance's bits.
    pub const BITS: PicturePlan = PicturePlan {
        transfer: Transfer::Bits,
        region: ReduceRegion {
            x0: 0,
            y0: 0,
            step: ReduceRegion::ONE,
            width: 4,
            height: 1,
        },
        only: None,
    };
}
