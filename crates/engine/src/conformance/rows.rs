//! Compares downloads of some rows with the whole lattice.

use super::cases::Outcome;
use super::fixture::{Fixture, SLOT};
use crate::{LatticeId, Op, Program, Result, Transfer};
use life::soup;

impl Fixture {
    /// The first rows of every lattice, some in its middle, the last ones, and all.
    pub(super) fn check_rows(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for case in 0..self.cases.sizes.len() {
            let size = self.cases.sizes[case];
            let (lattice, stream) = (LatticeId(case as u32), self.streams[case]);
            let start = soup(size, 0.4, 6, case as u64);
            let height = size.height();
            let half = height.div_ceil(2);
            for (first, count) in [(0, 1), (height / 3, half), (height - 1, 1), (0, height)] {
                let mut program = Program::default();
                program.push(stream, Op::upload(lattice, start.words()));
                let what = Transfer::Rows { first, count };
                program.push(stream, Op::download(lattice.as_range(), SLOT, what));
                self.run(&program)?;
                let per_row = size.words_per_row();
                let want = &start.words()[per_row * first as usize..][..per_row * count as usize];
                let mut same = false;
                let mut look = |words: &[u32]| same = words[..want.len()] == *want;
                self.slots.read(lattice, SLOT, &mut look);
                outcome.expect(same, || {
                    format!("{count} rows of {size} from row {first} on")
                });
            }
        }
        Ok(outcome)
    }
}
