//! What runs kernels, and the process in which it does.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use platform::contained::Limits;

/// What runs the kernels of a [`Workshop`](crate::Workshop).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// The GPU of this number.
    Gpu(u32),
    /// This computer's CPU, which runs the kernel compiled as C++. It finds races, too, but its times
    /// mean nothing.
    Emulator,
}

/// Makes commands that call [`serve`](crate::serve).
pub(crate) type Child = Arc<dyn Fn() -> Command + Send + Sync>;

/// Limits for a process that runs kernels in the emulator.
pub(crate) const EMULATOR_LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    resident: 1 << 30,
    address_space: Some(4 << 30),
};

/// Limits for a process that runs kernels on a GPU: it has the driver in its memory, and a compiler.
pub(crate) const GPU_LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    resident: 4 << 30,
    address_space: None,
};

/// The command of a process that runs kernels.
pub(crate) fn command(child: &Child, folder: &Path, machine: Machine) -> Command {
    let mut command = child();
    command.arg(folder).env("TMPDIR", folder);
    if let Machine::Gpu(ordinal) = machine {
        command.arg(ordinal.to_string());
    }
    command
}
