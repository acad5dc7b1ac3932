//! Compares soups made on the device with the same soups made on the host.

use super::Fixture;
use crate::kernels::Layout;
use crate::{LatticeOp, Result};
use life::{Rule, Soup, reference};

/// Densities with one binary digit to sixteen of them, and the extremes.
const DENSITIES: [f64; 7] = [0.5, 0.3, 0.25, 0.9, 1.0 / 65536.0, 0.0, 1.0];

impl Fixture {
    /// Soups of every size, over what a kernel of each layout left; and a generation of each.
    pub(super) fn check_soups(&mut self) -> Result<()> {
        for kernel in self.kernel_of_each_layout() {
            self.engine.reserve(kernel.layout)?;
            for case in self.cases_for(kernel, self.plan.max_cells) {
                let i = case.id.index();
                let soup = Soup {
                    density: DENSITIES[i % DENSITIES.len()],
                    seed: (u64::MAX / 7).wrapping_mul(i as u64),
                    instance: i as u64,
                };
                for generations in [0, 1] {
                    let advances = &[(kernel, Rule::LIFE, generations)][..generations as usize];
                    let first = case.op(LatticeOp::Soup(soup));
                    self.run_in(case, case.round(first, Layout::Bits, advances))?;
                    let start = soup.lattice(case.size);
                    let want = reference::run(&start, Rule::LIFE, generations.into());
                    self.expect(case, &want, || {
                        let (name, size) = (kernel.name, case.size);
                        format!("{name}, {size}, {soup:?}, {generations} generations")
                    });
                }
            }
        }
        Ok(())
    }
}
