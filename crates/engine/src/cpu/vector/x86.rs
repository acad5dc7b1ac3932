//! AVX-512 and AVX2.

use std::arch::x86_64::{__m256i, __m512i};

use pulp::NullaryFnOnce;
use pulp::x86::{V3, V4};

use super::portable::Portable;
use super::{Logic, Sum, Work};

impl Logic for V4 {
    const NAME: &'static str = "AVX-512";
    const MIN_INSTRUCTIONS: f64 = 7.5;
    const HAS_LOOKUP: bool = true;
    type Vector = __m512i;

    #[inline(always)]
    fn splat(self, word: u32) -> __m512i {
        self.avx512f._mm512_set1_epi32(word as i32)
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_and_si512(a, b)
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_xor_si512(a, b)
    }

    #[inline(always)]
    fn choose(self, mask: __m512i, set: __m512i, clear: __m512i) -> __m512i {
        self.lookup::<0xca>(mask, set, clear)
    }

    #[inline(always)]
    fn one(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        self.choose(a, b, c)
    }

    #[inline(always)]
    fn lookup<const TABLE: i32>(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        self.avx512f._mm512_ternarylogic_epi32::<TABLE>(a, b, c)
    }

    /// The 15 operations for two words of `LifeRule::next` in `life.cuh`, with columns for rows. A
    /// ternary operation overwrites one of its operands, and a copy takes as long as an operation:
    /// two more operations that overwrite none save three copies.
    #[inline(always)]
    fn life(
        self,
        [[_, left, _], [_, right, _]]: [[__m512i; 3]; 2],
        [before, near, far, after]: [Sum<__m512i>; 4],
    ) -> [__m512i; 2] {
        let m1 = self.lookup::<0xe8>(near[1], far[1], near[0]);
        let m0 = self.xor(m1, self.xor(near[1], far[1]));
        let odd = self.xor(far[0], near[0]);
        let m2 = self.lookup::<0x18>(m0, far[0], near[0]);
        #[inline(always)]
        fn next(
            v4: V4,
            outer: Sum<__m512i>,
            [odd, m0, m1, m2]: [__m512i; 4],
            cells: __m512i,
        ) -> __m512i {
            let a0 = v4.xor(outer[0], odd);
            let a1 = v4.lookup::<0xe2>(outer[0], m2, m0);
            let a2 = v4.lookup::<0x16>(a1, outer[1], m1);
            v4.lookup::<0xe0>(a2, a0, cells)
        }
        let shared = [odd, m0, m1, m2];
        [
            next(self, before, shared, left),
            next(self, after, shared, right),
        ]
    }

    #[inline(always)]
    fn turn_left(self, a: __m512i) -> __m512i {
        self.avx512f._mm512_rol_epi32::<1>(a)
    }

    #[inline(always)]
    fn turn_right(self, a: __m512i) -> __m512i {
        self.avx512f._mm512_ror_epi32::<1>(a)
    }

    #[inline(always)]
    fn run<T>(self, work: impl FnOnce(Self) -> T) -> T {
        self.vectorize(On(self, work))
    }
}

impl Logic for V3 {
    const NAME: &'static str = "AVX2";
    const MIN_INSTRUCTIONS: f64 = 20.5;
    const HAS_LOOKUP: bool = false;
    type Vector = __m256i;

    #[inline(always)]
    fn splat(self, word: u32) -> __m256i {
        self.avx._mm256_set1_epi32(word as i32)
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_and_si256(a, b)
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_xor_si256(a, b)
    }

    #[inline(always)]
    fn choose(self, mask: __m256i, set: __m256i, clear: __m256i) -> __m256i {
        self.xor(clear, self.and(mask, self.xor(set, clear)))
    }

    #[inline(always)]
    fn one(self, a: __m256i, b: __m256i, _: __m256i) -> __m256i {
        self.avx2._mm256_andnot_si256(a, b)
    }

    #[inline(always)]
    fn life(self, columns: [[__m256i; 3]; 2], [a, b, c, d]: [Sum<__m256i>; 4]) -> [__m256i; 2] {
        #[inline(always)]
        fn next(
            v3: V3,
            [up, cells, down]: [__m256i; 3],
            before: Sum<__m256i>,
            after: Sum<__m256i>,
        ) -> __m256i {
            let beside = v3.add_known(v3.xor(up, down), up, before[0]);
            let ones = v3.xor(after[0], beside[0]);
            let carry = v3.and(after[0], beside[0]);
            let odd = v3.xor(v3.xor(after[1], beside[1]), v3.xor(before[1], carry));
            let [pair, other] = [v3.and(after[1], beside[1]), v3.and(before[1], carry)];
            let pairs = v3.avx2._mm256_or_si256(pair, other);
            let one = v3.avx2._mm256_andnot_si256(pairs, odd);
            v3.and(one, v3.avx2._mm256_or_si256(ones, cells))
        }
        [next(self, columns[0], a, c), next(self, columns[1], b, d)]
    }

    #[inline(always)]
    fn turn_left(self, a: __m256i) -> __m256i {
        let avx2 = self.avx2;
        avx2._mm256_or_si256(
            avx2._mm256_slli_epi32::<1>(a),
            avx2._mm256_srli_epi32::<31>(a),
        )
    }

    #[inline(always)]
    fn turn_right(self, a: __m256i) -> __m256i {
        let avx2 = self.avx2;
        avx2._mm256_or_si256(
            avx2._mm256_slli_epi32::<31>(a),
            avx2._mm256_srli_epi32::<1>(a),
        )
    }

    #[inline(always)]
    fn run<T>(self, work: impl FnOnce(Self) -> T) -> T {
        self.vectorize(On(self, work))
    }
}

/// Work, with the instruction set to compile it for.
struct On<L, F>(L, F);

impl<L, T, F: FnOnce(L) -> T> NullaryFnOnce for On<L, F> {
    type Output = T;

    #[inline(always)]
    fn call(self) -> T {
        (self.1)(self.0)
    }
}

pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    if let Some(v4) = V4::try_new() {
        work.on(v4)
    } else if let Some(v3) = V3::try_new() {
        work.on(v3)
    } else {
        work.on(Portable)
    }
}

#[cfg(test)]
pub(super) fn on_each<W: Work + Copy>(work: W) -> Vec<W::Output> {
    let v4 = V4::try_new().map(|v4| work.on(v4));
    let v3 = V3::try_new().map(|v3| work.on(v3));
    [v4, v3, Some(work.on(Portable))]
        .into_iter()
        .flatten()
        .collect()
}
