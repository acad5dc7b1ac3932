//! CPU versions of the ladder's kernels. Each has the same name, layout and idea as its CUDA
//! kernel, so that results agree bit by bit.

pub(super) mod bits;
pub(super) mod cells;
mod column_sweep;
pub(super) mod lessons;
pub(super) mod multistep;
mod passes;
pub(super) mod planar;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use super::worker_pool::WorkerPool;
use crate::Result;
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
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Steps all generations, one after the other; ends early when the engine stops.
    pub(super) fn each_generation<B>(&self, cells: &mut Pair<B>, step: impl Fn(&B, &mut B)) {
        for _ in (0..self.generations).take_while(|_| self.goes_on()) {
            step(&cells.now, &mut cells.next);
            cells.flip();
        }
    }
}
