//! The column sweep of the planar kernels: it steps a group of four rows by one generation, column
//! by column.
//!
//! A column is six vectors: four rows and the rows above and below. Each column is summed three rows
//! at a time, and its sums are used by three columns, so the sums are kept in registers. Two columns
//! are stepped at a time, since neighbours have most of their sums in common. With ternary logic,
//! B3/S23 takes 9 operations per vector: it would be 7.5 if copies of registers were free, which take
//! as long as an operation where one overwrites an operand that is needed again.
//!
//! A row's result may be stored in place of the cells above it: rows are stepped from the top, two at
//! a time, and what lies above a row is not read again once the row has been stepped.

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

/// Two columns side by side, two rows high.
type Block<V> = [[V; 2]; 2];

/// A rule: computes the next states of cells from sums of three.
pub(super) trait Next<L: Logic>: Copy {
    /// Whether its code is so short that a sweep may repeat it.
    const IS_SHORT: bool;

    /// Steps a block. `columns` are its columns, with the cells above and below them, and `sums`
    /// those of its rows: in its columns and in the columns on both sides.
    fn next(
        self,
        logic: L,
        columns: [[L::Vector; 4]; 2],
        sums: [[Sum<L::Vector>; 4]; 2],
    ) -> Block<L::Vector>;
}

/// B3/S23.
#[derive(Clone, Copy)]
pub(super) struct Life;

impl<L: Logic> Next<L> for Life {
    const IS_SHORT: bool = true;

    #[inline(always)]
    fn next(
        self,
        logic: L,
        [[a, b, c, d], [e, f, g, h]]: [[L::Vector; 4]; 2],
        sums: [[Sum<L::Vector>; 4]; 2],
    ) -> Block<L::Vector> {
        [
            logic.life([[a, b, c], [e, f, g]], sums[0]),
            logic.life([[b, c, d], [f, g, h]], sums[1]),
        ]
    }
}

/// Any rule.
///
/// The sum of a 3×3 block is `x + 2 t`, where x is odd or even and t, from 0 to 4, is what the carry
/// of the ones and the sum of the twos give. Where any function of three vectors is one instruction,
/// each of the four combinations of x and the cell has its own function of t, which the program
/// branches to: a processor predicts branches that always go the same way. Elsewhere the bits of the
/// sum select among masks.
#[derive(Clone, Copy)]
pub(super) struct Any<'a, V> {
    /// The next state for t, as bit t: for an even sum and a dead cell, then for an odd sum; the
    /// same for a live cell.
    of_twos: [u8; 4],
    /// The next state of a dead cell by number of neighbours (0 to 8), then of a live cell.
    masks: &'a [V; 18],
}

impl<'a, V> Any<'a, V> {
    pub(super) fn new(rule: Rule, masks: &'a [V; 18]) -> Any<'a, V> {
        let next = |odd: u32, alive: u32, t: u32| {
            // An impossible count, of the cell alone or of more than all: anything will do.
            let neighbours = (odd + 2 * t).checked_sub(alive).filter(|n| *n <= 8);
            neighbours.is_some_and(|neighbours| rule.next(alive == 1, neighbours))
        };
        let of_twos = array::from_fn(|i| {
            let [odd, alive] = [i as u32 % 2, i as u32 / 2];
            (0..5).map(|t| u8::from(next(odd, alive, t)) << t).sum()
        });
        Any { of_twos, masks }
    }
}

/// The masks for [`Any`].
pub(super) fn masks<L: Logic>(logic: L, rule: Rule) -> [L::Vector; 18] {
    array::from_fn(|i| logic.splat(0u32.wrapping_sub(rule.table() >> i & 1)))
}

impl<L: Logic> Next<L> for Any<'_, L::Vector> {
    const IS_SHORT: bool = false;

    #[inline(always)]
    fn next(
        self,
        logic: L,
        [[_, a, b, _], [_, c, d, _]]: [[L::Vector; 4]; 2],
        sums: [[Sum<L::Vector>; 4]; 2],
    ) -> Block<L::Vector> {
        [
            self.next_row(logic, [a, c], Count::pair(logic, sums[0])),
            self.next_row(logic, [b, d], Count::pair(logic, sums[1])),
        ]
    }
}

