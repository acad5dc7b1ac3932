//! Compares downloads of some rows with the whole lattice.

use super::{Fixture, SLOT};
use crate::{Result, Transfer};

impl Fixture {
    /// The first rows of every lattice, some in its middle, the last ones, and all.
    pub(super) fn check_rows(&mut self) -> Result<()> {
        for case in self.cases.clone() {
            let size = case.size;
            let start = case.soup(0.4, 6);
            let height = size.height();
            let half = height.div_ceil(2);
            for (first, count) in [(0, 1), (height / 3, half), (height - 1, 1), (0, height)] {
                let rows = case.download(SLOT, Transfer::Rows { first, count });
                self.run_in(case, vec![case.upload(&start), rows])?;
                let [first_word, words] = [first, count].map(|n| size.words_per_row() * n as usize);
                let want = &start.words()[first_word..][..words];
                let same = self.read(case, SLOT).starts_with(want);
                self.outcome.expect(same, || {
                    format!("{count} rows of {size} from row {first} on")
                });
            }
        }
        Ok(())
    }
}
