//! Compares soups made on the device with the same soups made on the host.

use super::cases::Outcome;
use super::fixture::Fixture;
use crate::kernels::Layout;
use crate::{LatticeId, LatticeOp, Program, Result};
use life::{Rule, Soup, reference};

/// Densities with one binary digit to sixteen of them, and the extremes.
const DENSITIES: [f64; 7] = [0.5, 0.3, 0.25, 0.9, 1.0 / 65536.0, 0.0, 1.0];

impl Fixture {
    /// Soups of every size, over what a kernel of each layout left; and a generation of each.
    pub(super) fn check_soups(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for kernel in self.kernel_of_each_layout() {
            self.engine.reserve(kernel.layout)?;
            for case in self.cases_for(kernel, self.cases.max_cells) {
                let size = self.cases.sizes[case];
                let (lattice, stream) = (LatticeId(case as u32), self.streams[case]);
                let soup = Soup {
                    density: DENSITIES[case % DENSITIES.len()],
                    seed: (u64::MAX / 7).wrapping_mul(case as u64),
                    instance: case as u64,
                };
                let start = soup.lattice(size);
                for generations in [0, 1] {
                    let advances = [(kernel, Rule::LIFE, generations)];
                    let advances = if generations > 0 { &advances[..] } else { &[] };
                    let mut program = Program::default();
                    program.push(stream, LatticeOp::Soup(soup).on(lattice.as_range()));
                    self.push_advances(&mut program, case, advances, Layout::Bits);
                    self.run(&program)?;
                    let want = reference::run(&start, Rule::LIFE, generations.into());
                    let same = self.read(case) == want;
                    outcome.expect(same, || {
                        format!(
                            "{}, {size}, {soup:?}, {generations} generations",
                            kernel.name
                        )
                    });
                }
            }
        }
        Ok(outcome)
    }
}
