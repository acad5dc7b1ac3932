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

use life::Rule;
use std::fmt::Write;
use std::sync::LazyLock;

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
        find(rule)
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

// Networks in PTX: a kernel has a placeholder where the next states are computed, and the host
// replaces it by the rule's network before the driver compiles the kernel.
//
// In CUDA C the placeholder is one line of inline assembly, which compilers copy into the PTX:
//
// ```text
// asm("trap; // rule network: %0 = %1 %2 %3 %4 %5"
//     : "=r"(next) : "r"(x), "r"(k), "r"(p), "r"(q), "r"(cells));
// ```
//
// A kernel that still has its placeholder compiles, but stops with an error when it runs.

/// The start of a placeholder. A register for the result, `=` and five input registers follow.
const PLACEHOLDER: &str = "trap; // rule network:";

impl RuleNetwork {
    /// The network as PTX: the next states go into the register `result`, and `inputs` are the
    /// registers of x, k, p, q and c. All registers have 32 bits.
    fn ptx(&self, result: &str, inputs: [&str; INPUTS]) -> String {
        let Some((last, helpers)) = self.ops.split_last() else {
            return format!("\tmov.b32 \t{result}, {};\n", name(self.output, inputs));
        };
        if helpers.is_empty() {
            return instruction(result, last, inputs);
        }
        // A scope of its own, so that several networks in one kernel can use the same names.
        let mut text = format!("\t{{\n\t.reg .b32 \t%net<{}>;\n", helpers.len());
        for (helper, wire) in helpers.iter().zip(RESULTS..) {
            text += &instruction(&name(wire, inputs), helper, inputs);
        }
        text += &instruction(result, last, inputs);
        text += "\t}\n";
        text
    }
}

fn instruction(result: &str, op: &Lop3, inputs: [&str; INPUTS]) -> String {
    let [a, b, c] = op.inputs.map(|wire| name(wire, inputs));
    format!("\tlop3.b32 \t{result}, {a}, {b}, {c}, {:#04x};\n", op.table)
}

/// The register or the number on a wire.
fn name(wire: usize, [x, k, p, q, c]: [&str; INPUTS]) -> String {
    match wire.checked_sub(RESULTS) {
        Some(helper) => format!("%net{helper}"),
        None => [x, k, p, q, c, "0", "-1"][wire].into(),
    }
}

const WRITES: &str = "writing to a string succeeds";

/// Returns a kernel's PTX with every placeholder replaced by the network. Errors with the line that
/// is not a valid placeholder, or if there is none.
pub fn specialise(ptx: &str, network: &RuleNetwork) -> Result<String, String> {
    let mut specialised = String::with_capacity(ptx.len() + 4096);
    let mut replaced = 0;
    for (number, line) in ptx.lines().enumerate() {
        match line.trim_start().strip_prefix(PLACEHOLDER) {
            Some(registers) => {
                let (result, inputs) = operands(registers)
                    .ok_or_else(|| format!("line {}: not a placeholder: {line}", number + 1))?;
                writeln!(specialised, "\t// rule network:{registers}").expect(WRITES);
                specialised += &network.ptx(result, inputs);
                replaced += 1;
            }
            None => writeln!(specialised, "{line}").expect(WRITES),
        }
    }
    match replaced {
        0 => Err("the kernel has no placeholder for a rule network".into()),
        _ => Ok(specialised),
    }
}

/// The registers in ` %r6 = %r1 %r2 %r3 %r4 %r5`.
fn operands(text: &str) -> Option<(&str, [&str; 5])> {
    let (result, inputs) = text.split_once('=')?;
    let inputs: Vec<&str> = inputs.split_whitespace().collect();
    let result = result.trim();
    let register = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        name.strip_prefix('%')
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain))
    };
    let valid = register(result) && inputs.iter().all(|name| register(name));
    Some((result, inputs.try_into().ok()?)).filter(|_| valid)
}

