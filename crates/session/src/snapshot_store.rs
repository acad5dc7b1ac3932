//! Makes copies of all lattices on the host, and knows who waits for one.
//!
//! A copy is made by downloading every lattice into one of two page-locked slots: once a second while
//! something steps, before the user changes cells, and when somebody waits for one. From its slot it is read
//! and compressed on a background thread.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::background;
use crate::command::{Command, Query};
use crate::copies::{Copies, Snapshot};
use crate::instances::Instances;
use crate::log::Position;
use crate::saved::SavedSession;
use engine::{EngineError, Result};
use life::Lattice;

/// Number of page-locked slots for copies of all lattices.
pub(crate) const SNAPSHOT_SLOTS: u8 = 2;

/// Time between two periodic copies while cells change.
const COPY_INTERVAL: Duration = Duration::from_secs(1);

/// Reading periodic copies takes at most this fraction of a core's time: one part in this many.
const READING_SHARE: u32 = 50;

/// How long stepping from one copy to the next may take, in microseconds.
const MAX_GAP_US: f64 = 2e6;

/// A copy that is under way to a slot, or read out of it.
struct UnderWay {
    position: Position,
    /// Whether the log has changed meanwhile: the copy only serves those who wait for cells.
    is_void: bool,
    /// What the background reads, and how long it took, once the copy has arrived in the slot.
    read: Option<Receiver<(Result<Snapshot>, Duration)>>,
}

/// A copy that was read, and whether the log has changed meanwhile.
type Read = (Snapshot, bool);

/// The copies of a session, those under way, and who waits for one.
pub(crate) struct SnapshotStore {
    pub(crate) copies: Copies,
    slots: [Option<UnderWay>; SNAPSHOT_SLOTS as usize],
    /// Every position with a copy, finished or under way.
    positions: Arc<[Position]>,
    pub(crate) waiters: Vec<Waiter>,
    /// Whether cells changed since the last copy was begun.
    is_stale: bool,
    /// When the next periodic copy may be made.
    due: Option<Instant>,
    generation_us: Option<f64>,
    /// What was read in the background is reported to the session by this.
    sender: Sender<Command>,
}

/// Somebody who waits for a copy that was begun later.
pub(crate) struct Waiter {
    pub(crate) wants: Wanted,
    /// The position of the copy, once it is under way.
    pub(crate) copy: Option<Position>,
}

/// What somebody waits for.
pub(crate) enum Wanted {
    /// One instance's cells and their generation.
    Cells(usize, Query<(Arc<Lattice>, u64)>),
    /// A session to save.
    Session(Query<SavedSession>),
}

impl SnapshotStore {
    /// No copies yet; they take at most `budget` bytes.
    pub(crate) fn new(budget: u64, sender: Sender<Command>) -> SnapshotStore {
        SnapshotStore {
            copies: Copies::new(budget),
            slots: [const { None }; SNAPSHOT_SLOTS as usize],
            positions: Arc::default(),
            waiters: Vec::new(),
            is_stale: true,
            due: None,
            generation_us: None,
            sender,
        }
    }

    /// Notes that cells have changed since the last copy.
    pub(crate) fn mark_stale(&mut self) {
        self.is_stale = true;
    }

