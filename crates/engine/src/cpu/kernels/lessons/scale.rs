//! `scale`: artificial work for the lessons on streams. GPU threads share the array; here it is
//! processed sequentially, in pieces that fit registers.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::cpu::vector;

/// Numbers per piece.
const PIECE: usize = 64;

/// Maximum repetitions between two checks of the stop flag.
const MAX_PER_CHECK: u32 = 1 << 16;

/// Multiplies every number by 2 and divides it by 2, `times` times.
pub(super) fn run(array: &[AtomicU32], times: u32, stop: &AtomicBool) {
    for words in array.chunks(PIECE) {
        let mut piece = [0.0; PIECE];
        for (number, word) in piece.iter_mut().zip(words) {
            *number = f32::from_bits(word.load(Ordering::Relaxed));
        }
        let mut left = times;
        while left > 0 && !stop.load(Ordering::Relaxed) {
            work(&mut piece, left.min(MAX_PER_CHECK));
            left -= left.min(MAX_PER_CHECK);
        }
        for (number, word) in piece.into_iter().zip(words) {
            word.store(number.to_bits(), Ordering::Relaxed);
        }
    }
}

// The factors are hidden from the compiler, which could otherwise remove the work. Multiplying by
// 0.5 equals dividing by 2, bit by bit.
fn work(piece: &mut [f32; PIECE], times: u32) {
    vector::vectorize(
        #[inline(always)]
        || {
            let (double, half) = (black_box(2.0f32), black_box(0.5f32));
            let mut numbers = *piece;
            for _ in 0..times {
                for number in &mut numbers {
                    *number *= double;
                    *number *= half;
                }
            }
            *piece = numbers;
        },
    );
}
