//! Cells set between two launches, in every kernel's layout.

use super::cases::Outcome;
use super::fixture::Fixture;
use crate::kernels::KERNELS;
use crate::{Kernel, LatticeId, LatticeOp, Op, Program, Result, WordEdit};
use life::{Lattice, Rule, Size, reference, soup};

/// The most cells of a lattice that is edited; some sizes beyond have more words than travel at
/// once.
const MAX_CELLS: u64 = 1 << 19;

impl Fixture {
    /// Edits a few cells, then many, each after some generations of the kernel.
    pub(super) fn check_edits(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for kernel in &KERNELS {
            if self.validate_device(kernel).is_ok() {
                self.engine.reserve(kernel.layout)?;
                self.check_edits_of(kernel, &mut outcome)?;
            }
        }
        Ok(outcome)
    }

    fn check_edits_of(&mut self, kernel: &'static Kernel, outcome: &mut Outcome) -> Result<()> {
        let rule = Rule::LIFE;
        let chosen = self.cases_for(kernel, MAX_CELLS.min(self.cases.max_cells));
        let mut program = Program::default();
        let mut wanted = Vec::new();
        for &case in &chosen {
            let size = self.cases.sizes[case];
            let stream = self.streams[case];
            let lattice = LatticeId(case as u32);
            let mut want = soup(size, 0.4, 7, case as u64);
            self.push(&mut program, case, &want, &[(kernel, rule, 3)]);
            want = reference::run(&want, rule, 3);
            for (sparse, generations) in [(true, 1), (false, 2)] {
                let edited = edited(&want, case as u64, sparse);
                let edits = WordEdit::between(&want, &edited).into();
                program.push(stream, LatticeOp::Edit(edits).on(lattice.as_range()));
                let advances = [(kernel, rule, generations)];
                self.push_advances(&mut program, case, &advances, kernel.layout);
                want = reference::run(&edited, rule, generations.into());
            }
            wanted.push(want);
        }
        // A slot is bound once a program; what counts is what is there at the end.
        let mut downloaded = std::collections::HashSet::new();
        let steps = std::mem::take(&mut program.steps).into_iter().rev();
        let last = |step: &crate::Step| match step.op {
            Op::Lattices(ref lattices, LatticeOp::Download { .. }) => {
                downloaded.insert(lattices.start)
            }
            _ => true,
        };
        program.steps = steps.filter(last).collect();
        program.steps.reverse();
        self.run(&program)?;
        for (&case, want) in chosen.iter().zip(&wanted) {
            let same = &self.read(case) == want;
            let size: Size = self.cases.sizes[case];
            outcome.expect(same, || format!("{}: {size}", kernel.name));
        }
        Ok(())
    }
}

/// Another lattice: some cells changed here and there, or all as another soup has them.
fn edited(lattice: &Lattice, seed: u64, sparse: bool) -> Lattice {
    let size = lattice.size();
    let other = soup(size, 0.5, 8, seed);
    if !sparse {
        return other;
    }
    let mut edited = lattice.clone();
    let (width, height) = (size.width(), size.height());
    for i in 0..9 {
        let (x, y) = (i * 37 % width, i * 11 % height);
        edited.set(x, y, other.get(x, y));
    }
    edited.set(width - 1, height - 1, !lattice.get(width - 1, height - 1));
    edited
}
