//! The lattices and rules that a kernel is checked with.

use life::{Rule, Size, SplitMix64};

use crate::case::Case;
use crate::declarations::OwnKernel;

/// Odd and even sizes, narrow ones, and those around a word, a block and a lane.
#[rustfmt::skip]
const SIZES: [(u64, u64); 18] = [
    (33, 17), (64, 64), (96, 40), (127, 65), (1, 1), (2, 3), (5, 4), (31, 9), (32, 8), (65, 33),
    (128, 96), (130, 21), (160, 35), (257, 8), (384, 5), (512, 33), (1000, 7), (3, 70),
];

/// Sizes that a GPU steps at once, odd and even, over many blocks.
const LARGE_SIZES: [(u64, u64); 5] = [
    (2048, 2048),
    (1023, 1025),
    (513, 700),
    (4096, 33),
    (129, 2047),
];

/// Of so many cells one generation is stepped, of fewer two: the CPU compares them all.
const HUGE: u64 = 2 << 20;

const DENSITIES: [f64; 5] = [0.3, 0.5, 0.15, 0.8, 0.65];
const GENERATIONS: [u32; 6] = [1, 4, 2, 5, 3, 9];

/// Rules that many kernels get wrong.
const RULES: [&str; 8] = [
    "B3/S23",
    "B36/S23",
    "B2/S",
    "B3/S23",
    "B0123478/S34678",
    "B1357/S02468",
    "B0/S8",
    "B012345678/S012345678",
];

/// How many cases a kernel is checked with.
const COUNT: usize = 60;

/// The cases for a kernel that the emulator runs: every size that its rung supports, by rules that it declares.
pub(crate) fn cases(own: &OwnKernel, seed: u64) -> Vec<Case> {
    let mut numbers = SplitMix64(seed);
    let sizes = SIZES.map(|(width, height)| Size::new(width, height).expect("a lattice"));
    let sizes: Vec<Size> = sizes
        .into_iter()
        .filter(|it| own.rung.supports(*it))
        .collect();
    let case = |number: usize| {
        let size = sizes[number % sizes.len()];
        let round = number / sizes.len();
        let rule = match &own.rules {
            Some(rules) => rules[(number + round) % rules.len()],
            // Every third one is drawn.
            None if number % 3 == 2 => {
                let masks = numbers.draw();
                Rule::from_masks(masks as u16, (masks >> 16) as u16)
            }
            None => {
                let rule = RULES[(number / 3 * 2 + number % 3 + round) % RULES.len()];
                rule.parse().expect("a rule")
            }
        };
        Case {
            width: size.width(),
            height: size.height(),
            rule: rule.to_string(),
            density: DENSITIES[(number + round) % DENSITIES.len()],
            seed: numbers.draw(),
            generations: GENERATIONS[(number + round) % GENERATIONS.len()],
            lattices: if own.rung.batched {
                1 + (number as u32 + 1) % 2
            } else {
                1
            },
        }
    };
    (0..COUNT).map(case).collect()
}

/// The cases for a kernel that a GPU runs: the same, and large lattices.
pub(crate) fn cases_for_gpu(own: &OwnKernel, seed: u64) -> Vec<Case> {
    let mut cases = cases(own, seed);
    let large = LARGE_SIZES.map(|(width, height)| Size::new(width, height).expect("a lattice"));
    let large = large.into_iter().filter(|it| own.rung.supports(*it));
    // They take the rules and the soups of others.
    let large: Vec<Case> = large
        .zip(&cases)
        .map(|(size, case)| Case {
            width: size.width(),
            height: size.height(),
            generations: if size.cells() > HUGE { 1 } else { 2 },
            lattices: 1,
            ..case.clone()
        })
        .collect();
    cases.extend(large);
    cases
}
