//! The compute limit of the planar kernels: how many vector logic instructions a core issues per
//! second. Measured, because a processor's clock depends on its load.

use std::array;
use std::hint::black_box;
use std::time::{Duration, Instant};

use super::vector::{self, Logic, Work};

/// The measured limit of one thread.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The instruction set.
    pub instruction_set: &'static str,
    /// Vector logic instructions per second.
    pub instructions: f64,
    /// Minimum known instructions to step one vector of cells by B3/S23.
    pub instructions_per_vector: f64,
    /// Cells × generations per second if only these instructions were needed.
    pub cells: f64,
}

/// Measures the limit on this thread for `duration`.
pub fn measure(duration: Duration) -> Limit {
    vector::dispatch(Measure(duration))
}

/// Measures the limit of an instruction set on this thread for `duration`.
#[cfg(test)]
pub(super) fn measure_on<L: Logic>(logic: L, duration: Duration) -> Limit {
    Measure(duration).on(logic)
}

struct Measure(Duration);

/// Independent dependency chains: more than any core executes in parallel. No chain uses another's
/// results: some cores issue much less if results go to and fro between their units.
const CHAINS: usize = 12;

/// Instructions per chain between two reads of the clock, a multiple of 3.
const LENGTH: usize = 9_999;

impl Work for Measure {
    type Output = Limit;

    fn on<L: Logic>(self, logic: L) -> Limit {
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
            if elapsed >= self.0 {
                break elapsed;
            }
        };
        black_box(words.map(|words| bytemuck::bytes_of(&words)[0]));
        let instructions = (turns * CHAINS * LENGTH) as f64 / elapsed.as_secs_f64();
        let bits = 8 * size_of::<L::Vector>();
        Limit {
            instruction_set: L::NAME,
            instructions,
            instructions_per_vector: L::MIN_INSTRUCTIONS,
            cells: instructions / L::MIN_INSTRUCTIONS * bits as f64,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_its_parts() {
        let limit = measure(Duration::from_millis(1));
        assert!(limit.instructions > 1e6, "{limit:?}");
        let bits = limit.cells / limit.instructions * limit.instructions_per_vector;
        assert!([128.0, 256.0, 512.0].contains(&bits.round()), "{limit:?}");
    }
}
