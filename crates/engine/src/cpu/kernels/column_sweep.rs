//! The column sweep of the planar kernels: it steps a group of four rows by one generation, column
//! by column.
//!
//! A column is six vectors: four rows and the rows above and below. Each arriving column is summed
//! three rows at a time, and its sums are used by three columns, so the sums are kept in registers.
//! The cells are loaded again when they are stepped: a load uses no logic port, but a register copy
//! does, and a ternary logic instruction overwrites one operand. Sums are made in pairs of rows,
//! which avoids copies: 9.5 operations per vector. It would be 8 if copies were free, and is 12
//! with them.

use std::array;

use crate::cpu::planar_rows::Planes;
use crate::cpu::vector::{Logic, Sum};
use life::Rule;

/// Rows per group.
pub(in crate::cpu) const ROWS: usize = 4;

/// A column of a group, from the row above to the row below.
pub(super) type Column<V> = [V; ROWS + 2];

/// The sums of a column, three rows at a time.
type Sums<V> = [Sum<V>; ROWS];

/// A rule: computes the next state of cells from sums of neighbours.
pub(super) trait Next<L: Logic>: Copy {
    /// `below` is the sum of one adjacent column and `above` the twos of the other one's sum.
    /// `beside` is the sum of the cells above and below and that other column's ones.
    fn next(
        self,
        logic: L,
        cells: L::Vector,
        below: Sum<L::Vector>,
        beside: Sum<L::Vector>,
        above: L::Vector,
    ) -> L::Vector;
}

/// B3/S23.
#[derive(Clone, Copy)]
pub(super) struct Life;

impl<L: Logic> Next<L> for Life {
    #[inline(always)]
    fn next(
        self,
        logic: L,
        cells: L::Vector,
        below: Sum<L::Vector>,
        beside: Sum<L::Vector>,
        above: L::Vector,
    ) -> L::Vector {
        logic.life(cells, below, beside, above)
    }
}

/// Any rule, as masks: the next state of a dead cell by number of neighbours (0 to 8), then of a
/// live cell.
#[derive(Clone, Copy)]
pub(super) struct Any<'a, V>(pub(super) &'a [V; 18]);

/// The rule's masks for [`Any`].
pub(super) fn table<L: Logic>(logic: L, rule: Rule) -> [L::Vector; 18] {
    array::from_fn(|i| logic.splat(0u32.wrapping_sub(rule.table() >> i & 1)))
}

impl<L: Logic> Next<L> for Any<'_, L::Vector> {
    #[inline(always)]
    fn next(
        self,
        logic: L,
        cells: L::Vector,
        below: Sum<L::Vector>,
        beside: Sum<L::Vector>,
        above: L::Vector,
    ) -> L::Vector {
        let ones = logic.xor(below[0], beside[0]);
        let carry = logic.and(below[0], beside[0]);
        let [twos, fours] = logic.add(below[1], beside[1], above);
        let (bit1, more) = (logic.xor(twos, carry), logic.and(twos, carry));
        let (bit2, bit3) = (logic.xor(fours, more), logic.and(fours, more));
        // The bits of the neighbour count select one of nine states.
        let state = |n: usize| logic.choose(cells, self.0[9 + n], self.0[n]);
        let (s0, s1, s2, s3) = (state(0), state(1), state(2), state(3));
        let (s4, s5, s6, s7) = (state(4), state(5), state(6), state(7));
        let (p0, p2) = (logic.choose(ones, s1, s0), logic.choose(ones, s3, s2));
        let (p4, p6) = (logic.choose(ones, s5, s4), logic.choose(ones, s7, s6));
        let (few, many) = (logic.choose(bit1, p2, p0), logic.choose(bit1, p6, p4));
        logic.choose(bit3, state(8), logic.choose(bit2, many, few))
    }
}

/// A group of four rows during a sweep: the source and the destination of its columns.
pub(super) trait Group<L: Logic> {
    fn column(&self, x: usize) -> Column<L::Vector>;

    /// Stores the next generation of a column, which is not read again.
    fn put(&mut self, x: usize, next: [L::Vector; ROWS]);
}

