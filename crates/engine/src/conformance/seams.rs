//! Many generations with edits in between, at the rows where lattices in bands are cut.

use super::Fixture;
use crate::Result;
use crate::kernels::Layout;
use life::{Lattice, Rule, reference};

/// The most cells of a lattice that is stepped so far.
const MAX_CELLS: u64 = 20_000;

impl Fixture {
    /// Three times 100 generations of a rule that gives birth out of nothing, each but the first after
    /// edits in every row where two to eight bands of equal height meet.
    pub(super) fn check_seams(&mut self) -> Result<()> {
        let rule: Rule = "B0123478/S01234678".parse().expect("a rule");
        for kernel in self.kernels() {
            self.engine.reserve(kernel.layout)?;
            let mut cases = self.cases_for(kernel, MAX_CELLS);
            cases.sort_by_key(|case| std::cmp::Reverse(case.size.height()));
            cases.truncate(3);
            for case in cases {
                let mut want = case.soup(0.4, 9);
                let (mut set, mut layout) = (case.upload(&want), Layout::Bits);
                for part in 0..3 {
                    if part > 0 {
                        let edited = edited_at_seams(&want);
                        (set, layout) = (case.edit(&want, &edited), kernel.layout);
                        want = edited;
                    }
                    let advances = [(kernel, rule, 33), (kernel, rule, 67)];
                    self.run_in(case, case.round(set.clone(), layout, &advances))?;
                    want = reference::run(&want, rule, 100);
                    self.expect(case, &want, || {
                        format!("{}: {}, part {part}", kernel.name, case.size)
                    });
                }
            }
        }
        Ok(())
    }
}

/// Some cells changed in the rows on both sides of every cut.
fn edited_at_seams(lattice: &Lattice) -> Lattice {
    let size = lattice.size();
    let mut edited = lattice.clone();
    for bands in 2..=8 {
        for band in 0..bands {
            let first = band * size.height() / bands;
            for row in [first, (first + size.height() - 1) % size.height()] {
                let column = (bands * 13 + row) % size.width();
                edited.set(column, row, !lattice.get(column, row));
            }
        }
    }
    edited
}
