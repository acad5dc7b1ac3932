//! `cargo xtask rule-networks` writes the catalogue from which the engine's `rule_network` takes a
//! short network of three-input functions for every rule. It searches for five minutes in a release
//! build (`cargo run --release --package xtask -- rule-networks`), and much longer in any other.
//!
//! A *candidate* is a network `L(a, b, G(c, d, e))` whose tables `G` and `L` are open. Its wires
//! `a` to `e` are inputs or results of *helpers*, instructions with given tables. A candidate serves
//! all rules for which some `G` and `L` exist, up to 2^15 of them, so that a few thousand candidates
//! serve all 2^18 rules.
//!
//! With up to two helpers (four instructions) all candidates are tried. For the rules that none of
//! them serves, candidates with three helpers are tried, of a kind that suffices. The best few for
//! each rule are kept, and a greedy set cover chooses from these.
//!
//! Two symmetries reduce the work. Inverting the last table inverts the rule; and exchanging alive
//! and dead cells inverts all inputs (see the engine's `rule_network::search`). So up to four rules
//! form a class, and are counted as one.

use std::collections::{BTreeSet, BinaryHeap};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result};

/// Where the catalogue is, in the checkout.
const CATALOGUE: &str = "crates/engine/src/rule_network/catalogue.txt";

const HEADER: &str = "\
# Shapes of rule networks, shortest first; by `cargo xtask rule-networks`, read by search.rs.
# Helpers u, v and w, each as inputs and table; then the wires a, b and c, d, e of L(a, b, G(c, d, e)).
";

/// Number of B/S rules. A rule is its table: bit `9 * alive + neighbours` is the next state.
const RULES: u32 = 1 << 18;

/// The inputs x, k, p, q and c: bit i is the wire's value in combination i.
const INPUTS: [u32; 5] = [0xffff0000, 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa];

/// The names of the inputs and of up to three helpers.
const NAMES: [char; 8] = ['x', 'k', 'p', 'q', 'c', 'u', 'v', 'w'];

/// The combinations that some neighbourhood gives.
const REACHABLE: u32 = !(1 << 1 | 1 << 30);

/// A network whose last two tables are open. A word is the function on a wire, with a bit per
/// combination; a function and its inverse are the same here, since tables make up for it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    helpers: Vec<u32>,
    /// The words on a to e.
    wires: [u32; 5],
}

/// Writes the catalogue. Returns whether every rule is in it.
pub(crate) fn write(root: &Path) -> Result<bool> {
    let mut open = Rules::new(needs_two);
    let mut text = HEADER.to_owned();
    let searches: [fn(&Rules) -> Vec<Candidate>; 4] = [two, three, four, five];
    for (instructions, search) in (2..).zip(searches) {
        let chosen = search(&open);
        let classes = open.count;
        open = open.without(|visit| chosen.iter().for_each(visit));
        println!(
            "{instructions} instructions: {} of {classes} classes of rules, {} shapes",
            classes - open.count,
            chosen.len()
        );
        for candidate in &chosen {
            text += &candidate.line();
        }
    }
    let path = root.join(CATALOGUE);
    fs::write(&path, text).with_context(|| path.display().to_string())?;
    Ok(open.count == 0)
}

/// Whether the rule is no function of three inputs.
fn needs_two(rule: u32) -> bool {
    let bits = |word: u32| rule_bits(word & REACHABLE);
    !triples(&INPUTS).any(|wires| {
        let values = cells(wires).map(bits);
        let meet = values.iter().filter(|value| rule & **value != 0);
        meet.fold(0, |sum, value| sum | value) == rule
    })
}

/// Candidates without helpers: all of them.
fn two(open: &Rules) -> Vec<Candidate> {
    let mut pool = Vec::new();
    candidates(&[], &[], &mut |candidate| pool.push(candidate.clone()));
    open.cover(&pool)
}

/// Candidates with one helper: all of them.
fn three(open: &Rules) -> Vec<Candidate> {
    let pool = open.best(6, |visit| {
        for helper in functions(&INPUTS, None) {
            candidates(&[helper], &[helper], visit);
        }
    });
    open.cover(&pool)
}

