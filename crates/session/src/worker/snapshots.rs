//! Makes copies of all lattices on the host, and answers those who wait for one.
//!
//! A copy is made by downloading every lattice into one of two page-locked slots: once a second while
//! something steps, before the user changes cells, and when somebody waits for one. From its slot it is read
//! and compressed on a background thread.

use super::SessionWorker;
use crate::command::{Command, Query};
use crate::copies;
use crate::copies::Snapshot;
use crate::engines::SNAPSHOT_SLOTS;
use crate::instances::Sim;
use crate::log::Position;
use crate::saved::SavedSession;
use crate::state::Mode;
use engine::{EngineError, Result};
use life::Lattice;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Time until work that found no free slot is tried again.
pub(super) const RETRY_INTERVAL: Duration = Duration::from_micros(200);

/// Why all lattices are copied into a host slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SnapshotReason {
    /// The last snapshot is old.
    Periodic,
    /// The user is about to change cells, or a move passes its waypoint.
    Landmark,
    /// Cells are needed on the host.
    Wanted,
}

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
    waiters: Vec<Waiter>,
    /// Whether cells changed since the last copy was begun.
    pub is_stale: bool,
    /// When the next periodic copy may be made.
    due: Option<Instant>,
    /// What was read in the background is reported to the session by this.
    sender: Sender<Command>,
}

/// Somebody who waits for a copy that was begun later.
struct Waiter {
    wants: Wanted,
    /// The position of the copy, once it is under way.
    copy: Option<Position>,
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

    /// Whether a copy that somebody waits for is not on the host yet.
    pub(crate) fn is_awaited(&self) -> bool {
        let has_arrived = |waiter: &Waiter| {
            let mut copies = self.slots.iter().flatten();
            copies.any(|it| it.read.is_some() && waiter.copy == Some(it.position))
        };
        !self.waiters.iter().all(has_arrived)
    }

    /// Takes those who wait for this copy.
    fn take_waiters(&mut self, copy: Position) -> Vec<Waiter> {
        let of_it = |it: &mut Waiter| it.copy == Some(copy);
        self.waiters.extract_if(.., of_it).collect()
    }

