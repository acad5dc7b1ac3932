//! Rules at random: kernels that are compiled for one rule step it as the reference does.

use super::Fixture;
use crate::{Program, Result};
use life::{Rule, reference};

/// Cells of a lattice at most; a kernel that takes none so small steps its smallest.
const MAX_CELLS: u64 = 20_000;

const GENERATIONS: u32 = 6;

/// One rule in this many is compiled in the background, as when a session's rule changes; the engine
/// may have the driver do that in another way. It has no divisor in common with the number of
/// kernels, so every kernel gets some of these rules.
const LINKED: usize = 7;

impl Fixture {
    /// This many rules, each by one kernel; the kernels in turn, and each kernel's sizes in turn.
    pub(super) fn check_rules(&mut self) -> Result<()> {
        let mut kernels = self.kernels();
        kernels.retain(|kernel| kernel.by_network);
        for nth in 0..self.plan.random_rules {
            // The upper bits of such multiples are spread evenly over all rules.
            let bits = (nth as u32 + 1).wrapping_mul(0x9e37_79b9) >> 14;
            let rule = Rule::from_masks((bits & 0x1ff) as u16, (bits >> 9) as u16);
            let kernel = kernels[nth % kernels.len()];
            let cases = self.cases_for(kernel, MAX_CELLS);
            let case = cases[nth / kernels.len() % cases.len()];
            let start = case.soup(0.4, nth as u64);
            self.engine.reserve(kernel.layout)?;
            let ops = case.run(&start, (kernel, rule, GENERATIONS));
            let program = Program::in_stream(case.stream, ops);
            if nth.is_multiple_of(LINKED) {
                self.engine.compile_in_background(&program)?;
                self.engine.load(&program)?;
            }
            self.run(&program)?;
            let want = reference::run(&start, rule, GENERATIONS.into());
            self.expect(case, &want, || {
                format!("{rule} by {} on {}", kernel.name, case.size)
            });
        }
        Ok(())
    }
}
