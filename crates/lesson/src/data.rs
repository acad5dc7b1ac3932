//! Random data that can be made again, and where a lattice is after millions of generations.

use std::collections::HashMap;

use life::{Lattice, Rule, SplitMix64, reference};

/// The bits of the largest number: what `scale` makes infinite.
const LARGEST: u32 = f32::MAX.to_bits();

/// Fills an array with random floats from 1 to 2, the same for the same seed, and one float that
/// overflows when it is doubled, so that the result shows whether the kernel ran.
pub(super) fn fill_floats(words: &mut [u32], seed: u64) {
    each_float(words, seed, |word, bits| *word = bits);
    let place = planted(words, seed);
    words[place] = LARGEST;
}

/// Whether an array is what `scale` makes of [`fill_floats`].
pub(super) fn is_scaled(words: &mut [u32], seed: u64) -> bool {
    let place = planted(words, seed);
    let infinite = words[place] == f32::INFINITY.to_bits();
    let mut index = 0;
    let mut wrong = 0u32;
    each_float(words, seed, |word, bits| {
        wrong += u32::from(*word != bits && index != place);
        index += 1;
    });
    infinite && wrong == 0
}

fn planted(words: &[u32], seed: u64) -> usize {
    SplitMix64(!seed).below(words.len() as u64) as usize
}

fn each_float(words: &mut [u32], seed: u64, mut with: impl FnMut(&mut u32, u32)) {
    let mut numbers = SplitMix64(seed);
    for pair in words.chunks_mut(2) {
        let random = numbers.draw();
        for (word, bits) in pair.iter_mut().zip([random as u32, (random >> 32) as u32]) {
            with(word, 1f32.to_bits() | bits >> 9);
        }
    }
}

/// A lattice after this many generations, by the reference. Finite, so sooner or later it comes
/// back to where it has been, and goes round from there: millions of generations are few.
pub(super) fn after(start: &Lattice, rule: Rule, generations: u64) -> Lattice {
    /// A lattice of more cells goes round in too long a time to wait for it.
    const FEW_CELLS: u64 = 1 << 14;
    if start.size().cells() > FEW_CELLS {
        return reference::run(start, rule, generations);
    }
    let mut seen: HashMap<Vec<u32>, u64> = HashMap::new();
    let mut lattice = start.clone();
    for generation in 0..generations {
        if let Some(&first) = seen.get(lattice.words()) {
            let period = generation - first;
            let same = first + (generations - first) % period;
            return reference::run(start, rule, same);
        }
        seen.insert(lattice.words().to_vec(), generation);
        lattice = reference::step(&lattice, rule);
    }
    lattice
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Size, soup};

    #[test]
    fn arrays_are_told_from_what_the_kernel_makes_of_them() {
        let mut words = vec![0; 1001];
        fill_floats(&mut words, 5);
        assert!(!is_scaled(&mut words, 5), "nothing has run");
        let mut scaled: Vec<u32> = words
            .iter()
            .map(|&word| (f32::from_bits(word) * 2.0 / 2.0).to_bits())
            .collect();
        assert!(is_scaled(&mut scaled, 5));
        assert!(!is_scaled(&mut scaled, 6));
        scaled[17] ^= 1;
        assert!(!is_scaled(&mut scaled, 5));
    }

    #[test]
    fn a_cycle_takes_the_place_of_many_generations() {
        let start = soup(Size::new(8, 8).unwrap(), 0.4, 1, 0);
        for generations in [0, 1, 2, 500, 501] {
            let want = reference::run(&start, Rule::LIFE, generations);
            assert_eq!(
                after(&start, Rule::LIFE, generations),
                want,
                "{generations}"
            );
        }
        let far = after(&start, Rule::LIFE, 10_000_000_000);
        assert_eq!(far.size(), start.size());
    }
}
