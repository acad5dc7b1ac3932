//! Every shape of block that a kernel has, beside its default.

use super::Fixture;
use crate::{Kernel, LatticeOp, Op, Program, Result};
use life::{Rule, reference};

/// The most cells of a lattice that is stepped with every shape.
const MAX_CELLS: u64 = 20_000;

const GENERATIONS: u32 = 3;

impl Fixture {
    /// Every kernel with each of its shapes.
    pub(super) fn check_blocks(&mut self) -> Result<()> {
        for kernel in self.kernels() {
            for &shape in &kernel.blocks[1..] {
                self.check_block(kernel, shape)?;
            }
        }
        Ok(())
    }

    /// Three generations of a kernel with a shape, over all sizes that are small.
    ///
    /// # Errors
    /// The engine fails.
    pub fn check_block(&mut self, kernel: &'static Kernel, shape: (u32, u32)) -> Result<()> {
        let rule: Rule = "B36/S23".parse().expect("a rule");
        self.engine.reserve(kernel.layout)?;
        let cases = self.cases_for(kernel, MAX_CELLS);
        let mut program = Program::default();
        for case in &cases {
            let ops = case.run(&case.soup(0.4, 4), (kernel, rule, GENERATIONS));
            case.push(&mut program, ops);
        }
        for step in &mut program.steps {
            if let Op::Lattices(_, LatticeOp::Advance { block, .. }) = &mut step.op {
                *block = shape;
            }
        }
        self.run(&program)?;
        for case in cases {
            let want = reference::run(&case.soup(0.4, 4), rule, GENERATIONS.into());
            self.expect(case, &want, || {
                format!("{}, {shape:?} on {}", kernel.name, case.size)
            });
        }
        Ok(())
    }
}
