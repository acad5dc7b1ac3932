//! Every shape of block that a kernel has, beside its default.

use super::cases::Outcome;
use super::fixture::Fixture;
use crate::kernels::KERNELS;
use crate::{Kernel, LatticeOp, Op, Program, Result};
use life::{Rule, reference, soup};

/// The most cells of a lattice that is stepped with every shape.
const MAX_CELLS: u64 = 20_000;

const GENERATIONS: u32 = 3;

impl Fixture {
    /// Every kernel with each of its shapes.
    pub(super) fn check_blocks(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for kernel in &KERNELS {
            if self.validate_device(kernel).is_ok() {
                let of_kernel = self.check_blocks_of(kernel)?;
                outcome.cases += of_kernel.cases;
                outcome.wrong.extend(of_kernel.wrong);
            }
        }
        Ok(outcome)
    }

    /// Three generations of a kernel with each shape, over all sizes that are small.
    ///
    /// # Errors
    /// The engine fails.
    pub fn check_blocks_of(&mut self, kernel: &'static Kernel) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let rule: Rule = "B36/S23".parse().expect("a rule");
        self.engine.reserve(kernel.layout)?;
        let cases = self.cases_for(kernel, MAX_CELLS);
        let sizes = self.cases.sizes.clone();
        let start = |case: usize| soup(sizes[case], 0.4, 4, case as u64);
        let wanted = |&case: &usize| reference::run(&start(case), rule, GENERATIONS.into());
        let wanted: Vec<_> = cases.iter().map(wanted).collect();
        for &shape in &kernel.blocks[1..] {
            let mut program = Program::default();
            for &case in &cases {
                let advance = (kernel, rule, GENERATIONS);
                self.push(&mut program, case, &start(case), &[advance]);
            }
            for step in &mut program.steps {
                if let Op::Lattices(_, LatticeOp::Advance { block, .. }) = &mut step.op {
                    *block = shape;
                }
            }
            self.run(&program)?;
            for (&case, want) in cases.iter().zip(&wanted) {
                let same = self.read(case) == *want;
                outcome.expect(same, || {
                    format!("{}, {shape:?} on {}", kernel.name, want.size())
                });
            }
        }
        Ok(outcome)
    }
}
