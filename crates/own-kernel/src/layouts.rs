//! Lattices in the kernels' layouts, by the layouts' definitions.

use engine::Layout;
use life::{Lattice, Size};

use crate::device::POISON;
use crate::fault::Found;

/// Words of a planar row.
fn planar_words_per_row(size: Size) -> u32 {
    (Layout::Planar.words(size) / size.height() as usize) as u32
}

/// The column of a bit of a planar word.
fn planar_column(size: Size, plane: u32, word: u32) -> u32 {
    (plane * size.width() / 32 + word) % size.width()
}

/// A lattice in a layout, by the layout's definition.
pub fn words_of(lattice: &Lattice, layout: Layout) -> Vec<u32> {
    let size = lattice.size();
    let rows = 0..size.height();
    match layout {
        Layout::Bits => lattice.words().to_vec(),
        Layout::I32 => {
            let cells = rows.flat_map(|y| (0..size.width()).map(move |x| lattice.get(x, y)));
            cells.map(u32::from).collect()
        }
        Layout::Planar => {
            let places = rows.flat_map(|y| (0..planar_words_per_row(size)).map(move |x| (x, y)));
            let bit =
                |plane, x, y| u32::from(lattice.get(planar_column(size, plane, x), y)) << plane;
            places
                .map(|(x, y)| (0..32).map(|plane| bit(plane, x, y)).sum())
                .collect()
        }
    }
}

/// The lattice of these words in a layout: [`words_of`] the other way round.
pub fn lattice_of(size: Size, words: &[u32], layout: Layout) -> Lattice {
    let (width, per_row) = (size.width(), layout.words(size) / size.height() as usize);
    let bits = match layout {
        Layout::Bits => words.to_vec(),
        Layout::I32 | Layout::Planar => {
            let mut bits = Vec::with_capacity(size.words());
            for row in words.chunks_exact(per_row) {
                bits.extend((0..width).step_by(32).map(|first| {
                    let columns = first..width.min(first + 32);
                    let cells = columns.map(|column| match layout {
                        Layout::I32 => row[column as usize] & 1,
                        _ => planar_cell(size, row, column),
                    });
                    (0..).zip(cells).map(|(bit, cell)| cell << bit).sum::<u32>()
                }));
            }
            bits
        }
    };
    Lattice::from_words(size, bits)
}

/// The cell of a planar row in this column.
fn planar_cell(size: Size, row: &[u32], column: u32) -> u32 {
    // The last plane that begins at this column or left of it has it in its first words.
    let plane = (32 * (u64::from(column) + 1) - 1) / u64::from(size.width());
    let plane = plane.min(31) as u32;
    let word = column - plane * size.width() / 32;
    row[word as usize] >> plane & 1
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
    let per_row = (layout.words(size) / size.height() as usize) as u32;
    let differing = is
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (is, expected))| is != expected);
    let mut first: Option<Difference> = None;
    let mut cells = 0;
    for (index, (&is, &expected)) in differing {
        let index = (index % layout.words(size)) as u32;
        let (word, row) = (index % per_row, index / per_row);
        let bit = (is ^ expected).trailing_zeros();
        let (column, expected_alive, alive) = match layout {
            Layout::I32 => (word, expected == 1, is == 1),
            Layout::Bits => (
                32 * word + bit,
                expected >> bit & 1 == 1,
                is >> bit & 1 == 1,
            ),
            Layout::Planar => {
                let column = planar_column(size, bit, word);
                (column, expected >> bit & 1 == 1, is >> bit & 1 == 1)
            }
        };
        cells += match layout {
            Layout::I32 => 1,
            Layout::Bits | Layout::Planar => u64::from((is ^ expected).count_ones()),
        };
        let found = match layout {
            _ if is == POISON => Found::Unwritten,
            Layout::I32 if is > 1 => Found::Number(is as i32),
            _ if alive => Found::Alive,
            _ => Found::Dead,
        };
        first.get_or_insert(Difference {
            cell: (column, row),
            expected: expected_alive,
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
    fn every_layout_gives_the_lattice_back() {
        for layout in [Layout::I32, Layout::Bits, Layout::Planar] {
            for (width, height) in [(32, 3), (33, 2), (70, 5), (127, 4), (128, 3), (1000, 2)] {
                let size = Size::new(width, height).unwrap();
                let lattice = soup(size, 0.5, 1, 0);
                let words = words_of(&lattice, layout);
                assert_eq!(
                    lattice_of(size, &words, layout),
                    lattice,
                    "{layout:?}, {size}"
                );
            }
        }
    }

    #[test]
    fn a_difference_is_found_in_every_layout() {
        for layout in [Layout::I32, Layout::Bits, Layout::Planar] {
            let size = Size::new(70, 5).unwrap();
            let lattice = soup(size, 0.5, 1, 0);
            let mut other = lattice.clone();
            other.set(69, 3, !lattice.get(69, 3));
            let (is, expected) = (words_of(&other, layout), words_of(&lattice, layout));
            let difference = first_difference(size, layout, &is, &expected);
            assert_eq!(difference.cell, (69, 3), "{layout:?}");
            assert_eq!(difference.expected, lattice.get(69, 3));
            let planes = if layout == Layout::Planar {
                1..=32
            } else {
                1..=1
            };
            assert!(planes.contains(&difference.cells));
        }
    }
}
