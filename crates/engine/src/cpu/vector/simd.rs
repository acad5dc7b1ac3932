//! Any instruction set that `pulp` knows, by the operations that all of them have: AVX2, SSE4.2, NEON,
//! and numbers one by one where there is none of them.

use pulp::Simd;

use super::{Logic, Sum};

/// The vectors of an instruction set of `pulp`.
#[derive(Clone, Copy)]
pub(super) struct Generic<S>(pub(super) S);

impl<S: Simd> Generic<S> {
    /// Steps cells by B3/S23, from the sums of the columns before and after them.
    #[inline(always)]
    fn next(
        self,
        [up, cells, down]: [S::u32s; 3],
        before: Sum<S::u32s>,
        after: Sum<S::u32s>,
    ) -> S::u32s {
        let simd = self.0;
        let beside = self.add_known(self.xor(up, down), up, before[0]);
        let ones = self.xor(after[0], beside[0]);
        let carry = self.and(after[0], beside[0]);
        let odd = self.xor(self.xor(after[1], beside[1]), self.xor(before[1], carry));
        let pairs = simd.or_u32s(self.and(after[1], beside[1]), self.and(before[1], carry));
        let one = self.and(odd, simd.not_u32s(pairs));
        self.and(one, simd.or_u32s(ones, cells))
    }

    /// Rotates every word left by `bits`, from 1 to 31.
    #[inline(always)]
    fn turn(self, a: S::u32s, bits: u32) -> S::u32s {
        let left = self.0.wrapping_dyn_shl_u32s(a, self.splat(bits));
        let right = self.0.wrapping_dyn_shr_u32s(a, self.splat(32 - bits));
        self.0.or_u32s(left, right)
    }
}

impl<S: Simd> Logic for Generic<S> {
    const NAME: &'static str = match S::U32_LANES {
        8 => "AVX2",
        4 if cfg!(target_arch = "aarch64") => "NEON",
        4 => "SSE4.2",
        _ => "portable",
    };
    const HAS_LOOKUP: bool = false;
    type Vector = S::u32s;

    #[inline(always)]
    fn splat(self, word: u32) -> S::u32s {
        self.0.splat_u32s(word)
    }

    #[inline(always)]
    fn and(self, a: S::u32s, b: S::u32s) -> S::u32s {
        self.0.and_u32s(a, b)
    }

    #[inline(always)]
    fn xor(self, a: S::u32s, b: S::u32s) -> S::u32s {
        self.0.xor_u32s(a, b)
    }

    #[inline(always)]
    fn choose(self, mask: S::u32s, set: S::u32s, clear: S::u32s) -> S::u32s {
        self.xor(clear, self.and(mask, self.xor(set, clear)))
    }

    #[inline(always)]
    fn life(self, columns: [[S::u32s; 3]; 2], [a, b, c, d]: [Sum<S::u32s>; 4]) -> [S::u32s; 2] {
        [self.next(columns[0], a, c), self.next(columns[1], b, d)]
    }

    #[inline(always)]
    fn turn_left(self, a: S::u32s) -> S::u32s {
        self.turn(a, 1)
    }

    #[inline(always)]
    fn turn_right(self, a: S::u32s) -> S::u32s {
        self.turn(a, 31)
    }

    #[inline(always)]
    fn run<T>(self, work: impl FnOnce(Self) -> T) -> T {
        self.0.vectorize(
            #[inline(always)]
            || work(self),
        )
    }
}