/// Steps the columns `first..end`; `left` and `right` are the sums of the columns before and after
/// them.
#[inline(always)]
pub(super) fn sweep<L: Logic>(
    logic: L,
    rule: impl Next<L>,
    group: &mut impl Group<L>,
    [first, end]: [usize; 2],
    [left, right]: [Sums<L::Vector>; 2],
) {
    let (mut a, mut b) = (left, sums(logic, group, first));
    let mut x = first;
    // Three columns per iteration, so that no sum moves between registers.
    while x + 3 < end {
        let c = sums(logic, group, x + 1);
        step(logic, rule, group, x, &a, &c);
        a = sums(logic, group, x + 2);
        step(logic, rule, group, x + 1, &b, &a);
        b = sums(logic, group, x + 3);
        step(logic, rule, group, x + 2, &c, &b);
        x += 3;
    }
    while x < end {
        let c = if x + 1 < end {
            sums(logic, group, x + 1)
        } else {
            right
        };
        step(logic, rule, group, x, &a, &c);
        (a, b) = (b, c);
        x += 1;
    }
}

/// The sums to the left of a ring's first column and to the right of its last one: the ring's own
/// ends, rotated into the adjacent planes.
#[inline(always)]
pub(super) fn ends<L: Logic>(
    logic: L,
    group: &impl Group<L>,
    planes: Planes,
) -> [Sums<L::Vector>; 2] {
    let (across, narrow) = (planes.across, planes.narrow);
    let last = before(
        logic,
        planes,
        group.column(narrow - 1),
        group.column(across - 1),
    );
    let first = behind(
        logic,
        planes,
        group.column(across - narrow),
        group.column(0),
    );
    [add(logic, last), add(logic, first)]
}

/// The column before the first one of a row: the column of the plane before, which is another one
/// if that plane is wide.
#[inline(always)]
pub(super) fn before<L: Logic, const N: usize>(
    logic: L,
    planes: Planes,
    narrow: [L::Vector; N],
    wide: [L::Vector; N],
) -> [L::Vector; N] {
    let mask = logic.splat(planes.wide);
    array::from_fn(
        #[inline(always)]
        |row| logic.turn_left(logic.choose(mask, wide[row], narrow[row])),
    )
}

/// The column behind the last one of a row.
#[inline(always)]
pub(super) fn behind<L: Logic, const N: usize>(
    logic: L,
    planes: Planes,
    narrow: [L::Vector; N],
    wide: [L::Vector; N],
) -> [L::Vector; N] {
    let mask = logic.splat(planes.wide);
    array::from_fn(
        #[inline(always)]
        |row| {
            logic.choose(
                mask,
                logic.turn_right(wide[row]),
                logic.turn_right(narrow[row]),
            )
        },
    )
}

/// The sums of a group's column.
#[inline(always)]
pub(super) fn sums<L: Logic>(logic: L, group: &impl Group<L>, x: usize) -> Sums<L::Vector> {
    add(logic, group.column(x))
}

#[inline(always)]
fn add<L: Logic>(logic: L, column: Column<L::Vector>) -> Sums<L::Vector> {
    let [a, b, c, d, e, f] = column;
    let [first, second] = add_pair(logic, a, b, c, d);
    let [third, fourth] = add_pair(logic, c, d, e, f);
    [first, second, third, fourth]
}

/// The sums of the first three and of the last three of four rows.
#[inline(always)]
fn add_pair<L: Logic>(
    logic: L,
    a: L::Vector,
    b: L::Vector,
    c: L::Vector,
    d: L::Vector,
) -> [Sum<L::Vector>; 2] {
    let differ = logic.xor(b, c);
    [logic.add_known(differ, b, a), logic.add_known(differ, c, d)]
}

/// Steps column `x`.
#[inline(always)]
fn step<L: Logic>(
    logic: L,
    rule: impl Next<L>,
    group: &mut impl Group<L>,
    x: usize,
    before: &Sums<L::Vector>,
    after: &Sums<L::Vector>,
) {
    let [a, b, c, d, e, f] = group.column(x);
    let first = step_row(logic, rule, [a, b, c], before[0], after[0]);
    let second = step_row(logic, rule, [b, c, d], before[1], after[1]);
    let third = step_row(logic, rule, [c, d, e], before[2], after[2]);
    let fourth = step_row(logic, rule, [d, e, f], before[3], after[3]);
    group.put(x, [first, second, third, fourth]);
}

#[inline(always)]
fn step_row<L: Logic>(
    logic: L,
    rule: impl Next<L>,
    [up, cells, down]: [L::Vector; 3],
    before: Sum<L::Vector>,
    after: Sum<L::Vector>,
) -> L::Vector {
    let beside = logic.add_known(logic.xor(up, down), up, before[0]);
    rule.next(logic, cells, after, beside, before[1])
}
