//! The size of a lattice.

use lang::{Message, message};
use std::fmt;
use std::str::FromStr;

/// A lattice's width and height in cells; both are at least 1. [`Size::new`] checks them: outside of this
/// crate there is no other way to make one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Size {
    /// Cells in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
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

    /// Bytes of the whole lattice at 1 bit per cell.
    pub const fn bytes(self) -> u64 {
        self.words() as u64 * 4
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
