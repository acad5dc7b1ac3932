//! Compares measures with a count of the cells on the host.

use super::cases::Outcome;
use super::expected::counted;
use super::fixture::{Fixture, MEASURE_SLOT};
use crate::{LatticeId, LatticeOp, Measure, Op, Program, Result, Transfer};
use life::{Rule, reference, soup};

/// The most cells of a lattice that is measured.
const MAX_CELLS: u64 = 1 << 21;

impl Fixture {
    /// Population, births, deaths and hash of three lattices that follow one another, through
    /// every layout: the first has none before it.
    pub(super) fn check_measures(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for kernel in self.kernel_of_each_layout() {
            self.engine.reserve(kernel.layout)?;
            for case in self.cases_for(kernel, MAX_CELLS.min(self.cases.max_cells)) {
                let size = self.cases.sizes[case];
                let (lattice, stream) = (LatticeId(case as u32), self.streams[case]);
                let mut now = soup(size, 0.4, 5, case as u64);
                // Of what was measured here before, this lattice or another kernel's last.
                let mut before = self.measured.get(&case).cloned();
                for (round, generations) in [0, 1, 3].into_iter().enumerate() {
                    let mut program = Program::default();
                    let advances = [(kernel, Rule::LIFE, generations)];
                    let advances = if generations > 0 { &advances[..] } else { &[] };
                    self.push(&mut program, case, &now, advances);
                    // What is downloaded here is the measure alone.
                    let whole = |op: &Op| matches!(op, Op::Lattices(_, LatticeOp::Download { .. }));
                    program.steps.retain(|step| !whole(&step.op));
                    program.push(stream, LatticeOp::Measure.on(lattice.as_range()));
                    let download =
                        Op::download(lattice.as_range(), MEASURE_SLOT, Transfer::Measure);
                    program.push(stream, download);
                    self.run(&program)?;
                    now = reference::run(&now, Rule::LIFE, generations.into());
                    let mut found = Measure::default();
                    let mut look = |words: &[u32]| found = Measure::from_words(words);
                    self.slots.read(lattice, MEASURE_SLOT, &mut look);
                    let same = found == counted(&now, before.as_ref());
                    outcome.expect(same, || format!("{}, measure {round}: {size}", kernel.name));
                    before = Some(now.clone());
                }
                self.measured.insert(case, now);
            }
        }
        Ok(outcome)
    }
}
