//! Fallback for unknown instruction sets: four words, which compilers turn into 128-bit vectors.

use std::array;

use super::{Logic, Sum, Work};

#[derive(Clone, Copy)]
pub(super) struct Portable;

type Words = [u32; 4];

/// Steps cells by B3/S23, from the sums of the columns before and after them.
#[inline(always)]
fn next([up, cells, down]: [Words; 3], before: Sum<Words>, after: Sum<Words>) -> Words {
    let beside = Portable.add_known(Portable.xor(up, down), up, before[0]);
    array::from_fn(|i| {
        let ones = after[0][i] ^ beside[0][i];
        let carry = after[0][i] & beside[0][i];
        let odd = after[1][i] ^ beside[1][i] ^ before[1][i] ^ carry;
        let pairs = (after[1][i] & beside[1][i]) | (before[1][i] & carry);
        odd & !pairs & (ones | cells[i])
    })
}

impl Logic for Portable {
    const NAME: &'static str = if cfg!(target_arch = "aarch64") {
        "NEON"
    } else {
        "portable"
    };
    const MIN_INSTRUCTIONS: f64 = 20.5;
    const HAS_LOOKUP: bool = false;
    type Vector = Words;

    #[inline(always)]
    fn splat(self, word: u32) -> Words {
        [word; 4]
    }

    #[inline(always)]
    fn and(self, a: Words, b: Words) -> Words {
        array::from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    fn xor(self, a: Words, b: Words) -> Words {
        array::from_fn(|i| a[i] ^ b[i])
    }

    #[inline(always)]
    fn choose(self, mask: Words, set: Words, clear: Words) -> Words {
        array::from_fn(|i| clear[i] ^ (mask[i] & (set[i] ^ clear[i])))
    }

    #[inline(always)]
    fn one(self, a: Words, b: Words, _: Words) -> Words {
        array::from_fn(|i| !a[i] & b[i])
    }

    #[inline(always)]
    fn life(self, columns: [[Words; 3]; 2], [a, b, c, d]: [Sum<Words>; 4]) -> [Words; 2] {
        [next(columns[0], a, c), next(columns[1], b, d)]
    }

    #[inline(always)]
    fn turn_left(self, a: Words) -> Words {
        a.map(|word| word.rotate_left(1))
    }

    #[inline(always)]
    fn turn_right(self, a: Words) -> Words {
        a.map(|word| word.rotate_right(1))
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
