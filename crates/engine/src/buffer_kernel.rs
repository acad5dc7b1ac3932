//! Kernels that [`Op::LaunchOnBuffers`](crate::Op::LaunchOnBuffers) launches: those of lessons
//! ([`lesson_kernels`](crate::lesson_kernels)) and those that measure a device
//! ([`probe_kernels`](crate::probe_kernels)).
//!
//! # How to add one
//! 1. `kernels/lessons/NAME.cu` (`kernels/support/NAME.cu` for a probe), and its PTX by
//!    `scripts/build-kernels`.
//! 2. A [`BufferKernel`] and its place in the array of `lesson_kernels.rs` or `probe_kernels.rs`,
//!    with the array's length.
//! 3. The same on the CPU, in `crates/engine/src/cpu/kernels/lessons.rs`, with a test beside it. A
//!    probe has a CPU version too, but only to be checked: nothing is measured with it.
//! 4. A test in `tests/kernels/lesson_kernels_emulated.rs`, which runs the `.cu` file without a GPU. A
//!    list there names every lesson kernel.
//! 5. A line in `kernels/README.md`.

/// A kernel that takes buffers and numbers instead of lattices.
#[derive(Debug)]
pub struct BufferKernel {
    /// Name, which is also the stem of its file.
    pub name: &'static str,
    /// Symbol of the function in that file.
    pub symbol: &'static str,
    /// Parameters, in order.
    pub parameters: &'static [Parameter],
}

/// The type of a kernel's parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// An address in a device buffer.
    Buffer,
    /// A number.
    I32,
    /// A number.
    U32,
    /// A number.
    U64,
    /// A number.
    F32,
}

impl PartialEq for BufferKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
