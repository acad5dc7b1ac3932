//! `planar`: 32 planes per word, so that a row's neighbours are words at an offset, and words are
//! rotated only at the row's two ends. Here the words of 16 rows also form a vector, so that every
//! neighbour is a whole vector ([`PlanarRows`]).
//!
//! Each generation is one pass over the lattice, from one buffer to the other.

use std::cell::Cell;

use bytemuck::{cast_slice, cast_slice_mut};

use super::column_sweep::{self, Any, Life, Next, Strip};
use super::passes::{Launch, Pair, run_passes};
use crate::cpu::planar_rows::{PlanarRows, Planes, ROWS, Source};
use crate::cpu::vector::{self, Lanes, Logic, Work};
use life::Rule;

/// Runs all generations of a launch, one pass each.
pub(super) fn run(launch: &Launch, cells: &mut Pair<PlanarRows>) {
    let rule = launch.rule;
    run_passes(
        launch,
        cells,
        |_, _| 1,
        |from, _, out| vector::dispatch(Generation { rule, from, out }),
    );
}

/// One generation of some rows, as vector work.
pub(super) struct Generation<'a> {
    pub rule: Rule,
    pub from: Source<'a>,
    /// Destination of the rows.
    pub out: &'a mut [Lanes],
}

impl Work for Generation<'_> {
    type Output = ();

    fn on<L: Logic>(self, logic: L) {
        if self.rule == Rule::LIFE {
            logic.run(
                #[inline(always)]
                |logic| self.all(logic, Life),
            );
        } else {
            let masks = column_sweep::masks(logic, self.rule);
            let any = Any::new(self.rule, &masks);
            logic.run(
                #[inline(always)]
                |logic| self.all(logic, any),
            );
        }
    }
}

impl Generation<'_> {
    #[inline(always)]
    fn all<L: Logic>(self, logic: L, rule: impl Next<L>) {
        let own = self.from.own;
        for (group, to) in self.out.chunks_exact_mut(own.shape.group()).enumerate() {
            let top = own.first + ROWS * group;
            let from = self.from.around(top as isize);
            // Rows that only fill the last group are not stepped.
            let halves = (own.end() - top).div_ceil(2).min(2);
            pass_through(logic, rule, from, to, halves, own.shape.planes);
        }
    }
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
