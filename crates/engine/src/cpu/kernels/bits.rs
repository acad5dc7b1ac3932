//! `bits`: 32 cells per word, summed as bit planes; here on a whole vector of words at a time.
//!
//! Four rows are stepped at a time, from six rows. Each of the six is summed once with itself
//! shifted left and right: a two-bit number per cell. Three such numbers give the sum of a cell and
//! its neighbours, and a few more operations the next state: 82 vector operations step 2048 cells
//! with AVX-512. No intrinsics: the loop over a row's words is simple, [`BitRows`] handles the
//! torus, and the compiler vectorises the loop for each instruction set ([`vector::vectorize`]).

use std::array;

use crate::cpu::planar_rows::{BitRows, seal};
use crate::cpu::vector;
use life::Rule;

/// Steps one generation.
pub(in crate::cpu) fn step(rule: Rule, from: &BitRows, to: &mut BitRows) {
    let (width, stride) = (from.size.width as usize, from.stride);
    let (from, to) = (&from.words[..], &mut to.words[..]);
    vector::vectorize(
        #[inline(always)]
        || step_words(rule, from, to, stride, width),
    );
}

#[inline(always)]
fn step_words(rule: Rule, from: &[u32], to: &mut [u32], stride: usize, width: usize) {
    if rule == Rule::LIFE {
        step_rows(from, to, stride, width, life);
    } else {
        let dead = array::from_fn(|all| {
            if rule.next(false, all as u32) {
                u32::MAX
            } else {
                0
            }
        });
        let alive = array::from_fn(|all| match all {
            0 => 0,
            _ if rule.next(true, all as u32 - 1) => u32::MAX,
            _ => 0,
        });
        step_rows(from, to, stride, width, |sums, cells| {
            any_rule(&dead, &alive, sums, cells)
        });
    }
}

/// Two-bit numbers, one per cell: low bits and high bits.
type Sums = (u32, u32);

/// Steps all rows, four at a time, and the remaining ones singly.
#[inline(always)]
fn step_rows(
    from: &[u32],
    to: &mut [u32],
    stride: usize,
    width: usize,
    next: impl Fn([Sums; 3], u32) -> u32 + Copy,
) {
    let height = from.len() / stride;
    let row = |y: usize| &from[y % height * stride..][..stride];
    let (by_four, by_one) = to.split_at_mut(height / 4 * 4 * stride);
    for (band, out) in by_four.chunks_exact_mut(4 * stride).enumerate() {
        let seen: [&[u32]; 6] = array::from_fn(|j| row(4 * band + j + height - 1));
        let (first, rest) = out.split_at_mut(stride);
        let (second, rest) = rest.split_at_mut(stride);
        let (third, fourth) = rest.split_at_mut(stride);
        step_four(seen, first, second, third, fourth, next);
        out.chunks_exact_mut(stride)
            .for_each(|row| seal(row, width));
    }
    for (j, out) in by_one.chunks_exact_mut(stride).enumerate() {
        let y = height / 4 * 4 + j;
        step_one([row(y + height - 1), row(y), row(y + 1)], out, next);
        seal(out, width);
    }
}

/// A row's words with the words to the left and right of each. Slices of equal length let the
/// compiler remove bounds checks.
struct Words<'a> {
    left: &'a [u32],
    cells: &'a [u32],
    right: &'a [u32],
}

impl<'a> Words<'a> {
    #[inline(always)]
    fn new(row: &'a [u32], n: usize) -> Words<'a> {
        Words {
            left: &row[..n],
            cells: &row[1..n + 1],
            right: &row[2..n + 2],
        }
    }

    /// The sums of each cell of word `i` with its left and right neighbours.
    #[inline(always)]
    fn sums(&self, i: usize) -> Sums {
        let cells = self.cells[i];
        add(
            cells << 1 | self.left[i] >> 31,
            cells,
            cells >> 1 | self.right[i] << 31,
        )
    }
}

// The output rows are separate arguments, so that the compiler knows they do not alias.
#[inline(always)]
fn step_four(
    seen: [&[u32]; 6],
    first: &mut [u32],
    second: &mut [u32],
    third: &mut [u32],
    fourth: &mut [u32],
    next: impl Fn([Sums; 3], u32) -> u32,
) {
    let n = first.len() - 2;
    let row = |j: usize| Words::new(seen[j], n);
    let (r0, r1, r2, r3, r4, r5) = (row(0), row(1), row(2), row(3), row(4), row(5));
    let (first, second) = (&mut first[1..n + 1], &mut second[1..n + 1]);
    let (third, fourth) = (&mut third[1..n + 1], &mut fourth[1..n + 1]);
    for i in 0..n {
        let (s0, s1, s2) = (r0.sums(i), r1.sums(i), r2.sums(i));
        let (s3, s4, s5) = (r3.sums(i), r4.sums(i), r5.sums(i));
        first[i] = next([s0, s1, s2], r1.cells[i]);
        second[i] = next([s1, s2, s3], r2.cells[i]);
        third[i] = next([s2, s3, s4], r3.cells[i]);
        fourth[i] = next([s3, s4, s5], r4.cells[i]);
    }
}

#[inline(always)]
fn step_one(seen: [&[u32]; 3], out: &mut [u32], next: impl Fn([Sums; 3], u32) -> u32) {
    let n = out.len() - 2;
    let row = |j: usize| Words::new(seen[j], n);
    let (r0, r1, r2) = (row(0), row(1), row(2));
    for (i, out) in out[1..n + 1].iter_mut().enumerate() {
        *out = next([r0.sums(i), r1.sums(i), r2.sums(i)], r1.cells[i]);
    }
}

/// Adds three bits per cell: a carry-save adder, in a form that compiles to two ternary operations
/// where available.
#[inline(always)]
fn add(a: u32, b: u32, c: u32) -> Sums {
    (a ^ b ^ c, (a & b) | (c & (a | b)))
}

/// The sum of a cell and its neighbours, `ones + 2 * (twos + carry) + 4 * fours`, as ones and carry, and
/// twos and fours: the carry is not yet added.
#[inline(always)]
fn total([a, b, c]: [Sums; 3]) -> (Sums, Sums) {
    (add(a.0, b.0, c.0), add(a.1, b.1, c.1))
}

/// B3/S23: a cell lives next if the sum of the nine is three, or is four and the cell is alive.
#[inline(always)]
fn life(sums: [Sums; 3], cells: u32) -> u32 {
    let ((ones, carry), (twos, fours)) = total(sums);
    let bit1 = twos ^ carry;
    let three = ones & bit1 & !fours;
    let four = !ones & !bit1 & (fours ^ (twos & carry));
    three | (cells & four)
}

/// Any rule: `dead` and `alive` are masks with the next state for each sum of the nine. The four
/// bits of the sum select among them.
#[inline(always)]
fn any_rule(dead: &[u32; 10], alive: &[u32; 10], sums: [Sums; 3], cells: u32) -> u32 {
    let ((ones, carry), (twos, fours)) = total(sums);
    let bit1 = twos ^ carry;
    let more = twos & carry;
    let bit2 = fours ^ more;
    let bit3 = fours & more;
    let state = |all: usize| choose(cells, alive[all], dead[all]);
    let pair = |all: usize| choose(ones, state(all + 1), state(all));
    let four = |all: usize| choose(bit1, pair(all + 2), pair(all));
    choose(bit3, pair(8), choose(bit2, four(4), four(0)))
}

/// Selects bits of `set` where the mask is 1, of `clear` where it is 0.
#[inline(always)]
fn choose(mask: u32, set: u32, clear: u32) -> u32 {
    clear ^ (mask & (set ^ clear))
}
