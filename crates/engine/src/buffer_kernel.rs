//! Kernels that [`Op::LaunchOnBuffers`](crate::Op::LaunchOnBuffers) launches: those of lessons
//! ([`lesson_kernels`](crate::lesson_kernels)) and those that measure a device
//! ([`probe_kernels`](crate::probe_kernels)).

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
