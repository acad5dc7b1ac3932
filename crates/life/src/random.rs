//! SplitMix64: numbers that look random, the same from the same seed on every machine.

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
