//! Numbers that identify devices, lattices, streams and what else an engine has.

use std::ops::Range;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize,
            serde::Deserialize,
        )]
        pub struct $name(pub $inner);
    )*};
}

ids! {
    /// A device of an engine: an index into [`Engine::devices`](crate::Engine::devices).
    DeviceId(u16);
    /// A lattice, numbered from 0 in the order of creation.
    LatticeId(u32);
    /// A stream, numbered from 0 in the order of creation.
    StreamId(u32);
    /// An event, numbered from 0 in the order of creation.
    EventId(u32);
    /// One submission or replay, numbered from 0.
    RunId(u64);
    /// A prepared program.
    PreparedId(u32);
    /// A device or host buffer, numbered from 0 in the order of creation.
    BufferId(u32);
    /// A host thread that issues steps; 0 is the thread that owns the engine.
    IssuerId(u8);
    /// A host slot of a lattice: picture slots first, then snapshot slots, then measure slots.
    Slot(u8);
    /// A duration or a point in time on the device's clock, in nanoseconds.
    Nanos(i64);
}

impl LatticeId {
    /// The id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The range of this lattice only, for ops that take a range.
    pub const fn as_range(self) -> Range<u32> {
        self.0..self.0 + 1
    }
}

impl Nanos {
    /// As milliseconds.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// As microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e3
    }
}
