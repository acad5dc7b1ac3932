//! Lattices that came to the host, read out of their slots on another thread: of large ones that
//! takes longer than a round.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::aside::aside;
use crate::worlds::read_lattice;
use engine::{Result, Slot, Slots};
use life::{Lattice, Size};

/// Some instances' lattices on their way out of a slot, which nothing may be bound for meanwhile.
pub(super) struct Reading {
    done: Receiver<Read>,
}

/// What was read.
pub(super) struct Read {
    pub(super) lattices: Result<Vec<Arc<Lattice>>>,
    /// How long that took.
    pub(super) took: Duration,
}

impl Reading {
    pub(super) fn begin(
        slots: &Arc<dyn Slots>,
        instances: Range<usize>,
        slot: Slot,
        size: Size,
    ) -> Reading {
        let (answer, done) = channel();
        let slots = slots.clone();
        aside(move || {
            let began = Instant::now();
            let read = |i| read_lattice(&*slots, i, slot, size).map(Arc::new);
            let lattices = instances.map(read).collect();
            drop(slots); // whoever has heard of the end may give them back
            let took = began.elapsed();
            let _ = answer.send(Read { lattices, took }); // who asked may have forgotten it
        });
        Reading { done }
    }

    /// What was read, once.
    pub(super) fn ready(&self) -> Option<Read> {
        self.done.try_recv().ok()
    }
}
