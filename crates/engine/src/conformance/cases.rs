//! Sizes, rules and numbers of generations.

use life::{Rule, Size};

/// Sizes that expose errors at a torus's edges, in words that are partly used, and where blocks, lanes
/// and planes end: sides shorter than 3, around a word, around a block, long and thin; from 70x90 on, what
/// the planar rungs take: residents, rings of lanes, windows, planes that overlap.
const AWKWARD: &str = "
    1x1 1x2 2x1 2x2 1x3 3x1 3x3 1x7 9x1 2x9 7x2 5x4 1x37 37x1 2x40 8x33 30x5 31x1 31x3 32x1
    32x8 32x32 33x2 33x7 34x70 63x4 63x9 64x5 64x64 65x1 65x6 65x16 65x37 96x3 97x7 100x100
    127x4 128x1 128x96 129x5 129x65 70x90 96x40 128x128 130x8 150x33 200x48 255x3 256x33 257x8
    288x6 384x50 511x5 512x4 545x13 512x512";

/// Sizes that take the reference longer.
const LARGE: &str = "
    257x255 1000x37 37x1000 5000x3 3x5000 1023x1025 2048x2048 256x256 1024x1024 4096x128
    7936x61";

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
            sizes: sizes(AWKWARD),
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
            sizes: [sizes(AWKWARD), sizes(LARGE)].concat(),
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

fn sizes(of: &str) -> Vec<Size> {
    let size = |text: &str| text.parse().expect("a lattice");
    of.split_whitespace().map(size).collect()
}
