//! Several lattices in one op, which some kernels step in one launch.

use super::cases::{BATCH, Outcome, batch_sizes};
use super::fixture::{Fixture, SLOT, VIEW_PIXELS, VIEW_SLOT};
use crate::{Kernel, LatticeId, LatticeOp, Op, Program, ReduceRegion, Result, Transfer};
use life::{Lattice, Rule, Size, reference, soup};

impl Fixture {
    /// Adjacent lattices, all in one op; then one of them alone, so that not all are in the same of
    /// the two buffers, if there are two.
    pub(super) fn check_batches(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let mut done: Vec<&Kernel> = Vec::new();
        for (at, size) in batch_sizes().into_iter().enumerate() {
            let first = self.cases.sizes.len() + at * BATCH;
            let mut kernels = self.kernels_for(size);
            kernels.retain(|kernel| !done.contains(kernel));
            self.check_batches_of(first as u32, size, &kernels, &mut outcome)?;
            done.extend(kernels);
        }
        Ok(outcome)
    }

    fn check_batches_of(
        &mut self,
        first: u32,
        size: Size,
        kernels: &[&'static Kernel],
        outcome: &mut Outcome,
    ) -> Result<()> {
        let lattices = first..first + BATCH as u32;
        let stream = self.streams[0]; // of device 0
        let rule: Rule = "B36/S23".parse().expect("a rule");
        let one = first + 1;
        let (width, height) = VIEW_PIXELS;
        let region = ReduceRegion {
            x0: -70_000,
            y0: 5,
            step: 100_000,
            width,
            height,
        };
        let start = |i: u32| soup(size, 0.4, 6, i.into());
        let wanted = |i| reference::run(&start(i), rule, if i == one { 9 } else { 6 });
        let wanted: Vec<Lattice> = lattices.clone().map(wanted).collect();
        for &kernel in kernels {
            self.engine.reserve(kernel.layout)?;
            let mut program = Program::default();
            for i in lattices.clone() {
                program.push(stream, Op::upload(LatticeId(i), start(i).words()));
            }
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
            for (i, want) in lattices.clone().zip(&wanted) {
                let same = &self.read_lattice(LatticeId(i), size) == want;
                outcome.expect(same, || format!("{}: lattice {i}", kernel.name));
                let same = self.shows(LatticeId(i), region, want);
                outcome.expect(same, || format!("{}: the view of lattice {i}", kernel.name));
            }
        }
        Ok(())
    }
}
