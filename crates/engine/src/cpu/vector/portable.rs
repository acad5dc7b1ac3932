//! Fallback without AVX2: the 128-bit vectors of the crate `wide`, which are in registers with SSE2
//! and NEON.

use wide::u32x4;

use super::{Logic, Sum, Work};

#[derive(Clone, Copy)]
pub(super) struct Portable;

/// Steps cells by B3/S23, from the sums of the columns before and after them.
#[inline(always)]
fn next([up, cells, down]: [u32x4; 3], before: Sum<u32x4>, after: Sum<u32x4>) -> u32x4 {
    let beside = Portable.add_known(up ^ down, up, before[0]);
    let ones = after[0] ^ beside[0];
    let carry = after[0] & beside[0];
    let odd = after[1] ^ beside[1] ^ before[1] ^ carry;
    let pairs = (after[1] & beside[1]) | (before[1] & carry);
    odd & !pairs & (ones | cells)
}

impl Logic for Portable {
    const NAME: &'static str = if cfg!(target_arch = "aarch64") {
        "NEON"
    } else {
        "portable"
    };
    const MIN_INSTRUCTIONS: f64 = 20.5;
    const HAS_LOOKUP: bool = false;
    type Vector = u32x4;

    #[inline(always)]
    fn splat(self, word: u32) -> u32x4 {
        u32x4::splat(word)
    }

    #[inline(always)]
    fn and(self, a: u32x4, b: u32x4) -> u32x4 {
        a & b
    }

    #[inline(always)]
    fn xor(self, a: u32x4, b: u32x4) -> u32x4 {
        a ^ b
    }

    #[inline(always)]
    fn choose(self, mask: u32x4, set: u32x4, clear: u32x4) -> u32x4 {
        clear ^ (mask & (set ^ clear))
    }

    #[inline(always)]
    fn one(self, a: u32x4, b: u32x4, _: u32x4) -> u32x4 {
        !a & b
    }

    #[inline(always)]
    fn life(self, columns: [[u32x4; 3]; 2], [a, b, c, d]: [Sum<u32x4>; 4]) -> [u32x4; 2] {
        [next(columns[0], a, c), next(columns[1], b, d)]
    }

    #[inline(always)]
    fn turn_left(self, a: u32x4) -> u32x4 {
        (a << 1) | (a >> 31)
    }

    #[inline(always)]
    fn turn_right(self, a: u32x4) -> u32x4 {
        (a >> 1) | (a << 31)
    }

    #[inline(always)]
    fn run<T>(self, work: impl FnOnce(Self) -> T) -> T {
        work(self)
    }
}

#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86 has its own"))]
pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    work.on(Portable)
}

#[cfg(test)]
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86 has its own"))]
pub(super) fn on_each<W: Work + Copy>(work: W) -> Vec<W::Output> {
    vec![work.on(Portable)]
}
