//! What a script orders.

/// The calls of a round, in the order in which the host makes them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Round {
    /// Every call.
    pub calls: Vec<Call>,
}

/// One call of the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// What it queues in the stream, or does with it.
    pub kind: CallKind,
    /// The stream, numbered from 0 by the script.
    pub stream: u32,
    /// Where in the script it is.
    pub place: Place,
}

/// What a call does. An item is a lattice in a round of the simulation, and a chunk of an array in an
/// exercise about arrays ([`Work`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallKind {
    /// Launches the kernel that advances a lattice.
    Advance(u32),
    /// Copies a chunk to the device.
    Upload(u32),
    /// Launches the kernel that scales a chunk.
    Scale(u32),
    /// Copies an item to the host.
    Download(u32),
    /// Records an event, numbered by the script.
    Record(u32),
    /// Makes the stream wait for an event's latest record.
    Wait(u32),
    /// Blocks the host until the stream's work is done.
    Synchronize,
}

/// What a script's calls work on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Work {
    /// Lattices: each advances once and is downloaded once.
    Lattices,
    /// Chunks of an array: each is uploaded, scaled and downloaded once.
    Arrays,
}

impl CallKind {
    /// The item that it uses; none if it only orders.
    pub fn item(self) -> Option<u32> {
        match self {
            CallKind::Advance(item)
            | CallKind::Upload(item)
            | CallKind::Scale(item)
            | CallKind::Download(item) => Some(item),
            CallKind::Record(_) | CallKind::Wait(_) | CallKind::Synchronize => None,
        }
    }

    /// Its place among the calls of one item; none if it only orders.
    pub(crate) fn stage(self) -> Option<u8> {
        match self {
            CallKind::Upload(_) => Some(0),
            CallKind::Advance(_) | CallKind::Scale(_) => Some(1),
            CallKind::Download(_) => Some(2),
            CallKind::Record(_) | CallKind::Wait(_) | CallKind::Synchronize => None,
        }
    }
}

impl Work {
    /// The calls that every item has once.
    pub fn calls(self) -> &'static [fn(u32) -> CallKind] {
        match self {
            Work::Lattices => &[CallKind::Advance, CallKind::Download],
            Work::Arrays => &[CallKind::Upload, CallKind::Scale, CallKind::Download],
        }
    }
}

/// A place in a script, both numbers from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl Round {
    /// How many streams it uses, numbered from 0 up to this; those between count, too.
    pub fn streams(&self) -> u32 {
        let last = self.calls.iter().map(|call| call.stream).max();
        last.map_or(0, |last| last + 1)
    }

    /// How many events it names, numbered from 0 up to this.
    pub fn events(&self) -> u32 {
        let event = |call: &Call| match call.kind {
            CallKind::Record(event) | CallKind::Wait(event) => Some(event),
            _ => None,
        };
        let last = self.calls.iter().filter_map(event).max();
        last.map_or(0, |last| last + 1)
    }

    /// Whether the host waits in it.
    pub fn synchronizes(&self) -> bool {
        let waits = |call: &Call| call.kind == CallKind::Synchronize;
        self.calls.iter().any(waits)
    }
}
