//! Random starts: the same seed gives the same lattice on every engine and machine.
//!
//! Every row has a Xoshiro256++ of its own, so rows can be made by any number of threads without
//! a bit's difference. With SplitMix64 as `mix`, the four words of its state are
//! `mix(r)`, `mix(r + g)`, `mix(r + 2g)`, `mix(r + 3g)`, where
//! `r = mix(mix(mix(seed) + instance) + row)` and `g` is SplitMix64's increment.
//!
//! Within a row 64 cells are made at once:
//! if `k` is the density in 65536ths, the bits of `k` from the lowest set one upwards each take
//! one random word, OR-ed on for a 1 and AND-ed on for a 0. OR turns a cell's chance p into
//! (1 + p)/2 and AND into p/2, which reads the binary fraction 0.k from its end. At most 16
//! random words make 64 cells; density 0.5 takes one.

use super::{Lattice, Size};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use std::sync::Mutex;
use std::thread;

/// Densities are multiples of 1 / `DENSITY_STEPS`.
const DENSITY_STEPS: u32 = 1 << 16;

/// Minimum words per thread; smaller shares cost more than they save.
const MIN_WORDS_PER_THREAD: usize = 1 << 15;

/// What a soup is made from: a lattice in which each cell is alive with chance `density`,
/// independently. Another `seed` or another `instance` is another soup.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Soup {
    /// Clamped to 0 (empty) to 1 (full) and rounded to the nearest multiple of 2⁻¹⁶; NaN is taken
    /// for 0.
    pub density: f64,
    /// The seed.
    pub seed: u64,
    /// The number of the lattice among those of one seed.
    pub instance: u64,
}

impl Soup {
    /// The chance of a cell in 65536ths, 65536 at most.
    pub fn chance(self) -> u32 {
        (self.density.clamp(0.0, 1.0) * f64::from(DENSITY_STEPS)).round() as u32
    }

    /// What the rows' generators are seeded from, with the row's number added.
    pub fn key(self) -> u64 {
        mix(mix(self.seed).wrapping_add(self.instance))
    }

    /// The lattice.
    pub fn lattice(self, size: Size) -> Lattice {
        let mut lattice = Lattice::new(size);
        self.fill(size, 0, lattice.words_mut(), size.words_per_row(), 0);
        lattice
    }

    /// Writes rows of the soup from row `first` on, whose number may be negative, by as many threads as
    /// are worth it. Rows are `stride` words apart and start `before` words behind that; other words
    /// are unchanged.
    pub fn fill(self, size: Size, first: i64, words: &mut [u32], stride: usize, before: usize) {
        let threads = threads(size.words() / MIN_WORDS_PER_THREAD);
        self.fill_by(threads, size, first, words, stride, before);
    }

    /// [`Soup::fill`] with this many threads (0 counts as 1).
    fn fill_by(
        self,
        threads: usize,
        size: Size,
        first: i64,
        words: &mut [u32],
        stride: usize,
        before: usize,
    ) {
        let (chance, key) = (self.chance(), self.key().wrapping_add_signed(first));
        let rows_each = (size.height as usize).div_ceil(threads.max(1));
        let fill = |chunk: &mut [u32], first_row: usize| {
            for (row, words) in chunk.chunks_exact_mut(stride).enumerate() {
                let words = &mut words[before..][..size.words_per_row()];
                fill_row(words, chance, row_generator(key, (first_row + row) as u64));
                words[size.words_per_row() - 1] &= size.last_word_mask();
            }
        };
        let chunks = Mutex::new(words.chunks_mut(rows_each * stride).enumerate());
        let next = || {
            chunks
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .next()
        };
        let work = || {
            while let Some((i, chunk)) = next() {
                fill(chunk, i * rows_each);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // If the system cannot start more threads, fewer do the work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }
}

/// The threads for so much work at most, of which there are no more than cores.
pub(crate) fn threads(most: usize) -> usize {
    match most {
        // Finding the number of cores reads files, which is not worth it for small lattices.
        0 | 1 => 1,
        _ => thread::available_parallelism().map_or(1, |n| n.get().min(most)),
    }
}

/// A lattice of this size in which each cell is alive with chance `density`, as [`Soup`] says.
pub fn soup(size: Size, density: f64, seed: u64, instance: u64) -> Lattice {
    let soup = Soup {
        density,
        seed,
        instance,
    };
    soup.lattice(size)
}

/// Fills a row, two words from each 64 cells, the lower half first.
fn fill_row(row: &mut [u32], chance: u32, mut random: Xoshiro256PlusPlus) {
    for pair in row.chunks_mut(2) {
        let cells = bernoulli(chance, &mut random);
        pair[0] = cells as u32;
        if let Some(second) = pair.get_mut(1) {
            *second = (cells >> 32) as u32;
        }
    }
}

/// 64 cells, each alive with probability `chance` / [`DENSITY_STEPS`].
fn bernoulli(chance: u32, random: &mut Xoshiro256PlusPlus) -> u64 {
    if chance == 0 {
        return 0;
    }
    if chance >= DENSITY_STEPS {
        return u64::MAX;
    }
    (chance.trailing_zeros()..DENSITY_STEPS.trailing_zeros()).fold(0, |cells, bit| {
        let word = random.next_u64();
        if chance >> bit & 1 == 1 {
            cells | word
        } else {
            cells & word
        }
    })
}

/// The generator of one row: its state is four draws of SplitMix64 from the row's own key.
fn row_generator(key: u64, row: u64) -> Xoshiro256PlusPlus {
    let start = mix(key.wrapping_add(row));
    let mut state = [0; 32];
    for (i, word) in state.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&mix(start.wrapping_add(GOLDEN.wrapping_mul(i as u64))).to_le_bytes());
    }
    Xoshiro256PlusPlus::from_seed(state)
}

// SplitMix64: numbers that look random, the same from the same seed on every machine.

/// The generator. Its state counts up, so every seed works.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        number
    }

    /// The next number, reduced to one below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }
}

