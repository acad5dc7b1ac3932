//! The column sweep of the planar kernels: it steps two rows by one generation, column by column,
//! from four rows: the two, the one above and the one below.
//!
//! Each column is summed three rows at a time, and its sums are used by three columns, so the sums
//! are kept in registers. Two columns are stepped at a time, since neighbours have most of their sums
//! in common. With ternary logic, B3/S23 takes 9 operations per vector: it would be 7.5 if copies of
//! registers were free, which take as long as an operation where one overwrites an operand that is
//! needed again.
//!
//! The results may be stored in place of the upper two rows: rows are stepped from the top, so nothing
//! reads them again.

use std::array;
use std::cell::Cell;

use crate::cpu::planar_rows::Planes;
use crate::cpu::vector::{Logic, Sum};
use life::Rule;

/// The sums of a column of four rows: of the upper three and of the lower three.
type Sums<V> = [Sum<V>; 2];

/// Two columns side by side, two rows high.
type Block<V> = [[V; 2]; 2];

/// A rule: computes the next states of cells from sums of three.
pub(super) trait Next<L: Logic>: Copy {
    /// Whether its code is so short that it may be repeated.
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
/// The sum of a 3×3 block is `x + 2 t`, where x is odd or even and t is from 0 to 4. Where any function
/// of three vectors is one instruction, x and the two bits of t modulo 4 are looked up in two tables,
/// for dead and for live cells. The program branches to a table's instruction, for a block at once: a
/// processor predicts branches that always go the same way. Elsewhere the bits of the sum select among
/// masks.
#[derive(Clone, Copy)]
pub(super) struct Any<'a, V> {
    dead: Table,
    alive: Table,
    masks: &'a Masks<V>,
}

/// The next states of dead or of live cells by their block's sum.
#[derive(Clone, Copy)]
struct Table {
    /// Bit `4 x + t % 4`: the next state.
    states: u8,
    /// Whether the state is the opposite where t is 4: none and eight neighbours have the same place
    /// in the table.
    four_differs: bool,
}

impl Table {
    fn of(rule: Rule, alive: bool) -> Table {
        let four_differs = rule.next(alive, 0) != rule.next(alive, 8);
        let place = |neighbours: u32| {
            let sum = neighbours + u32::from(alive);
            // Only a live cell with seven neighbours, whose place is its own.
            let is_opposite = four_differs && sum / 2 == 4;
            let state = rule.next(alive, neighbours) != is_opposite;
            u8::from(state) << (4 * (sum % 2) + sum / 2 % 4)
        };
        Table {
            states: (0..8).map(place).sum(),
            four_differs,
        }
    }
}

impl<'a, V> Any<'a, V> {
    pub(super) fn new(rule: Rule, masks: &'a Masks<V>) -> Any<'a, V> {
        Any {
            dead: Table::of(rule, false),
            alive: Table::of(rule, true),
            masks,
        }
    }
}

/// Masks for [`Any`]: the next state of a dead cell by number of neighbours (0 to 8), then of a live
/// cell, and [`ZERO`].
type Masks<V> = [V; 19];

/// The index of the mask that is 0.
const ZERO: usize = 18;

/// The masks for [`Any`].
pub(super) fn masks<L: Logic>(logic: L, rule: Rule) -> Masks<L::Vector> {
    // Bits 0 to 17 of a rule's table are its states.
    array::from_fn(|i| logic.splat(0u32.wrapping_sub(rule.table() >> i & 1)))
}

impl<L: Logic> Next<L> for Any<'_, L::Vector> {
    const IS_SHORT: bool = false;

