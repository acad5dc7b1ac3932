//! Reduced views, held against their definition.

use anyhow::Result;

use super::Outcome;
use super::checks::{Bench, VIEW_PIXELS, VIEW_SLOT};
use crate::engine::{LatticeId, Op, Program, Transfer, Viewport};
use crate::life::{Lattice, soup};

impl Bench {
    /// Reduced views, byte by byte against their definition.
    pub(super) fn check_views(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let (width, height) = VIEW_PIXELS;
        for case in 0..self.cases.sizes.len() {
            let size = self.cases.sizes[case];
            let start = soup(size, 0.4, 3, case as u64);
            let whole = (i64::from(size.width()) << 16) / i64::from(width) + 1;
            let views = [
                (0, 0, whole),
                (-70_000, 5, whole / 3 + 1),
                (99_999, 1 << 16, 20_000),
            ];
            for (x0, y0, step) in views {
                let viewport = Viewport {
                    x0,
                    y0,
                    step,
                    width,
                    height,
                };
                let (lattice, stream) = (LatticeId(case as u32), self.streams[case]);
                let mut program = Program::default();
                program.push(
                    stream,
                    Op::Upload {
                        lattice,
                        words: start.words().into(),
                    },
                );
                program.push(
                    stream,
                    Op::Reduce {
                        lattices: lattice.alone(),
                        viewport,
                    },
                );
                let what = Transfer::View;
                program.push(
                    stream,
                    Op::Download {
                        lattices: lattice.alone(),
                        slot: VIEW_SLOT,
                        what,
                    },
                );
                self.engine.submit(&program)?;
                self.finish()?;
                let want = reduced(&start, viewport);
                let mut same = false;
                self.slots.read(lattice, VIEW_SLOT, &mut |words| {
                    same = bytemuck::cast_slice::<u32, u8>(words)[..want.len()] == want[..];
                });
                outcome.expect(same, || format!("{size} through {viewport:?}"));
            }
        }
        Ok(outcome)
    }
}

/// A viewport's bytes, as its definition has them.
pub(super) fn reduced(lattice: &Lattice, viewport: Viewport) -> Vec<u8> {
    let (width, height) = (
        i64::from(lattice.size().width()),
        i64::from(lattice.size().height()),
    );
    let mut bytes = Vec::new();
    for j in 0..viewport.height {
        let (top, bottom) = viewport.rows(j);
        for i in 0..viewport.width {
            let (left, right) = viewport.columns(i);
            let covered = (bottom - top) * (right - left);
            let mut alive = 0;
            for y in top.max(0)..bottom.min(height) {
                for x in left.max(0)..right.min(width) {
                    alive += i64::from(lattice.get(x as u32, y as u32));
                }
            }
            bytes.push(((255 * alive + covered / 2) / covered) as u8);
        }
    }
    bytes
}
