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

    /// The present cells.
    pub fn lattice(&self) -> Lattice {
        let mut lattice = Lattice::new(self.rows.now.size());
        self.rows.now.store(0, lattice.words_mut());
        lattice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Size, reference, soup};

    #[test]
    fn it_steps_as_the_reference_does() {
        for (width, height) in [(64, 9), (33, 20), (100, 7), (5, 5)] {
            let size = Size::new(width, height).unwrap();
            let start = soup(size, 0.4, 1, 0);
            let mut stepper = Stepper::new(&start, Rule::LIFE).unwrap();
            (0..50).for_each(|_| stepper.step());
            assert_eq!(stepper.lattice(), reference::run(&start, Rule::LIFE, 50));
        }
    }
}
