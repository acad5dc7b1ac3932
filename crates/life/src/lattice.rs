//! The bit-packed torus, in the layout used for transfers and textures.

use crate::memory::{self, MemoryError};
use lang::{Message, message};
use std::fmt;
use std::str::FromStr;

/// A lattice's width and height in cells; both are at least 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// The longest side, in cells.
    pub const MAX_SIDE: u32 = 1 << 24;
    /// Maximum cells of a lattice (8 GiB of bits).
    pub const MAX_CELLS: u64 = 1 << 36;

    /// A size of `width` × `height` cells. Errors if a side or the number of cells is out of range.
    pub fn new(width: u64, height: u64) -> Result<Size, Message> {
        let sides = 1..=u64::from(Self::MAX_SIDE);
        if !sides.contains(&width) || !sides.contains(&height) {
            return Err(message!(
                "{it}x{other} is not a lattice: both sides must be from 1 to {max}",
                it = width,
                other = height,
                max = Self::MAX_SIDE
            ));
        }
        if width * height > Self::MAX_CELLS {
            return Err(message!(
                "{it}x{other} is too large: a lattice has at most 2^36 cells, such as 262144x262144",
                it = width,
                other = height
            ));
        }
        Ok(Size {
            width: width as u32,
            height: height as u32,
        })
    }

    /// A size no smaller than this one and twice as wide and high as a pattern of so many cells, or
    /// just large enough for it, if no lattice is that large; `None` if none is large enough.
    pub fn with_room(self, width: u32, height: u32) -> Option<Size> {
        let room = |times: u64| {
            let side = |own: u32, least: u32| (times * u64::from(own)).max(least.into());
            Size::new(side(width, self.width), side(height, self.height)).ok()
        };
        room(2).or_else(|| room(1))
    }

    /// Reads a size such as `512x256`, or one number as a square's side. Errors if it is neither or
    /// out of range.
    pub fn from_sides(text: &str) -> Result<Size, Message> {
        match text.trim().parse::<u64>() {
            Ok(side) => Size::new(side, side),
            Err(_) => text.parse(),
        }
    }

    /// Cells in a row.
    pub const fn width(self) -> u32 {
        self.width
    }

    /// Rows.
    pub const fn height(self) -> u32 {
        self.height
    }

    /// Cells in all.
    pub const fn cells(self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// 32-bit words per row: 32 cells per word, the last one partly used.
    pub const fn words_per_row(self) -> usize {
        self.width.div_ceil(32) as usize
    }

    /// 32-bit words of the whole lattice.
    pub const fn words(self) -> usize {
        self.words_per_row() * self.height as usize
    }

    /// Mask of the bits in a row's last word that are cells.
    pub const fn last_word_mask(self) -> u32 {
        u32::MAX >> ((32 - self.width % 32) % 32)
    }
}

impl FromStr for Size {
    type Err = Message;

    fn from_str(text: &str) -> Result<Size, Message> {
        let side = |part: &str| part.trim().parse::<u64>().ok();
        text.split_once(['x', 'X', '×'])
            .and_then(|(w, h)| Some((side(w)?, side(h)?)))
            .ok_or_else(|| {
                let it: String = text.chars().take(40).collect();
                message!("'{it}' is not a size: write WIDTHxHEIGHT, such as 512x512")
            })
            .and_then(|(w, h)| Size::new(w, h))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

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
        memory::ensure(size, memory::bits, || memory::one_lattice(size))?;
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
