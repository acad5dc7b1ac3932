//! Fallback for unknown instruction sets: four words, which compilers turn into 128-bit vectors.

use std::array;

use super::{Logic, Sum, Work};

#[derive(Clone, Copy)]
pub(super) struct Portable;

type Words = [u32; 4];

impl Logic for Portable {
    const NAME: &'static str = if cfg!(target_arch = "aarch64") {
        "NEON"
    } else {
        "portable"
    };
    const MIN_INSTRUCTIONS: f64 = 20.5;
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
    fn life(self, cells: Words, below: Sum<Words>, beside: Sum<Words>, above: Words) -> Words {
        array::from_fn(|i| {
            let ones = below[0][i] ^ beside[0][i];
            let carry = below[0][i] & beside[0][i];
            let (a, b) = (below[1][i], beside[1][i]);
            let odd = a ^ b ^ above[i] ^ carry;
            let pairs = (a & b) | (above[i] & carry);
            odd & !pairs & (ones | cells[i])
        })
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
