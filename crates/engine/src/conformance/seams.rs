//! Many generations with edits in between, at the rows where lattices in bands are cut.

use super::cases::Outcome;
use super::fixture::Fixture;
use crate::kernels::KERNELS;
use crate::{LatticeId, LatticeOp, Op, Program, Result, WordEdit};
use life::{Lattice, Rule, reference, soup};

/// The most cells of a lattice that is stepped so far.
const MAX_CELLS: u64 = 20_000;

impl Fixture {
    /// Three times 100 generations of a rule that gives birth out of nothing, each but the first after
    /// edits in every row where two to eight bands of equal height meet.
    ///
    /// # Errors
    /// The engine fails.
    pub fn check_seams(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let rule: Rule = "B0123478/S01234678".parse().expect("a rule");
        for kernel in &KERNELS {
            if self.validate_device(kernel).is_err() {
                continue;
            }
            self.engine.reserve(kernel.layout)?;
            let mut cases = self.cases_for(kernel, MAX_CELLS);
            cases.sort_by_key(|&case| std::cmp::Reverse(self.cases.sizes[case].height()));
            cases.truncate(3);
            for case in cases {
                let (size, lattice) = (self.cases.sizes[case], LatticeId(case as u32));
                let mut want = soup(size, 0.4, 9, case as u64);
                let mut program = Program::default();
                let mut edits = Vec::new();
                for part in 0..3 {
                    if part == 0 {
                        let upload = Op::upload(lattice, want.words());
                        program.push(self.streams[case], upload);
                    } else {
                        let edited = edited_at_seams(&want);
                        edits = WordEdit::between(&want, &edited);
                        want = edited;
                    }
                    let mut advances = Program::default();
                    let of_part = [(kernel, rule, 33), (kernel, rule, 67)];
                    let layout = if part == 0 {
                        crate::Layout::Bits
                    } else {
                        kernel.layout
                    };
                    self.push_advances(&mut advances, case, &of_part, layout);
                    if !edits.is_empty() {
                        let edits = std::mem::take(&mut edits).into();
                        program.push(
                            self.streams[case],
                            LatticeOp::Edit(edits).on(lattice.as_range()),
                        );
                    }
                    program.steps.extend(advances.steps);
                    self.run(&std::mem::take(&mut program))?;
                    want = reference::run(&want, rule, 100);
                    let same = self.read(case) == want;
                    outcome.expect(same, || format!("{}: {size}, part {part}", kernel.name));
                }
            }
        }
        Ok(outcome)
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
