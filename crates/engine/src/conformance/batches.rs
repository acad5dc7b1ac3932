//! Several lattices in one op, which some kernels step in one launch.

use super::cases::{BATCH, batch_sizes};
use super::{Case, Fixture, SLOT, VIEW_PIXELS, VIEW_SLOT};
use crate::{Kernel, LatticeId, LatticeOp, Op, Program, ReduceRegion, Result, Transfer};
use life::{Lattice, Rule, reference};

impl Fixture {
    /// Adjacent lattices, all in one op; then one of them alone, so that not all are in the same of
    /// the two buffers, if there are two.
    pub(super) fn check_batches(&mut self) -> Result<()> {
        let stream = self.cases[0].stream; // of device 0
        let rule: Rule = "B36/S23".parse().expect("a rule");
        let (width, height) = VIEW_PIXELS;
        let region = ReduceRegion {
            x0: -70_000,
            y0: 5,
            step: 100_000,
            width,
            height,
        };
        let mut done: Vec<&Kernel> = Vec::new();
        for (at, size) in batch_sizes().into_iter().enumerate() {
            let first = (self.cases.len() + at * BATCH) as u32;
            let (lattices, one) = (first..first + BATCH as u32, first + 1);
            let case = |i| Case {
                size,
                id: LatticeId(i),
                stream,
            };
            let wanted = |case: Case| {
                let generations = if case.id.0 == one { 9 } else { 6 };
                (case, reference::run(&case.soup(0.4, 6), rule, generations))
            };
            let cases = lattices.clone().map(case);
            let wanted: Vec<(Case, Lattice)> = cases.clone().map(wanted).collect();
            for kernel in self.kernels_for(size) {
                if done.contains(&kernel) {
                    continue;
                }
                done.push(kernel);
                self.engine.reserve(kernel.layout)?;
                let uploads = cases.clone().map(|case| case.upload(&case.soup(0.4, 6)));
                let mut program = Program::in_stream(stream, uploads);
                program.push(stream, Op::unpack(lattices.clone(), kernel.layout));
                for lattices in [lattices.clone(), one..one + 1, lattices.clone()] {
                    program.push(stream, Op::advance(kernel, lattices, rule, 3));
                }
                program.push(stream, LatticeOp::Pack.on(lattices.clone()));
                let reduce = LatticeOp::Reduce(region).on(lattices.clone());
                program.push(stream, reduce);
                for (slot, what) in [(SLOT, Transfer::Bits), (VIEW_SLOT, Transfer::View)] {
                    program.push(stream, Op::download(lattices.clone(), slot, what));
                }
                self.run(&program)?;
                for (case, want) in &wanted {
                    let (i, name) = (case.id.0, kernel.name);
                    self.expect(*case, want, || format!("{name}: lattice {i}"));
                    let what = || format!("{name}: the view of lattice {i}");
                    self.expect_view(*case, region, want, what);
                }
            }
        }
        Ok(())
    }
}
