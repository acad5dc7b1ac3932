//! The bit-packed torus, in the layout used for transfers and textures.

use crate::Size;
use crate::memory::{self, MemoryError};
use std::fmt;

/// A torus of cells, 32 per word, the least significant bit leftmost. Each row starts on a word,
/// and the unused bits of its last word are 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Lattice {
    size: Size,
    words: Vec<u32>,
}

impl Lattice {
    /// A lattice with no live cell, if this machine has memory for it.
    ///
    /// # Errors
    /// If memory is insufficient.
    pub fn try_new(size: Size) -> Result<Lattice, MemoryError> {
        memory::ensure_one(size)?;
        // Zeroed pages, which the system provides on first use.
        let zeros = bytemuck::allocation::try_zeroed_slice_box(size.words());
        let zeros: Box<[u32]> = zeros.map_err(|()| memory::refused(size))?;
        let words = zeros.into_vec();
        Ok(Lattice { size, words })
    }

    /// The lattice of these words, which it copies, if this machine has memory for it.
    ///
    /// # Errors
    /// If memory is insufficient.
    ///
    /// # Panics
    /// As [`Lattice::from_words`].
    pub fn try_copy(size: Size, words: &[u32]) -> Result<Lattice, MemoryError> {
        let mut copy = Lattice::try_new(size)?.words;
        copy.copy_from_slice(words);
        Ok(Lattice::from_words(size, copy))
    }

    /// A lattice of dead cells. Panics or aborts if memory runs out; for a size that users choose,
    /// call [`Lattice::try_new`].
    pub fn new(size: Size) -> Lattice {
        Lattice {
            size,
            words: vec![0; size.words()],
        }
    }

    /// The lattice of these words; bits beyond the width are cleared.
    ///
    /// # Panics
    /// If there are not [`Size::words`] of them.
    pub fn from_words(size: Size, words: Vec<u32>) -> Lattice {
        assert_eq!(words.len(), size.words(), "words of a {size} lattice");
        let mut lattice = Lattice { size, words };
        let mask = size.last_word_mask();
        for row in lattice.words.chunks_exact_mut(size.words_per_row()) {
            row[size.words_per_row() - 1] &= mask;
        }
        lattice
    }

    /// The size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// All words, row by row from the top.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// All words, for writing; bits beyond the width must stay 0.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// Whether the cell in column `x`, row `y` is alive.
    pub fn get(&self, x: u32, y: u32) -> bool {
        debug_assert!(x < self.size.width && y < self.size.height);
        self.words[self.word_at(x, y)] >> (x % 32) & 1 == 1
    }

    /// Sets the cell in column `x`, row `y`.
    pub fn set(&mut self, x: u32, y: u32, alive: bool) {
        debug_assert!(x < self.size.width && y < self.size.height);
        let at = self.word_at(x, y);
        let bit = 1 << (x % 32);
        if alive {
            self.words[at] |= bit;
        } else {
            self.words[at] &= !bit;
        }
    }

    /// How many cells are alive.
    pub fn population(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    fn word_at(&self, x: u32, y: u32) -> usize {
        y as usize * self.size.words_per_row() + (x / 32) as usize
    }
}

/// Prints rows of `.` and `O`, as many as fit a screen, for failed assertions.
impl fmt::Debug for Lattice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Lattice {} ({} alive)", self.size, self.population())?;
        for y in 0..self.size.height.min(48) {
            let row: String = (0..self.size.width.min(120))
                .map(|x| if self.get(x, y) { 'O' } else { '.' })
                .collect();
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_width_are_cleared() {
        let size = Size::new(65, 3).unwrap();
        let all = Lattice::from_words(size, vec![u32::MAX; 9]);
        assert_eq!(all.population(), 65 * 3);
    }

    #[test]
    fn sizes_are_read_and_refused() {
        let read = ["512x256", "1024", " 4 X 3"].map(|text| Size::from_sides(text).unwrap());
        let said = read.map(|size| size.to_string());
        assert_eq!(said, ["512x256", "1024x1024", "4x3"]);
        assert!("5".parse::<Size>().is_err());
        for text in [
            "0",
            "0x5",
            "5x0",
            "x",
            "-1x4",
            "99999999999x1",
            "16777216x16777216",
            "",
        ] {
            assert!(Size::from_sides(text).is_err(), "{text}");
        }
    }
}
