//! Networks of three-input functions that compute a rule's next states, 32 cells at a time.
//!
//! A planar kernel adds the nine cells of a 3×3 block in two steps. Per row it computes
//! `ones = xor3(left, center, right)` and `twos = maj3(left, center, right)`, which three rows
//! share. Then it adds three rows:
//!
//! | wire | function | weight |
//! |---|---|---|
//! | x | `xor3` of the rows' ones | 1 |
//! | k | `maj3` of the rows' ones | 2 |
//! | p | `xor3` of the rows' twos | 2 |
//! | q | `maj3` of the rows' twos | 4 |
//!
//! So `x + 2 (k + p) + 4 q` counts the live cells of the block. Together with the center cell `c`
//! the four wires determine the next state under every B/S rule. [`RuleNetwork::of`] finds the
//! function of `x, k, p, q, c` for a rule, as the shortest list of [`Lop3`] instructions:
//!
//! | instructions | 0 | 1 | 2 | 3 | 4 | 5 |
//! |---|---|---|---|---|---|---|
//! | rules, of 2^18 | 4 | 62 | 4842 | 60118 | 187850 | 9268 |
//!
//! Finding the shortest network takes a SAT solver seconds, too long for a person who has just typed
//! a rule. Instead, `search.rs` tries a catalogue of shapes: networks whose last two tables are
//! open. Whether a rule fits a shape is a quick test on a few words.

mod ptx;
mod search;
#[cfg(test)]
mod tests;

use life::Rule;

pub use ptx::specialise;

/// A network of three-input functions for one rule.
///
/// Its wires are numbered: x, k, p, q, c, then 0 and 1 in every bit, then the results of the instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleNetwork {
    ops: Vec<Lop3>,
    /// The wire with the next states: the last result, if there is one.
    output: usize,
}

/// A three-input function of words, applied to each bit: the instruction `lop3.b32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lop3 {
    /// Bit `4 a + 2 b + c` is the result for the input bits `a, b, c`.
    table: u8,
    /// The wires `a, b, c`.
    inputs: [usize; 3],
}

/// The number of wires x, k, p, q and c.
const INPUTS: usize = 5;

/// The wire of the first instruction's result.
const RESULTS: usize = INPUTS + 2;

impl RuleNetwork {
    /// The shortest network for a rule. Takes some 10 µs; the first call also parses the catalogue,
    /// which takes milliseconds.
    pub fn of(rule: Rule) -> RuleNetwork {
        search::find(rule)
    }

    fn new(ops: Vec<Lop3>) -> RuleNetwork {
        let output = RESULTS + ops.len() - 1;
        RuleNetwork { ops, output }
    }

    /// The network that gives for inverted inputs what this one gives for the inputs.
    fn with_inverted_inputs(mut self) -> RuleNetwork {
        for op in &mut self.ops {
            let is_input = op.inputs.map(|wire| wire < INPUTS);
            let flip: usize = (0..3).map(|i| usize::from(is_input[i]) << (2 - i)).sum();
            let table = op.table;
            op.table = (0..8).map(|i| (table >> (i ^ flip) & 1) << i).sum();
        }
        self
    }
}

/// The words on all wires.
fn words([x, k, p, q, c]: [u32; INPUTS], ops: &[Lop3]) -> Vec<u32> {
    let mut words = vec![x, k, p, q, c, 0, u32::MAX];
    for op in ops {
        words.push(lookup(op.table, op.inputs.map(|wire| words[wire])));
    }
    words
}

/// `lop3.b32` with this table.
fn lookup(table: u8, words: [u32; 3]) -> u32 {
    let selected = |i: usize| {
        let literal = |j: usize| match i >> (2 - j) & 1 {
            0 => !words[j],
            _ => words[j],
        };
        literal(0) & literal(1) & literal(2)
    };
    (0..8).filter(|i| table >> i & 1 == 1).map(selected).sum()
}
