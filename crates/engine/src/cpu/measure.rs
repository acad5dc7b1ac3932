//! CPU version of `measure_bits`: live cells, births, deaths and a hash in one pass over the words.

use super::planar_rows::BitRows;
use super::vector;
use crate::{Band, Measure};

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
