//! CPU versions of the ladder's kernels. Each has the same name, layout and idea as its CUDA
//! kernel, so that results agree bit by bit.

mod bits;
mod column_sweep;
pub(super) mod lessons;
mod multistep;
mod planar;

use std::cell::RefCell;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use super::planar_rows::{BitRows, PlanarRows, ROWS, Rows, Shape, Source, halo_rows};
use super::vector::{self, Lanes};
use super::worker_pool::{self, WorkerPool};
use crate::error::bail;
use crate::{Kernel, Result};
use life::{Rule, Size};

/// The two buffers of a layout: the current cells, and the next generation.
pub(super) struct Pair<B> {
    /// The current cells.
    pub(super) now: B,
    /// The buffer for the next generation.
    next: B,
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

/// The buffers of the layout that is reserved besides the bits.
pub(super) enum Reserved {
    Nothing,
    I32(Pair<Vec<i32>>),
    Planar(Box<Pair<PlanarRows>>),
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
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

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
    let (width, height) = (size.width() as usize, size.height() as usize);
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

// Launches of the planar kernels: passes over a lattice, by one thread or by a team on idle cores.
//
// The threads of a team stay for many passes. Each one keeps its share of the rows, so that they
// stay in its core's cache. A share's pass needs rows of both neighbours from the pass before, and nothing
// of the others. So no thread waits for all of them: each one gives its outer rows to its [`Neighbours`],
// and waits for theirs only. Now and then the team is formed anew, since the engine may stop or other
// work may want the cores.

/// Minimum work of a thread, in vectors times generations. Less is not worth waking it.
const MIN_SHARE_WORK: usize = 1 << 13;

/// Work of a thread after which a team is formed anew: some milliseconds.
const MAX_SHARE_WORK: usize = 1 << 20;

/// Minimum vectors of a share. With fewer, threads mostly wait for each other.
const MIN_SHARE_VECTORS: usize = 1 << 9;

/// Minimum rows of a share, of which neighbours need the outer ones.
const MIN_SHARE_ROWS: usize = 2 * ROWS;

/// Runs all generations of a launch. `depth` is how many a pass has for shares of at least so many
/// rows, with so many vectors each; `step` steps rows by that many generations.
fn run_passes(
    launch: &Launch,
    cells: &mut Pair<PlanarRows>,
    depth: fn(rows: usize, across: usize) -> usize,
    step: impl Fn(Source, usize, &mut [Lanes]) + Sync,
) {
    let vectors = cells.now.vectors.len();
    let (groups, across) = (cells.now.shape.groups(), cells.now.shape.planes.across);
    let mut left = launch.generations as usize;
    while left > 0 && launch.goes_on() {
        let useful = (vectors.saturating_mul(left) / MIN_SHARE_WORK)
            .min(vectors / MIN_SHARE_VECTORS)
            .min(groups * ROWS / MIN_SHARE_ROWS);
        let team = launch.worker_pool.team(useful);
        let threads = team.threads();
        let depth = match depth(groups / threads * ROWS, across).min(left) {
            0 | 1 => 1,
            // After an even number, the rows to store are aligned to groups of four.
            several => several & !1,
        };
        let count = (MAX_SHARE_WORK * threads / (vectors * depth)).clamp(1, left / depth);
        team.run(shares(cells, threads), |share| {
            share.run(depth, count, &step);
        });
        if count % 2 == 1 {
            cells.flip();
        }
        left -= depth * count;
    }
}

/// Rows that a thread keeps, in both buffers.
struct Share<'a> {
    shape: &'a Shape,
    neighbours: Neighbours,
    /// Index of the first row.
    first: usize,
    now: &'a mut [Lanes],
    next: &'a mut [Lanes],
}

/// Divides both buffers into shares.
fn shares(cells: &mut Pair<PlanarRows>, count: usize) -> Vec<Share<'_>> {
    let shape = &cells.now.shape;
    let (mut now, mut next) = (&mut cells.now.vectors[..], &mut cells.next.vectors[..]);
    let neighbours = Neighbours::around(count).into_iter().enumerate();
    let share = |(i, neighbours)| {
        let [start, end] = [i, i + 1].map(|i| i * shape.groups() / count);
        let own = ..(end - start) * shape.group();
        Share {
            shape,
            neighbours,
            first: start * ROWS,
            now: now.split_off_mut(own).expect("groups of every share"),
            next: next.split_off_mut(own).expect("groups of every share"),
        }
    };
    neighbours.map(share).collect()
}

thread_local! {
    /// Memory for the rows above and below a share. Neighbours exchange it.
    static HALOS: RefCell<[Vec<Lanes>; 2]> = RefCell::default();
}

impl Share<'_> {
    /// Runs this many passes of `depth` generations.
    fn run(mut self, depth: usize, count: usize, step: &impl Fn(Source, usize, &mut [Lanes])) {
        let mut halos = HALOS.take();
        for halo in &mut halos {
            halo.resize(
                halo_rows(depth) * self.shape.planes.across,
                Lanes::default(),
            );
        }
        for _ in 0..count {
            let own = Rows {
                shape: self.shape,
                first: self.first,
                vectors: self.now,
            };
            own.copy_outer(depth, &mut halos);
            if self.neighbours.exchange(&mut halos).is_none() {
                return;
            }
            let halos = halos.each_ref().map(|halo| &halo[..]);
            step(Source { own, halos }, depth, self.next);
            mem::swap(&mut self.now, &mut self.next);
        }
        HALOS.set(halos);
    }
}

/// A share's connection to the shares above and below it, or `None` if it is the whole torus.
struct Neighbours(Option<[Link; 2]>);

/// One of the two ends of the connection between neighbours.
type Link = (SyncSender<Vec<Lanes>>, Receiver<Vec<Lanes>>);

impl Neighbours {
    /// The neighbours of each share around the torus.
    fn around(shares: usize) -> Vec<Neighbours> {
        if shares == 1 {
            return vec![Neighbours(None)];
        }
        let link = |_| {
            // A neighbour is at most one pass ahead.
            let (to_lower, from_upper) = sync_channel(2);
            let (to_upper, from_lower) = sync_channel(2);
            ((to_lower, from_lower), (to_upper, from_upper))
        };
        let (below, mut above): (Vec<Link>, Vec<Link>) = (0..shares).map(link).unzip();
        above.rotate_right(1);
        let both = above.into_iter().zip(below);
        both.map(|(above, below)| Neighbours(Some([above, below])))
            .collect()
    }

    /// Gives the neighbours above and below the rows that they need, and waits for theirs. `None` if
    /// the thread of a neighbour has panicked.
    fn exchange(&self, rows: &mut [Vec<Lanes>; 2]) -> Option<()> {
        let Some(links) = &self.0 else {
            // What the upper neighbour gets from below is this share's own.
            rows.swap(0, 1);
            return Some(());
        };
        for ((to, _), rows) in links.iter().zip(&mut *rows) {
            to.send(mem::take(rows)).ok()?;
        }
        for ((_, from), rows) in links.iter().zip(rows) {
            *rows = worker_pool::wait(|| match from.try_recv() {
                Err(TryRecvError::Empty) => None,
                received => Some(received.ok()),
            })?;
        }
        Some(())
    }
}
