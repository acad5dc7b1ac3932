//! The newest complete picture of each instance, for whoever draws.

use crate::engine::{Slot, Viewport};

/// One instance's newest complete picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Grows with every picture of this instance; 0 means there is none yet.
    pub sequence: u64,
    /// Its generation.
    pub generation: u64,
    /// The viewport its bytes were reduced to, or `None` for the lattice's bits.
    pub viewport: Option<Viewport>,
    pub(crate) slot: Slot,
}

/// All instances' pictures. A picture is current as soon as its own stream's event has fired.
#[derive(Clone)]
pub struct Pictures {}

impl Pictures {
    /// Hands over every picture that is newer than `seen` says (by instance), and notes it there.
    /// The words are the lattice's bits, or the view's bytes, four a word.
    pub fn visit_newer(
        &self,
        _seen: &mut [u64],
        _draw: &mut dyn FnMut(usize, &Picture, &[u32]),
    ) {
        unimplemented!()
    }
}
