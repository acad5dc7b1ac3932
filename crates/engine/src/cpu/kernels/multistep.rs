//! `multistep`: a group of four rows goes through all generations of a pass while it is in the
//! cache, and is stored once at the end.
//!
//! As in `life_multistep`, every generation lags one row behind the previous one, so a group is
//! stepped in place and only two earlier rows per generation have to be saved. A pass starts early
//! by one row per generation; rows that depend on unknown ones are not stored.
//!
//! A lattice that is too wide for the cache is divided into tiles, which overlap on both sides by
//! one column per generation.

use std::cell::{Cell, RefCell};
use std::{array, mem};

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use super::column_sweep::{self, Any, Life, Next, Strip};
use super::passes::{Launch, Pair, run_passes};
use super::planar::Generation;
use crate::cpu::planar_rows::{PlanarRows, ROWS, Source};
use crate::cpu::vector::{self, Lanes, Logic, Work};
use life::Rule;

/// Columns of a tile without its halo. Up to this width a lattice is a single ring. Four rows of it
/// take 128 KiB and a deep pass 1.7 MiB, from a core's L2 cache and beyond: read in order, they come
/// early enough, and narrower tiles repeat more columns in their halos.
const TILE: usize = 512;

/// Runs all generations of a launch, in passes.
pub(super) fn run(launch: &Launch, cells: &mut Pair<PlanarRows>) {
    let rule = launch.rule;
    run_passes(launch, cells, depth, |from, generations, out| {
        if generations == 1 {
            vector::dispatch(Generation { rule, from, out });
        } else {
            vector::dispatch(Pass {
                rule,
                generations,
                tile: TILE,
                from,
                out,
            });
        }
    });
}

/// Generations per pass. Each one repeats rows at the shares' ends, so a low share, which fits the
/// cache anyway, has few; one in main memory has many.
fn depth(rows: usize, across: usize) -> usize {
    match rows * across {
        0..=256 => 1,
        257..=16_384 => (rows / 8).clamp(1, 8),
        _ => (rows / 8).clamp(1, 24),
    }
}

thread_local! {
    /// Memory of a thread's passes, whose contents are arbitrary.
    static SCRATCH: RefCell<Vec<Lanes>> = const { RefCell::new(Vec::new()) };
}

/// An even number of generations of some rows, as vector work.
struct Pass<'a> {
    rule: Rule,
    generations: usize,
    /// Columns per tile, without the halo.
    tile: usize,
    from: Source<'a>,
    /// Destination of the rows.
    out: &'a mut [Lanes],
}

impl Work for Pass<'_> {
    type Output = ();

    fn on<L: Logic>(mut self, logic: L) {
        let masks = column_sweep::masks(logic, self.rule);
        let any = Any::new(self.rule, &masks);
        let (across, parts) = (self.across(), parts::<L>());
        let width = self.width();
        let lengths = [
            ROWS * across,
            // Pairs of rows: two for the group and one per generation.
            2 * width * (2 + self.generations),
        ];
        SCRATCH.with_borrow_mut(|scratch| {
            let length = scratch.len().max(lengths.iter().sum());
            scratch.resize(length, Lanes::default());
            let (beyond, pairs) = scratch.split_at_mut(lengths[0]);
            for left in (0..across).step_by(self.tile.min(across)) {
                for part in 0..parts {
                    let pairs = &mut cast_slice_mut(pairs)[..width * (2 + self.generations)];
                    let beyond = &mut *beyond;
                    if self.rule == Rule::LIFE {
                        logic.run(
                            #[inline(always)]
                            |logic| self.sweep_tile(logic, Life, pairs, part, left, beyond),
                        );
                    } else {
                        logic.run(
                            #[inline(always)]
                            |logic| self.sweep_tile(logic, any, pairs, part, left, beyond),
                        );
                    }
                }
            }
        });
    }
}

/// Number of vectors that hold 16 lanes.
const fn parts<L: Logic>() -> usize {
    size_of::<Lanes>() / size_of::<L::Vector>()
}