    /// Whether a copy is being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.slots.iter().flatten().any(|it| it.read.is_some())
    }

    /// Every position with a copy, finished or under way.
    pub(crate) fn positions(&self) -> Arc<[Position]> {
        self.positions.clone()
    }

    fn list_positions(&mut self) {
        let under_way = self.slots.iter().flatten().filter(|it| !it.is_void);
        let under_way = under_way.map(|it| it.position);
        let mut all: Vec<Position> = self.copies.positions().chain(under_way).collect();
        all.sort_unstable();
        all.dedup();
        self.positions = all.into();
    }

    /// Whether a periodic copy is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let is_early = self.due.is_some_and(|due| now < due);
        self.is_stale && !is_early && self.slots.iter().all(Option::is_none)
    }

    /// Whether somebody waits for a copy that is not under way. Those who want cells wait for the end of a
    /// move.
    pub(crate) fn is_wanted(&self, is_moving: bool) -> bool {
        let mut waiters = self.waiters.iter().filter(|it| it.copy.is_none());
        waiters.any(|it| !is_moving || matches!(it.wants, Wanted::Session(_)))
    }

    /// A slot for the next copy.
    pub(crate) fn free_slot(&self) -> Option<usize> {
        self.slots.iter().position(Option::is_none)
    }

    /// Notes that a copy is on its way into a slot.
    pub(crate) fn begin(&mut self, slot: usize, position: Position, now: Instant) {
        self.slots[slot] = Some(UnderWay {
            position,
            is_void: false,
            read: None,
        });
        self.is_stale = false;
        self.due = Some(now + COPY_INTERVAL);
        self.list_positions();
    }

    /// Begins to read the copy that has arrived in a slot in the background.
    pub(crate) fn landed(&mut self, slot: usize, instances: &Instances) {
        let Some(under_way) = &mut self.slots[slot] else {
            return;
        };
        let (answer, read) = channel();
        under_way.read = Some(read);
        let position = under_way.position;
        // If the slots are gone meanwhile, nothing is read: those who wait get another copy.
        let slots = Arc::downgrade(instances.slots());
        let grid = (instances.instances(), instances.size());
        let slot = instances.snapshot_slot(slot as u8);
        let told = self.sender.clone();
        background::spawn(move || {
            let Some(slots) = slots.upgrade() else {
                return;
            };
            let began = Instant::now();
            let read = || Snapshot::read(position, (&*slots, slot), grid);
            let snapshot = platform::catch_panic(read)
                .unwrap_or_else(|why| Err(EngineError::failed_op("download", why)));
            drop(slots); // after the answer the slots may be freed
            let _ = answer.send((snapshot, began.elapsed())); // the reading may be forgotten
            let _ = told.send(Command::Ready); // and may have ended
        });
    }

    /// Takes a copy that was read, if there is one.
    ///
    /// # Errors
    /// It could not be read.
    pub(crate) fn take_read(&mut self, now: Instant) -> Result<Option<Read>> {
        for slot in &mut self.slots {
            let read = slot.as_ref().and_then(|it| it.read.as_ref());
            let Some(Ok((snapshot, took))) = read.map(Receiver::try_recv) else {
                continue;
            };
            let is_void = slot.take().is_some_and(|it| it.is_void);
            self.due = self.due.max(Some(now + took * READING_SHARE));
            self.list_positions();
            return Ok(Some((snapshot?, is_void)));
        }
        Ok(None)
    }

    /// Adds a copy. Returns whether it alone fits into the budget beside the log.
    pub(crate) fn add(&mut self, snapshot: Snapshot, log_bytes: u64) -> bool {
        let fits = self.copies.add(snapshot, log_bytes);
        self.list_positions();
        fits
    }

    /// Drops copies of later positions.
    pub(crate) fn forget_after(&mut self, position: Position) {
        self.retain(|at| at <= position);
    }

    /// Drops copies of positions for which `of_use` is false.
    pub(crate) fn retain(&mut self, of_use: impl Fn(Position) -> bool) {
        if self.positions.iter().all(|&position| of_use(position)) {
            return;
        }
        self.copies.retain(&of_use);
        for under_way in self.slots.iter_mut().flatten() {
            under_way.is_void |= !of_use(under_way.position);
        }
        self.list_positions();
    }

    /// Notes the time of a round, from which the maximum gap between copies follows.
    pub(crate) fn round(&mut self, generations: u32, took: Duration) {
        let us = took.as_secs_f64() * 1e6 / f64::from(generations.max(1));
        let before = self.generation_us.unwrap_or(us);
        let us = before + 0.1 * (us - before);
        self.generation_us = Some(us);
        self.copies.max_gap = (MAX_GAP_US / us.max(1e-6)).clamp(1.0, u32::MAX.into()) as u64;
    }

    /// The slots are about to be given back: copies that have arrived in them are read now.
    pub(crate) fn save_from_slots(&mut self, instances: &Instances, log_bytes: u64) {
        let grid = (instances.instances(), instances.size());
        for at in 0..self.slots.len() {
            let arrived = self.slots[at].take_if(|it| it.read.is_some() && !it.is_void);
            let Some(UnderWay { position, .. }) = arrived else {
                continue;
            };
            let waits = self
                .waiters
                .iter_mut()
                .filter(|it| it.copy == Some(position));
            waits.for_each(|it| it.copy = None);
            let slot = instances.snapshot_slot(at as u8);
            match Snapshot::read(position, (&**instances.slots(), slot), grid) {
                Ok(snapshot) => drop(self.add(snapshot, log_bytes)),
                Err(why) => tracing::warn!("{}", lang::english(why)),
            }
        }
    }

    /// Forgets the copies under way, whose slots are gone. Those who wait get another copy.
    pub(crate) fn clear_slots(&mut self) {
        self.slots.fill_with(|| None);
        self.is_stale = true;
        self.due = None;
        self.waiters.iter_mut().for_each(|it| it.copy = None);
        self.list_positions();
    }

    /// Forgets who waits for an instance that is no longer there: finds the channel closed.
    pub(crate) fn forget_missing(&mut self, instances: usize) {
        let is_there = |it: &Waiter| !matches!(it.wants, Wanted::Cells(i, _) if i >= instances);
        self.waiters.retain(is_there);
    }

    /// Replaces the copies by those of another log and returns them. Forgets those under way.
    pub(crate) fn exchange(&mut self, copies: Copies) -> Copies {
        let before = std::mem::replace(&mut self.copies, copies);
        self.clear_slots();
        before
    }
}
