//! The table of the kernels that only a bench launches, to learn what a device could do at most;
//! they live in `kernels/support`.

use crate::called::CalledKernel;
use crate::called::Parameter::{Buffer, I32, U32, U64};

/// Logical operations of three words, [`LOP3_AN_ITERATION`] an iteration and thread; every thread
/// writes a word. `unsigned* out, unsigned seed, int iterations`.
pub static LOP3_RATE: CalledKernel = CalledKernel {
    name: "lop3_rate",
    symbol: "lop3_rate",
    parameters: &[Buffer, U32, I32],
};

/// Copies so many quads of words. `const uint4* in, uint4* out, unsigned long long count`.
pub static COPY_RATE: CalledKernel = CalledKernel {
    name: "copy_rate",
    symbol: "copy_rate",
    parameters: &[Buffer, Buffer, U64],
};

/// All of them.
pub static PROBE_KERNELS: [&CalledKernel; 2] = [&LOP3_RATE, &COPY_RATE];

/// Independent chains of a thread of [`LOP3_RATE`].
pub const LOP3_CHAINS: usize = 8;

/// Operations of each chain, an iteration.
pub const LOP3_LINKS: usize = 16;

/// Operations of a thread, an iteration.
pub const LOP3_AN_ITERATION: u64 = (LOP3_CHAINS * LOP3_LINKS) as u64;

/// What thread number `thread` of [`LOP3_RATE`] writes.
pub fn lop3_word(thread: u32, seed: u32, iterations: u32) -> u32 {
    // Table 0x2d of the kernel, in words.
    let lop3 = |a: u32, b: u32, c: u32| a ^ (b | !c);
    let mut chains: [u32; LOP3_CHAINS] =
        std::array::from_fn(|i| seed.wrapping_add(thread).wrapping_mul(2 * i as u32 + 1));
    for _ in 0..iterations as usize * LOP3_LINKS {
        let at = |i: usize| chains[i % LOP3_CHAINS];
        chains = std::array::from_fn(|i| lop3(at(i), at(i + 1), at(i + 3)));
    }
    chains.into_iter().fold(0, |all, word| all ^ word)
}
