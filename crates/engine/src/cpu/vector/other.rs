//! Processors other than x86-64: NEON where there is one.

use pulp::{Arch, Simd, WithSimd};

use super::{Generic, Work};

struct OnArch<W>(W);

impl<W: Work> WithSimd for OnArch<W> {
    type Output = W::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> W::Output {
        self.0.on(Generic(simd))
    }
}

/// Runs `work` on the best available instruction set.
pub(in crate::cpu) fn dispatch<W: Work>(work: W) -> W::Output {
    Arch::new().dispatch(OnArch(work))
}

/// Runs `work`, plain loops that the compiler vectorises, compiled for the best available instruction
/// set. The closure and the functions that it calls must be `#[inline(always)]`. The compiler knows
/// that a `&mut` argument of such a function aliases nothing, but not that a captured one does.
#[inline(always)]
pub(in crate::cpu) fn vectorize<T>(work: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(work)
}

/// Runs `work` on every available instruction set.
#[cfg(test)]
pub(in crate::cpu) fn on_each<W: Work + Copy>(work: W) -> Vec<W::Output> {
    vec![work.on(Generic(pulp::Scalar)), dispatch(work)]
}
