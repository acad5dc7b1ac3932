//! A viewport's densities out of a lattice's bits, as [`Viewport`] defines them.

use std::ops::Range;

use super::bit_rows::BitRows;
use super::memory;
use crate::engine::{Result, Viewport};

/// Makes the bytes, four a word.
pub(super) fn reduce(bits: &BitRows, viewport: Viewport, view: &mut Vec<u32>) -> Result<()> {
    if view.len() != viewport.words() {
        *view = memory::zeroed(viewport.words(), "a view")?;
    }
    let size = bits.size();
    let columns: Vec<(Range<usize>, u64)> = (0..viewport.width)
        .map(|i| inside(viewport.columns(i), size.width()))
        .collect();
    let mut alive = vec![0u64; columns.len()];
    for (j, line) in view.chunks_exact_mut(columns.len() / 4).enumerate() {
        let (rows, tall) = inside(viewport.rows(j as u32), size.height());
        alive.fill(0);
        for y in rows {
            let row = bits.row(y);
            for (alive, (columns, _)) in alive.iter_mut().zip(&columns) {
                *alive += count(row, columns.clone());
            }
        }
        for (word, pixels) in line.iter_mut().zip(0..) {
            let byte = |k: usize| {
                let covered = columns[4 * pixels + k].1 * tall;
                ((255 * alive[4 * pixels + k] + covered / 2) / covered) as u8
            };
            *word = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
        }
    }
    Ok(())
}

/// Of a range of cells, those that a side of the lattice has, and how many there are with the
/// others.
fn inside((from, to): (i64, i64), side: u32) -> (Range<usize>, u64) {
    let clamp = |at: i64| at.clamp(0, side.into()) as usize;
    (clamp(from)..clamp(to), (to - from) as u64)
}

/// Live cells of a row within these columns.
fn count(row: &[u32], columns: Range<usize>) -> u64 {
    if columns.is_empty() {
        return 0;
    }
    let (first, last) = (columns.start / 32, (columns.end - 1) / 32);
    let from = u32::MAX << (columns.start % 32);
    let to = u32::MAX >> (31 - (columns.end - 1) % 32);
    if first == last {
        return (row[first] & from & to).count_ones().into();
    }
    let between: u32 = row[first + 1..last]
        .iter()
        .map(|word| word.count_ones())
        .sum();
    u64::from((row[first] & from).count_ones() + between + (row[last] & to).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::{Lattice, Size};
    use proptest::prelude::*;

    /// The definition, cell by cell.
    fn by_definition(lattice: &Lattice, viewport: Viewport) -> Vec<u8> {
        let size = lattice.size();
        let pixel = |j: u32, i: u32| {
            let (x, to_x) = viewport.columns(i);
            let (y, to_y) = viewport.rows(j);
            let cells = (y..to_y).flat_map(|y| (x..to_x).map(move |x| (x, y)));
            let alive = cells.filter(|&(x, y)| {
                (0..size.width().into()).contains(&x)
                    && (0..size.height().into()).contains(&y)
                    && lattice.get(x as u32, y as u32)
            });
            let density = 255.0 * alive.count() as f64 / ((to_x - x) * (to_y - y)) as f64;
            (density + 0.5).floor() as u8
        };
        (0..viewport.height)
            .flat_map(|j| (0..viewport.width).map(move |i| pixel(j, i)))
            .collect()
    }

    proptest! {
        #[test]
        fn views_are_as_defined(
            width in 1u64..140, height in 1u64..40, seed: u64,
            x0 in -40i64 << 16..140 << 16, y0 in -40i64 << 16..40 << 16,
            step in 1i64..50 << 16, across in 1u32..6, down in 1u32..12,
        ) {
            let size = Size::new(width, height).unwrap();
            let lattice = crate::engine::cpu::tests::soup(size, seed);
            let viewport = Viewport { x0, y0, step, width: 4 * across, height: down };
            viewport.check().unwrap();
            let mut bits = BitRows::new(size, "a test").unwrap();
            bits.load(lattice.words());
            let mut view = Vec::new();
            reduce(&bits, viewport, &mut view).unwrap();
            let bytes: Vec<u8> = view.iter().flat_map(|word| word.to_le_bytes()).collect();
            prop_assert_eq!(bytes, by_definition(&lattice, viewport));
        }
    }

    #[test]
    fn viewports_without_sense_are_refused() {
        let good = Viewport {
            x0: 0,
            y0: 0,
            step: Viewport::ONE,
            width: 4,
            height: 1,
        };
        good.check().unwrap();
        for bad in [
            Viewport { width: 0, ..good },
            Viewport { width: 6, ..good },
            Viewport { height: 0, ..good },
            Viewport { step: 0, ..good },
            Viewport {
                step: 1 << 42,
                ..good
            },
            Viewport {
                x0: i64::MAX,
                ..good
            },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