    #[inline(always)]
    fn next(
        self,
        logic: L,
        [[_, a, b, _], [_, c, d, _]]: [[L::Vector; 4]; 2],
        [upper, lower]: [[Sum<L::Vector>; 4]; 2],
    ) -> Block<L::Vector> {
        if !L::HAS_LOOKUP {
            let [upper, lower] = [counts(logic, upper), counts(logic, lower)];
            let masks = self.masks;
            return [
                [
                    select(logic, masks, a, upper[0]),
                    select(logic, masks, c, upper[1]),
                ],
                [
                    select(logic, masks, b, lower[0]),
                    select(logic, masks, d, lower[1]),
                ],
            ];
        }
        let [upper, lower] = [Wires::pair(logic, upper), Wires::pair(logic, lower)];
        let wires = [upper[0], upper[1], lower[0], lower[1]];
        let zero = &self.masks[ZERO];
        let dead = look_up(logic, self.dead, zero, wires);
        let alive = look_up(logic, self.alive, zero, wires);
        let [dead, alive] = match [self.dead.four_differs, self.alive.four_differs] {
            [true, false] => [opposite_of_four(logic, dead, wires), alive],
            [false, true] => [dead, opposite_of_four(logic, alive, wires)],
            _ => [dead, alive],
        };
        let cells = [a, c, b, d];
        let mut next = dead;
        for i in 0..4 {
            next[i] = logic.choose(cells[i], alive[i], dead[i]);
        }
        if self.dead.four_differs && self.alive.four_differs {
            next = opposite_of_four(logic, next, wires);
        }
        [[next[0], next[1]], [next[2], next[3]]]
    }
}

/// The sum of a 3×3 block as [`Any`] looks it up: `x + 2 t`.
#[derive(Clone, Copy)]
struct Wires<V> {
    x: V,
    /// The low bit of t.
    t0: V,
    /// The next bit of t.
    t1: V,
    /// Part of t's fours: t is 4 where this is 1 and `t1` is 0.
    fours: V,
}

impl<V: Copy> Wires<V> {
    /// The sums of two blocks side by side, from those of their four columns.
    #[inline(always)]
    fn pair<L: Logic<Vector = V>>(logic: L, [a, b, c, d]: [Sum<V>; 4]) -> [Wires<V>; 2] {
        let [[left, left_carry], [right, right_carry]] = logic.add_pair([a[0], b[0], c[0], d[0]]);
        let middle = [logic.xor(b[1], c[1]), logic.and(b[1], c[1])];
        [
            Wires::of(logic, left, [left_carry, a[1]], middle),
            Wires::of(logic, right, [right_carry, d[1]], middle),
        ]
    }

    /// From the low bit of the sum, the two other terms of t, and the sum of the middle columns' twos.
    #[inline(always)]
    fn of<L: Logic<Vector = V>>(
        logic: L,
        x: V,
        [carry, outer]: [V; 2],
        [one, fours]: Sum<V>,
    ) -> Wires<V> {
        Wires {
            x,
            t0: logic.lookup::<0x96>(carry, outer, one),
            t1: logic.xor(logic.lookup::<0xe8>(carry, outer, one), fours),
            fours,
        }
    }
}

/// The sum of a 3×3 block, `ones + 2 * (carry + twos) + 4 * fours`, as ones and carry, and twos and fours.
type Count<V> = [Sum<V>; 2];

/// The counts of two blocks side by side, from the sums of their four columns.
#[inline(always)]
fn counts<L: Logic>(logic: L, [a, b, c, d]: [Sum<L::Vector>; 4]) -> [Count<L::Vector>; 2] {
    let [left, right] = logic.add_pair([a[0], b[0], c[0], d[0]]);
    let [left_twos, right_twos] = logic.add_pair([a[1], b[1], c[1], d[1]]);
    [[left, left_twos], [right, right_twos]]
}

/// Selects the next state of cells among masks.
#[inline(always)]
fn select<L: Logic>(
    logic: L,
    masks: &Masks<L::Vector>,
    cells: L::Vector,
    [[ones, carry], [twos, fours]]: Count<L::Vector>,
) -> L::Vector {
    let (bit1, more) = (logic.xor(twos, carry), logic.and(twos, carry));
    let (bit2, bit3) = (logic.xor(fours, more), logic.and(fours, more));
    let cases = Cases {
        logic,
        masks,
        cells,
        odd: ones,
    };
    let few = logic.choose(bit1, cases.pair::<2>(), cases.pair::<0>());
    let many = logic.choose(bit1, cases.pair::<6>(), cases.pair::<4>());
    logic.choose(bit3, cases.pair::<8>(), logic.choose(bit2, many, few))
}

/// The next states of cells by the sum of their block, which counts a live cell itself.
#[derive(Clone, Copy)]
struct Cases<'a, L: Logic> {
    logic: L,
    masks: &'a Masks<L::Vector>,
    cells: L::Vector,
    /// Where the sum is odd.
    odd: L::Vector,
}

