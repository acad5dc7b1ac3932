//! `planar`: 32 planes per word, so that a row's neighbours are words at an offset, and words are
//! rotated only at the row's two ends. Here the words of 16 rows also form a vector, so that every
//! neighbour is a whole vector ([`PlanarRows`]).
//!
//! Each generation is one pass over the lattice, from one buffer to the other.

use bytemuck::{cast_slice, cast_slice_mut};

use super::column_sweep::{self, Any, Group, Life, Next, ROWS};
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
        let across = self.from.across();
        let mut wrapped = vec![Lanes::default(); (ROWS + 2) * ROWS * across];
        for (group, to) in self.out.chunks_exact_mut(ROWS * across).enumerate() {
            let top = (self.first + ROWS * group) as isize;
            let from = seen(self.from, top, &mut wrapped);
            pass_through(logic, rule, from, to, self.from.planes());
        }
    }
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

/// Steps a group of rows that wrap around.
#[inline(always)]
fn pass_through<L: Logic>(
    logic: L,
    rule: impl Next<L>,
    from: [&[Lanes]; ROWS + 2],
    to: &mut [Lanes],
    planes: Planes,
) {
    let across = planes.across;
    let parts = size_of::<Lanes>() / size_of::<L::Vector>();
    let mut rows = Rows::<L> {
        from: from.map(|row| &cast_slice(row)[..(ROWS * across - (ROWS - 1)) * parts]),
        to: &mut cast_slice_mut(to)[..ROWS * across * parts],
        parts,
        part: 0,
    };
    for part in 0..parts {
        rows.part = part;
        let ends = column_sweep::ends(logic, &rows, planes);
        column_sweep::sweep(logic, rule, &mut rows, [0, across], ends);
    }
}

/// A group that is read from one buffer and written to another.
pub(super) struct Rows<'a, L: Logic> {
    pub(super) from: [&'a [L::Vector]; ROWS + 2],
    pub(super) to: &'a mut [L::Vector],
    /// Number of vectors that hold 16 lanes.
    pub(super) parts: usize,
    /// Index of the vector that is stepped.
    pub(super) part: usize,
}

impl<L: Logic> Group<L> for Rows<'_, L> {
    #[inline(always)]
    fn cells(&self, x: usize, row: usize) -> L::Vector {
        self.from[row][ROWS * x * self.parts + self.part]
    }

    #[inline(always)]
    fn put(&mut self, x: usize, row: usize, next: L::Vector) {
        self.to[(ROWS * x + row) * self.parts + self.part] = next;
    }
}
