//! The compute limit of the planar kernels: how many vector logic instructions a core issues per
//! second. Measured, because a processor's clock depends on its load.

use std::array;
use std::hint::black_box;
use std::time::{Duration, Instant};

use super::vector::Logic;

/// Independent dependency chains: more than any core executes in parallel. No chain uses another's
/// results: some cores issue much less if results go to and fro between their units.
const CHAINS: usize = 12;

/// Instructions per chain between two reads of the clock, a multiple of 3.
const LENGTH: usize = 9_999;

/// Measures an instruction set's limit on this thread for `duration`: cells × generations per second
/// if only the instructions that B3/S23 needs at least were needed.
pub(super) fn measure<L: Logic>(logic: L, duration: Duration) -> f64 {
    let word = |i: usize| logic.splat(black_box(0x9e37_79b9_u32.wrapping_mul(i as u32)));
    let mut words = array::from_fn(word);
    let others = [word(CHAINS), word(CHAINS + 1), word(CHAINS + 2)];
    let (began, mut turns) = (Instant::now(), 0);
    let elapsed = loop {
        words = logic.run(
            #[inline(always)]
            |logic| chains(logic, words, others),
        );
        turns += 1;
        let elapsed = began.elapsed();
        if elapsed >= duration {
            break elapsed;
        }
    };
    black_box(words.map(|words| bytemuck::bytes_of(&words)[0]));
    let instructions = (turns * CHAINS * LENGTH) as f64 / elapsed.as_secs_f64();
    let bits = 8 * size_of::<L::Vector>();
    instructions / L::MIN_INSTRUCTIONS * bits as f64
}

#[inline(always)]
fn chains<L: Logic>(
    logic: L,
    mut words: [L::Vector; CHAINS],
    [a, b, c]: [L::Vector; 3],
) -> [L::Vector; CHAINS] {
    for _ in 0..LENGTH / 3 {
        // In turns, since compilers simplify what repeats.
        for [second, third] in [[a, b], [b, c], [c, a]] {
            for word in &mut words {
                *word = logic.one(*word, second, third);
            }
        }
    }
    words
}
