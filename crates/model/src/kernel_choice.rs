//! How the kernel of a session was chosen.

/// How a session's kernel was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelChoice {
    /// The user named it.
    #[default]
    Explicit,
    /// Will be chosen when the session starts; until then, any kernel that supports the lattices.
    Auto,
    /// Will be chosen at the start together with how its launches are submitted (streams, graphs),
    /// for rounds of as many generations as fit in a frame.
    AutoWithSubmission,
    /// The fastest by the estimate.
    Estimated,
}
