//! Compares reduced views with their definition.

use super::{Fixture, VIEW_PIXELS, VIEW_SLOT};
use crate::{LatticeOp, ReduceRegion, Result, Transfer};

impl Fixture {
    /// Reduced views, byte by byte against their definition.
    pub(super) fn check_views(&mut self) -> Result<()> {
        let (width, height) = VIEW_PIXELS;
        for case in self.cases.clone() {
            let size = case.size;
            let start = case.soup(0.4, 3);
            let sides = [size.width(), size.height()].map(|side| i64::from(side) << 16);
            let whole = sides[0] / i64::from(width) + 1;
            let view = |x0, y0, step| ReduceRegion {
                x0,
                y0,
                step,
                width,
                height,
            };
            let all = |step| ReduceRegion {
                step,
                width: 4,
                height: 2,
                ..view(sides[0] / 3, sides[1] - 5, 1)
            };
            let views = [
                view(0, 0, whole),
                view(-70_000, 5, whole / 3 + 1),
                view(99_999, 1 << 16, 20_000),
                // Across the edge on the right, the one below, and both.
                view(sides[0] - (20 << 16), 0, ReduceRegion::ONE),
                view(0, sides[1] - 7 * whole, whole / 2 + 1),
                view(
                    sides[0] - 9 * whole,
                    sides[1] - 5 * whole - 3,
                    whole / 4 + 1,
                ),
                // Pixels as large as the lattice, and larger.
                all(sides[0].max(sides[1])),
                all(2 * sides[0].max(sides[1]) + 1),
            ];
            for region in views {
                let reduce = case.op(LatticeOp::Reduce(region));
                let download = case.download(VIEW_SLOT, Transfer::View);
                self.run_in(case, vec![case.upload(&start), reduce, download])?;
                self.expect_view(case, region, &start, || {
                    format!("{size} through {region:?}")
                });
            }
        }
        Ok(())
    }
}
