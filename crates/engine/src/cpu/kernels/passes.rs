//! Launches, and those of the planar kernels: passes over a lattice, by one thread or by a team on idle cores.
//!
//! The threads of a team stay for many passes. Each one keeps its share of the rows, so that they
//! stay in its core's cache. A share's pass needs rows of both neighbours from the pass before, and nothing
//! of the others. So no thread waits for all of them: each one gives its outer rows to its [`Neighbours`],
//! and waits for theirs only. Now and then the team is formed anew, since the engine may stop or other
//! work may want the cores.

use crate::Result;
use crate::cpu::planar_rows::{PlanarRows, ROWS, Rows, Shape, Source, halo_rows};
use crate::cpu::vector::Lanes;
use crate::cpu::worker_pool::{self, WorkerPool};
use life::{Rule, Size};
use std::cell::RefCell;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// The two buffers of a layout: the current cells, and the next generation.
pub(in crate::cpu) struct Pair<B> {
    /// The current cells.
    pub now: B,
    /// The buffer for the next generation.
    pub next: B,
}

impl<B> Pair<B> {
    /// Makes both.
    pub(in crate::cpu) fn of(make: impl Fn() -> Result<B>) -> Result<Pair<B>> {
        let (now, next) = (make()?, make()?);
        Ok(Pair { now, next })
    }

    /// Swaps the buffers: the next generation becomes the current one.
    pub(in crate::cpu) fn flip(&mut self) {
        mem::swap(&mut self.now, &mut self.next);
    }
}

/// The parameters of a launch.
pub(in crate::cpu) struct Launch<'a> {
    pub size: Size,
    pub rule: Rule,
    pub generations: u32,
    /// Set when the engine stops and the result no longer matters.
    pub stop: &'a AtomicBool,
    /// Helper threads.
    pub worker_pool: &'a WorkerPool,
}

impl Launch<'_> {
    /// Whether the engine still needs the result.
    pub(super) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

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
pub(super) fn run_passes(
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
