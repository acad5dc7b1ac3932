//! `shared`: a tile and its halo are first copied to a local array and stepped from there. On a GPU
//! this saves reads of global memory; on a CPU the cache already does, and the copy only costs
//! time.

use super::inner_row;
use crate::cpu::vector;
use life::{Rule, Size};

const ACROSS: usize = 32;
const DOWN: usize = 8;

/// Steps one generation.
pub(super) fn step(size: Size, rule: Rule, from: &[i32], to: &mut [i32]) {
    let (width, height) = (size.width() as usize, size.height() as usize);
    let mut tile = [[0; ACROSS + 2]; DOWN + 2];
    for top in (0..height).step_by(DOWN) {
        for left in (0..width).step_by(ACROSS) {
            let across = ACROSS.min(width - left);
            let down = DOWN.min(height - top);
            for (j, row) in tile[..down + 2].iter_mut().enumerate() {
                let source = &from[(top + height + j - 1) % height * width..][..width];
                row[0] = source[(left + width - 1) % width];
                row[1..=across].copy_from_slice(&source[left..left + across]);
                row[across + 1] = source[(left + across) % width];
            }
            vector::vectorize(
                #[inline(always)]
                || {
                    for j in 0..down {
                        let out = &mut to[(top + j) * width + left..][..across];
                        inner_row([&tile[j], &tile[j + 1], &tile[j + 2]], rule.table(), out);
                    }
                },
            );
        }
    }
}