// Finds a short network for a rule, in a catalogue of shapes.
//
// A [`Shape`] is a network whose last two tables are open: `L(a, b, G(c, d, e))`, where `a` to `e`
// are inputs or results of up to three instructions with given tables. For a given rule, a pair of
// tables `G` and `L` exists if and only if a graph on the eight values of `(c, d, e)` has a
// 2-colouring: two values must get different bits from `G` if the rule requires different states
// for them at the same `(a, b)`.
//
// All of this is computed on words with a bit per combination of `x, k, p, q, c`, 32 in all, two of
// which no neighbourhood gives. Most shapes are excluded by a faster test: the rule differs between
// neighbourhoods for which `a` to `e` are the same.
//
// The catalogue is `catalogue.txt`, shortest networks first, so that the first match is a shortest
// network. It comes from a search, made once, that tried all shapes of up to four instructions, so
// that rules with five have no shorter network, and then some with three helpers; of the best few
// for each of the 2^18 rules, a greedy set cover chose. The search is `xtask/src/rule_networks.rs` of
// commit ef469eba; the tests hold that the catalogue serves every rule.

static CATALOGUE: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    include_str!("rule_network/catalogue.txt")
        .lines()
        .filter_map(Shape::parse)
        .collect()
});

/// The input wires' words: bit `i` has the value of each wire in combination `i`.
const COMBINATIONS: [u32; INPUTS] = [0xffff0000, 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa];

/// Number of entries of a rule's table.
const ENTRIES: u32 = 18;

/// A network whose last two tables are open.
struct Shape {
    helpers: Vec<Lop3>,
    /// The wires a, b of the last instruction.
    pair: [usize; 2],
    /// The wires c, d, e of the last but one instruction.
    triple: [usize; 3],
    /// What is on `pair` and `triple` in each combination.
    pair_words: [u32; 2],
    triple_words: [u32; 3],
    /// Sets of entries of [`Rule::table`] between which a to e do not distinguish, so that they must
    /// be equal. Without the sets of one entry, and padded with empty ones.
    equal: [u32; ENTRIES as usize / 2],
}

/// What a network has to give: in some combinations a one, in some a zero, in others either.
struct Target {
    /// The rule's table.
    table: u32,
    ones: u32,
    zeros: u32,
}

/// The network for a rule.
fn find(rule: Rule) -> RuleNetwork {
    let target = Target::of(rule.table());
    let wires = words(COMBINATIONS, &[]);
    if let Some(output) = wires.iter().position(|word| target.accepts(*word)) {
        let ops = Vec::new();
        return RuleNetwork { ops, output };
    }
    if let Some(op) = target.single_op() {
        return RuleNetwork::new(vec![op]);
    }
    // Inverting every input exchanges alive and dead, and a count of n with 9 - n. So each shape
    // serves two rules, whose tables are each other's reversal.
    let reversed = Target::of(rule.table().reverse_bits() >> (32 - ENTRIES));
    for shape in CATALOGUE.iter() {
        if let Some(tables) = shape.tables(&target) {
            return shape.network(tables);
        }
        if let Some(tables) = shape.tables(&reversed) {
            return shape.network(tables).with_inverted_inputs();
        }
    }
    unreachable!("the tests hold that the catalogue has a shape for every rule")
}

impl Target {
    /// From the rule's table.
    fn of(table: u32) -> Target {
        let mut target = Target {
            table,
            ones: 0,
            zeros: 0,
        };
        for combination in 0..32 {
            match table_entry(combination) {
                Some(entry) if table >> entry & 1 == 1 => target.ones |= 1 << combination,
                Some(_) => target.zeros |= 1 << combination,
                None => {}
            }
        }
        target
    }

    fn accepts(&self, word: u32) -> bool {
        word & self.zeros == 0 && !word & self.ones == 0
    }

    /// A single instruction on three inputs.
    fn single_op(&self) -> Option<Lop3> {
        for skipped in 0..5 {
            for skipped_too in 0..skipped {
                let mut used = (0..5).filter(|i| *i != skipped && *i != skipped_too);
                let inputs = [(); 3].map(|()| used.next().expect("three of five are left"));
                let words = inputs.map(|wire| COMBINATIONS[wire]);
                let table = (0..8).filter(|value| lookup(1 << value, words) & self.ones != 0);
                let table = table.map(|value| 1 << value).sum();
                if self.accepts(lookup(table, words)) {
                    return Some(Lop3 { table, inputs });
                }
            }
        }
        None
    }
}