impl Pass<'_> {
    fn across(&self) -> usize {
        self.from.own.shape.planes.across
    }

    fn is_ring(&self) -> bool {
        self.across() <= self.tile
    }

    /// Columns to step, including the halo.
    fn width(&self) -> usize {
        if self.is_ring() {
            self.across()
        } else {
            self.tile + 2 * self.generations
        }
    }

    /// Sweeps a tile or ring down the lattice. `pairs` is memory for pairs of rows, by column: for the
    /// current group's, and for the two rows above it in each generation. `part` is the index of the
    /// vector among those that hold 16 lanes, `left` the first column of the lattice to store.
    #[inline(always)]
    fn sweep_tile<L: Logic>(
        &mut self,
        logic: L,
        rule: impl Next<L>,
        pairs: &mut [[L::Vector; 2]],
        part: usize,
        left: usize,
        beyond: &mut [Lanes],
    ) {
        let (ring, across, last) = (self.is_ring(), self.across(), self.generations);
        let planes = self.from.own.shape.planes;
        let halo = if ring { 0 } else { last };
        let stored = self.tile.min(across - left);
        let width = stored + 2 * halo;
        let length = pairs.len() / (2 + last);
        let mut pairs = pairs
            .chunks_exact_mut(length)
            .map(|pair| &mut pair[..width]);
        let mut group = [(); 2].map(|()| pairs.next().expect("two pairs for the group"));
        let mut above: Vec<_> = pairs.collect();
        let rows = self.out.len() / across;
        for i in 0..(rows + 2 * last).div_ceil(ROWS) {
            let top = (self.from.own.first + ROWS * i) as isize - last as isize;
            // Generations that have a complete row already.
            let known = last.min(2 * i + 1);
            let mut above = above.iter_mut();
            let mut generations = 1..=last;
            if ring {
                let from = self.from.around(top - 1);
                let length = (ROWS * across - (ROWS - 1)) * parts::<L>();
                let from: [&[L::Vector]; ROWS + 2] = from.map(|row| &cast_slice(row)[..length]);
                for (half, to) in group.iter_mut().enumerate() {
                    let strip = Strip {
                        from: array::from_fn(|row| &from[2 * half + row][part..]),
                        from_stride: ROWS * parts::<L>(),
                        to: rows_of(to),
                        to_stride: 2,
                        to_first: 0,
                    };
                    let ends = column_sweep::ends(logic, &strip, planes);
                    column_sweep::sweep(logic, rule, &strip, [0, across], ends);
                }
                generations.next();
            } else {
                self.enter(logic, &mut group, top, part, left);
            }
            for generation in generations {
                let above = above.next().expect("as many as generations");
                if generation <= known {
                    let [first, end] = if ring {
                        [0, width]
                    } else {
                        [generation, width - generation]
                    };
                    let out = match (ROWS * i).checked_sub(2 * last) {
                        Some(row) => &mut self.out[row * across..][..ROWS * across],
                        None => &mut *beyond,
                    };
                    let out = &mut out[ROWS * left..ROWS * (left + stored)];
                    let out = Cell::from_mut(cast_slice_mut(out)).as_slice_of_cells();
                    let [upper, lower] = &mut group;
                    let pairs = [rows_of(above), rows_of(upper), rows_of(lower)];
                    for half in 0..2 {
                        let [[a, b], [c, d]] = [pairs[half], pairs[half + 1]];
                        let in_place = Strip {
                            from: [a, b, c, d],
                            from_stride: 2,
                            to: [a, b],
                            to_stride: 2,
                            to_first: 0,
                        };
                        let ends = if ring {
                            column_sweep::ends(logic, &in_place, planes)
                        } else {
                            [
                                column_sweep::sums(logic, &in_place, first - 1),
                                column_sweep::sums(logic, &in_place, end),
                            ]
                        };
                        if generation < last {
                            column_sweep::sweep(logic, rule, &in_place, [first, end], ends);
                        } else {
                            let row = |row| &out[(2 * half + row) * parts::<L>() + part..];
                            let to_lattice = Strip {
                                to: [row(0), row(1)],
                                to_stride: ROWS * parts::<L>(),
                                to_first: halo,
                                ..in_place
                            };
                            column_sweep::sweep(logic, rule, &to_lattice, [first, end], ends);
                        }
                    }
                }
                // The group's last two rows are kept for the next one, and the results are in the
                // two pairs of rows above them.
                mem::swap(above, &mut group[1]);
                group.swap(0, 1);
                if generation > known {
                    break;
                }
            }
        }
    }

    /// Loads four rows of a tile.
    #[inline(always)]
    fn enter<L: Logic>(
        &self,
        logic: L,
        group: &mut [&mut [[L::Vector; 2]]; 2],
        top: isize,
        part: usize,
        left: usize,
    ) {
        let (halo, parts) = (self.generations, parts::<L>());
        let planes = self.from.own.shape.planes;
        let [across, narrow] = [planes.across, planes.narrow].map(|columns| columns as isize);
        let [_, a, b, c, d, _]: [&[L::Vector]; ROWS + 2] = self.from.around(top).map(cast_slice);
        let column = |x: isize| {
            let at = ROWS * x as usize * parts + part;
            [a[at], b[at], c[at], d[at]]
        };
        // Columns of the row first; then those before and behind it, each from columns nearer to
        // the row.
        let first = left as isize - halo as isize;
        let end = first + group[0].len() as isize;
        let at = |x: isize| (x - first) as usize;
        let entered = |group: &[&mut [[L::Vector; 2]]; 2], x: isize| {
            if (0..across).contains(&x) {
                return column(x);
            }
            let ([a, b], [c, d]) = (group[0][at(x)], group[1][at(x)]);
            [a, b, c, d]
        };
        let put = |group: &mut [&mut [[L::Vector; 2]]; 2], x, [a, b, c, d]: [L::Vector; ROWS]| {
            (group[0][at(x)], group[1][at(x)]) = ([a, b], [c, d]);
        };
        for x in first.max(0)..end.min(across) {
            put(group, x, column(x));
        }
        for x in (first..0).rev() {
            let [one, other] = [entered(group, x + narrow), entered(group, x + across)];
            put(
                group,
                x,
                column_sweep::beside(logic, planes, true, one, other),
            );
        }
        for x in across..end {
            let [one, other] = [entered(group, x - narrow), entered(group, x - across)];
            put(
                group,
                x,
                column_sweep::beside(logic, planes, false, one, other),
            );
        }
    }
}

/// The two rows of a pair, each with a vector of the other between its own.
#[inline(always)]
fn rows_of<V: Pod>(pair: &mut [[V; 2]]) -> [&[Cell<V>]; 2] {
    let cells = Cell::from_mut(cast_slice_mut(pair)).as_slice_of_cells();
    [cells, &cells[1..]]
}

#[cfg(test)]
mod tests {
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
}
