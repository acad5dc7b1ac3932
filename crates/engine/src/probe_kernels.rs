//! The table of kernels that only benchmarks launch, to measure a device's limits. Their sources
//! are in `kernels/support`.

use crate::buffer_kernel::ArgumentType::{Buffer, I32, U32, U64};
use crate::buffer_kernel::BufferKernel;

/// Logical operations on three words, [`LOP3_PER_ITERATION`] per iteration and thread. Every thread
/// writes one word. `unsigned* out, unsigned seed, int iterations`.
pub static LOP3_RATE: BufferKernel = BufferKernel {
    name: "lop3_rate",
    symbol: "lop3_rate",
    parameters: &[Buffer, U32, I32],
};

/// Copies `count` quads of words. `const uint4* in, uint4* out, unsigned long long count`.
pub static COPY_RATE: BufferKernel = BufferKernel {
    name: "copy_rate",
    symbol: "copy_rate",
    parameters: &[Buffer, Buffer, U64],
};

/// All probe kernels.
pub static PROBE_KERNELS: [&BufferKernel; 2] = [&LOP3_RATE, &COPY_RATE];

/// Independent chains of operations per thread of [`LOP3_RATE`].
pub const LOP3_CHAINS: usize = 8;

/// Operations per chain and iteration.
pub const LOP3_LINKS: usize = 16;

/// Operations per thread and iteration.
pub const LOP3_PER_ITERATION: u64 = (LOP3_CHAINS * LOP3_LINKS) as u64;

/// The word that thread `thread` of [`LOP3_RATE`] writes.
pub fn lop3_word(thread: u32, seed: u32, iterations: u32) -> u32 {
    // The kernel's truth table 0x2d as an expression.
    let lop3 = |a: u32, b: u32, c: u32| a ^ (b | !c);
    let mut chains: [u32; LOP3_CHAINS] =
        std::array::from_fn(|i| seed.wrapping_add(thread).wrapping_mul(2 * i as u32 + 1));
    for _ in 0..iterations as usize * LOP3_LINKS {
        let at = |i: usize| chains[i % LOP3_CHAINS];
        chains = std::array::from_fn(|i| lop3(at(i), at(i + 1), at(i + 3)));
    }
    chains.into_iter().fold(0, |all, word| all ^ word)
}
