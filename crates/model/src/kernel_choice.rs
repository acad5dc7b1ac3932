//! How the kernel of a session was chosen.

/// How a kernel came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelChoice {
    /// Somebody named it.
    #[default]
    Explicit,
    /// It is to be picked at the start; until then it is one that takes every lattice.
    Auto,
    /// It and how its launches are submitted are to be picked at the start, for rounds of as many
    /// generations as fit in a frame.
    AutoWithSubmission,
    /// It was the fastest in the table that the program has of such devices.
    Recorded,
    /// It was the fastest of so many that were timed on this device.
    Benchmarked(usize),
}
