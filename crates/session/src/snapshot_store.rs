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
use crate::copies::Snapshot;
use crate::instances::Sim;
use crate::log::Position;
use crate::saved::SavedSession;
use crate::timeline::Timeline;
use engine::{EngineError, Result};
use life::Lattice;

/// Number of page-locked slots for copies of all lattices.
pub(crate) const SNAPSHOT_SLOTS: u8 = 2;

/// Time between two periodic copies while cells change.
const COPY_INTERVAL: Duration = Duration::from_secs(1);

/// Reading periodic copies takes at most this fraction of a core's time: one part in this many.
const READING_SHARE: u32 = 50;

/// A copy that is under way to a slot, or read out of it.
struct UnderWay {
    position: Position,
    /// What the background reads, and how long it took, once the copy has arrived in the slot.
    read: Option<Receiver<(Result<Snapshot>, Duration)>>,
}

/// The copies under way, and who waits for one.
pub(crate) struct SnapshotStore {
    slots: [Option<UnderWay>; SNAPSHOT_SLOTS as usize],
    pub(crate) waiters: Vec<Waiter>,
    /// Whether cells changed since the last copy was begun.
    pub(crate) is_stale: bool,
    /// When the next periodic copy may be made.
    due: Option<Instant>,
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
    /// Nothing is under way.
    pub(crate) fn new(sender: Sender<Command>) -> SnapshotStore {
        SnapshotStore {
            slots: [const { None }; SNAPSHOT_SLOTS as usize],
            waiters: Vec::new(),
            is_stale: true,
            due: None,
            sender,
        }
    }

    /// Whether a copy is being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.slots.iter().flatten().any(|it| it.read.is_some())
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
            read: None,
        });
        self.is_stale = false;
        self.due = Some(now + COPY_INTERVAL);
    }

    /// Begins to read the copy that has arrived in a slot in the background.
    pub(crate) fn landed(&mut self, slot: usize, instances: &Sim) {
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

    /// Takes a copy that was read, or why it could not be read, if there is one.
    pub(crate) fn take_read(&mut self, now: Instant) -> Option<(Position, Result<Snapshot>)> {
        for slot in &mut self.slots {
            let Some(UnderWay { position, read }) = slot else {
                continue;
            };
            let position = *position;
            let Some(Ok((snapshot, took))) = read.as_ref().map(Receiver::try_recv) else {
                continue;
            };
            *slot = None;
            self.due = self.due.max(Some(now + took * READING_SHARE));
            return Some((position, snapshot));
        }
        None
    }

    /// The slots are about to be given back: copies that have arrived in them are read now.
    pub(crate) fn save_from_slots(&mut self, instances: &Sim, timeline: &mut Timeline) {
        let grid = (instances.instances(), instances.size());
        for at in 0..self.slots.len() {
            let arrived = self.slots[at].take_if(|it| it.read.is_some());
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
                Ok(snapshot) if timeline.copies.arrive(position) => drop(timeline.add(snapshot)),
                Ok(_) => {}
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
    }

    /// Forgets who waits for an instance that is no longer there: finds the channel closed.
    pub(crate) fn forget_missing(&mut self, instances: usize) {
        let is_there = |it: &Waiter| !matches!(it.wants, Wanted::Cells(i, _) if i >= instances);
        self.waiters.retain(is_there);
    }
}
