//! What [`Op::Call`](crate::Op::Call) launches: kernels of lessons
//! ([`lesson_kernels`](crate::lesson_kernels)) and those that measure a device
//! ([`probe_kernels`](crate::probe_kernels)).

/// A kernel that takes buffers and numbers, no lattices.
#[derive(Debug)]
pub struct CalledKernel {
    /// What people read, and the stem of its file.
    pub name: &'static str,
    /// The function in it.
    pub symbol: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
}

/// What a kernel's parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// An address in a buffer of the device.
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

impl PartialEq for CalledKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