/// Candidates with two helpers. For most rules there is one whose first helper is a function of the
/// count k + p + 2 q. For the others all candidates are tried.
fn four(open: &Rules) -> Vec<Candidate> {
    let inputs = functions(&INPUTS, None);
    let simple = |visit: Visit| {
        for first in functions_of_count() {
            with_second_helper(first, |_| true, visit);
        }
    };
    let hard = open.without(simple);
    let all = |visit: Visit| {
        let first = inputs
            .iter()
            .filter(|word| representative(**word) == **word);
        for &first in first {
            with_second_helper(first, |second| representative(second) >= first, visit);
        }
    };
    let mut pool = hard.cover(&hard.best(6, all));
    let others = open.without(|visit| pool.iter().for_each(visit));
    pool.extend(others.cover(&others.best(4, simple)));
    open.cover(&pool)
}

/// Candidates with three helpers: two functions of k + p + 2 q, and a function of x, c and one of
/// these. They suffice.
fn five(open: &Rules) -> Vec<Candidate> {
    let inputs = functions(&INPUTS, None);
    let [x, .., c] = INPUTS;
    let pool = open.best(4, |visit| {
        for first in functions_of_count() {
            let mut third = functions(&[x, c, first], Some(first));
            third.retain(|word| inputs.binary_search(word).is_err());
            for second in functions_of_count()
                .into_iter()
                .filter(|word| *word != first)
            {
                for &third in &third {
                    candidates(&[first, second, third], &[second, third], visit);
                }
            }
        }
    });
    open.cover(&pool)
}

/// What is called for every candidate.
type Visit<'a> = &'a mut dyn FnMut(&Candidate);

/// Visits the candidates with this first helper and any second, which is a function of inputs that
/// `wanted` accepts, or depends on the first.
fn with_second_helper(first: u32, wanted: impl Fn(u32) -> bool, visit: Visit) {
    let inputs = functions(&INPUTS, None);
    let wires: Vec<u32> = INPUTS.into_iter().chain([first]).collect();
    for second in functions(&wires, Some(first)) {
        if inputs.binary_search(&second).is_err() {
            candidates(&[first, second], &[second], visit);
        }
    }
    for second in inputs {
        if second != first && wanted(second) {
            candidates(&[first, second], &[first, second], visit);
        }
    }
}

/// Visits all candidates on the inputs and these helpers that use the `needed` words.
fn candidates(helpers: &[u32], needed: &[u32], visit: Visit) {
    let wires: Vec<u32> = INPUTS.iter().chain(helpers).copied().collect();
    let mut candidate = Candidate {
        helpers: helpers.to_vec(),
        wires: [0; 5],
    };
    for (i, &a) in wires.iter().enumerate() {
        for &b in &wires[i + 1..] {
            for triple in triples(&wires) {
                // With two shared wires, all would be a function of three.
                let shared = triple
                    .iter()
                    .filter(|word| **word == a || **word == b)
                    .count();
                let [c, d, e] = triple;
                candidate.wires = [a, b, c, d, e];
                if shared < 2 && needed.iter().all(|word| candidate.wires.contains(word)) {
                    visit(&candidate);
                }
            }
        }
    }
}

/// All sets of three of the wires.
fn triples(wires: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    wires.iter().enumerate().flat_map(move |(i, &a)| {
        let rest = &wires[i + 1..];
        let pairs = rest.iter().enumerate();
        pairs.flat_map(move |(j, &b)| rest[j + 1..].iter().map(move |&c| [a, b, c]))
    })
}

/// Where three words have each of the eight values; value `4 a + 2 b + c`.
fn cells([a, b, c]: [u32; 3]) -> [u32; 8] {
    let [na, nb, nc] = [!a, !b, !c];
    [
        na & nb & nc,
        na & nb & c,
        na & b & nc,
        na & b & c,
        a & nb & nc,
        a & nb & c,
        a & b & nc,
        a & b & c,
    ]
}

/// A function of three wires.
fn lookup(table: u32, wires: [u32; 3]) -> u32 {
    let cells = cells(wires);
    (0..8)
        .filter(|i| table >> i & 1 == 1)
        .map(|i| cells[i])
        .sum()
}

/// A function or its inverse, whichever is 0 in combination 0.
fn canonical(word: u32) -> u32 {
    let inverted = (word & 1).wrapping_neg();
    (word ^ inverted) & REACHABLE
}

