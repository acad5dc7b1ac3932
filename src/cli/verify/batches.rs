//! Several lattices in one op, which some kernels step in one launch.

use anyhow::Result;

use super::Outcome;
use super::checks::{Bench, SLOT};
use crate::engine::kernels::KERNELS;
use crate::engine::{LatticeId, Op, Program, Transfer};
use crate::life::{Lattice, Rule, Size, reference, soup};
use crate::session::worlds::read_lattice;

/// Lattices of one allocation.
pub(super) const COUNT: usize = 5;

/// Their size, which every kernel takes.
pub(super) fn size() -> Size {
    Size::new(128, 128).expect("a lattice")
}

impl Bench {
    /// Lattices that lie one behind the other, all in one op; then one of them alone, so that
    /// where there are two buffers they are not all in the same.
    pub(super) fn check_batches(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let first = self.cases.sizes.len() as u32;
        let lattices = first..first + COUNT as u32;
        let stream = self.streams[0]; // of device 0
        let rule: Rule = "B36/S23".parse()?;
        let size = size();
        let one = first + 2;
        let start = |i: u32| soup(size, 0.4, 6, i.into());
        let wanted = |i| reference::run(&start(i), rule, if i == one { 9 } else { 6 });
        let wanted: Vec<Lattice> = lattices.clone().map(wanted).collect();
        for kernel in KERNELS.iter().filter(|kernel| kernel.admit(size).is_ok()) {
            self.engine.reserve(kernel.layout)?;
            let mut program = Program::default();
            for i in lattices.clone() {
                let (lattice, to) = (LatticeId(i), kernel.layout);
                let words = start(i).words().into();
                program.push(stream, Op::Upload { lattice, words });
                program.push(stream, Op::Unpack { lattice, to });
            }
            for lattices in [lattices.clone(), one..one + 1, lattices.clone()] {
                let advance = Op::Advance {
                    kernel,
                    lattices,
                    rule,
                    generations: 3,
                    block: kernel.block(),
                };
                program.push(stream, advance);
            }
            for lattice in lattices.clone().map(LatticeId) {
                let (slot, what) = (SLOT, Transfer::Bits);
                program.push(stream, Op::Pack(lattice));
                let download = Op::Download {
                    lattice,
                    slot,
                    what,
                };
                program.push(stream, download);
            }
            self.engine.submit(&program)?;
            self.finish()?;
            for (i, want) in lattices.clone().zip(&wanted) {
                let same = &read_lattice(&*self.slots, i as usize, SLOT, size)? == want;
                outcome.expect(same, || format!("{}: lattice {i}", kernel.name));
            }
        }
        Ok(outcome)
    }
}
