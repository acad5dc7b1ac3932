//! `planar`: 32 planes in a word, so that a row's neighbours are words at an offset, and nothing is
//! shifted but at the row's two ends.
//!
//! The loop over a row's words is plain, and the compiler makes vectors of it, as in
//! [`bits`](super::bits). A row's sum is made anew for each of the three rows that it serves: kept,
//! it would cost more loads and stores than the two operations that it saves.

use std::array;

use multiversion::multiversion;

use super::bits::{add, choose};
use crate::life::{Rule, Size};

/// One generation; the kernel takes no more in a launch.
pub(super) fn step(size: Size, rule: Rule, _one: u32, from: &[u32], to: &mut [u32]) {
    let (words, height) = (size.words_per_row(), size.height() as usize);
    let row = |y: usize| &from[y % height * words..][..words];
    for (y, out) in to.chunks_exact_mut(words).enumerate() {
        step_row(rule, [row(y + height - 1), row(y), row(y + 1)], out);
    }
}

/// The next state of a row from itself and the rows above and below.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vbmi2",
    "x86_64+avx2",
    "aarch64+neon"
))]
pub(super) fn step_row(rule: Rule, rows: [&[u32]; 3], out: &mut [u32]) {
    if rule == Rule::LIFE {
        step_words(rows, out, life);
    } else {
        let table = rule.table();
        let lives: [u32; 18] = array::from_fn(|i| 0u32.wrapping_sub(table >> i & 1));
        step_words(rows, out, |cells, sums| any_rule(&lives, cells, sums));
    }
}

/// Numbers of two bits, one a cell: the low bits and the high bits.
type Sum = (u32, u32);

/// Of the eight neighbours: the row above and the row below added, and the cells beside.
type Sums = (Sum, Sum, u32, u32);

#[inline(always)]
fn step_words(rows: [&[u32]; 3], out: &mut [u32], next: impl Fn(u32, Sums) -> u32) {
    let n = out.len();
    for x in [0, n - 1] {
        // The word beside is the row's other end, turned into the plane beside.
        let left = |row: &[u32]| match x {
            0 => row[n - 1].rotate_left(1),
            _ => row[x - 1],
        };
        let right = |row: &[u32]| match x == n - 1 {
            true => row[0].rotate_right(1),
            false => row[x + 1],
        };
        let sum = |row: &[u32]| add(left(row), row[x], right(row));
        let [above, here, below] = rows;
        out[x] = next(here[x], (sum(above), sum(below), left(here), right(here)));
    }
    if n < 3 {
        return;
    }
    // Slices of one length: so the compiler drops every bounds check.
    let out = &mut out[1..n - 1];
    let shifted = |row: usize, by: usize| &rows[row][by..][..n - 2];
    let (nw, n_, ne) = (shifted(0, 0), shifted(0, 1), shifted(0, 2));
    let (w, cells, e) = (shifted(1, 0), shifted(1, 1), shifted(1, 2));
    let (sw, s, se) = (shifted(2, 0), shifted(2, 1), shifted(2, 2));
    for x in 0..out.len() {
        let (above, below) = (add(nw[x], n_[x], ne[x]), add(sw[x], s[x], se[x]));
        out[x] = next(cells[x], (above, below, w[x], e[x]));
    }
}

/// How many neighbours there are, as four bits a cell.
#[inline(always)]
fn count((above, below, left, right): Sums) -> [u32; 4] {
    let beside = add(left, above.0, right);
    let (ones, carry) = (below.0 ^ beside.0, below.0 & beside.0);
    let (twos, fours) = add(above.1, beside.1, below.1);
    let more = twos & carry;
    [ones, twos ^ carry, fours ^ more, fours & more]
}

/// B3/S23: alive next with three, or with two if alive.
#[inline(always)]
fn life(cells: u32, sums: Sums) -> u32 {
    let [ones, twos, fours, eights] = count(sums);
    twos & !(fours | eights) & (ones | cells)
}

/// Any rule: `lives` says for a dead cell with so many neighbours, then for one alive, whether it
/// lives next; the bits of their number choose as in a knock-out tournament.
#[inline(always)]
fn any_rule(lives: &[u32; 18], cells: u32, sums: Sums) -> u32 {
    let [ones, twos, fours, eights] = count(sums);
    let state = |n: usize| choose(cells, lives[9 + n], lives[n]);
    let pair = |n: usize| choose(ones, state(n + 1), state(n));
    let four = |n: usize| choose(twos, pair(n + 2), pair(n));
    choose(eights, state(8), choose(fours, four(4), four(0)))
}

/// Planar words of a lattice from its bits; `bits` gives a row.
pub(in crate::engine::cpu) fn unpack<'a>(
    size: Size,
    bits: impl Fn(usize) -> &'a [u32],
    planar: &mut [u32],
) {
    let words = size.words_per_row();
    for (y, out) in planar.chunks_exact_mut(words).enumerate() {
        let row = bits(y);
        for (x, out) in out.iter_mut().enumerate() {
            let cell = |plane: usize| {
                let at = plane * words + x;
                row[at / 32] >> (at % 32) & 1
            };
            *out = (0..32).fold(0, |word, plane| word | cell(plane) << plane);
        }
    }
}

/// A row's bits from its planar words.
pub(in crate::engine::cpu) fn pack_row(planar: &[u32], bits: &mut [u32]) {
    let words = planar.len();
    for (x, out) in bits.iter_mut().enumerate() {
        let cell = |bit: usize| {
            let at = 32 * x + bit;
            planar[at % words] >> (at / words) & 1
        };
        *out = (0..32).fold(0, |word, bit| word | cell(bit) << bit);
    }
}