    /// A slot for the next copy.
    pub(crate) fn free_slot(&self) -> Option<usize> {
        self.slots.iter().position(Option::is_none)
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
        copies::in_background(move || {
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
    fn take_read(&mut self, now: Instant) -> Option<(Position, Result<Snapshot>)> {
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

    /// Forgets who waits for an instance that is no longer there: finds the channel closed.
    pub(crate) fn forget_missing(&mut self, instances: usize) {
        let is_there = |it: &Waiter| !matches!(it.wants, Wanted::Cells(i, _) if i >= instances);
        self.waiters.retain(is_there);
    }
}

impl SessionWorker {
    /// The copy of the present cells, if there is one.
    pub(super) fn present_copy(&self) -> Option<&Snapshot> {
        let copy = self.state.copies.get(self.state.position);
        copy.filter(|_| self.state.cells_known)
    }

    /// Sends an instance's present cells as soon as they are on the host.
    pub(super) fn wait_for_cells(&mut self, instance: usize, query: Query<(Arc<Lattice>, u64)>) {
        if let Some(lattice) = self.present_copy().and_then(|copy| copy.lattice(instance)) {
            query.answer((lattice, self.state.position.generation));
            self.publisher.wake();
        } else if instance < self.setup.instances {
            self.wait_for_copy(Wanted::Cells(instance, query));
        } else {
            self.publisher.wake(); // who asked finds the channel closed
        }
    }

    /// Has somebody wait for the next copy of all lattices.
    pub(super) fn wait_for_copy(&mut self, wants: Wanted) {
        let waiter = Waiter { wants, copy: None };
        self.snapshots.waiters.push(waiter);
    }

    /// Issues a copy of all lattices into a slot.
    pub(super) fn issue_snapshot(&mut self, why: SnapshotReason, now: Instant) -> Result<()> {
        let (Some(slot), Some(instances)) = (self.snapshots.free_slot(), &mut self.sim) else {
            return Ok(());
        };
        if !instances.issue_snapshot(slot as u8)? {
            self.retry_at = Some(now + RETRY_INTERVAL);
            return Ok(());
        }
        let position = self.state.position;
        let snapshots = &mut self.snapshots;
        snapshots.slots[slot] = Some(UnderWay {
            position,
            read: None,
        });
        snapshots.is_stale = false;
        snapshots.due = Some(now + COPY_INTERVAL);
        self.state.copies.coming.push(position);
        let is_moving = self.state.moving().is_some();
        if let Mode::Moving(moving) = &mut self.state.mode
            && why == SnapshotReason::Landmark
        {
            moving.waypoint = None;
        }
        for waiter in &mut self.snapshots.waiters {
            // Cells are wanted as they are once a move has arrived.
            if !is_moving || matches!(waiter.wants, Wanted::Session(_)) {
                waiter.copy.get_or_insert(position);
            }
        }
        Ok(())
    }

    /// Reads the copies that have arrived in the slots, before the slots are given back. A later copy would have
    /// the cells of a later command.
    pub(super) fn save_from_slots(&mut self) {
        let Some(sim) = &self.sim else {
            return;
        };
        let grid = (sim.instances(), sim.size());
        let mut all = Vec::new();
        for (slot, at) in self.snapshots.slots.iter_mut().zip(0..) {
            if let Some(UnderWay { position, .. }) = slot.take_if(|it| it.read.is_some()) {
                let slot = sim.snapshot_slot(at);
                all.push((
                    position,
                    Snapshot::read(position, (&**sim.slots(), slot), grid),
                ));
            }
        }
        for (position, read) in all {
            if let Err(why) = self.take_copy(position, read) {
                tracing::warn!("{}", lang::english(why));
            }
        }
    }

    /// Takes the copies that background tasks have read.
    pub(super) fn take_read(&mut self) -> Result<()> {
        let now = self.now();
        let mut all = Ok(());
        while let Some((position, read)) = self.snapshots.take_read(now) {
            all = self.take_copy(position, read).and(all);
        }
        all
    }

    /// Keeps a copy that was read, and answers those who wait for it.
    fn take_copy(&mut self, position: Position, read: Result<Snapshot>) -> Result<()> {
        let is_void = !self.state.copies.arrive(position);
        let snapshot = read.inspect_err(|_| self.copy_failed(position))?;
        self.publisher.is_changed = true;
        self.safety_copy.is_current = false;
        if !is_void {
            if let Some(each) = self.state.log.parameters(position.records).each() {
                let differing = snapshot.differing(each);
                self.lab.differing = Some((differing, position.generation));
            }
            if self.state.add_copy(snapshot.clone()) {
                let budget = self.setup.time.history_bytes / 2;
                self.state.discard_unreachable(budget);
            }
            self.losses.copied(position);
        }
        for waiter in self.snapshots.take_waiters(position) {
            match waiter.wants {
                Wanted::Session(query) => match self.saved_session().filter(|_| !is_void) {
                    Some(session) => query.answer(session),
                    None => self.wait_for_copy(Wanted::Session(query)),
                },
                cells => self.answer_with(cells, Some(&snapshot)),
            }
            self.publisher.wake();
        }
        Ok(())
    }

    /// Answers those who wait for a copy that cannot be read: the log and older copies make a session, too.
    /// Who waits for cells finds the channel closed.
    fn copy_failed(&mut self, position: Position) {
        for waiter in self.snapshots.take_waiters(position) {
            self.answer_with(waiter.wants, None);
        }
    }

    /// Answers a request that waits for a copy with this one, if any. A session whose file was not restored
    /// is not sent: saving it would overwrite that file.
    fn answer_with(&mut self, wants: Wanted, copy: Option<&Snapshot>) {
        match wants {
            Wanted::Cells(instance, query) => {
                if let Some(copy) = copy
                    && let Some(lattice) = copy.lattice(instance)
                {
                    query.answer((lattice, copy.position.generation));
                }
            }
            Wanted::Session(query) if !self.safety_copy.restore_pending => {
                if let Some(session) = self.saved_session() {
                    query.answer(session);
                }
            }
            Wanted::Session(_) => {}
        }
    }

    /// Forgets the copies under way, whose slots are gone. Those who wait get another copy.
    pub(super) fn forget_slots(&mut self) {
        let snapshots = &mut self.snapshots;
        snapshots.slots.fill_with(|| None);
        snapshots.is_stale = true;
        snapshots.due = None;
        snapshots.waiters.iter_mut().for_each(|it| it.copy = None);
        self.state.copies.coming.clear();
    }

    /// Answers all who wait after the session's end with the newest lattices on the host.
    pub(super) fn answer_waiters_at_the_end(&mut self) {
        let waiters = std::mem::take(&mut self.snapshots.waiters);
        if waiters.is_empty() {
            return;
        }
        let last = self.state.last_copy();
        for waiter in waiters {
            self.answer_with(waiter.wants, last.as_ref());
        }
        self.publisher.wake();
    }
}
