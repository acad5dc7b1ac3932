//! The rows at the ends of a lattice's shares, which the threads of a team pass to each other.
//!
//! A share's pass needs rows of both neighbours from the pass before, and nothing of the others. So
//! no thread waits for all of them: each one gives its outer rows to its neighbours, and waits for
//! theirs only.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::planar_rows::{Rows, Shape, halo_rows};
use super::vector::Lanes;
use super::worker_pool;

/// The halos of all shares, around the torus.
pub(super) struct Exchange<'a> {
    /// Generations per pass.
    depth: usize,
    shares: usize,
    /// Two for each side of a share: neighbours may be a pass apart.
    halos: Vec<Halo<'a>>,
    /// Set when a share's thread has panicked and nobody must wait for it.
    abandoned: AtomicBool,
}

/// A halo, on cache lines of its own.
#[repr(align(128))]
struct Halo<'a> {
    groups: Mutex<&'a mut [Lanes]>,
    passes: Passes,
}

/// After how many passes a halo's rows were written, plus one. A thread polls it while another one
/// locks and writes the halo, so it is not on the same cache line.
#[repr(align(128))]
struct Passes(AtomicUsize);

/// The upper side of a share.
pub(super) const ABOVE: usize = 0;
/// Its lower side.
pub(super) const BELOW: usize = 1;

impl<'a> Exchange<'a> {
    /// Vectors of the halos for this many shares.
    pub(super) fn vectors(shape: &Shape, depth: usize, shares: usize) -> usize {
        4 * shares * halo_rows(depth) * shape.across()
    }

    /// Divides memory of [`Exchange::vectors`] vectors into halos.
    pub(super) fn new(depth: usize, shares: usize, memory: &'a mut [Lanes]) -> Exchange<'a> {
        let halos = memory.chunks_exact_mut(memory.len() / (4 * shares));
        let halo = |groups| Halo {
            groups: Mutex::new(groups),
            passes: Passes(AtomicUsize::new(0)),
        };
        Exchange {
            depth,
            shares,
            halos: halos.map(halo).collect(),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Takes part as a share: the result must be dropped only after the last pass.
    pub(super) fn join(&self) -> impl Drop + use<'_> {
        struct Member<'a>(&'a AtomicBool);
        impl Drop for Member<'_> {
            fn drop(&mut self) {
                self.0.fetch_or(thread::panicking(), Ordering::Relaxed);
            }
        }
        Member(&self.abandoned)
    }

    fn halo(&self, share: usize, side: usize, pass: usize) -> &Halo<'a> {
        &self.halos[4 * share + 2 * side + pass % 2]
    }

    /// Gives a share's rows at one side to the neighbour there, for a pass.
    ///
    /// To have stepped these rows, this share has taken the neighbour's for the pass before. So the
    /// neighbour has finished the one before that, whose rows are replaced now.
    pub(super) fn give(&self, share: usize, side: usize, pass: usize, own: Rows) {
        let last = self.shares - 1;
        let depth = self.depth as isize;
        let (neighbour, first, at) = match side {
            ABOVE if share == 0 => (last, own.shape.rows() as isize, 0),
            ABOVE => (share - 1, own.first as isize, 0),
            _ => {
                let (next, end) = if share == last {
                    (0, 0)
                } else {
                    (share + 1, own.end() as isize)
                };
                (next, end - depth, halo_rows(self.depth) - self.depth)
            }
        };
        let halo = self.halo(neighbour, 1 - side, pass);
        let mut groups = halo.groups.lock().unwrap_or_else(PoisonError::into_inner);
        own.copy(first..first + depth, &mut groups, at);
        drop(groups);
        halo.passes.0.store(pass + 1, Ordering::Release);
    }

    /// Waits for the halo at a side of a share for a pass.
    pub(super) fn take(
        &self,
        share: usize,
        side: usize,
        pass: usize,
    ) -> MutexGuard<'_, &'a mut [Lanes]> {
        let halo = self.halo(share, side, pass);
        worker_pool::wait(|| {
            halo.passes.0.load(Ordering::Acquire) > pass || self.abandoned.load(Ordering::Relaxed)
        });
        halo.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
