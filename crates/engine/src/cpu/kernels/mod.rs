//! CPU versions of the ladder's kernels. Each has the same name, layout and idea as its CUDA
//! kernel, so that results agree bit by bit.

mod bits;
mod column_sweep;
pub(super) mod lessons;
mod multistep;
mod passes;
mod planar;

pub(super) use passes::{Launch, Pair};

use super::planar_rows::{BitRows, PlanarRows};
use super::vector;
use crate::error::bail;
use crate::{Kernel, Result};
use life::{Rule, Size};

/// The buffers of the layout that is reserved besides the bits.
pub(super) enum Reserved {
    Nothing,
    I32(Pair<Vec<i32>>),
    Planar(Box<Pair<PlanarRows>>),
}

impl Launch<'_> {
    /// Steps a lattice by a kernel's CPU version, in the layout of the kernel.
    pub(super) fn run(
        &self,
        kernel: &Kernel,
        bits: &mut Pair<BitRows>,
        reserved: &mut Reserved,
    ) -> Result<()> {
        match (kernel.name, reserved) {
            ("sync-shared", Reserved::I32(cells)) => self.run_in_bytes(&mut cells.now),
            // On a CPU, the cache has a tile already: to copy it would only take time.
            ("global" | "shared" | "sync-global", Reserved::I32(cells)) => {
                self.each_generation(cells, |from, to| step(self.size, self.rule, from, to));
            }
            ("bits", _) => {
                self.each_generation(bits, |from, to| bits::step(self.rule, from, to));
            }
            // On a CPU, a lattice that a GPU keeps in registers stays in the cache anyway.
            ("planar" | "resident" | "cooperative", Reserved::Planar(cells)) => {
                planar::run(self, cells);
            }
            ("multistep" | "deep", Reserved::Planar(cells)) => multistep::run(self, cells),
            (name, _) => bail!("kernel {name} has no CPU version"),
        }
        Ok(())
    }

    /// Steps all generations, one after the other; ends early when the engine stops.
    pub(super) fn each_generation<B>(&self, cells: &mut Pair<B>, step: impl Fn(&B, &mut B)) {
        for _ in (0..self.generations).take_while(|_| self.goes_on()) {
            step(&cells.now, &mut cells.next);
            cells.flip();
        }
    }

    /// Runs all generations in bytes, as `sync-shared` does.
    fn run_in_bytes(&self, cells: &mut [i32]) {
        let now: Vec<u8> = cells.iter().map(|&cell| cell as u8).collect();
        let next = vec![0; now.len()];
        let mut bytes = Pair { now, next };
        self.each_generation(&mut bytes, |from, to| {
            step(self.size, self.rule, from, to);
        });
        for (cell, byte) in cells.iter_mut().zip(bytes.now) {
            *cell = byte.into();
        }
    }
}

// The first rungs: a number for each cell.
//
// `global`: one cell per thread on the GPU, one cell per iteration here; every neighbour is read from the
// source. `shared` is the same here: to step from a copy of a tile saves reads of global memory on a GPU,
// and on a CPU the cache already does.
// `sync-shared`: the whole lattice is copied to a local array, one byte per cell, stepped there through
// all generations, and written back.

/// A cell stored as a number.
trait Cell: Copy {
    fn count(self) -> u32;
    fn from_bit(bit: u32) -> Self;
}

impl Cell for i32 {
    fn count(self) -> u32 {
        self as u32
    }
    fn from_bit(bit: u32) -> i32 {
        bit as i32
    }
}

impl Cell for u8 {
    fn count(self) -> u32 {
        self.into()
    }
    fn from_bit(bit: u32) -> u8 {
        bit as u8
    }
}

/// Steps one generation, as `global` does.
fn step<C: Cell>(size: Size, rule: Rule, from: &[C], to: &mut [C]) {
    let (width, height) = (size.width as usize, size.height as usize);
    let row = |y: usize| &from[y % height * width..][..width];
    vector::vectorize(
        #[inline(always)]
        || {
            for (y, out) in to.chunks_exact_mut(width).enumerate() {
                torus_row([row(y + height - 1), row(y), row(y + 1)], rule.table(), out);
            }
        },
    );
}

/// Steps one row of a torus. Only the first and the last cell have neighbours across the edge.
#[inline(always)]
fn torus_row<C: Cell>(rows: [&[C]; 3], table: u32, out: &mut [C]) {
    let width = out.len();
    if width > 2 {
        inner_row(rows, table, &mut out[1..width - 1]);
    }
    for x in [0, width - 1] {
        let columns = [(x + width - 1) % width, x, (x + 1) % width];
        let all: u32 = rows
            .iter()
            .flat_map(|row| columns.map(|x| row[x].count()))
            .sum();
        let alive = rows[1][x].count();
        out[x] = C::from_bit(table >> (9 * alive + all - alive) & 1);
    }
}

/// Steps one row whose neighbours need no wrapping: the input rows start one cell before `out` and
/// end one after.
#[inline(always)]
fn inner_row<C: Cell>(rows: [&[C]; 3], table: u32, out: &mut [C]) {
    let width = out.len();
    // Nine slices of equal length let the compiler remove bounds checks and vectorise.
    let shifted = |row: usize, by: usize| &rows[row][by..][..width];
    let (nw, n, ne) = (shifted(0, 0), shifted(0, 1), shifted(0, 2));
    let (w, cell, e) = (shifted(1, 0), shifted(1, 1), shifted(1, 2));
    let (sw, s, se) = (shifted(2, 0), shifted(2, 1), shifted(2, 2));
    for x in 0..width {
        let above = nw[x].count() + n[x].count() + ne[x].count();
        let below = sw[x].count() + s[x].count() + se[x].count();
        let neighbours = above + below + w[x].count() + e[x].count();
        out[x] = C::from_bit(table >> (9 * cell[x].count() + neighbours) & 1);
    }
}
