//! Shared helpers for this crate's tests.

use super::{Lattice, Pattern, Rule, Size};
use std::collections::HashMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// The lattice of these rows, `O` alive and anything else dead.
pub(crate) fn drawn(rows: &[&str]) -> Lattice {
    let mut lattice = Lattice::new(size(rows[0].len() as u64, rows.len() as u64));
    for (y, row) in (0..).zip(rows) {
        for (x, cell) in (0..).zip(row.chars()) {
            lattice.set(x, y, cell == 'O');
        }
    }
    lattice
}

/// A folder of this test alone, and the path of a name in it.
pub(crate) fn folder() -> (TempDir, impl Fn(&str) -> PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, move |name| path.join(name))
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
    let per_row = lattice.size().words_per_row();
    let words = lattice.words().iter().enumerate();
    let live = words.flat_map(|(at, word)| {
        let bits = (0..32).filter(move |bit| word >> bit & 1 == 1);
        bits.map(move |bit| ((at % per_row) as u32 * 32 + bit, (at / per_row) as u32))
    });
    live.collect()
}

/// The live cells one generation later, in no order. Unlike in the reference each live cell adds 1 to its
/// neighbours' counts, which is fast for few live cells. Not for rules with B0, where births happen in empty
/// space.
pub(crate) fn scattered_step(live: &[(u32, u32)], size: Size, rule: Rule) -> Vec<(u32, u32)> {
    /// Added to the neighbour count of a live cell.
    const ALIVE: u32 = 16;
    let (width, height) = (size.width, size.height);
    let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
    for &(x, y) in live {
        for place in 0..9 {
            let column = (x + width - 1 + place % 3) % width;
            let row = (y + height - 1 + place / 3) % height;
            *counts.entry((column, row)).or_default() += if place == 4 { ALIVE } else { 1 };
        }
    }
    counts.retain(|_, count| rule.next(*count >= ALIVE, *count % ALIVE));
    counts.into_keys().collect()
}