impl<L: Logic> Cases<'_, L> {
    /// The states by an even sum and by the next one.
    #[inline(always)]
    fn pair<const SUM: usize>(self) -> L::Vector {
        let even = self.state(SUM);
        self.logic.choose(self.odd, self.state(SUM + 1), even)
    }

    /// The state by one sum, from 0 to 9.
    #[inline(always)]
    fn state(self, sum: usize) -> L::Vector {
        match sum {
            0 => self.masks[0],
            9 => self.masks[17],
            _ => self
                .logic
                .choose(self.cells, self.masks[9 + sum - 1], self.masks[sum]),
        }
    }
}

/// Looks up the sums of four blocks. Table 0 loads its result: compilers would make a constant ready
/// before they branch to any table.
#[inline(always)]
fn look_up<L: Logic>(
    logic: L,
    table: Table,
    zero: &L::Vector,
    blocks: [Wires<L::Vector>; 4],
) -> [L::Vector; 4] {
    let [a, b, c, d] = blocks;
    macro_rules! each_table {
        ($($table:literal)*) => {
            match table.states {
                0 => [*zero; 4],
                $($table => [
                    logic.lookup::<$table>(a.x, a.t1, a.t0),
                    logic.lookup::<$table>(b.x, b.t1, b.t0),
                    logic.lookup::<$table>(c.x, c.t1, c.t0),
                    logic.lookup::<$table>(d.x, d.t1, d.t0),
                ],)*
            }
        };
    }
    each_table!(
        1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
        64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79
        80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
        96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111
        112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127
        128 129 130 131 132 133 134 135 136 137 138 139 140 141 142 143
        144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159
        160 161 162 163 164 165 166 167 168 169 170 171 172 173 174 175
        176 177 178 179 180 181 182 183 184 185 186 187 188 189 190 191
        192 193 194 195 196 197 198 199 200 201 202 203 204 205 206 207
        208 209 210 211 212 213 214 215 216 217 218 219 220 221 222 223
        224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239
        240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255
    )
}

/// The opposite states where t is 4.
#[inline(always)]
fn opposite_of_four<L: Logic>(
    logic: L,
    mut states: [L::Vector; 4],
    sums: [Wires<L::Vector>; 4],
) -> [L::Vector; 4] {
    for i in 0..4 {
        states[i] = logic.lookup::<0xb4>(states[i], sums[i].fours, sums[i].t1);
    }
    states
}

/// A vector that a sweep reads, which may be one that it stores.
pub(super) trait Read<V> {
    fn read(&self) -> V;
}

impl<V: Copy> Read<V> for V {
    #[inline(always)]
    fn read(&self) -> V {
        *self
    }
}

impl<V: Copy> Read<V> for Cell<V> {
    #[inline(always)]
    fn read(&self) -> V {
        self.get()
    }
}

/// Two rows to step: the source and the destination of their cells.
pub(super) struct Strip<'a, V, R> {
    /// The row above the two, they themselves, and the row below.
    pub from: [&'a [R]; 4],
    /// From one column to the next.
    pub from_stride: usize,
    /// Where the next generation goes, which may be the upper two rows of `from`.
    pub to: [&'a [Cell<V>]; 2],
    pub to_stride: usize,
    /// The column at the start of `to`.
    pub to_first: usize,
}

impl<V, R: Read<V>> Strip<'_, V, R> {
    /// Slices of equal lengths let the compiler remove bounds checks.
    #[inline(always)]
    fn with_equal_lengths(&self) -> Self {
        let [a, b, c, d] = self.from;
        let length = a.len().min(b.len()).min(c.len()).min(d.len());
        let [upper, lower] = self.to;
        let to_length = upper.len().min(lower.len());
        Strip {
            from: [&a[..length], &b[..length], &c[..length], &d[..length]],
            to: [&upper[..to_length], &lower[..to_length]],
            ..*self
        }
    }

    /// The cells of a column.
    #[inline(always)]
    fn column(&self, x: usize) -> [V; 4] {
        let [a, b, c, d] = self.from;
        let i = x * self.from_stride;
        [a[i].read(), b[i].read(), c[i].read(), d[i].read()]
    }

    /// Stores the next generation of a column.
    #[inline(always)]
    fn put(&self, x: usize, [upper, lower]: [V; 2]) {
        let i = (x - self.to_first) * self.to_stride;
        self.to[0][i].set(upper);
        self.to[1][i].set(lower);
    }
}

