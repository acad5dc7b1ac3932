//! `multistep`: a band of rows goes through all generations of a pass while it is in the cache,
//! and only then is stored. There the band is a row in every stage, in a warp's registers.

use super::planar::step_row;
use crate::life::{Rule, Size};

/// Rows of a band, without its halo: with that and their copies 20 KiB at 2048 cells across, and
/// 640 KiB at 65536.
const BAND: usize = 32;

/// So many generations.
pub(super) fn pass(size: Size, rule: Rule, generations: u32, from: &[u32], to: &mut [u32]) {
    let (words, height) = (size.words_per_row(), size.height() as usize);
    let halo = generations as usize;
    let mut now = vec![0; (BAND + 2 * halo) * words];
    let mut next = now.clone();
    for (band, out) in to.chunks_mut(BAND * words).enumerate() {
        let rows = out.len() / words + 2 * halo;
        // Halo times height is more than the halo, and no multiple of the height is lost.
        let first = band * BAND + halo * height - halo;
        for (y, row) in now.chunks_exact_mut(words).take(rows).enumerate() {
            row.copy_from_slice(&from[(first + y) % height * words..][..words]);
        }
        for generation in 1..=halo {
            let row = |y: usize| &now[y * words..][..words];
            for (y, out) in next.chunks_exact_mut(words).enumerate() {
                if (generation..rows - generation).contains(&y) {
                    step_row(rule, [row(y - 1), row(y), row(y + 1)], out);
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        out.copy_from_slice(&now[halo * words..][..out.len()]);
    }
}
