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
