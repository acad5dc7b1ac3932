//! Compares measures with a count of the cells on the host.

use super::expected::counted;
use super::{Fixture, MEASURE_SLOT};
use crate::kernels::Layout;
use crate::{LatticeOp, Result, Transfer};
use life::{Rule, reference};

/// The most cells of a lattice that is measured.
const MAX_CELLS: u64 = 1 << 21;

impl Fixture {
    /// Population, births, deaths and hash of three lattices that follow one another, through
    /// every layout: the first has none before it.
    pub(super) fn check_measures(&mut self) -> Result<()> {
        for kernel in self.kernel_of_each_layout() {
            self.engine.reserve(kernel.layout)?;
            for case in self.cases_for(kernel, MAX_CELLS.min(self.plan.max_cells)) {
                let mut now = case.soup(0.4, 5);
                // Of what was measured here before, this lattice or another kernel's last.
                let mut before = self.measured.get(&case.id).cloned();
                for (round, generations) in [0, 1, 3].into_iter().enumerate() {
                    let advances = &[(kernel, Rule::LIFE, generations)][..round.min(1)];
                    let mut ops = vec![case.upload(&now)];
                    ops.extend(case.advance(Layout::Bits, advances));
                    ops.push(case.op(LatticeOp::Measure));
                    ops.push(case.download(MEASURE_SLOT, Transfer::Measure));
                    self.run_in(case, ops)?;
                    now = reference::run(&now, Rule::LIFE, generations.into());
                    let want = counted(&now, before.as_ref());
                    let same = self.read(case, MEASURE_SLOT) == want.to_words();
                    self.outcome.expect(same, || {
                        format!("{}, measure {round}: {}", kernel.name, case.size)
                    });
                    before = Some(now.clone());
                }
                self.measured.insert(case.id, now);
            }
        }
        Ok(())
    }
}
