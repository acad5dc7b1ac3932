//! What the rungs on planar words do on the way: a group of four rows is marched along, column
//! by column, and steps a generation.
//!
//! A column is six vectors, four rows with those above and below. Added up three by three when
//! it arrives, it is wanted by three columns: what is kept in registers is sums. The cells
//! themselves are loaded again where they are stepped, since a load costs no port that logic
//! needs, but a copy of a register does, and an instruction on three words overwrites one of
//! them. So sums are made in pairs of rows, of which nothing is copied: 9.5 operations a vector
//! where 8 would do if copies were free, and 12 with them.

use std::array;

use crate::cpu::vector::{Logic, Sum};
use life::Rule;

/// Rows of a group.
pub(in crate::cpu) const ROWS: usize = 4;

/// A column of a group, from the row above to the row below.
pub(super) type Column<V> = [V; ROWS + 2];

/// A column added up, three rows at a time.
type Sums<V> = [Sum<V>; ROWS];

/// The next state of cells from the sums around them.
pub(super) trait Next<L: Logic>: Copy {
    /// `below` and `above` are the two columns beside, added up, of `above` only the twos;
    /// `beside` is the cells above and below and the ones of that column.
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

/// Any rule: for a dead cell with so many neighbours, then for one alive, whether it lives next.
#[derive(Clone, Copy)]
pub(super) struct Any<'a, V>(pub(super) &'a [V; 18]);

/// The rule's table, as [`Any`] has it.
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
        // Their number's bits choose, as in a knock-out tournament.
        let state = |n: usize| logic.choose(cells, self.0[9 + n], self.0[n]);
        let (s0, s1, s2, s3) = (state(0), state(1), state(2), state(3));
        let (s4, s5, s6, s7) = (state(4), state(5), state(6), state(7));
        let (p0, p2) = (logic.choose(ones, s1, s0), logic.choose(ones, s3, s2));
        let (p4, p6) = (logic.choose(ones, s5, s4), logic.choose(ones, s7, s6));
        let (few, many) = (logic.choose(bit1, p2, p0), logic.choose(bit1, p6, p4));
        logic.choose(bit3, state(8), logic.choose(bit2, many, few))
    }
}

/// Four rows on their way: where their columns are, and where the next generation's go.
pub(super) trait Group<L: Logic> {
    fn column(&self, x: usize) -> Column<L::Vector>;

    /// The next generation of a column; it is not asked for any more.
    fn put(&mut self, x: usize, next: [L::Vector; ROWS]);
}

/// Steps the columns from `first` to before `end`, which see the sums `left` and `right` of them.
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
    // Three at a time, so that no sum changes its register.
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

/// The sums that a ring's first column sees on its left, and its last one on its right: its own
/// ends, turned into the planes beside.
#[inline(always)]
pub(super) fn ends<L: Logic>(
    logic: L,
    group: &impl Group<L>,
    across: usize,
) -> [Sums<L::Vector>; 2] {
    let last = group.column(across - 1).map(
        #[inline(always)]
        |cells| logic.turn_left(cells),
    );
    let first = group.column(0).map(
        #[inline(always)]
        |cells| logic.turn_right(cells),
    );
    [add(logic, last), add(logic, first)]
}

/// A column of a group, added up.
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

/// The first three rows of four added, and the last three.
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

/// The next generation of column `x`.
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
