//! Makes copies of all lattices, and answers those who wait for one.

use std::sync::Arc;
use std::time::Instant;

use super::{RETRY_INTERVAL, SessionWorker};
use crate::command::Query;
use crate::instances::Instances;
use crate::log::{Content, Position};
use crate::next_task::SnapshotReason;
use crate::saved::SavedSession;
use crate::snapshot_store::{Read, Waiter};
use engine::Result;
use life::Lattice;

impl SessionWorker {
    /// Sends an instance's present cells as soon as they are on the host.
    pub(super) fn wait_for_cells(&mut self, instance: usize, query: Query<(Arc<Lattice>, u64)>) {
        if let Some(lattice) = self.known_cells(instance) {
            query.answer((lattice, self.state.position().generation));
            self.publisher.wake();
            return;
        }
        if instance < self.lattices.setup().instances {
            let waiter = Waiter::Cells(instance, query, None);
            self.snapshots.waiters.push(waiter);
        } else {
            self.publisher.wake(); // who asked finds the channel closed
        }
    }

    /// Sends the session to save as soon as a copy of all lattices is on the host.
    pub(super) fn wait_for_session(&mut self, query: Query<SavedSession>) {
        self.snapshots.waiters.push(Waiter::Session(query, None));
    }

    /// Issues a copy of all lattices into a slot.
    pub(super) fn issue_snapshot(&mut self, why: SnapshotReason, now: Instant) -> Result<()> {
        let (Some(slot), Some(instances)) =
            (self.snapshots.free_slot(), &mut self.lattices.instances)
        else {
            return Ok(());
        };
        self.snapshots.overwrite(slot);
        if !instances.issue_snapshot(slot as u8)? {
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
            return Ok(());
        }
        let position = self.state.position();
        self.snapshots.begin(slot, position, why, now);
        let is_moving = self.state.moving().is_some();
        match why {
            SnapshotReason::Landmark if is_moving => self.state.passed_waypoint(),
            SnapshotReason::Landmark => self.snapshots.set_landmark(position),
            SnapshotReason::Periodic | SnapshotReason::AllCells | SnapshotReason::Instance(_) => {}
        }
        let mut waiters = std::mem::take(&mut self.snapshots.waiters);
        for waiter in &mut waiters {
            match waiter {
                Waiter::Cells(..) if is_moving => {} // as they are once it has arrived
                Waiter::Cells(.., begun) => {
                    begun.get_or_insert(position);
                }
                Waiter::Session(_, begun @ None) => {
                    *begun = Some(Box::new((position, self.session_without_copy())));
                }
                Waiter::Session(_, Some(_)) => {}
            }
        }
        self.snapshots.waiters = waiters;
        Ok(())
    }

    /// Begins to read the needed lattices of a copy that has arrived in its slot.
    pub(super) fn snapshot_landed(&mut self, slot: usize) {
        let (Some(instances), Some(landed)) = (&self.lattices.instances, self.snapshots.land(slot))
        else {
            return;
        };
        self.safety_copy.mark_stale();
        let room = (instances, self.state.log().bytes());
        let (edited, is_compared) = (self.edited_at(landed.position), self.comparison.is_some());
        let now = self.now();
        if let Some(of) = self
            .snapshots
            .wanted_of(landed, room, edited, is_compared, now)
        {
            self.snapshots.begin_reading(landed, of, instances);
        }
    }

    /// The instance that the record at a position changes.
    fn edited_at(&self, position: Position) -> Option<usize> {
        let log = self.state.log();
        match log.record(position.records)?.content {
            Content::Cells { instance, .. } => {
                Some(log.base_parameters().instances_of(instance)[0])
            }
            Content::Start(_) | Content::Rule(_) | Content::Grid { .. } => None,
        }
    }

    /// Takes the lattices that background tasks have read.
    pub(super) fn take_read(&mut self) -> Result<()> {
        let now = self.now();
        while let Some(read) = self.snapshots.take_read(now)? {
            self.publisher.mark_changed();
            self.take_one(read);
        }
        Ok(())
    }

