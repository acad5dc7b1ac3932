//! `global`: one cell per thread on the GPU, one cell per iteration here; every neighbour is read
//! from the source.

use super::torus_row;
use crate::cpu::vector;
use life::{Rule, Size};

/// Steps one generation.
pub(super) fn step(size: Size, rule: Rule, from: &[i32], to: &mut [i32]) {
    let (width, height) = (size.width() as usize, size.height() as usize);
    let row = |y: usize| &from[y % height * width..][..width];
    vector::vectorize(
        #[inline(always)]
        || {
            for (y, out) in to.chunks_exact_mut(width).enumerate() {
                torus_row([row(y + height - 1), row(y), row(y + 1)], rule.table(), out);
            }
        },
    );
}
