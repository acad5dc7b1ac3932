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
use super::passes;
use super::planar::Generation;
use super::{Launch, Pair};
use crate::cpu::planar_rows::{PlanarRows, ROWS, Source};
use crate::cpu::vector::{self, Lanes, Logic, Work};
use life::Rule;

/// Columns of a tile without its halo. Up to this width a lattice is a single ring. Four rows of it
/// take 128 KiB and a deep pass 1.7 MiB, from a core's L2 cache and beyond: read in order, they come
/// early enough, and narrower tiles repeat more columns in their halos.
const TILE: usize = 512;

/// Runs all generations of a launch, in passes.
pub(in crate::cpu) fn run(launch: &Launch, cells: &mut Pair<PlanarRows>) {
    let rule = launch.rule;
    passes::run(launch, cells, depth, |from, generations, out| {
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
pub(super) struct Pass<'a> {
    pub(super) rule: Rule,
    pub(super) generations: usize,
    /// Columns per tile, without the halo.
    pub(super) tile: usize,
    pub(super) from: Source<'a>,
    /// Destination of the rows.
    pub(super) out: &'a mut [Lanes],
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
mod tests;
