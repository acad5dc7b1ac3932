//! Processors other than x86-64: NEON where there is one.

use pulp::{Arch, Simd, WithSimd};

use super::Work;
use super::simd::Generic;

struct OnArch<W>(W);

impl<W: Work> WithSimd for OnArch<W> {
    type Output = W::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> W::Output {
        self.0.on(Generic(simd))
    }
}

pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    Arch::new().dispatch(OnArch(work))
}

#[inline(always)]
pub(super) fn vectorize<T>(work: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(work)
}

#[cfg(test)]
pub(super) fn on_each<W: Work + Copy>(work: W) -> Vec<W::Output> {
    vec![work.on(Generic(pulp::Scalar)), dispatch(work)]
}
