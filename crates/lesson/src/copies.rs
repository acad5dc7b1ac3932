//! Copies over the bus: when they overlap, and what page-locked memory is for.

pub(super) mod chunks;
pub(super) mod depth;
pub(super) mod gray;
pub(super) mod one_torus;
pub(super) mod peer_copy;
pub(super) mod pinned;
pub(super) mod unified_memory;
