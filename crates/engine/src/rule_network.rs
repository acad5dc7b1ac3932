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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleNetwork {
    ops: Vec<Lop3>,
    output: Output,
}

/// A three-input function of words, applied to each bit: the instruction `lop3.b32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lop3 {
    /// Bit `4 a + 2 b + c` is the result for the input bits `a, b, c`.
    pub table: u8,
    /// The inputs `a, b, c`.
    pub inputs: [Wire; 3],
}

/// An input of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    /// The ones of the block's count: `xor3` of the rows' ones.
    X,
    /// The carry of the rows' ones, of weight 2: their `maj3`.
    K,
    /// `xor3` of the rows' twos, of weight 2.
    P,
    /// The carry of the rows' twos, of weight 4: their `maj3`.
    Q,
    /// The cell itself, whose next state is computed.
    Center,
    /// The result of an earlier instruction, by its index.
    Result(usize),
}

/// Where the next states are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Every cell has this state, whatever its neighbours.
    Constant(bool),
    /// On this wire.
    Wire(Wire),
}

impl RuleNetwork {
    /// The shortest network for a rule. Takes some 10 µs; the first call also parses the catalogue,
    /// which takes milliseconds.
    pub fn of(rule: Rule) -> RuleNetwork {
        search::find(rule)
    }

    /// The instructions, in order.
    pub fn ops(&self) -> &[Lop3] {
        &self.ops
    }

    /// Where the next states are after the instructions.
    pub fn output(&self) -> Output {
        self.output
    }

    /// The next states of 32 cells, from the words on the wires x, k, p, q and c.
    pub fn evaluate(&self, inputs: [u32; 5]) -> u32 {
        let mut results = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            results.push(op.evaluate(&inputs, &results));
        }
        match self.output {
            Output::Constant(alive) => u32::from(alive).wrapping_neg(),
            Output::Wire(wire) => wire.word(&inputs, &results),
        }
    }

    fn new(ops: Vec<Lop3>) -> RuleNetwork {
        let output = Output::Wire(Wire::Result(ops.len() - 1));
        RuleNetwork { ops, output }
    }

    /// The network that gives for inverted inputs what this one gives for the inputs.
    fn with_inverted_inputs(mut self) -> RuleNetwork {
        for op in &mut self.ops {
            let inverted = op.inputs.map(|wire| !matches!(wire, Wire::Result(_)));
            let flip = (0..3)
                .map(|i| usize::from(inverted[i]) << (2 - i))
                .sum::<usize>();
            let table = op.table;
            op.table = (0..8).map(|i| (table >> (i ^ flip) & 1) << i).sum();
        }
        self
    }
}

impl Lop3 {
    fn evaluate(&self, inputs: &[u32; 5], results: &[u32]) -> u32 {
        lookup(
            self.table,
            self.inputs.map(|wire| wire.word(inputs, results)),
        )
    }
}

impl Wire {
    /// The wires into a network.
    const INPUTS: [Wire; 5] = [Wire::X, Wire::K, Wire::P, Wire::Q, Wire::Center];

    fn word(self, inputs: &[u32; 5], results: &[u32]) -> u32 {
        match self {
            Wire::X => inputs[0],
            Wire::K => inputs[1],
            Wire::P => inputs[2],
            Wire::Q => inputs[3],
            Wire::Center => inputs[4],
            Wire::Result(index) => results[index],
        }
    }
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
