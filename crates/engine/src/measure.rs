//! What [`Op::Measure`](crate::Op::Measure) finds of a lattice.

/// A lattice in four numbers: enough to draw its history, and to know it again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Measure {
    /// Live cells.
    pub population: u64,
    /// Cells that live and did not at the measure before, if there was one; else all that live.
    pub births: u64,
    /// Cells that lived at the measure before and do not.
    pub deaths: u64,
    /// The sum of [`Measure::mixed`] over all words of the bits, modulo 2^64: the same lattice has
    /// the same hash on every engine, and others of its size almost certainly another. Not made
    /// against those who look for a collision.
    pub hash: u64,
}

impl Measure {
    /// Words that a download of one takes: its fields in their order, each with its low word first.
    pub const WORDS: usize = 8;

    /// What word `index` of a lattice's bits adds to its hash.
    #[inline(always)]
    pub const fn mixed(index: u64, word: u32) -> u64 {
        const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
        let x = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word as u64;
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        x ^ x >> 32
    }

    /// Of a row of words, the first of which is word `index` of the lattice, and of those that
    /// were there before, which are replaced.
    #[inline(always)]
    pub(crate) fn add(&mut self, index: u64, words: &[u32], before: &mut [u32]) {
        let (mut population, mut births, mut deaths) = (0, 0, 0);
        for ((now, then), index) in words.iter().zip(before).zip(index..) {
            population += now.count_ones();
            births += (now & !*then).count_ones();
            deaths += (*then & !now).count_ones();
            self.hash = self.hash.wrapping_add(Measure::mixed(index, *now));
            *then = *now;
        }
        self.population += u64::from(population);
        self.births += u64::from(births);
        self.deaths += u64::from(deaths);
    }

    /// Out of a host slot.
    pub fn from_words(words: &[u32]) -> Measure {
        let number = |i: usize| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32;
        Measure {
            population: number(0),
            births: number(1),
            deaths: number(2),
            hash: number(3),
        }
    }

    /// As it lies in a host slot.
    pub fn to_words(self) -> [u32; Measure::WORDS] {
        let numbers = [self.population, self.births, self.deaths, self.hash];
        std::array::from_fn(|i| (numbers[i / 2] >> (32 * (i % 2))) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_comes_through_its_words() {
        let measure = Measure {
            population: 1 << 40 | 3,
            births: 2,
            deaths: u64::MAX,
            hash: 0x0123_4567_89ab_cdef,
        };
        assert_eq!(Measure::from_words(&measure.to_words()), measure);
    }

    #[test]
    fn the_hash_knows_where_a_word_is() {
        let of = |words: &[u32]| {
            let mut measure = Measure::default();
            measure.add(0, words, &mut vec![0; words.len()]);
            measure.hash
        };
        assert_ne!(of(&[1, 0]), of(&[0, 1]));
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_eq!(of(&[5, 9]), of(&[5, 9]));
        // Written down: other programs may compare.
        assert_eq!(Measure::mixed(0, 0), 0x4e17_cf67_001b_3979);
    }
}
