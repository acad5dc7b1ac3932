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
    /// What it takes, in order.
    pub parameters: &'static [ArgumentType],
}

/// The type of an [`Argument`](crate::Argument).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentType {
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

impl ArgumentType {
    /// Its size in bytes, as a kernel's parameter.
    pub const fn bytes(self) -> usize {
        match self {
            ArgumentType::Buffer | ArgumentType::U64 => 8,
            ArgumentType::I32 | ArgumentType::U32 | ArgumentType::F32 => 4,
        }
    }
}

impl PartialEq for BufferKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
