//! Lattices in the kernels' layouts, by the layouts' definitions.

use engine::Layout;
use life::{Lattice, Size};

use crate::fault::Found;

/// What no kernel writes.
pub(crate) const POISON: u32 = 0xa5a5_a5a5;

/// Words of a row.
fn words_per_row(size: Size, layout: Layout) -> u32 {
    (layout.words(size) / size.height() as usize) as u32
}

/// The column of a bit of a row's word, which may be beyond the width.
fn column(size: Size, layout: Layout, word: u32, bit: u32) -> u32 {
    match layout {
        Layout::I32 => word,
        Layout::Bits => 32 * word + bit,
        Layout::Planar => (bit * size.width() / 32 + word) % size.width(),
    }
}

/// How many bits of a word are cells.
fn bits_per_word(layout: Layout) -> u32 {
    match layout {
        Layout::I32 => 1,
        Layout::Bits | Layout::Planar => 32,
    }
}

/// A lattice in a layout, by the layout's definition.
pub fn words_of(lattice: &Lattice, layout: Layout) -> Vec<u32> {
    let size = lattice.size();
    let mut words = Vec::with_capacity(layout.words(size));
    for y in 0..size.height() {
        words.extend((0..words_per_row(size, layout)).map(|word| {
            let is_alive = |&bit: &u32| {
                let x = column(size, layout, word, bit);
                x < size.width() && lattice.get(x, y)
            };
            let alive = (0..bits_per_word(layout)).filter(is_alive);
            alive.map(|bit| 1 << bit).sum::<u32>()
        }));
    }
    words
}

/// The lattice of these words in a layout: [`words_of`] the other way round.
pub fn lattice_of(size: Size, words: &[u32], layout: Layout) -> Lattice {
    let mut lattice = Lattice::new(size);
    let per_row = words_per_row(size, layout);
    for (y, row) in (0..).zip(words.chunks_exact(per_row as usize)) {
        for (index, word) in (0..).zip(row) {
            for bit in 0..bits_per_word(layout) {
                let x = column(size, layout, index, bit);
                if x < size.width() {
                    lattice.set(x, y, word >> bit & 1 == 1);
                }
            }
        }
    }
    lattice
}

/// Where words of adjacent lattices differ from what they should be.
pub(crate) struct Difference {
    /// Column and row of the first cell; for bits beyond the width, the column is not in the lattice.
    pub cell: (u32, u32),
    pub expected: bool,
    pub found: Found,
    /// How many cells differ.
    pub cells: u64,
}

/// The first cell of words that differ, and how many there are. A cell is counted in every plane that
/// has it.
pub(crate) fn first_difference(
    size: Size,
    layout: Layout,
    is: &[u32],
    expected: &[u32],
) -> Difference {
    let per_row = words_per_row(size, layout);
    let differing = is.iter().zip(expected).enumerate();
    let differing = differing.filter(|(_, (is, expected))| is != expected);
    let mut first: Option<Difference> = None;
    let mut cells = 0;
    for (index, (&is, &expected)) in differing {
        let index = (index % layout.words(size)) as u32;
        let (word, row) = (index % per_row, index / per_row);
        let (bit, count) = match layout {
            Layout::I32 => (0, 1),
            Layout::Bits | Layout::Planar => {
                let differ = is ^ expected;
                (differ.trailing_zeros(), differ.count_ones())
            }
        };
        cells += u64::from(count);
        let is_alive = |word: u32| word >> bit & 1 == 1;
        let found = match layout {
            _ if is == POISON => Found::Unwritten,
            Layout::I32 if is > 1 => Found::Number(is as i32),
            _ if is_alive(is) => Found::Alive,
            _ => Found::Dead,
        };
        first.get_or_insert(Difference {
            cell: (column(size, layout, word, bit), row),
            expected: is_alive(expected),
            found,
            cells: 0,
        });
    }
    let first = first.expect("the words differ");
    Difference { cells, ..first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::soup;

    #[test]
    fn every_layout_gives_the_lattice_back_and_finds_a_difference() {
        for layout in [Layout::I32, Layout::Bits, Layout::Planar] {
            for (width, height) in [(32, 3), (33, 2), (70, 5), (127, 4), (128, 3), (1000, 2)] {
                let size = Size::new(width, height).unwrap();
                let lattice = soup(size, 0.5, 1, 0);
                let expected = words_of(&lattice, layout);
                let back = lattice_of(size, &expected, layout);
                assert_eq!(back, lattice, "{layout:?}, {size}");
                let (x, y) = (size.width() - 1, size.height() - 2);
                let mut other = lattice.clone();
                other.set(x, y, !lattice.get(x, y));
                let is = words_of(&other, layout);
                let found = first_difference(size, layout, &is, &expected);
                assert_eq!((found.cell, found.expected), ((x, y), lattice.get(x, y)));
                let most = if layout == Layout::Planar { 32 } else { 1 };
                assert!((1..=most).contains(&found.cells), "{layout:?}, {size}");
            }
        }
    }
}