/// All functions of three of the wires (one of which is `needed`), sorted, without the wires.
fn functions(wires: &[u32], needed: Option<u32>) -> Vec<u32> {
    let triples = triples(wires).filter(|triple| needed.is_none_or(|word| triple.contains(&word)));
    let words =
        triples.flat_map(|triple| (1..128).map(move |table| canonical(lookup(table, triple))));
    let mut words: BTreeSet<u32> = words.collect();
    words.remove(&0);
    for wire in wires {
        words.remove(&canonical(*wire));
    }
    words.into_iter().collect()
}

/// All functions of k + p + 2 q.
fn functions_of_count() -> BTreeSet<u32> {
    let [_, k, p, q, _] = INPUTS;
    let [zero, two, one, three, one_too, three_too, two_too, four] = cells([k, p, q]);
    let counts = [zero, one | one_too, two | two_too, three | three_too, four];
    let word = |set: u32| {
        (0..5)
            .filter(|i| set >> i & 1 == 1)
            .map(|i| counts[i])
            .sum()
    };
    (1..16).map(|set| canonical(word(set))).collect()
}

/// The first of the functions that the symmetries make of this one: k and p exchanged, all inputs
/// inverted, both.
fn representative(word: u32) -> u32 {
    let [_, k, p, ..] = INPUTS;
    let exchanged = word & !(k ^ p) | (word & k & !p) >> 4 | (word & p & !k) << 4;
    let inverted = |word: u32| canonical(word.reverse_bits());
    let all = [
        canonical(word),
        canonical(exchanged),
        inverted(word),
        inverted(exchanged),
    ];
    all.into_iter().min().expect("four words")
}

/// The entries of a rule's table that stand for the combinations in `word`.
fn rule_bits(word: u32) -> u32 {
    static BITS: LazyLock<[[u32; 256]; 4]> = LazyLock::new(|| {
        let bits = |combinations: u32| {
            let set = (0..32).filter(|i| (combinations & REACHABLE) >> i & 1 == 1);
            set.fold(0, |bits, i| bits | rule_bit(i))
        };
        [0, 8, 16, 24].map(|shift| std::array::from_fn(|byte| bits((byte as u32) << shift)))
    });
    let bytes = BITS.iter().zip(word.to_le_bytes());
    bytes.fold(0, |bits, (table, byte)| bits | table[usize::from(byte)])
}

fn rule_bit(combination: u32) -> u32 {
    let [x, k, p, q, c] = INPUTS.map(|word| word >> combination & 1);
    1 << (9 * c + x + 2 * (k + p) + 4 * q - c)
}

/// The rule with alive and dead exchanged, before and after.
fn exchanged(rule: u32) -> u32 {
    (!rule).reverse_bits() >> 14
}

impl Candidate {
    /// Calls `serve` for each rule that this candidate serves, for some more than once.
    fn rules(&self, mut serve: impl FnMut(u32)) {
        let [a, b, c, d, e] = self.wires;
        let pairs = [!a & !b, !a & b, a & !b, a & b];
        let cells = cells([c, d, e]);
        for table in 0..128 {
            let inner: u32 = (0..8)
                .filter(|i| table >> i & 1 == 1)
                .map(|i| cells[i])
                .sum();
            // The rule's table is constant on each of the eight cells of a, b and `inner`, so also
            // on their union where cells share an entry of the rule's table.
            let mut parts = Parts::default();
            for pair in pairs {
                parts.add(rule_bits(pair & inner));
                parts.add(rule_bits(pair & !inner));
            }
            parts.unions().for_each(&mut serve);
        }
    }

    /// The parts of a rule's table between which the wires a to e do not distinguish.
    fn parts(&self) -> Parts {
        let [a, b, c, d, e] = self.wires;
        let mut parts = Parts::default();
        for cell in cells([c, d, e]) {
            for pair in [!a & !b, !a & b, a & !b, a & b] {
                parts.add(rule_bits(cell & pair));
            }
        }
        parts
    }

