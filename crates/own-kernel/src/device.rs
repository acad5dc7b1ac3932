//! A machine with a kernel loaded to it.

use engine::kernels::Launch;

use crate::{Facts, Fault};

/// What no kernel writes.
pub(crate) const POISON: u32 = 0xa5a5_a5a5;

/// A machine with a kernel loaded to it.
pub(crate) trait Device {
    /// Takes memory for so many words, with guard words around it. Where the machine can, it ends right
    /// before what nobody may touch, or begins right behind.
    fn allocate(&self, words: usize, at_end: bool) -> Result<Box<dyn Buffer + '_>, Fault>;

    /// Launches the kernel with these parameters, and waits for its end. `buffers` are those that the
    /// parameters name.
    fn launch(
        &self,
        shape: Launch,
        parameters: &mut [Argument],
        buffers: [&dyn Buffer; 2],
    ) -> Result<(), Fault>;

    /// Its number of SMs, from which grids are computed.
    fn sm_count(&self) -> u32;

    /// How often each case runs, to see whether the results differ.
    fn runs(&self) -> usize;

    /// Prepares a run.
    fn begin_run(&self, number: usize);

    /// Whether a run differs from the first one in the order of blocks, too.
    fn reorders_blocks(&self, number: usize) -> bool;

    /// What the driver says about the kernel, for the launches so far.
    fn facts(&self) -> Result<Option<Facts>, Fault>;
}

/// The machine's memory for a lattice.
pub(crate) trait Buffer {
    /// Its address on the machine.
    fn address(&self) -> u64;

    /// How many words it has.
    fn words(&self) -> usize;

    /// Writes its first words, and [`POISON`] to the others and to the guard words.
    fn fill(&mut self, words: &[u32]) -> Result<(), Fault>;

    /// Reads it.
    fn read(&self) -> Result<Contents, Fault>;
}

/// What is in a buffer.
pub(crate) struct Contents {
    /// Its words.
    pub words: Vec<u32>,
    /// Whether guard words before it were written.
    pub is_before_written: bool,
    /// Whether guard words behind it were written.
    pub is_behind_written: bool,
}

impl Contents {
    /// Splits words into those of a buffer and the guard words around it.
    pub(crate) fn split(room: &[u32], first: usize, words: usize) -> Contents {
        let is_written = |words: &[u32]| words.iter().any(|word| *word != POISON);
        Contents {
            words: room[first..][..words].to_vec(),
            is_before_written: is_written(&room[..first]),
            is_behind_written: is_written(&room[first + words..]),
        }
    }
}

/// A parameter of a kernel: its bytes from the first one.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Argument([u8; 8]);

impl From<u64> for Argument {
    fn from(number: u64) -> Argument {
        Argument(number.to_ne_bytes())
    }
}

impl From<u32> for Argument {
    fn from(number: u32) -> Argument {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&number.to_ne_bytes());
        Argument(bytes)
    }
}
