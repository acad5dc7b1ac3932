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
                for &shape in &kernel.blocks[1..] {
                    let of_shape = self.check_block(kernel, shape)?;
                    outcome.cases += of_shape.cases;
                    outcome.wrong.extend(of_shape.wrong);
                }
            }
        }
        Ok(outcome)
    }

    /// Three generations of a kernel with a shape, over all sizes that are small.
    ///
    /// # Errors
    /// The engine fails.
    pub fn check_block(&mut self, kernel: &'static Kernel, shape: (u32, u32)) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let rule: Rule = "B36/S23".parse().expect("a rule");
        self.engine.reserve(kernel.layout)?;
        let cases = self.cases_for(kernel, MAX_CELLS);
        let sizes = self.cases.sizes.clone();
        let start = |case: usize| soup(sizes[case], 0.4, 4, case as u64);
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
        for &case in &cases {
            let want = reference::run(&start(case), rule, GENERATIONS.into());
            let same = self.read(case) == want;
            outcome.expect(same, || {
                format!("{}, {shape:?} on {}", kernel.name, want.size())
            });
        }
        Ok(outcome)
    }
}