/// Steps the columns `first..end`; `left` and `right` are the sums of the columns before and after
/// them.
#[inline(always)]
pub(super) fn sweep<L: Logic, R: Next<L>, V: Read<L::Vector>>(
    logic: L,
    rule: R,
    strip: &Strip<L::Vector, V>,
    columns: [usize; 2],
    sides: [Sums<L::Vector>; 2],
) {
    if !R::IS_SHORT {
        // Compiled once for all that sweep.
        logic.run(
            #[inline(always)]
            |logic| sweep_here(logic, rule, strip, columns, sides),
        );
    } else {
        sweep_here(logic, rule, strip, columns, sides);
    }
}

#[inline(always)]
fn sweep_here<L: Logic, R: Next<L>, V: Read<L::Vector>>(
    logic: L,
    rule: R,
    strip: &Strip<L::Vector, V>,
    [first, end]: [usize; 2],
    [left, right]: [Sums<L::Vector>; 2],
) {
    let strip = &strip.with_equal_lengths();
    let mut sums = [left, self::sums(logic, strip, first)];
    let mut x = first;
    // Two steps per iteration, so that no sum moves between registers.
    while x + 4 < end {
        step(logic, rule, strip, [x, x + 1], &mut sums, None);
        step(logic, rule, strip, [x + 2, x + 3], &mut sums, None);
        x += 4;
    }
    while x < end {
        let y = (x + 1).min(end - 1);
        let behind = (x + 2 >= end).then_some(right);
        step(logic, rule, strip, [x, y], &mut sums, behind);
        x += 2;
    }
}

/// The sums to the left of a ring's first column and to the right of its last one: the ring's own
/// ends, rotated into the adjacent planes.
#[inline(always)]
pub(super) fn ends<L: Logic, V: Read<L::Vector>>(
    logic: L,
    strip: &Strip<L::Vector, V>,
    planes: Planes,
) -> [Sums<L::Vector>; 2] {
    let (across, narrow) = (planes.across, planes.narrow);
    let last = beside(
        logic,
        planes,
        true,
        strip.column(narrow - 1),
        strip.column(across - 1),
    );
    let first = beside(
        logic,
        planes,
        false,
        strip.column(across - narrow),
        strip.column(0),
    );
    [logic.add_pair(last), logic.add_pair(first)]
}

/// The column before the first one of a row, or behind the last one: the column of the adjacent plane,
/// which is another one if the plane before it is wide.
#[inline(always)]
pub(super) fn beside<L: Logic, const N: usize>(
    logic: L,
    planes: Planes,
    is_before: bool,
    narrow: [L::Vector; N],
    wide: [L::Vector; N],
) -> [L::Vector; N] {
    // Behind the last column, bit b becomes bit b - 1, whose plane decides.
    let mask = logic.splat(planes.wide.rotate_left(if is_before { 0 } else { 1 }));
    let mut column = wide;
    for row in 0..N {
        let chosen = logic.choose(mask, wide[row], narrow[row]);
        column[row] = if is_before {
            logic.turn_left(chosen)
        } else {
            logic.turn_right(chosen)
        };
    }
    column
}

/// The sums of a column.
#[inline(always)]
pub(super) fn sums<L: Logic, V: Read<L::Vector>>(
    logic: L,
    strip: &Strip<L::Vector, V>,
    x: usize,
) -> Sums<L::Vector> {
    logic.add_pair(strip.column(x))
}

/// Steps two columns, or one if they are the same, from the sums of the column before and of the
/// first one, which it replaces by those for the next step. `behind` are the sums of the column
/// behind them, if that is not one of those to step.
#[inline(always)]
fn step<L: Logic, V: Read<L::Vector>>(
    logic: L,
    rule: impl Next<L>,
    strip: &Strip<L::Vector, V>,
    [x, y]: [usize; 2],
    [before, here]: &mut [Sums<L::Vector>; 2],
    behind: Option<Sums<L::Vector>>,
) {
    let columns = [strip.column(x), strip.column(y)];
    let mut near = logic.add_pair(columns[1]);
    let far = match behind {
        None => sums(logic, strip, y + 1),
        Some(behind) => behind,
    };
    if x == y {
        near = far;
    }
    let sums = [
        [before[0], here[0], near[0], far[0]],
        [before[1], here[1], near[1], far[1]],
    ];
    let [upper, lower] = rule.next(logic, columns, sums);
    strip.put(x, [upper[0], lower[0]]);
    if x != y {
        strip.put(y, [upper[1], lower[1]]);
    }
    (*before, *here) = (near, far);
}
