//! Cells set between two launches, in every kernel's layout.

use super::{Case, Fixture, SLOT};
use crate::kernels::Layout;
use crate::{Program, Result, Transfer};
use life::{Lattice, Rule, reference};

/// The most cells of a lattice that is edited; some sizes beyond have more words than travel at
/// once.
const MAX_CELLS: u64 = 1 << 19;

impl Fixture {
    /// Edits a few cells, then many, each after some generations of the kernel.
    pub(super) fn check_edits(&mut self) -> Result<()> {
        let rule = Rule::LIFE;
        for kernel in self.kernels() {
            self.engine.reserve(kernel.layout)?;
            let mut program = Program::default();
            let mut wanted = Vec::new();
            for case in self.cases_for(kernel, MAX_CELLS.min(self.plan.max_cells)) {
                let mut want = case.soup(0.4, 7);
                let mut ops = vec![case.upload(&want)];
                ops.extend(case.advance(Layout::Bits, &[(kernel, rule, 3)]));
                want = reference::run(&want, rule, 3);
                for (sparse, generations) in [(true, 1), (false, 2)] {
                    let edited = edited(case, &want, sparse);
                    ops.push(case.edit(&want, &edited));
                    ops.extend(case.advance(kernel.layout, &[(kernel, rule, generations)]));
                    want = reference::run(&edited, rule, generations.into());
                }
                ops.push(case.download(SLOT, Transfer::Bits));
                case.push(&mut program, ops);
                wanted.push((case, want));
            }
            self.run(&program)?;
            for (case, want) in wanted {
                self.expect(case, &want, || format!("{}: {}", kernel.name, case.size));
            }
        }
        Ok(())
    }
}

/// Another lattice: some cells changed here and there, or all as another soup has them.
fn edited(case: Case, lattice: &Lattice, sparse: bool) -> Lattice {
    let other = case.soup(0.5, 8);
    if !sparse {
        return other;
    }
    let mut edited = lattice.clone();
    let (width, height) = (case.size.width(), case.size.height());
    for i in 0..9 {
        let (x, y) = (i * 37 % width, i * 11 % height);
        edited.set(x, y, other.get(x, y));
    }
    edited.set(width - 1, height - 1, !lattice.get(width - 1, height - 1));
    edited
}