    /// The line of the catalogue.
    fn line(&self) -> String {
        let mut wires = INPUTS.to_vec();
        let mut fields = Vec::new();
        let names = |words: &[u32], wires: &[u32]| -> String {
            let name = |word| NAMES[wires.iter().position(|wire| wire == word).expect("a wire")];
            words.iter().map(name).collect()
        };
        for helper in &self.helpers {
            let gives = |wires: [u32; 3]| {
                let table = (0..256).find(|table| lookup(*table, wires) & REACHABLE == *helper)?;
                Some((wires, table))
            };
            let (inputs, table) = triples(&wires)
                .find_map(gives)
                .expect("it was made of these");
            fields.push(format!("{}:{table:02x}", names(&inputs, &wires)));
            wires.push(*helper);
        }
        let (pair, triple) = self.wires.split_at(2);
        fields.push(names(pair, &wires));
        fields.push(names(triple, &wires));
        fields.join(" ") + "\n"
    }
}

/// Disjoint sets of entries of a rule's table, on each of which the table is constant.
#[derive(Default)]
struct Parts {
    sets: [u32; 18],
    count: usize,
}

impl Parts {
    /// Adds a set, and merges it with those that it meets.
    fn add(&mut self, mut set: u32) {
        let mut i = 0;
        while i < self.count {
            if self.sets[i] & set != 0 {
                set |= self.sets[i];
                self.count -= 1;
                self.sets[i] = self.sets[self.count];
                i = 0;
            } else {
                i += 1;
            }
        }
        if set != 0 {
            self.sets[self.count] = set;
            self.count += 1;
        }
    }

    /// All rules but the empty one.
    fn unions(&self) -> impl Iterator<Item = u32> {
        (1..1_u32 << self.count).scan(0, |rule, step| {
            *rule ^= self.sets[step.trailing_zeros() as usize]; // in the order of the Gray code
            Some(*rule)
        })
    }
}

/// A set of rules, in classes of equal difficulty.
struct Rules {
    /// The class of each rule, if it is in the set.
    class: Vec<Option<u32>>,
    count: usize,
    /// The set with a bit per rule, which fits the nearest cache.
    bits: Vec<u64>,
}

impl Rules {
    /// The rules that `contains` accepts; either all or none of a class.
    fn new(contains: impl Fn(u32) -> bool) -> Rules {
        let mut class = vec![None; RULES as usize];
        let mut count = 0;
        for rule in (0..RULES).filter(|rule| contains(*rule)) {
            let inverse = !rule & (RULES - 1);
            let all = [rule, inverse, exchanged(rule), exchanged(inverse)];
            if all.iter().all(|other| *other >= rule) {
                for other in all {
                    class[other as usize] = Some(count);
                }
                count += 1;
            }
        }
        let mut bits = vec![0; RULES as usize / 64];
        for (rule, _) in class
            .iter()
            .enumerate()
            .filter(|(_, class)| class.is_some())
        {
            bits[rule / 64] |= 1 << (rule % 64);
        }
        let count = count as usize;
        Rules { class, count, bits }
    }

    fn contains(&self, rule: u32) -> bool {
        self.bits[rule as usize / 64] >> (rule % 64) & 1 == 1
    }

    /// Whether the candidate may serve rules of this set: a faster test than listing them.
    fn may_meet(&self, candidate: &Candidate) -> bool {
        let parts = candidate.parts();
        parts.count > 10 || parts.unions().any(|rule| self.contains(rule))
    }

    /// Those that none of the candidates serves.
    fn without(&self, candidates: impl FnOnce(Visit)) -> Rules {
        let mut served = vec![false; self.count];
        candidates(&mut |candidate| {
            candidate.rules(|rule| {
                if let Some(class) = self.class[rule as usize] {
                    served[class as usize] = true;
                }
            });
        });
        Rules::new(|rule| self.class[rule as usize].is_some_and(|class| !served[class as usize]))
    }

    /// The candidates that serve most classes: for each class the best `kept` that serve it.
    fn best(&self, kept: usize, candidates: impl FnOnce(Visit)) -> Vec<Candidate> {
        let mut best: Vec<Vec<(usize, Candidate)>> = vec![Vec::new(); self.count];
        let mut served = Served::new(self);
        candidates(&mut |candidate| {
            let classes = served.by(candidate);
            for class in classes {
                let best = &mut best[*class as usize];
                if best.len() < kept {
                    best.push((classes.len(), candidate.clone()));
                } else if let Some(worst) = best.iter_mut().min_by_key(|(count, _)| *count)
                    && worst.0 < classes.len()
                {
                    *worst = (classes.len(), candidate.clone());
                }
            }
        });
        let all = best.into_iter().flatten().map(|(_, candidate)| candidate);
        let all: BTreeSet<Candidate> = all.collect();
        all.into_iter().collect()
    }

