//! Makes copies of all lattices on the host, and answers those who wait for one or save the session.
//!
//! A copy is made by downloading every lattice into one of two page-locked slots: once a second while
//! something steps, before the user changes cells, and when somebody waits for one. From its slot it is read
//! and compressed on a background thread.

use super::lab::SessionWorker;
use crate::Setup;
use crate::command::{Command, Waiter, Wanted};
use crate::copies::{CopySlots, Snapshot};
use crate::log::Position;
use crate::saved::{Drafts, SavedSession};
use crate::state::Mode;
use engine::Result;
use life::Lattice;
use std::sync::Arc;
use std::sync::mpsc::Sender;
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

impl SessionWorker {
    /// The copy of the present cells, if there is one.
    pub(super) fn present_copy(&self) -> Option<&Snapshot> {
        let copy = self.state.copies.get(self.state.position);
        copy.filter(|_| self.state.cells_known)
    }

    /// Sends an instance's present cells as soon as they are on the host.
    pub(super) fn wait_for_cells(&mut self, instance: usize, query: Sender<(Arc<Lattice>, u64)>) {
        if let Some(lattice) = self.present_copy().and_then(|copy| copy.lattice(instance)) {
            let _ = query.send((lattice, self.state.position.generation));
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
        self.waiters.push(waiter);
    }

    /// Whether somebody waits for a copy that is not under way. Those who want cells wait for the end of a
    /// move.
    pub(super) fn is_copy_wanted(&self) -> bool {
        let is_moving = self.state.moving().is_some();
        let mut waiters = self.waiters.iter().filter(|it| it.copy.is_none());
        waiters.any(|it| !is_moving || matches!(it.wants, Wanted::Session(_)))
    }

    /// Whether a copy that somebody waits for is not on the host yet.
    pub(super) fn is_copy_awaited(&self) -> bool {
        let has_landed = |it: &Waiter| it.copy.is_some_and(|copy| self.snapshots.has_landed(copy));
        !self.waiters.iter().all(has_landed)
    }

    /// Takes those who wait for this copy.
    fn take_waiters(&mut self, copy: Position) -> Vec<Waiter> {
        let of_it = |it: &mut Waiter| it.copy == Some(copy);
        self.waiters.extract_if(.., of_it).collect()
    }

    /// Reads the copy that has arrived in a slot, in the background.
    pub(super) fn read_landed(&mut self, slot: u8) {
        let told = self.sender.clone();
        if let Some(sim) = &self.sim {
            self.snapshots.landed(slot.into(), sim, move || {
                let _ = told.send(Command::Ready); // the session may have ended
            });
        }
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
        self.snapshots.begin(slot, position, now);
        self.state.copies.coming.push(position);
        let is_moving = self.state.moving().is_some();
        if let Mode::Moving(moving) = &mut self.state.mode
            && why == SnapshotReason::Landmark
        {
            moving.waypoint = None;
        }
        for waiter in &mut self.waiters {
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
        while let Some(sim) = &self.sim
            && let Some((position, read)) = self.snapshots.read_now(sim)
        {
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
        // Without a copy the log and older ones make a session, too; who waits for cells finds the channel
        // closed.
        let snapshot = read.inspect_err(|_| {
            for waiter in self.take_waiters(position) {
                self.answer_with(waiter.wants, None);
            }
        })?;
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
        for waiter in self.take_waiters(position) {
            match waiter.wants {
                Wanted::Session(query) => match self.saved_session().filter(|_| !is_void) {
                    Some(session) => drop(query.send(session)),
                    None => self.wait_for_copy(Wanted::Session(query)),
                },
                cells => self.answer_with(cells, Some(&snapshot)),
            }
            self.publisher.wake();
        }
        Ok(())
    }

    /// Answers a request that waits for a copy with this one, if any. A session whose file was not restored
    /// is not sent: saving it would overwrite that file.
    fn answer_with(&mut self, wants: Wanted, copy: Option<&Snapshot>) {
        match wants {
            Wanted::Cells(instance, query) => {
                if let Some(copy) = copy
                    && let Some(lattice) = copy.lattice(instance)
                {
                    let _ = query.send((lattice, copy.position.generation));
                }
            }
            Wanted::Session(query) if !self.safety_copy.restore_pending => {
                if let Some(session) = self.saved_session() {
                    let _ = query.send(session);
                }
            }
            Wanted::Session(_) => {}
        }
    }

    /// Forgets the copies under way, whose slots are gone. Those who wait get another copy.
    pub(super) fn forget_slots(&mut self) {
        self.snapshots = CopySlots::default();
        self.waiters.iter_mut().for_each(|it| it.copy = None);
        self.state.copies.coming.clear();
    }

    /// Answers all who wait after the session's end with the newest lattices on the host.
    pub(super) fn answer_waiters_at_the_end(&mut self) {
        let waiters = std::mem::take(&mut self.waiters);
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

// The session as it is saved, also by other threads while this one hangs.

impl SessionWorker {
    /// The session as it is saved; `None` if nothing leads to its position.
    pub(super) fn saved_session(&self) -> Option<SavedSession> {
        let timeline = self.state.saved()?;
        let parameters = timeline.log.parameters(timeline.position.records);
        let b_switches = if self.is_comparing() {
            Some(self.changed_setting().switches)
        } else {
            self.lab.b_switches
        };
        let (setting, kernel_choice) = self.chosen_setting();
        let mut setup = Setup {
            setting,
            kernel_choice,
            pace: self.state.pacing.pace,
            generations_per_round: self.state.pacing.chosen,
            rounds: None,
            ..self.setup.clone()
        };
        parameters.set(&mut setup);
        Some(SavedSession {
            b_switches: b_switches.filter(|_| timeline.log.comparison().is_some()),
            notices: Vec::new(),
            timeline,
            running: self.is_running(),
            selected: self.watch.selected.min(setup.instances - 1),
            setup,
            drafts: Drafts::default(),
        })
    }

    /// Publishes the session for those who save it while this thread hangs, if that is due.
    pub(super) fn publish_last_known(&mut self, interval: Duration) {
        let began = self.now();
        if self.safety_copy.is_due(interval, began) {
            let session = self.saved_session();
            let now = self.now();
            self.safety_copy.publish(session, began, now);
        }
    }
}
