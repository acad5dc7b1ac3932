//! The instruction sets of x86-64, and the operations of AVX-512 that others lack.

use std::arch::x86_64::__m512i;

use pulp::Scalar;
use pulp::x86::{V2, V3, V4};

use super::{Generic, Logic, Sum, Work};

pulp::simd_type! {
    /// AVX-512 with what compilers use for `bits` and for measuring, and processors older than Ice
    /// Lake and Zen 4 lack: shifts across two words, and counts of bits.
    struct Avx512 {
        avx512f: "avx512f",
        avx512bw: "avx512bw",
        avx512dq: "avx512dq",
        avx512vl: "avx512vl",
        avx512vbmi2: "avx512vbmi2",
        avx512vpopcntdq: "avx512vpopcntdq",
    }
}

impl Logic for V4 {
    const NAME: &'static str = "AVX-512";
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
        self.vectorize(
            #[inline(always)]
            || work(self),
        )
    }
}

/// Runs `work` on the best available instruction set.
pub(in crate::cpu) fn dispatch<W: Work>(work: W) -> W::Output {
    if let Some(v4) = V4::try_new() {
        work.on(v4)
    } else if let Some(v3) = V3::try_new() {
        work.on(Generic(v3))
    } else if let Some(v2) = V2::try_new() {
        work.on(Generic(v2))
    } else {
        work.on(Generic(Scalar))
    }
}

/// Runs `work`, plain loops that the compiler vectorises, compiled for the best available instruction
/// set. The closure and the functions that it calls must be `#[inline(always)]`. The compiler knows
/// that a `&mut` argument of such a function aliases nothing, but not that a captured one does.
#[inline(always)]
pub(in crate::cpu) fn vectorize<T>(work: impl FnOnce() -> T) -> T {
    if let Some(avx512) = Avx512::try_new() {
        avx512.vectorize(work)
    } else if let Some(v3) = V3::try_new() {
        v3.vectorize(work)
    } else if let Some(v2) = V2::try_new() {
        v2.vectorize(work)
    } else {
        work()
    }
}

/// Runs `work` on every available instruction set.
#[cfg(test)]
pub(in crate::cpu) fn on_each<W: Work + Copy>(work: W) -> Vec<W::Output> {
    let v4 = V4::try_new().map(|v4| work.on(v4));
    let v3 = V3::try_new().map(|v3| work.on(Generic(v3)));
    let v2 = V2::try_new().map(|v2| work.on(Generic(v2)));
    [v4, v3, v2, Some(work.on(Generic(Scalar)))]
        .into_iter()
        .flatten()
        .collect()
}