impl Shape {
    /// A line such as `kpq:16 xcu:1e kv xcu`: the instructions with given tables, in hexadecimal,
    /// whose results are `u`, `v` and `w`, then the wires a, b and c, d, e. `None` for a comment.
    fn parse(line: &str) -> Option<Shape> {
        let code = line.split('#').next().filter(|code| !code.is_empty())?;
        let mut fields = code.split_whitespace().rev();
        let triple = wires(fields.next().expect("the wires c, d, e"));
        let pair = wires(fields.next().expect("the wires a, b"));
        let helper = |field: &str| {
            let (inputs, table) = field.split_once(':').expect("inputs and table");
            let table = u8::from_str_radix(table, 16).expect("a table of two digits");
            let inputs = wires(inputs);
            Lop3 { table, inputs }
        };
        let helpers: Vec<Lop3> = fields.rev().map(helper).collect();
        let words = words(COMBINATIONS, &helpers);
        let pair_words = pair.map(|wire| words[wire]);
        let triple_words = triple.map(|wire| words[wire]);
        Some(Shape {
            equal: equal_entries(pair_words.into_iter().chain(triple_words)),
            pair,
            triple,
            pair_words,
            triple_words,
            helpers,
        })
    }

    /// The tables of the last but one and the last instruction with which this shape gives `target`.
    fn tables(&self, target: &Target) -> Option<(u8, u8)> {
        let differs = |set: &u32| target.table & set != 0 && !target.table & set != 0;
        if self.equal.iter().any(differs) {
            return None;
        }
        let [a, b] = self.pair_words;
        let [c, d, e] = self.triple_words;
        // For each value of (c, d, e): the values of (a, b) that require a one, or a zero. Never
        // both, since `L` sees no more than a, b and a function of c, d, e.
        let pairs = [!a & !b, !a & b, a & !b, a & b];
        let (mut ones, mut zeros) = ([0u8; 8], [0u8; 8]);
        for value in 0..8 {
            let chosen = |bit: usize, word: u32| if value >> bit & 1 == 1 { word } else { !word };
            let combinations = chosen(2, c) & chosen(1, d) & chosen(0, e);
            let (in_ones, in_zeros) = (combinations & target.ones, combinations & target.zeros);
            for (bit, pair) in pairs.iter().enumerate() {
                ones[value] |= u8::from(in_ones & pair != 0) << bit;
                zeros[value] |= u8::from(in_zeros & pair != 0) << bit;
            }
            if ones[value] & zeros[value] != 0 {
                return None;
            }
        }
        let inner = two_coloring(|i, j| ones[i] & zeros[j] | zeros[i] & ones[j] != 0)?;
        let mut last = 0;
        for (value, pairs) in ones.iter().enumerate() {
            for pair in (0..4).filter(|pair| pairs >> pair & 1 == 1) {
                last |= 1 << (2 * pair + (inner >> value & 1));
            }
        }
        Some((inner, last))
    }

    fn network(&self, (inner, last): (u8, u8)) -> RuleNetwork {
        let mut ops = self.helpers.clone();
        ops.push(Lop3 {
            table: inner,
            inputs: self.triple,
        });
        let [a, b] = self.pair;
        ops.push(Lop3 {
            table: last,
            inputs: [a, b, RESULTS + ops.len() - 1],
        });
        RuleNetwork::new(ops)
    }
}

/// The entry of a rule's table that a combination of the inputs stands for; `None` if no
/// neighbourhood gives this combination.
fn table_entry(combination: u32) -> Option<u32> {
    let [x, k, p, q, center] = COMBINATIONS.map(|word| word >> combination & 1);
    let neighbours = (x + 2 * (k + p) + 4 * q).checked_sub(center)?;
    (neighbours <= 8).then_some(9 * center + neighbours)
}

/// The sets of at least two entries of a rule's table between which these wires do not distinguish.
fn equal_entries(wires: impl Iterator<Item = u32> + Clone) -> [u32; ENTRIES as usize / 2] {
    let mut by_value = [0_u32; 32];
    for combination in 0..32 {
        let value = wires
            .clone()
            .fold(0, |value, word| value << 1 | word >> combination & 1);
        if let Some(entry) = table_entry(combination) {
            by_value[value as usize] |= 1 << entry;
        }
    }
    let mut sets: Vec<u32> = Vec::new();
    for mut set in by_value {
        sets.retain(|other| {
            let apart = set & other == 0;
            set |= if apart { 0 } else { *other };
            apart
        });
        sets.push(set);
    }
    sets.retain(|set| set.count_ones() > 1);
    sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones())); // likely to differ first
    let mut equal = [0; ENTRIES as usize / 2];
    equal[..sets.len()].copy_from_slice(&sets);
    equal
}

