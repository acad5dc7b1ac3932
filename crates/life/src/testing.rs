//! Shared helpers for this crate's tests.

use super::{Lattice, Pattern, Rule, Size};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The lattice of these rows, `O` alive and anything else dead.
pub(crate) fn drawn(rows: &[&str]) -> Lattice {
    let size = Size::new(rows[0].len() as u64, rows.len() as u64).unwrap();
    let mut lattice = Lattice::new(size);
    for (y, row) in rows.iter().enumerate() {
        for (x, cell) in row.bytes().enumerate() {
            lattice.set(x as u32, y as u32, cell == b'O');
        }
    }
    lattice
}

/// The size of these sides.
pub(crate) fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

/// The pattern of this text, in a file of this name.
pub(crate) fn pattern(name: &str, text: &str) -> Pattern {
    Pattern::from_text(name, text).unwrap()
}

/// The rule of this text.
pub(crate) fn rule(text: &str) -> Rule {
    text.parse().unwrap()
}

/// The live cells, row by row.
pub(crate) fn live_cells(lattice: &Lattice) -> Vec<(u32, u32)> {
    let mut cells = Vec::new();
    let per_row = lattice.size().words_per_row();
    for (at, &word) in lattice.words().iter().enumerate() {
        for bit in (0..32).filter(|bit| word >> bit & 1 == 1) {
            cells.push(((at % per_row) as u32 * 32 + bit, (at / per_row) as u32));
        }
    }
    cells
}

/// Like the reference's `run`, but each live cell adds 1 to its neighbours' counts, which is fast
/// for few live cells. Not for rules with B0, where births happen in empty space.
pub(crate) fn scattered_run(lattice: &Lattice, rule: Rule, generations: u64) -> Lattice {
    assert_eq!(rule.birth() & 1, 0, "{rule} gives birth in empty space");
    let size = lattice.size();
    let mut live = live_cells(lattice);
    for _ in 0..generations {
        live = scattered_step(&live, size, rule);
    }
    let mut lattice = Lattice::new(size);
    live.iter().for_each(|&(x, y)| lattice.set(x, y, true));
    lattice
}

/// The live cells one generation later, in no order.
pub(crate) fn scattered_step(live: &[(u32, u32)], size: Size, rule: Rule) -> Vec<(u32, u32)> {
    /// Added to the neighbour count of a live cell.
    const ALIVE: u32 = 16;
    let (width, height) = (size.width(), size.height());
    let mut counts: HashMap<u64, u32, BuildHasherDefault<Multiply>> = HashMap::default();
    let mut add = |x: u32, y: u32, what| {
        *counts.entry(u64::from(y) << 32 | u64::from(x)).or_default() += what;
    };
    for &(x, y) in live {
        add(x, y, ALIVE);
        for (dx, dy) in [
            (0, 0),
            (1, 0),
            (2, 0),
            (0, 1),
            (2, 1),
            (0, 2),
            (1, 2),
            (2, 2),
        ] {
            add(
                (x + width - 1 + dx) % width,
                (y + height - 1 + dy) % height,
                1,
            );
        }
    }
    let next = |(&cell, &count): (&u64, &u32)| {
        rule.next(count >= ALIVE, count % ALIVE)
            .then_some((cell as u32, (cell >> 32) as u32))
    };
    counts.iter().filter_map(next).collect()
}

/// A hash good enough for cells and far faster than the default one without optimisation.
#[derive(Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only u64 keys are hashed")
    }
    fn write_u64(&mut self, key: u64) {
        let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}
