//! How the kernel of a session was chosen.

use engine::kernels::{KERNELS, Kernel};

use crate::Switches;

/// How a session's kernel was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelChoice {
    /// The user named it.
    #[default]
    Explicit,
    /// Nobody did: the first of the [`default_kernels`] that takes the lattices, whatever their size
    /// becomes.
    FirstFitting,
    /// Will be chosen when the session starts; until then, any kernel that supports the lattices.
    Auto,
    /// Will be chosen at the start together with how its launches are submitted (streams, graphs),
    /// for rounds of as many generations as fit in a frame.
    AutoWithSubmission,
    /// The fastest by the estimate.
    Estimated,
}

/// The kernel of a session for which nobody names one.
pub const DEFAULT_KERNEL: &str = "sync-global";

/// The default kernel and, where it does not take the lattices, those that stand in for it with these
/// switches, from the next rung up.
pub fn default_kernels(switches: Switches) -> impl Iterator<Item = &'static Kernel> {
    let mut rungs = KERNELS.iter().skip_while(|it| it.name != DEFAULT_KERNEL);
    let stands_in = move |it: &&Kernel| switches.incompatibility(it).is_none();
    rungs.next().into_iter().chain(rungs.filter(stands_in))
}