impl<V: Copy> Any<'_, V> {
    #[inline(always)]
    fn next_row<L: Logic<Vector = V>>(
        self,
        logic: L,
        cells: [V; 2],
        counts: [Count<V>; 2],
    ) -> [V; 2] {
        if !L::HAS_LOOKUP {
            return [
                select(logic, self.masks, cells[0], counts[0]),
                select(logic, self.masks, cells[1], counts[1]),
            ];
        }
        let [dead_even, dead_odd, alive_even, alive_odd] = self.of_twos;
        let dead = by_parity(logic, dead_even, dead_odd, counts);
        let alive = by_parity(logic, alive_even, alive_odd, counts);
        [
            logic.choose(cells[0], alive[0], dead[0]),
            logic.choose(cells[1], alive[1], dead[1]),
        ]
    }
}

/// The sum of a 3×3 block, as `ones + 2 * (carry + twos) + 4 * fours`.
#[derive(Clone, Copy)]
struct Count<V> {
    ones: V,
    carry: V,
    twos: V,
    fours: V,
}

impl<V: Copy> Count<V> {
    /// The counts of two blocks side by side, from the sums of their four columns.
    #[inline(always)]
    fn pair<L: Logic<Vector = V>>(logic: L, sums: [Sum<V>; 4]) -> [Count<V>; 2] {
        let [a, b, c, d] = sums;
        let ones = logic.add_pair([a[0], b[0], c[0], d[0]]);
        let twos = logic.add_pair([a[1], b[1], c[1], d[1]]);
        let count = |[ones, carry]: Sum<V>, [twos, fours]: Sum<V>| Count {
            ones,
            carry,
            twos,
            fours,
        };
        [count(ones[0], twos[0]), count(ones[1], twos[1])]
    }

    /// A function of everything but the ones.
    #[inline(always)]
    fn lookup<L: Logic<Vector = V>, const TABLE: i32>(&self, logic: L) -> V {
        logic.lookup::<TABLE>(self.carry, self.twos, self.fours)
    }
}

/// Selects the next state of cells among masks.
#[inline(always)]
fn select<L: Logic>(
    logic: L,
    masks: &[L::Vector; 18],
    cells: L::Vector,
    count: Count<L::Vector>,
) -> L::Vector {
    let Count {
        ones,
        carry,
        twos,
        fours,
    } = count;
    let (bit1, more) = (logic.xor(twos, carry), logic.and(twos, carry));
    let (bit2, bit3) = (logic.xor(fours, more), logic.and(fours, more));
    // By the block's sum, which counts a live cell itself.
    let state = |all: usize| match all {
        0 => masks[0],
        9 => masks[17],
        _ => logic.choose(cells, masks[9 + all - 1], masks[all]),
    };
    let pair = |all: usize| logic.choose(ones, state(all + 1), state(all));
    let (few, many) = (
        logic.choose(bit1, pair(2), pair(0)),
        logic.choose(bit1, pair(6), pair(4)),
    );
    logic.choose(bit3, pair(8), logic.choose(bit2, many, few))
}

/// The next states of two cells if they are dead, or if they are alive, by [`Any::of_twos`].
#[inline(always)]
fn by_parity<L: Logic>(
    logic: L,
    even: u8,
    odd: u8,
    counts: [Count<L::Vector>; 2],
) -> [L::Vector; 2] {
    let [even, odd] = [of_twos(logic, even, counts), of_twos(logic, odd, counts)];
    [
        logic.choose(counts[0].ones, odd[0], even[0]),
        logic.choose(counts[1].ones, odd[1], even[1]),
    ]
}

/// Bit `states >> t` for every cell of two blocks, where t is their count of twos.
#[inline(always)]
fn of_twos<L: Logic>(logic: L, states: u8, [a, b]: [Count<L::Vector>; 2]) -> [L::Vector; 2] {
    macro_rules! of_each {
        ($($states:literal)*) => {
            match states % 32 {
                $($states => [
                    a.lookup::<L, { lookup_table($states) }>(logic),
                    b.lookup::<L, { lookup_table($states) }>(logic),
                ],)*
                _ => unreachable!("five bits"),
            }
        };
    }
    of_each!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    )
}

/// The table that looks up bit `a + b + 2 c` of `states`.
const fn lookup_table(states: i32) -> i32 {
    let (mut table, mut bits) = (0, 0);
    while bits < 8 {
        let twos = (bits >> 2) + (bits >> 1 & 1) + 2 * (bits & 1);
        table |= (states >> twos & 1) << bits;
        bits += 1;
    }
    table
}