    fn take_one(&mut self, read: Read) {
        self.safety_copy.mark_stale();
        let all = read.lattices.len() == self.lattices.setup().instances;
        if !read.is_void {
            let edited = match read.why {
                SnapshotReason::Instance(instance) => Some(instance),
                _ => self.edited_at(read.position),
            };
            if let Some(instance) = edited
                && let Some(lattice) = read.lattices.get(instance.wrapping_sub(read.first))
            {
                self.update_known_cells(instance, lattice.clone(), read.position);
            }
            if let Some(comparison) = self.comparison.as_mut().filter(|_| all) {
                comparison.compare(&read.lattices, read.position.generation);
                self.publisher.mark_changed();
            }
            if read.why == SnapshotReason::AllCells {
                self.snapshots
                    .set_whole(read.position, read.lattices.clone());
            }
            let instances = self.lattices.instances.as_ref();
            let bytes = instances.map_or(0, Instances::all_bits);
            if all && self.snapshots.keep(&read, bytes, self.state.log().bytes()) {
                self.forget_unreachable();
            }
            self.snapshot_stored(read.position);
        }
        self.answer_waiters(&read, all);
    }

    fn answer_waiters(&mut self, read: &Read, all: bool) {
        let mut told = false;
        let waiters = std::mem::take(&mut self.snapshots.waiters);
        for waiter in waiters {
            match waiter {
                Waiter::Cells(instance, query, Some(at)) if at == read.position => {
                    let lattice = read.lattices.get(instance.wrapping_sub(read.first));
                    match lattice {
                        Some(lattice) => {
                            let copy = (lattice.clone(), read.position.generation);
                            query.answer(copy);
                            told = true;
                        }
                        // Only another instance was read: it waits for another copy.
                        None => self
                            .snapshots
                            .waiters
                            .push(Waiter::Cells(instance, query, None)),
                    }
                }
                Waiter::Session(query, Some(begun)) if all && begun.0 == read.position => {
                    let (position, mut session) = *begun;
                    session.set_newest(position, read.lattices.clone());
                    query.answer(session);
                    told = true;
                }
                waiter => self.snapshots.waiters.push(waiter),
            }
        }
        if told {
            self.publisher.wake();
        }
    }

    /// Discards records before the oldest reachable position, and those beyond the budget.
    pub(super) fn forget_unreachable(&mut self) {
        let budget = self.lattices.setup().time.history_bytes / 2;
        let (all, arrived) = (self.snapshots.positions(), self.snapshots.arrived());
        if let Some(base) = self.state.discard_unreachable(&all, arrived, budget) {
            self.snapshots.retain(|position| position >= base);
        }
    }

    /// The lattices of the copy of a position.
    pub(super) fn lattices_of_copy(&self, position: Position) -> Option<Vec<Arc<Lattice>>> {
        self.snapshots
            .lattices(position, self.lattices.instances.as_ref()?)
    }

    /// The newest lattices on the host that lead to the session's position, and theirs.
    pub(super) fn last_lattices(&self) -> Option<(Position, Vec<Arc<Lattice>>)> {
        let positions = self.snapshots.positions();
        let limit = self.saved_position();
        let mut positions = positions.iter().rev().filter(|at| **at <= limit);
        positions.find_map(|&position| {
            let lattices = match &self.lattices.instances {
                Some(instances) => self.snapshots.lattices(position, instances),
                None => self.snapshots.kept_lattices(position),
            };
            Some((position, lattices?))
        })
    }

    /// Answers all who wait after the session's end with the newest lattices on the host. No
    /// session to save is sent if the file was not restored: it would be overwritten.
    pub(super) fn answer_waiters_at_the_end(&mut self) {
        let waiters = std::mem::take(&mut self.snapshots.waiters);
        if waiters.is_empty() {
            return;
        }
        let last = self.last_or_start();
        for waiter in waiters {
            let Some((position, lattices)) = &last else {
                continue;
            };
            match waiter {
                Waiter::Cells(instance, query, _) => {
                    if let Some(lattice) = lattices.get(instance) {
                        query.answer((lattice.clone(), position.generation));
                    }
                }
                Waiter::Session(query, _) if !self.safety_copy.restore_pending => {
                    let mut session = self.session_without_copy();
                    session.set_newest(*position, lattices.clone());
                    query.answer(session);
                }
                Waiter::Session(..) => {}
            }
        }
        self.publisher.wake();
    }

    /// The newest lattices on the host, or those of the start.
    fn last_or_start(&self) -> Option<(Position, Vec<Arc<Lattice>>)> {
        if let Some(last) = self.last_lattices() {
            return Some(last);
        }
        let log = self.state.log();
        if !log.base_is_start() {
            return None;
        }
        let parameters = log.base_parameters();
        let all = (0..parameters.instances).map(|i| parameters.start_lattice(i));
        Some((log.base(), all.collect::<Result<_, _>>().ok()?))
    }
}
