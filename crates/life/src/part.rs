//! Parts of a lattice, as selections are.

use super::run::LiveRuns;
use super::{Lattice, MemoryError, Run, Size};

impl Lattice {
    /// Copies the part of this size with its top left at column `x`, row `y`. It wraps around the
    /// torus, several times if it is larger than the lattice.
    pub fn part(&self, x: u32, y: u32, size: Size) -> Lattice {
        let mut part = Lattice::new(size);
        let (width, height) = (self.size().width(), self.size().height());
        let per_row = size.words_per_row();
        for (row, words) in part.words_mut().chunks_exact_mut(per_row).enumerate() {
            let from = ((u64::from(y) + row as u64) % u64::from(height)) as usize;
            let from = &self.words()[from * self.size().words_per_row()..];
            let from = &from[..self.size().words_per_row()];
            let mut column = x % width;
            for word in &mut *words {
                *word = cells_around(from, column, width);
                column = (u64::from(column) + 32).rem_euclid(width.into()) as u32;
            }
            words[per_row - 1] &= size.last_word_mask();
        }
        part
    }

    /// The lattice with sides of another length, about the same middle: a longer side gets dead cells at
    /// both ends, where patterns lie that way, too; a shorter one is cropped at both. Enlarging and then
    /// reducing to the former size gives the same cells.
    ///
    /// # Errors
    /// If memory is insufficient.
    pub fn resized(&self, size: Size) -> Result<Lattice, MemoryError> {
        let own = self.size();
        let shorter_by = |from: Size, to: Size| {
            let half = |from: u32, to: u32| from.saturating_sub(to) / 2;
            [
                half(from.width(), to.width()),
                half(from.height(), to.height()),
            ]
        };
        let ([cut_x, cut_y], [x, y]) = (shorter_by(own, size), shorter_by(size, own));
        let width = own.width().min(size.width());
        let mut resized = Lattice::try_new(size)?;
        let rows = self.words().chunks_exact(own.words_per_row());
        let rows = rows.skip(cut_y as usize).take(size.height() as usize);
        for (row, words) in (0..).zip(rows) {
            for (first, end) in LiveRuns::new(words) {
                let first = first.max(cut_x) - cut_x;
                let end = end.saturating_sub(cut_x).min(width);
                if first < end {
                    let run = Run {
                        x: first,
                        y: row,
                        length: end - first,
                    };
                    run.draw_into(&mut resized, x, y);
                }
            }
        }
        Ok(resized)
    }
}

/// 32 cells of a row of this width from this column on, wrapped around.
fn cells_around(row: &[u32], column: u32, width: u32) -> u32 {
    let (at, bit) = ((column / 32) as usize, column % 32);
    if column + 32 <= width {
        let pair = u64::from(row[at]) | u64::from(*row.get(at + 1).unwrap_or(&0)) << 32;
        return (pair >> bit) as u32;
    }
    (0..32).fold(0, |cells, offset| {
        let column = (column + offset) % width;
        cells | (row[(column / 32) as usize] >> (column % 32) & 1) << offset
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soup;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_part_has_the_cells_that_lie_there(
            width in 1u64..140, height in 1u64..9, x in 0u32..300, y in 0u32..20,
            wide in 1u64..200, high in 1u64..12, seed: u64,
        ) {
            let lattice = soup(Size::new(width, height).unwrap(), 0.4, seed, 0);
            let part = lattice.part(x, y, Size::new(wide, high).unwrap());
            for (column, row) in (0..wide as u32).flat_map(|c| (0..high as u32).map(move |r| (c, r))) {
                let there = lattice.get((x + column) % width as u32, (y + row) % height as u32);
                prop_assert_eq!(part.get(column, row), there, "{} {}", column, row);
            }
            prop_assert_eq!(&part, &Lattice::from_words(part.size(), part.words().to_vec()));
        }

        #[test]
        fn resized_lattices_have_the_same_middle(
            sides: [u8; 4], seed: u64,
        ) {
            let [width, height, wide, high] = sides.map(|side| u32::from(side) + 1);
            let size = |width: u32, height: u32| Size::new(width.into(), height.into()).unwrap();
            let lattice = soup(size(width, height), 0.4, seed, 0);
            let resized = lattice.resized(size(wide, high)).unwrap();
            // Rounded down where cells are added and where they are cut off.
            let from = |at: u32, side: u32, own: u32| {
                let at = match own.checked_sub(side) {
                    Some(more) => at + more / 2,
                    None => at.checked_sub((side - own) / 2)?,
                };
                Some(at).filter(|at| *at < own)
            };
            for (column, row) in (0..wide).flat_map(|c| (0..high).map(move |r| (c, r))) {
                let was = from(column, wide, width).zip(from(row, high, height));
                let was = was.is_some_and(|(x, y)| lattice.get(x, y));
                prop_assert_eq!(resized.get(column, row), was, "{} {}", column, row);
            }
        }
    }
}