/// A group of four rows during a sweep: the source and the destination of its cells.
pub(super) trait Group<L: Logic> {
    /// The cells of column `x` in a row, from 0 for the row above the group to 5 for the one below.
    fn cells(&self, x: usize, row: usize) -> L::Vector;

    /// Stores the next generation of the group's row `row`, from 0. The rows above it are not read
    /// again.
    fn put(&mut self, x: usize, row: usize, next: L::Vector);

    /// All cells of a column.
    #[inline(always)]
    fn column(&self, x: usize) -> Column<L::Vector> {
        array::from_fn(
            #[inline(always)]
            |row| self.cells(x, row),
        )
    }
}

/// Steps the columns `first..end`; `left` and `right` are the sums of the columns before and after
/// them.
#[inline(always)]
pub(super) fn sweep<L: Logic, R: Next<L>>(
    logic: L,
    rule: R,
    group: &mut impl Group<L>,
    [first, end]: [usize; 2],
    [left, right]: [Sums<L::Vector>; 2],
) {
    let mut sums = [left, self::sums(logic, group, first)];
    let mut x = first;
    // Two steps per iteration, so that no sum moves between registers.
    while R::IS_SHORT && x + 4 < end {
        step(logic, rule, group, [x, x + 1], &mut sums, None);
        step(logic, rule, group, [x + 2, x + 3], &mut sums, None);
        x += 4;
    }
    while x < end {
        let y = (x + 1).min(end - 1);
        let behind = (x + 2 >= end).then_some(&right);
        step(logic, rule, group, [x, y], &mut sums, behind);
        x += 2;
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
fn add<L: Logic>(logic: L, [a, b, c, d, e, f]: Column<L::Vector>) -> Sums<L::Vector> {
    let [first, second] = logic.add_pair([a, b, c, d]);
    let [third, fourth] = logic.add_pair([c, d, e, f]);
    [first, second, third, fourth]
}

/// Steps two columns, or one if they are the same, from the sums of the column before and of the
/// first one, which it replaces by those for the next step. `behind` are the sums of the column
/// behind them, if that is not one of the group's.
#[inline(always)]
fn step<L: Logic>(
    logic: L,
    rule: impl Next<L>,
    group: &mut impl Group<L>,
    columns: [usize; 2],
    sums: &mut [Sums<L::Vector>; 2],
    behind: Option<&Sums<L::Vector>>,
) {
    // Not a loop, so that the sums stay in registers however much code a rule has.
    step_rows::<L, 0>(logic, rule, group, columns, sums, behind);
    step_rows::<L, 2>(logic, rule, group, columns, sums, behind);
}

/// Steps two rows of two columns.
#[inline(always)]
fn step_rows<L: Logic, const ROW: usize>(
    logic: L,
    rule: impl Next<L>,
    group: &mut impl Group<L>,
    [x, y]: [usize; 2],
    [before, here]: &mut [Sums<L::Vector>; 2],
    behind: Option<&Sums<L::Vector>>,
) {
    let [left, right] = [four::<L, ROW>(group, x), four::<L, ROW>(group, y)];
    let mut near = logic.add_pair(right);
    let far = match behind {
        None => logic.add_pair(four::<L, ROW>(group, y + 1)),
        Some(behind) => [behind[ROW], behind[ROW + 1]],
    };
    if x == y {
        near = far;
    }
    let sums = [
        [before[ROW], here[ROW], near[0], far[0]],
        [before[ROW + 1], here[ROW + 1], near[1], far[1]],
    ];
    let [upper, lower] = rule.next(logic, [left, right], sums);
    group.put(x, ROW, upper[0]);
    group.put(x, ROW + 1, lower[0]);
    if x != y {
        group.put(y, ROW, upper[1]);
        group.put(y, ROW + 1, lower[1]);
    }
    (before[ROW], before[ROW + 1]) = (near[0], near[1]);
    (here[ROW], here[ROW + 1]) = (far[0], far[1]);
}

/// Two rows of a column, and the cells above and below them.
#[inline(always)]
fn four<L: Logic, const ROW: usize>(group: &impl Group<L>, x: usize) -> [L::Vector; 4] {
    [
        group.cells(x, ROW),
        group.cells(x, ROW + 1),
        group.cells(x, ROW + 2),
        group.cells(x, ROW + 3),
    ]
}
