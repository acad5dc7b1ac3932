//! Makes copies of all lattices, and answers those who wait for one.

use std::sync::Arc;
use std::time::Instant;

use super::{RETRY_INTERVAL, SessionWorker};
use crate::command::Query;
use crate::copies::Snapshot;
use crate::log::Position;
use crate::next_task::SnapshotReason;
use crate::snapshot_store::{Waiter, Wanted};
use crate::state::Mode;
use engine::Result;
use life::Lattice;

impl SessionWorker {
    /// The copy of the present cells, if there is one.
    pub(super) fn present_copy(&self) -> Option<&Snapshot> {
        let copy = self.state.timeline.copies.get(self.state.position());
        copy.filter(|_| self.state.cells_known)
    }

    /// Sends an instance's present cells as soon as they are on the host.
    pub(super) fn wait_for_cells(&mut self, instance: usize, query: Query<(Arc<Lattice>, u64)>) {
        if let Some(lattice) = self.present_copy().and_then(|copy| copy.lattice(instance)) {
            query.answer((lattice, self.state.position().generation));
            self.publisher.wake();
        } else if instance < self.lattices.setup.instances {
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
        let (Some(slot), Some(instances)) = (self.snapshots.free_slot(), &mut self.lattices.sim)
        else {
            return Ok(());
        };
        if !instances.issue_snapshot(slot as u8)? {
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
            return Ok(());
        }
        let position = self.state.position();
        self.snapshots.begin(slot, position, now);
        self.state.timeline.copies.coming.push(position);
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

    /// Takes the copies that background tasks have read.
    pub(super) fn take_read(&mut self) -> Result<()> {
        let now = self.now();
        let mut all = Ok(());
        while let Some((position, read)) = self.snapshots.take_read(now) {
            let snapshot = match read {
                Ok(snapshot) => snapshot,
                Err(why) => {
                    self.state.timeline.copies.arrive(position);
                    self.copy_failed(position);
                    all = Err(why);
                    continue;
                }
            };
            self.publisher.is_changed = true;
            self.safety_copy.is_current = false;
            let is_void = !self.state.timeline.copies.arrive(position);
            if !is_void {
                if let Some(each) = self.state.log().parameters(position.records).each() {
                    let differing = snapshot.differing(each);
                    self.lab.differing = Some((differing, position.generation));
                }
                if self.state.timeline.add(snapshot.clone()) {
                    let budget = self.lattices.setup.time.history_bytes / 2;
                    self.state.discard_unreachable(budget);
                }
                self.lattices.losses.copied(position);
            }
            self.answer_waiters(&snapshot, is_void);
        }
        all
    }

    /// Answers those who wait for a copy that cannot be read: the log and older copies make a session, too.
    /// Who waits for cells finds the channel closed.
    fn copy_failed(&mut self, position: Position) {
        for waiter in std::mem::take(&mut self.snapshots.waiters) {
            match waiter.wants {
                _ if waiter.copy != Some(position) => self.snapshots.waiters.push(waiter),
                Wanted::Session(query) if !self.safety_copy.restore_pending => {
                    if let Some(session) = self.saved_session() {
                        query.answer(session);
                    }
                }
                Wanted::Session(_) | Wanted::Cells(..) => {}
            }
        }
    }

    fn answer_waiters(&mut self, snapshot: &Snapshot, is_void: bool) {
        let (mut told, position) = (false, snapshot.position);
        let waiters = std::mem::take(&mut self.snapshots.waiters);
        for waiter in waiters {
            match waiter.wants {
                Wanted::Cells(instance, query) if waiter.copy == Some(position) => {
                    if let Some(lattice) = snapshot.lattice(instance) {
                        query.answer((lattice, position.generation));
                    }
                    told = true;
                }
                Wanted::Session(query) if waiter.copy == Some(position) => {
                    match self.saved_session().filter(|_| !is_void) {
                        Some(session) => {
                            query.answer(session);
                            told = true;
                        }
                        None => self.wait_for_copy(Wanted::Session(query)),
                    }
                }
                _ => self.snapshots.waiters.push(waiter),
            }
        }
        if told {
            self.publisher.wake();
        }
    }

    /// Forgets the copies under way, whose slots are gone.
    pub(super) fn forget_slots(&mut self) {
        self.snapshots.clear_slots();
        self.state.timeline.copies.coming.clear();
    }

    /// Answers all who wait after the session's end with the newest lattices on the host. No
    /// session to save is sent if the file was not restored: it would be overwritten.
    pub(super) fn answer_waiters_at_the_end(&mut self) {
        let waiters = std::mem::take(&mut self.snapshots.waiters);
        if waiters.is_empty() {
            return;
        }
        let last = self.last_copy();
        for waiter in waiters {
            match waiter.wants {
                Wanted::Cells(instance, query) => {
                    let lattice = last.as_ref().and_then(|copy| copy.lattice(instance));
                    if let (Some(lattice), Some(last)) = (lattice, &last) {
                        query.answer((lattice, last.position.generation));
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
        self.publisher.wake();
    }
}