    /// Chooses from the pool until all is served that it can serve: always the candidate that serves
    /// most of the remaining classes.
    fn cover(&self, pool: &[Candidate]) -> Vec<Candidate> {
        let mut served = Served::new(self);
        let mut covered = vec![false; self.count];
        let mut chosen = Vec::new();
        let gains = pool.iter().map(|candidate| served.by(candidate).len());
        let mut queue: BinaryHeap<(usize, usize)> = gains.zip(0..).collect();
        while let Some((_, index)) = queue.pop() {
            let classes = served.by(&pool[index]);
            let gain = classes
                .iter()
                .filter(|class| !covered[**class as usize])
                .count();
            if gain == 0 {
                continue;
            }
            // Gains only shrink, so the first whose gain is still the largest is the best.
            if queue.peek().is_some_and(|(next, _)| gain < *next) {
                queue.push((gain, index));
                continue;
            }
            for class in classes {
                covered[*class as usize] = true;
            }
            chosen.push(pool[index].clone());
        }
        chosen
    }
}

/// Lists the classes that a candidate serves, each once.
struct Served<'a> {
    rules: &'a Rules,
    /// For each class the number of the last candidate that serves it.
    last: Vec<u64>,
    number: u64,
    classes: Vec<u32>,
}

impl Served<'_> {
    fn new(rules: &Rules) -> Served<'_> {
        Served {
            rules,
            last: vec![0; rules.count],
            number: 0,
            classes: Vec::new(),
        }
    }

    fn by(&mut self, candidate: &Candidate) -> &[u32] {
        self.number += 1;
        self.classes.clear();
        if !self.rules.may_meet(candidate) {
            return &self.classes;
        }
        candidate.rules(|rule| {
            if self.rules.contains(rule)
                && let Some(class) = self.rules.class[rule as usize]
            {
                let last = &mut self.last[class as usize];
                if *last != self.number {
                    *last = self.number;
                    self.classes.push(class);
                }
            }
        });
        &self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A candidate with two helpers, the second of which depends on the first.
    fn example() -> Candidate {
        let [x, k, p, q, c] = INPUTS;
        let first = canonical(lookup(0x16, [k, p, q]));
        let second = canonical(lookup(0x1e, [x, c, first]));
        Candidate {
            helpers: vec![first, second],
            wires: [k, second, x, q, first],
        }
    }

    #[test]
    fn a_candidate_serves_the_rules_for_which_there_are_two_tables() {
        let candidate = example();
        let [a, b, c, d, e] = candidate.wires;
        let mut found: BTreeSet<u32> = [0].into();
        for inner in 0..256 {
            let inner = lookup(inner, [c, d, e]);
            for last in 0..256 {
                let states = lookup(last, [a, b, inner]) & REACHABLE;
                let rule = rule_bits(states);
                let apart = rule & rule_bits(!states) == 0; // a function of the rule's entries
                found.extend(apart.then_some(rule));
            }
        }
        let mut listed: BTreeSet<u32> = [0].into();
        candidate.rules(|rule| {
            listed.insert(rule);
        });
        assert!(found.len() > 100, "{}", found.len());
        assert_eq!(listed, found);
    }

    #[test]
    fn a_line_names_tables_and_wires() {
        assert_eq!(example().line(), "kpq:16 xcu:1e kv xqu\n");
    }

    #[test]
    fn related_functions_have_one_representative() {
        for word in functions(&INPUTS, None).into_iter().step_by(7) {
            let [_, k, p, ..] = INPUTS;
            let exchanged = word & !(k ^ p) | (word & k & !p) >> 4 | (word & p & !k) << 4;
            for other in [exchanged, word.reverse_bits(), !word] {
                assert_eq!(representative(other & REACHABLE), representative(word));
            }
        }
    }

    #[test]
    fn the_shortest_networks_need_no_helper() {
        let open = Rules::new(needs_two);
        let chosen = two(&open);
        let left = open.without(|visit| chosen.iter().for_each(visit));
        assert_eq!((open.count, chosen.len(), left.count), (65771, 12, 64510));
    }
}
