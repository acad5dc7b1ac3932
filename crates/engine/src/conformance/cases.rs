//! Sizes, rules and numbers of generations.

use life::{Rule, Size};

/// Sizes that expose errors at a torus's edges, in words that are partly used, and where blocks, lanes
/// and planes end: sides shorter than 3, around a word, around a block, long and thin.
#[rustfmt::skip]
const AWKWARD: [(u64, u64); 56] = [
    (1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (3, 3), (1, 7), (9, 1), (2, 9), (7, 2), (5, 4),
    (1, 37), (37, 1), (2, 40), (8, 33), (30, 5), (31, 1), (31, 3), (32, 1), (32, 8), (32, 32),
    (33, 2), (33, 7), (34, 70), (63, 4), (63, 9), (64, 5), (64, 64), (65, 1), (65, 6), (65, 16),
    (65, 37), (96, 3), (97, 7), (100, 100), (127, 4), (128, 1), (128, 96), (129, 5), (129, 65),
    // What the planar rungs take: residents, rings of lanes, windows, planes that overlap.
    (70, 90), (96, 40), (128, 128), (130, 8), (150, 33), (200, 48), (255, 3), (256, 33), (257, 8),
    (288, 6), (384, 50), (511, 5), (512, 4), (545, 13), (512, 512),
];

/// Sizes that take the reference longer.
const LARGE: [(u64, u64); 11] = [
    (257, 255),
    (1000, 37),
    (37, 1000),
    (5000, 3),
    (3, 5000),
    (1023, 1025),
    (2048, 2048),
    (256, 256),
    (1024, 1024),
    (4096, 128),
    (7936, 61),
];

/// Life, its best known relative, and extremes.
const RULES: [&str; 10] = [
    "B3/S23",
    "B0123478/S01234678",
    "B36/S23",
    "B2/S",
    "B0/S8",
    "B1357/S02468",
    "B/S",
    "B0123478/S34678",
    "B012345678/S012345678",
    "B8/S0",
];

/// The rules that every kernel is held to.
pub fn rules() -> Vec<Rule> {
    let rule = |text: &&str| text.parse().expect("a rule");
    RULES.iter().map(rule).collect()
}

/// Lattices of a batch, in one allocation.
pub(super) const BATCH: usize = 3;

/// The sizes of batches, of which every kernel takes one.
pub(super) fn batch_sizes() -> [Size; 2] {
    [128, 512].map(|side| Size::new(side, side).expect("a lattice"))
}

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Number of cases that were compared.
    pub cases: usize,
    /// Those that differ, described in English.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Counts a case, and notes what is wrong unless it holds.
    pub fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.cases += 1;
        if !holds {
            self.wrong.push(what());
        }
    }
}

/// What is checked, and how thoroughly.
#[derive(Clone, Debug)]
pub struct Cases {
    /// Sizes of lattices.
    pub sizes: Vec<Size>,
    /// Maximum cells of a lattice, where a kernel takes one that is no larger.
    pub max_cells: u64,
    /// The rules, each for every kernel, size, seed and number of generations.
    pub rules: Vec<Rule>,
    /// How many more, at random, are stepped by kernels that are compiled for one rule.
    pub random_rules: usize,
    /// Numbers of generations, in ascending order.
    pub generations: Vec<u32>,
    /// How many soups of each size.
    pub seeds: u64,
}

impl Cases {
    /// What takes some seconds.
    pub fn quick() -> Cases {
        Cases {
            sizes: sizes(&AWKWARD),
            max_cells: 20_000,
            rules: rules()[..2].to_vec(),
            random_rules: 12,
            generations: vec![1, 5],
            seeds: 1,
        }
    }

    /// What takes a minute.
    pub fn thorough() -> Cases {
        Cases {
            sizes: [sizes(&AWKWARD), sizes(&LARGE)].concat(),
            max_cells: u64::MAX,
            rules: rules(),
            random_rules: 60,
            generations: (1..=65).collect(),
            seeds: 2,
        }
    }

    /// Maximum cells of a lattice that is compared after this many generations: the reference is slow.
    pub(super) fn max_cells_after(&self, generations: u32) -> u64 {
        /// Maximum cells times generations of one case.
        const BUDGET: u64 = 20_000_000;
        /// Generations after which lattices of every size are compared; after others, small ones.
        const WITH_LARGE: [u32; 7] = [1, 2, 3, 4, 7, 33, 65];
        const SMALL_CELLS: u64 = 20_000;
        let budget = BUDGET / u64::from(generations);
        let max = if WITH_LARGE.contains(&generations) {
            u64::MAX
        } else {
            SMALL_CELLS
        };
        self.max_cells.min(budget).min(max)
    }
}

fn sizes(of: &[(u64, u64)]) -> Vec<Size> {
    let size = |&(width, height): &(u64, u64)| Size::new(width, height).expect("a lattice");
    of.iter().map(size).collect()
}
