//! `planar`: 32 planes per word, so that a row's neighbours are words at an offset, and words are
//! rotated only at the row's two ends. Here the words of 16 rows also form a vector, so that every
//! neighbour is a whole vector ([`PlanarRows`]).
//!
//! Each generation is one pass over the lattice, from one buffer to the other.

use std::cell::{Cell, RefCell};

use bytemuck::{cast_slice, cast_slice_mut};

use super::column_sweep::{self, Any, Life, Next, ROWS, Strip};
use super::{Launch, Pair};
use crate::cpu::planar_rows::{PlanarRows, Planes};
use crate::cpu::vector::{self, Lanes, Logic, Work};
use crate::cpu::worker_pool::Share;
use life::Rule;

/// Runs all generations of a launch, one pass each.
pub(super) fn run(launch: &Launch, cells: &mut Pair<PlanarRows>) {
    for _ in launch.generations() {
        step(launch, &cells.now, &mut cells.next);
        cells.flip();
    }
}

/// Steps one generation.
pub(super) fn step(launch: &Launch, from: &PlanarRows, to: &mut PlanarRows) {
    let across = from.across();
    let split = launch.worker_pool.split(from.rows(), 2 * ROWS, across);
    let out = to.vectors_mut();
    split.for_each(out, across, |Share { first, out }| {
        vector::dispatch(Generation {
            rule: launch.rule,
            from,
            first,
            out,
        });
    });
}

/// One generation of some rows, as vector work.
pub(super) struct Generation<'a> {
    pub(super) rule: Rule,
    pub(super) from: &'a PlanarRows,
    /// Index of the first row.
    pub(super) first: usize,
    /// Destination of the rows.
    pub(super) out: &'a mut [Lanes],
}

impl Work for Generation<'_> {
    type Output = ();

    fn on<L: Logic>(self, logic: L) {
        with_scratch((ROWS + 2) * ROWS * self.from.across(), |wrapped| {
            if self.rule == Rule::LIFE {
                logic.run(
                    #[inline(always)]
                    |logic| self.all(logic, Life, wrapped),
                );
            } else {
                let masks = column_sweep::masks(logic, self.rule);
                let any = Any::new(self.rule, &masks);
                logic.run(
                    #[inline(always)]
                    |logic| self.all(logic, any, wrapped),
                );
            }
        });
    }
}

impl Generation<'_> {
    #[inline(always)]
    fn all<L: Logic>(self, logic: L, rule: impl Next<L>, wrapped: &mut [Lanes]) {
        let across = self.from.across();
        for (group, to) in self.out.chunks_exact_mut(ROWS * across).enumerate() {
            let top = self.first + ROWS * group;
            let from = seen(self.from, top as isize, wrapped);
            // Rows that only fill the last group are not stepped.
            let halves = (self.from.rows() - top).div_ceil(2).min(2);
            pass_through(logic, rule, from, to, halves, self.from.planes());
        }
    }
}

thread_local! {
    /// Scratch memory of a thread's passes.
    static SCRATCH: RefCell<Vec<Lanes>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with this many vectors of scratch memory, whose contents are arbitrary.
pub(super) fn with_scratch(length: usize, work: impl FnOnce(&mut [Lanes])) {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.resize(scratch.len().max(length), Lanes::default());
        work(&mut scratch[..length]);
    });
}

/// The rows of a group and the rows above and below it; `top` is the group's first row.
pub(super) fn seen<'a>(
    from: &'a PlanarRows,
    top: isize,
    wrapped: &'a mut [Lanes],
) -> [&'a [Lanes]; ROWS + 2] {
    let buffers = wrapped.chunks_exact_mut(ROWS * from.across());
    let mut rows = (top - 1..).zip(buffers);
    std::array::from_fn(|_| {
        let (i, scratch) = rows.next().expect("a scratch row for each row");
        from.row_or_wrapped(i, scratch)
    })
}

/// Steps the upper half of a group of rows that wrap around, or both halves.
#[inline(always)]
fn pass_through<L: Logic>(
    logic: L,
    rule: impl Next<L>,
    from: [&[Lanes]; ROWS + 2],
    to: &mut [Lanes],
    halves: usize,
    planes: Planes,
) {
    let across = planes.across;
    let parts = size_of::<Lanes>() / size_of::<L::Vector>();
    let stride = ROWS * parts;
    let length = (ROWS * across - (ROWS - 1)) * parts;
    let from: [&[L::Vector]; ROWS + 2] = from.map(|row| &cast_slice(row)[..length]);
    let to = &mut cast_slice_mut(to)[..ROWS * across * parts];
    let to: &[Cell<L::Vector>] = Cell::from_mut(to).as_slice_of_cells();
    for part in 0..parts {
        for row in [0, 2].into_iter().take(halves) {
            let strip = Strip {
                from: std::array::from_fn(|i| &from[row + i][part..]),
                from_stride: stride,
                to: [row, row + 1].map(|row| &to[row * parts + part..]),
                to_stride: stride,
                to_first: 0,
            };
            let ends = column_sweep::ends(logic, &strip, planes);
            column_sweep::sweep(logic, rule, &strip, [0, across], ends);
        }
    }
}
