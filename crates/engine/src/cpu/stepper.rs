//! A lattice that the calling thread steps by itself, without an engine.

use super::bit_rows::BitRows;
use super::kernels::{Pair, bits};
use crate::{Layout, MemoryUse, Result};
use life::{Lattice, Rule};

/// One lattice on the host and its rule, stepped as the kernel `bits` does, for what looks at every
/// generation of a single lattice.
pub struct Stepper {
    rule: Rule,
    rows: Pair<BitRows>,
}

impl Stepper {
    /// Starts from a lattice.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn new(lattice: &Lattice, rule: Rule) -> Result<Stepper> {
        let what = MemoryUse::Lattices(1, Layout::Bits);
        let mut rows = Pair::of(|| BitRows::new(lattice.size(), what))?;
        rows.now.load(lattice.words());
        Ok(Stepper { rule, rows })
    }

    /// Steps one generation.
    pub fn step(&mut self) {
        bits::step(self.rule, &self.rows.now, &mut self.rows.next);
        self.rows.flip();
    }

    /// Number of live cells.
    pub fn population(&self) -> u64 {
        let now = &self.rows.now;
        let mask = now.size().last_word_mask();
        let row = |y| {
            let (last, others) = now.row(y).split_last().expect("a row has a word");
            let others: u32 = others.iter().map(|word| word.count_ones()).sum();
            u64::from(others + (last & mask).count_ones())
        };
        (0..now.size().height() as usize).map(row).sum()
    }

    /// The present cells.
    pub fn lattice(&self) -> Lattice {
        let mut lattice = Lattice::new(self.rows.now.size());
        self.rows.now.store(0, lattice.words_mut());
        lattice
    }
}

/// Whether the cells are equal.
impl PartialEq for Stepper {
    fn eq(&self, other: &Stepper) -> bool {
        let (one, other) = (&self.rows.now, &other.rows.now);
        let height = one.size().height() as usize;
        one.size() == other.size() && (0..height).all(|y| one.row(y) == other.row(y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Size, reference, soup};

    #[test]
    fn it_steps_as_the_reference_does_and_compares_cells_alone() {
        for (width, height) in [(64, 9), (33, 20), (100, 7), (5, 5)] {
            let size = Size::new(width, height).unwrap();
            let start = soup(size, 0.4, 1, 0);
            let mut stepper = Stepper::new(&start, Rule::LIFE).unwrap();
            (0..50).for_each(|_| stepper.step());
            let later = reference::run(&start, Rule::LIFE, 50);
            assert_eq!(stepper.lattice(), later);
            assert_eq!(stepper.population(), later.population());
            let same = Stepper::new(&later, Rule::LIFE).unwrap();
            assert!(stepper == same, "{size}");
            stepper.step();
            let mut other = later.clone();
            other.set(0, 0, !later.get(0, 0));
            assert!(same != Stepper::new(&other, Rule::LIFE).unwrap(), "{size}");
        }
    }
}
