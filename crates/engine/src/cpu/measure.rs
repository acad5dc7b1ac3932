//! CPU version of `measure_bits`: live cells, births, deaths and a hash in one pass over the words.

use multiversion::multiversion;

use super::bit_rows::BitRows;
use crate::Measure;

/// Measures a lattice. `before` holds its words at the previous measure (zeros before the first)
/// and is replaced.
pub(super) fn measure(bits: &BitRows, before: &mut [u32]) -> Measure {
    let size = bits.size();
    let row = (size.words_per_row(), size.last_word_mask());
    measure_rows(bits.words(), bits.stride(), row, before)
}

/// `words` holds rows `stride` apart, each after a halo word. A row has `per_row` words; only the
/// bits in `mask` of the last one are cells.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq+avx512vpopcntdq",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt",
    "aarch64+neon"
))]
fn measure_rows(
    words: &[u32],
    stride: usize,
    (per_row, mask): (usize, u32),
    before: &mut [u32],
) -> Measure {
    let mut sum = Measure::default();
    let rows = words
        .chunks_exact(stride)
        .zip(before.chunks_exact_mut(per_row));
    for ((row, before), index) in rows.zip((0..).step_by(per_row)) {
        let (last, whole) = row[1..=per_row].split_last().expect("a row has a word");
        let (before_last, before_whole) = before.split_last_mut().expect("as long");
        sum.add(index, whole, before_whole);
        let last_index = index + whole.len() as u64;
        let before_last = std::slice::from_mut(before_last);
        sum.add(last_index, &[last & mask], before_last);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::tests::{AWKWARD, soup};
    use life::{Lattice, Size};

    /// A measure by definition, cell by cell and word by word.
    fn by_definition(now: &Lattice, then: &Lattice) -> Measure {
        let size = now.size();
        let cells = (0..size.height()).flat_map(|y| (0..size.width()).map(move |x| (x, y)));
        let count = |of: &dyn Fn(bool, bool) -> bool| {
            let met = |&(x, y): &(u32, u32)| of(now.get(x, y), then.get(x, y));
            cells.clone().filter(met).count() as u64
        };
        let words = now.words().iter().zip(0..);
        Measure {
            population: count(&|now, _| now),
            births: count(&|now, then| now && !then),
            deaths: count(&|now, then| then && !now),
            hash: words.fold(0, |sum: u64, (word, index)| {
                sum.wrapping_add(Measure::mixed(index, *word))
            }),
        }
    }

    #[test]
    fn measures_are_as_defined_at_every_width() {
        for (width, height) in AWKWARD {
            let size = Size::new(width, height).unwrap();
            let mut bits = BitRows::new(size, "a test").unwrap();
            let (mut before, mut then) = (vec![0; size.words()], Lattice::new(size));
            for seed in 0..3 {
                let now = soup(size, seed);
                bits.load(now.words());
                let measured = measure(&bits, &mut before);
                assert_eq!(measured, by_definition(&now, &then), "{size}");
                then = now;
            }
        }
    }
}
