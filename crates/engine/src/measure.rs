//! The result of [`LatticeOp::Measure`](crate::LatticeOp::Measure).

/// Four numbers that describe a lattice: enough to plot its history and to recognise a repeated
/// state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Measure {
    /// Live cells.
    pub population: u64,
    /// Cells alive now but not at the previous measure; all live cells at the first one.
    pub births: u64,
    /// Cells alive at the previous measure but not now.
    pub deaths: u64,
    /// The sum of [`Measure::mixed`] over all words of the bits, modulo 2^64. Equal lattices have
    /// equal hashes on every engine; different ones of the same size almost certainly differ. Not
    /// cryptographic.
    pub hash: u64,
}

impl Measure {
    /// Size of a download in 32-bit words: the fields in order, each with its low word first.
    pub const WORDS: usize = 8;

    /// The contribution of word `index` of a lattice's bits to the hash.
    #[inline(always)]
    pub const fn mixed(index: u64, word: u32) -> u64 {
        const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
        let x = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word as u64;
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        let x = (x ^ x >> 32).wrapping_mul(FACTOR);
        x ^ x >> 32
    }

    /// Adds a row of words, the first of which is word `index` of the lattice. `before` holds the
    /// row at the previous measure and is replaced.
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

    /// The measure of two parts of a lattice together.
    pub(crate) fn plus(self, other: Measure) -> Measure {
        Measure {
            population: self.population + other.population,
            births: self.births + other.births,
            deaths: self.deaths + other.deaths,
            hash: self.hash.wrapping_add(other.hash),
        }
    }

    /// Reads a measure from the words of a host slot.
    pub fn from_words(words: &[u32]) -> Measure {
        let number = |i: usize| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32;
        Measure {
            population: number(0),
            births: number(1),
            deaths: number(2),
            hash: number(3),
        }
    }

    /// The measure as the words of a host slot.
    pub fn to_words(self) -> [u32; Measure::WORDS] {
        let numbers = [self.population, self.births, self.deaths, self.hash];
        std::array::from_fn(|i| (numbers[i / 2] >> (32 * (i % 2))) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_knows_where_a_word_is() {
        assert_ne!(Measure::mixed(0, 1), Measure::mixed(1, 1));
        assert_ne!(Measure::mixed(1, 1), Measure::mixed(1, 2));
        // A fixed value, since other programs may compare hashes.
        assert_eq!(Measure::mixed(0, 0), 0x4e17_cf67_001b_3979);
    }
}
