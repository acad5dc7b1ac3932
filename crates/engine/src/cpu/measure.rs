//! CPU versions of `measure_bits`, which finds live cells, births, deaths and a hash in one pass over the
//! words, and of the reduction of bits to a view.

use super::planar_rows::BitRows;
use super::vector;
use crate::{Band, Measure, ReduceRegion};
use std::ops::Range;

/// Measures a lattice, or of a band its own rows. `before` holds its words at the previous measure (zeros before the first)
/// and is replaced.
pub(super) fn measure(bits: &BitRows, band: Option<Band>, before: &mut [u32]) -> Measure {
    let size = bits.size;
    let (rows, first) = match band {
        None => (0..size.height() as usize, 0),
        Some(band) => {
            let own = band.halo as usize..(band.halo + band.rows) as usize;
            (own, band.first as usize * size.words_per_row())
        }
    };
    let words = &bits.words[rows.start * bits.stride..rows.end * bits.stride];
    let (per_row, mask) = (size.words_per_row(), size.last_word_mask());
    vector::vectorize(
        #[inline(always)]
        move || measure_rows(words, first as u64, bits.stride, per_row, mask, before),
    )
}

/// `words` holds rows `stride` apart, each after a halo word; the index of the first row's first word is
/// `first`. A row has `per_row` words; only the
/// bits in `mask` of the last one are cells.
#[inline(always)]
fn measure_rows(
    words: &[u32],
    first: u64,
    stride: usize,
    per_row: usize,
    mask: u32,
    before: &mut [u32],
) -> Measure {
    let mut sum = Measure::default();
    let rows = words
        .chunks_exact(stride)
        .zip(before.chunks_exact_mut(per_row));
    for ((row, before), index) in rows.zip((first..).step_by(per_row)) {
        let (last, whole) = row[1..=per_row].split_last().expect("a row has a word");
        let (before_last, before_whole) = before.split_last_mut().expect("as long");
        sum.add(index, whole, before_whole);
        let last_index = index + whole.len() as u64;
        let before_last = std::slice::from_mut(before_last);
        sum.add(last_index, &[last & mask], before_last);
    }
    sum
}

// Reduces a lattice's bits to densities, as [`ReduceRegion`] defines.

/// Writes the bytes, four per word, to `view`, which has the capacity.
pub(super) fn reduce(bits: &BitRows, region: ReduceRegion, view: &mut Vec<u32>) {
    view.resize(region.words(), 0);
    let size = bits.size;
    let widths = region.widths(size.width());
    let mut lines = view.chunks_exact_mut(region.width as usize / 4);
    count_lines(bits, size.height(), Some, region, |j, alive| {
        let line = lines.next().expect("as many as the region has");
        region.put_line(j, alive, &widths, size.height(), line);
    });
}

/// Writes how many of a band's own cells live in each pixel to `view`, which has the capacity.
pub(super) fn count_in_band(bits: &BitRows, band: Band, region: ReduceRegion, view: &mut Vec<u32>) {
    view.clear();
    let own_row = |row: usize| band.own_row(row as u32).map(|row| row as usize);
    let height = band.torus.height();
    count_lines(bits, height, own_row, region, |_, alive| {
        view.extend(alive.iter().map(|&alive| alive as u32));
    });
}

/// Calls `take` for each line of pixels with its number and that of the live cells in each pixel.
/// The torus has `height` rows, of which `row_of` has the place in `bits`, if they are there.
fn count_lines(
    bits: &BitRows,
    height: u32,
    row_of: impl Fn(usize) -> Option<usize>,
    region: ReduceRegion,
    mut take: impl FnMut(u32, &[u64]),
) {
    let size = bits.size;
    let mut columns = Vec::with_capacity(region.width as usize);
    // Few pixels wrap around, so their wrapped part is counted separately.
    let mut beyond = Vec::new();
    for i in 0..region.width {
        let [first, second] = on_torus(region.columns(i), size.width());
        if !second.is_empty() {
            beyond.push((i as usize, second));
        }
        columns.push(first);
    }
    let mut alive = vec![0u64; columns.len()];
    for j in 0..region.height {
        let rows = on_torus(region.rows(j), height);
        alive.fill(0);
        for y in rows.into_iter().flatten().filter_map(&row_of) {
            let row = bits.row(y);
            for (alive, columns) in alive.iter_mut().zip(&columns) {
                *alive += count(row, columns.clone());
            }
            for (i, columns) in &beyond {
                alive[*i] += count(row, columns.clone());
            }
        }
        take(j, &alive);
    }
}

/// Splits a range of cells on a ring of `side` cells: the part before the end, and the wrapped part
/// from the start, which may be empty.
fn on_torus((from, to): (i64, i64), side: u32) -> [Range<usize>; 2] {
    let side = i64::from(side);
    let first = from.rem_euclid(side);
    let end = first + (to - from).min(side);
    let cells = |from: i64, to: i64| from as usize..to as usize;
    [cells(first, end.min(side)), cells(0, (end - side).max(0))]
}

/// Live cells of a row within a non-empty range of columns.
fn count(row: &[u32], columns: Range<usize>) -> u64 {
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_point_lies_in_the_pixel_that_covers_its_cell(
            side in 1u32..140, x0 in -300i64..300, step in 1i64..20, across in 1u32..40, at: u32,
        ) {
            let (x0, step) = (x0 << 16, step << 16);
            let view = ReduceRegion { x0, y0: 7, step, width: 4 * across, height: 1 };
            let cell = at % side;
            let covers = |i: &u32| {
                let (from, to) = view.columns(*i);
                (from..to).any(|x| x.rem_euclid(side.into()) == i64::from(cell))
            };
            let found = view.column_at((i64::from(cell) << 16) + ReduceRegion::ONE / 2, side);
            // The first pixel, if the region shows a cell more than once.
            prop_assert_eq!(found, (0..view.width).find(covers));
        }
    }
}