/// A colouring of eight nodes with 0 and 1, bit `i` for node `i`, in which adjacent nodes differ.
fn two_coloring(adjacent: impl Fn(usize, usize) -> bool) -> Option<u8> {
    let neighbors: [u8; 8] =
        std::array::from_fn(|i| (0..8).map(|j| u8::from(adjacent(i, j)) << j).sum());
    let (mut zeros, mut ones) = (0u8, 0u8);
    for start in 0..8 {
        if (zeros | ones) >> start & 1 == 1 {
            continue;
        }
        zeros |= 1 << start;
        loop {
            let before = (zeros, ones);
            for (i, neighbors) in neighbors.iter().enumerate() {
                ones |= neighbors * (zeros >> i & 1);
                zeros |= neighbors * (ones >> i & 1);
            }
            if zeros & ones != 0 {
                return None;
            }
            if before == (zeros, ones) {
                break;
            }
        }
    }
    Some(ones)
}

/// The wires named by three or two letters: those of inputs, or u, v and w for results.
fn wires<const N: usize>(names: &str) -> [usize; N] {
    let wire = |name: u8| match name {
        b'u'..=b'w' => RESULTS + usize::from(name - b'u'),
        _ => "xkpqc".find(char::from(name)).expect("a wire's name"),
    };
    let names: [u8; N] = names.as_bytes().try_into().expect("a letter per wire");
    names.map(wire)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rayon::prelude::*;

    use super::*;

    /// Number of B/S rules.
    const RULES: u32 = 1 << 18;

    fn rule(table: u32) -> Rule {
        Rule::from_masks((table & 0x1ff) as u16, (table >> 9) as u16)
    }

    /// The next states of 32 cells, from the words on the wires x, k, p, q and c.
    fn evaluate(network: &RuleNetwork, inputs: [u32; INPUTS]) -> u32 {
        words(inputs, &network.ops)[network.output]
    }

    /// The words x, k, p, q, c and the cell's state and number of neighbours, for every neighbourhood:
    /// bit i of the words belongs to entry i of the list. The 512 blocks of cells give few different
    /// words, which are listed once.
    fn neighbourhoods() -> ([u32; 5], Vec<(bool, u32)>) {
        let mut found = BTreeMap::new();
        for block in 0..512_u32 {
            let cell = |row: u32, column: u32| block >> (3 * row + column) & 1;
            let sums = [0, 1, 2].map(|row| cell(row, 0) + cell(row, 1) + cell(row, 2));
            let ones = sums[0] % 2 + sums[1] % 2 + sums[2] % 2;
            let twos = sums[0] / 2 + sums[1] / 2 + sums[2] / 2;
            let center = cell(1, 1);
            let wires = [ones % 2, ones / 2, twos % 2, twos / 2, center];
            let of = (center == 1, block.count_ones() - center);
            assert_eq!(
                *found.entry(wires).or_insert(of),
                of,
                "the wires determine it"
            );
        }
        assert!(found.len() <= 32, "one word holds all");
        let mut words = [0; 5];
        for (bit, wires) in found.keys().enumerate() {
            for (word, wire) in words.iter_mut().zip(wires) {
                *word |= wire << bit;
            }
        }
        (words, found.into_values().collect())
    }

    /// The next states that the rule gives, a bit per neighbourhood.
    fn expected(rule: Rule, neighbourhoods: &[(bool, u32)]) -> u32 {
        let next = |(alive, neighbours): &(bool, u32)| u32::from(rule.next(*alive, *neighbours));
        (0..)
            .zip(neighbourhoods)
            .map(|(bit, of)| next(of) << bit)
            .sum()
    }

    #[test]
    fn every_rule_has_a_network_that_is_right_in_every_neighbourhood() {
        let (words, neighbourhoods) = neighbourhoods();
        let used = u32::MAX >> (32 - neighbourhoods.len());
        let lengths = [(); 6].map(|()| AtomicUsize::new(0));
        (0..RULES).into_par_iter().for_each(|table| {
            let rule = rule(table);
            let network = RuleNetwork::of(rule);
            let states = evaluate(&network, words) & used;
            assert_eq!(
                states,
                expected(rule, &neighbourhoods),
                "{rule}: {network:?}"
            );
            lengths[network.ops.len()].fetch_add(1, Ordering::Relaxed);
        });
        let lengths = lengths.map(AtomicUsize::into_inner);
        assert_eq!(
            lengths,
            [4, 62, 4842, 60118, 187850, 9268],
            "rules by number of instructions"
        );
    }

    /// A kernel as clang 16 compiles it, shortened. Two words per thread.
    const KERNEL: &str = "\
    .visible .entry sample(
    	.param .u64 sample_param_0
    )
    {
    	.reg .b32 	%r<12>;

    	// begin inline asm
    	trap; // rule network: %r6 = %r1 %r2 %r3 %r4 %r5
    	// end inline asm
    	st.global.u32 	[%rd1], %r6;
    	// begin inline asm
    	trap; // rule network: %r7 = %r5 %r4 %r3 %r2 %r1
    	// end inline asm
    	ret;
    }
    ";

    /// Runs the `lop3.b32` and `mov.b32` of a PTX text; the other lines do nothing.
    fn run(ptx: &str, registers: &mut BTreeMap<String, u32>) {
        for line in ptx.lines().map(str::trim) {
            let Some((operation, operands)) = line.split_once(" \t") else {
                continue;
            };
            let operands: Vec<&str> = operands.trim_end_matches(';').split(", ").collect();
            let word = |name: &str| match registers.get(name) {
                Some(word) => *word,
                None => name
                    .parse::<i32>()
                    .expect("a register with a value, or a number") as u32,
            };
            let value = match (operation, &operands[..]) {
                ("lop3.b32", [_, a, b, c, table]) => {
                    let table = u8::from_str_radix(table.strip_prefix("0x").unwrap(), 16).unwrap();
                    lookup(table, [word(a), word(b), word(c)])
                }
                ("mov.b32", [_, from]) => word(from),
                _ => continue,
            };
            registers.insert(operands[0].to_owned(), value);
        }
    }

    #[test]
    fn a_specialised_kernel_computes_the_rule() {
        let (words, neighbourhoods) = neighbourhoods();
        let used = u32::MAX >> (32 - neighbourhoods.len());
        let named = [
            "B/S",
            "B012345678/S012345678",
            "B/S012345678",
            "B1357/S1357",
            "B36/S23",
        ];
        let named = named.map(|name| name.parse().unwrap());
        for rule in (0..RULES).step_by(97).map(rule).chain(named) {
            let network = RuleNetwork::of(rule);
            let text = specialise(KERNEL, &network).unwrap();
            assert!(!text.contains("trap;"), "{text}");
            let mut rest = text.lines();
            for line in KERNEL.lines().filter(|line| !line.contains("trap;")) {
                assert!(rest.any(|other| other == line), "lost: {line}\n{text}");
            }
            let mut registers = BTreeMap::new();
            for (register, word) in (1..).zip(words) {
                registers.insert(format!("%r{register}"), word);
            }
            run(&text, &mut registers);
            let states = expected(rule, &neighbourhoods);
            assert_eq!(registers["%r6"] & used, states, "{rule}:\n{text}");
            let [x, k, p, q, c] = words;
            let reversed = evaluate(&network, [c, q, p, k, x]);
            assert_eq!(registers["%r7"], reversed, "{rule}:\n{text}");
        }
    }

    #[test]
    fn what_is_no_placeholder_is_refused() {
        let network = RuleNetwork::of(Rule::LIFE);
        assert!(specialise("", &network).is_err());
        assert!(specialise("\tret;\n", &network).is_err());
        for registers in [
            "",
            "%r6",
            "%r6 =",
            "%r6 = %r1 %r2 %r3 %r4",
            "%r6 = %r1 %r2 %r3 %r4 %r5 %r7",
            "%r6 = %r1 %r2 %r3 %r4 5",
            "%r6; = %r1 %r2 %r3 %r4 %r5",
        ] {
            let text = format!("\tret;\n\ttrap; // rule network: {registers}\n");
            let error = specialise(&text, &network).unwrap_err();
            assert!(error.starts_with("line 2: "), "{error}");
        }
    }
}
