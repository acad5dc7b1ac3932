//! CPU versions of the ladder's kernels. Each has the same name, layout and idea as its CUDA
//! kernel, so that results agree bit by bit.

pub(super) mod bits;
mod column_sweep;
mod global;
pub(super) mod lessons;
mod multistep;
mod passes;
mod planar;
mod resident;
mod shared;
mod sync_global;
mod sync_shared;

#[cfg(test)]
mod tests;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use super::bit_rows::BitRows;
use super::planar_rows::PlanarRows;
use super::worker_pool::WorkerPool;
use crate::{Kernel, Result};
pub(super) use column_sweep::ROWS;
use life::{Rule, Size};

/// The two buffers of a layout: the current cells, and the next generation.
pub(super) struct Pair<B> {
    /// The current cells.
    pub(super) now: B,
    /// The buffer for the next generation.
    pub(super) next: B,
}

impl<B> Pair<B> {
    /// Makes both.
    pub(super) fn of(make: impl Fn() -> Result<B>) -> Result<Pair<B>> {
        let (now, next) = (make()?, make()?);
        Ok(Pair { now, next })
    }

    /// Swaps the buffers: the next generation becomes the current one.
    pub(super) fn flip(&mut self) {
        mem::swap(&mut self.now, &mut self.next);
    }
}

/// The parameters of a launch.
pub(super) struct Launch<'a> {
    pub(super) size: Size,
    pub(super) rule: Rule,
    pub(super) generations: u32,
    /// Set when the engine stops and the result no longer matters.
    pub(super) stop: &'a AtomicBool,
    /// Helper threads.
    pub(super) worker_pool: &'a WorkerPool,
}

impl Launch<'_> {
    /// Whether the engine still needs the result.
    pub(super) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// The generations to step; ends early when the engine stops.
    pub(super) fn generations(&self) -> impl Iterator<Item = u32> {
        (0..self.generations).take_while(|_| self.goes_on())
    }
}

/// The CPU version of a kernel, by layout and iteration.
#[derive(Clone, Copy)]
pub(super) enum CpuKernel {
    /// One generation per call, one `i32` per cell.
    Cells(fn(Size, Rule, &[i32], &mut [i32])),
    /// All generations in one call, one `i32` per cell.
    CellsInKernel(fn(&Launch, &mut Pair<Vec<i32>>)),
    /// One generation per call, on bits.
    Bits(fn(Rule, &BitRows, &mut BitRows)),
    /// All generations in one call, on planar words.
    Planar(fn(&Launch, &mut Pair<PlanarRows>)),
}

/// The CPU version of a kernel; `None` if there is none.
pub(super) fn cpu_kernel(kernel: &Kernel) -> Option<CpuKernel> {
    Some(match kernel.name {
        "global" => CpuKernel::Cells(global::step),
        "shared" => CpuKernel::Cells(shared::step),
        "sync-global" => CpuKernel::CellsInKernel(sync_global::run),
        "sync-shared" => CpuKernel::CellsInKernel(sync_shared::run),
        "bits" => CpuKernel::Bits(bits::step),
        "planar" => CpuKernel::Planar(planar::run),
        "multistep" | "deep" => CpuKernel::Planar(multistep::run),
        "resident" | "cooperative" => CpuKernel::Planar(resident::run),
        _ => return None,
    })
}

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
