//! Compares passes, with any division into tiles and shares and on every instruction set, with
//! single generations.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::planar;
use super::*;
use crate::MemoryUse;
use crate::cpu::planar_rows::{Rows, halo_rows};
use crate::cpu::vector::on_each;
use crate::cpu::worker_pool::WorkerPool;
use life::{Lattice, Size, reference, soup};

fn planar_rows(lattice: &Lattice) -> PlanarRows {
    let across = lattice.size().words_per_row();
    let mut rows = PlanarRows::new(lattice.size(), MemoryUse::Buffer).unwrap();
    rows.load(|y| &lattice.words()[y * across..][..across]);
    rows
}

fn cells(size: Size, rows: &PlanarRows) -> Lattice {
    let across = size.words_per_row();
    let mut words = vec![0; size.words()];
    rows.store(|y, row| words[y * across..][..across].copy_from_slice(row));
    Lattice::from_words(size, words)
}

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
        let size = self.lattice.size();
        let (from, mut to) = (planar_rows(self.lattice), planar_rows(self.lattice));
        to.vectors.fill(Lanes([u32::MAX; 16]));
        let shares = to.vectors.chunks_mut(self.rows * size.words_per_row());
        for (first, out) in (0..).step_by(self.rows).zip(shares) {
            self.step(logic, &from, first, out);
        }
        (L::NAME, cells(size, &to))
    }
}

impl Shared<'_> {
    /// Steps a share of the rows by one generation or by a pass of several.
    fn step<L: Logic>(self, logic: L, from: &PlanarRows, first: usize, out: &mut [Lanes]) {
        let Shared {
            rule,
            generations,
            tile,
            ..
        } = self;
        let (all, across) = (from.all(), from.shape.planes.across);
        let own = Rows {
            first,
            vectors: &from.vectors[first * across..][..out.len()],
            ..all
        };
        let (halo, count) = (halo_rows(generations), generations as isize);
        let mut halos = [(); 2].map(|()| vec![Lanes::default(); halo * across]);
        let [start, end] = [first, own.end()].map(|row| row as isize);
        all.copy(start - count..start, &mut halos[0], halo - generations);
        all.copy(end..end + count, &mut halos[1], 0);
        let halos = halos.each_ref().map(|halo| &halo[..]);
        let from = Source { own, halos };
        if generations == 1 {
            Generation { rule, from, out }.on(logic);
        } else {
            let pass = Pass {
                rule,
                generations,
                tile,
                from,
                out,
            };
            pass.on(logic);
        }
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
        let lattice = &soup(Size::new(width, height).unwrap(), 0.4, seed, 0);
        for rule in [Rule::LIFE, Rule::from_masks(birth, survival)] {
            let expected = reference::run(lattice, rule, generations as u64);
            let shared = Shared { lattice, rule, generations, tile, rows: rows * ROWS };
            for (name, after) in on_each(shared) {
                prop_assert!(after == expected, "{name}, {rule}");
            }
        }
    }
}

/// How long single generations and passes of 8 take.
#[derive(Clone, Copy)]
struct Timed(Rule);

impl Work for Timed {
    type Output = (&'static str, [Duration; 2]);

    fn on<L: Logic>(self, logic: L) -> Self::Output {
        let size = Size::new(1024, 1024).unwrap();
        let lattice = &soup(size, 0.4, 1, 0);
        let (from, mut to) = (planar_rows(lattice), planar_rows(lattice));
        let took = |generations| {
            let shared = Shared {
                lattice,
                rule: self.0,
                generations,
                tile: TILE,
                rows: 0,
            };
            let began = Instant::now();
            for _ in 0..16 / generations {
                shared.step(logic, &from, 0, &mut to.vectors);
            }
            began.elapsed()
        };
        (L::NAME, [1, 8].map(took))
    }
}

/// Compiled for the instruction set, a kernel outruns the one without vectors. Where the compiler
/// leaves the operations on vectors as calls, it takes 40 times as long.
#[test]
fn vector_code_is_compiled_for_every_instruction_set() {
    for rule in [Rule::LIFE, "B36/S23".parse().unwrap()] {
        // A busy machine slows some runs down: the fastest of each counts.
        let mut best: HashMap<&str, [Duration; 2]> = HashMap::new();
        for (name, took) in (0..10).flat_map(|_| on_each(Timed(rule))) {
            let best = best.entry(name).or_insert(took);
            *best = [0, 1].map(|i| best[i].min(took[i]));
        }
        let portable = best.remove("portable").unwrap();
        for (name, took) in best {
            let is_faster = [0, 1].map(|i| 2 * took[i] < portable[i]);
            assert_eq!(
                is_faster, [true; 2],
                "{name}, {rule}: {took:?}, not {portable:?}"
            );
        }
    }
}

/// Teams of up to 16 threads step lattices of which some rows and columns are in two bands and planes,
/// also where a share's last group has a single row.
#[test]
fn teams_are_exact() {
    let stop = AtomicBool::new(false);
    for (width, height, generations, most) in [
        (2_048, 2_048, 19, 3),
        (1_990, 2_061, 18, 16),
        (16_400, 520, 21, 5),
    ] {
        let size = Size::new(width, height).unwrap();
        let lattice = &soup(size, 0.4, height, 0);
        let expected = reference::run(lattice, Rule::LIFE, generations.into());
        for threads in [2, most] {
            let launch = Launch {
                size,
                rule: Rule::LIFE,
                generations,
                stop: &stop,
                worker_pool: &WorkerPool::new(threads),
            };
            for run in [run, planar::run] {
                let mut pair = Pair::of(|| Ok(planar_rows(lattice))).unwrap();
                run(&launch, &mut pair);
                let after = cells(size, &pair.now);
                assert!(after == expected, "{size}, {threads} threads");
            }
        }
    }
}
