//! Compares passes, with any division into tiles and shares and on every instruction set, with
//! single generations.

use proptest::prelude::*;

use super::super::planar::Generation;
use super::*;
use crate::cpu::tests::{generations_later, soup};
use crate::cpu::vector::on_each;
use life::{Lattice, Size};

/// A pass divided into shares of `rows` rows, or a single generation.
#[derive(Clone, Copy)]
struct Shared<'a> {
    lattice: &'a Lattice,
    rule: Rule,
    generations: usize,
    tile: usize,
    rows: usize,
}

impl Work for Shared<'_> {
    type Output = (&'static str, Lattice);

    fn on<L: Logic>(self, logic: L) -> Self::Output {
        let (lattice, size) = (self.lattice, self.lattice.size());
        let rows = || PlanarRows::new(size, "a test").unwrap();
        let (mut from, mut to) = (rows(), rows());
        let across = size.words_per_row();
        from.load(|y| &lattice.words()[y * across..][..across]);
        let from = &from;
        to.vectors_mut().fill(Lanes([u32::MAX; 16]));
        let shares = to.vectors_mut().chunks_mut(self.rows * across);
        for (first, out) in (0..).step_by(self.rows).zip(shares) {
            let Shared {
                rule,
                generations,
                tile,
                ..
            } = self;
            if generations == 1 {
                let sweep = Generation {
                    rule,
                    from,
                    first,
                    out,
                };
                sweep.on(logic);
            } else {
                let pass = Pass {
                    rule,
                    generations,
                    tile,
                    from,
                    first,
                    out,
                };
                pass.on(logic);
            }
        }
        let mut words = vec![0; size.words()];
        to.store(|y, row| words[y * across..][..across].copy_from_slice(row));
        (L::NAME, Lattice::from_words(size, words))
    }
}

fn agree(shared: Shared) {
    let Shared {
        lattice,
        rule,
        generations,
        tile,
        rows,
    } = shared;
    let expected = generations_later(lattice, rule, generations as u32);
    for (name, after) in on_each(shared) {
        assert!(
            after == expected,
            "{name}: {} {rule}, {generations} generations, tiles of {tile}, {rows} rows",
            lattice.size()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_instruction_set_is_exact_whatever_the_cut(
        width in 32u64..640, height in 1u64..150, seed: u64, tile in 1usize..24,
        rows in 1usize..5, birth in 0u16..512, survival in 0u16..512,
        twice in 0usize..10,
    ) {
        let generations = (2 * twice).max(1);
        let lattice = &soup(Size::new(width, height).unwrap(), seed);
        for rule in [Rule::LIFE, Rule::from_masks(birth, survival)] {
            agree(Shared { lattice, rule, generations, tile, rows: rows * ROWS });
        }
    }
}

#[test]
fn tiles_and_rings_of_the_real_width_are_exact() {
    for (words, height) in [(TILE, 40), (TILE + 1, 33), (2 * TILE + 5, 18), (5, 130)] {
        // As many words, of which the last one may not be full.
        let size = Size::new(32 * words as u64 - height % 32, height).unwrap();
        let lattice = &soup(size, height);
        for generations in [2, 6, 16] {
            let (rule, tile, rows) = (Rule::LIFE, TILE, 1 << 20);
            agree(Shared {
                lattice,
                rule,
                generations,
                tile,
                rows,
            });
        }
    }
}