/// 2⁶⁴ over the golden ratio, the increment of the state.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number drawn in state `z`: adjacent states give unrelated numbers, and no two the same.
pub(crate) const fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(GOLDEN);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::size;
    use proptest::prelude::*;

    /// Recorded runs, seeds and figures in papers rest on these: they must never change.
    #[test]
    fn the_soups_are_those_they_always_were() {
        let max = u64::MAX;
        for (size, density, seed, instance, recorded) in [
            (size(512, 512), 0.3, 1, 0, (78603, 0x518b_5e79_24e2_b9d7)),
            (size(512, 512), 0.3, 1, 1, (78646, 0xd9bf_e00e_29ff_1ec5)),
            (size(100, 75), 0.5, 42, 7, (3700, 0xa4cd_2096_4c62_ffb2)),
            (size(33, 1), 0.9, max, max, (31, 0x4427_7765_0572_af21)),
        ] {
            let soup = soup(size, density, seed, instance);
            let bytes = soup.words().iter().flat_map(|word| word.to_le_bytes());
            // FNV-1a.
            let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            assert_eq!(
                (soup.population(), hash),
                recorded,
                "{size} {density} {seed}"
            );
        }
    }

    #[test]
    fn nothing_and_everything() {
        let size = size(70, 9);
        let population = |density| soup(size, density, 1, 0).population();
        assert_eq!([0.0, -1.0, f64::NAN, 1e-9].map(population), [0; 4]);
        assert_eq!([1.0, 7.0, f64::INFINITY].map(population), [size.cells(); 3]);
    }

    proptest! {
        #[test]
        fn any_number_of_threads_makes_the_same_rows_wherever_they_lie(
            width in 1u64..200, height in 1u64..50, threads in 0usize..70, density in 0.0..1.0,
            seed: u64, before in 0usize..3, behind in 0usize..3,
        ) {
            let size = size(width, height);
            let soup = Soup { density, seed, instance: 5 };
            let per_row = size.words_per_row();
            let stride = before + per_row + behind;
            let mut words = vec![7; stride * size.height as usize];
            soup.fill_by(threads, size, 0, &mut words, stride, before);
            let lattice = soup.lattice(size);
            for (row, of) in words.chunks(stride).zip(lattice.words().chunks(per_row)) {
                prop_assert_eq!(&row[before..][..per_row], of);
                let around = row[..before].iter().chain(&row[before + per_row..]);
                prop_assert_eq!(around.filter(|word| **word == 7).count(), before + behind);
            }
            let cleared = Lattice::from_words(size, lattice.words().to_vec());
            prop_assert_eq!(lattice, cleared, "bits beyond the width");
        }
    }
}

#[cfg(test)]
mod random_tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut numbers = SplitMix64(1_234_567);
        let drawn = [(); 3].map(|()| numbers.draw());
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(drawn, published);
    }
}
