//! Hands a session over to be saved, and continues a saved session.

use super::{RETRY_INTERVAL, SessionWorker, SnapshotReason};
use crate::command::{Command, Notice, Query};
use crate::copies::{Copies, Snapshot};
use crate::instances::Sim;
use crate::lattices::{Losses, SNAPSHOT_SLOTS};
use crate::log::{Position, Undo};
use crate::saved::{Drafts, OwnFile, SavedSession};
use crate::setup::Pacing;
use crate::state::{Mode, Move, MoveReason, State};
use crate::{Setup, StoredKernel, copies};
use engine::{EngineError, Result};
use lang::message;
use life::Lattice;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

impl SessionWorker {
    /// The position that is saved: during a move its end, since the way there follows from the log. While a
    /// comparison of A and B is redone and the lattices before it are not copied yet, it is the position
    /// before the comparison, since leaving that needs the copy.
    pub(super) fn saved_position(&self) -> Position {
        let moving = self.state.moving();
        let target = moving.map_or(self.state.position, |moving| moving.target);
        let begun = self.state.log.comparison();
        let is_copied = |at: &Position| self.state.copies.get(*at).is_some();
        begun.map_or(target, |at| {
            if is_copied(&at) {
                target
            } else {
                target.min(at)
            }
        })
    }

    /// The session as it is saved; `None` if nothing leads to its position.
    pub(super) fn saved_session(&self) -> Option<SavedSession> {
        let takes_off = |moving: &Move| {
            let undo = Undo::Before(moving.target);
            matches!(moving.purpose, MoveReason::Undo { undo: it, .. } if it == undo)
        };
        let is_undone = self.state.moving().is_some_and(takes_off);
        let timeline = self.state.saved(self.saved_position(), is_undone)?;
        let parameters = timeline.log.parameters(timeline.position.records);
        let b_switches = if self.lattices.is_comparing() {
            Some(self.lattices.changed_setting().switches)
        } else {
            self.lab.b_switches
        };
        let (setting, kernel_choice) = self.lattices.chosen_setting();
        Some(SavedSession {
            setup: Setup {
                setting,
                kernel_choice,
                pace: self.state.pacing.pace,
                generations_per_round: self.state.pacing.chosen,
                rounds: None,
                size: parameters.size,
                instances: parameters.instances,
                rule: parameters.rule,
                start: parameters.start,
                ..self.lattices.setup.clone()
            },
            b_switches: b_switches.filter(|_| timeline.log.comparison().is_some()),
            notices: Vec::new(),
            timeline,
            running: self.is_running(),
            selected: self.watch.selected.min(parameters.instances - 1),
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

    /// The newest copy that leads to the session's position, or that of the start.
    pub(super) fn last_copy(&self) -> Option<Snapshot> {
        let (log, limit) = (&self.state.log, self.saved_position());
        let copies = self.state.copies.iter().rev();
        let newest = copies.into_iter().find(|copy| copy.position <= limit);
        if newest.is_some() || !log.base_is_start() {
            return newest.cloned();
        }
        let parameters = log.base_parameters();
        let all = (0..parameters.instances).map(|i| parameters.start_lattice(i));
        let all = all.collect::<Result<Vec<_>, _>>().ok()?;
        Snapshot::new(log.base(), &all).ok()
    }

    /// Continues a saved session, whose setup this worker has. Nothing may be in flight. If that
    /// fails, the session ends and the file stays as it is.
    pub(super) fn open(&mut self, saved: SavedSession) -> Result<()> {
        match self.load_saved(saved) {
            // After a loss, the recovery restores the lattices.
            Err(error) if !error.loses_lattices() => {
                self.fail(message!("The saved session cannot be continued: {error}"));
                Ok(())
            }
            taken => taken,
        }
    }

    /// Replaces this session by a saved one, on the same devices, and leaves its file; `name` is
    /// that of the saved one's file. Nothing may be in flight. A kernel of the user's own runs if this
    /// session has it already; otherwise it stays text.
    ///
    /// # Errors
    /// Its instances cannot be made; everything is as it was then.
    pub(super) fn replace(
        &mut self,
        saved: SavedSession,
        file: &OwnFile,
        name: String,
    ) -> Result<()> {
        self.publish_last_known(Duration::ZERO); // before a device is opened
        let Setup {
            device,
            split,
            rounds,
            own_kernel,
            ..
        } = self.lattices.setup;
        let mut setup = Setup {
            device,
            split,
            rounds,
            ..saved.setup.clone()
        };
        let is_same = |stored: &StoredKernel| {
            let own = own_kernel.and_then(|kernel| kernel.own.as_ref());
            own.is_some_and(|own| *own.source == *stored.source)
        };
        match setup.stored_kernel.take() {
            Some(other) if !is_same(&other) => setup.stored_kernel = Some(other),
            same => {
                setup.own_kernel = own_kernel;
                if same.is_some_and(|it| it.in_use) {
                    setup.setting.kernel = own_kernel.unwrap_or(setup.setting.kernel);
                }
            }
        }
        let left = setup.stored_kernel.as_ref().filter(|it| it.in_use);
        let left = left.map(|it| it.rung);
        let instances = self.lattices.make(&setup)?;
        // What is published meanwhile is neither session.
        self.safety_copy.restore_pending = true;
        self.lattices.trial = None; // of the lattices before
        let (pace, generations) = (setup.pace, setup.generations_per_round);
        self.lattices.chosen = None;
        self.take_instances(instances, setup);
        file.leave();
        self.fit_block_timestamps();
        self.state.pacing = Pacing::new(pace, generations, self.now());
        self.notify(Notice::Done(message!("Opened the session {}", name)));
        self.open(saved)?;
        if let Some(rung) = left {
            self.notify(Notice::Done(message!(
                "The kernel of your own in this file is not compiled here; {rung} takes its place",
                rung = rung.file
            )));
        }
        Ok(())
    }

    fn load_saved(&mut self, saved: SavedSession) -> Result<()> {
        self.watch.selected = saved.selected.min(self.lattices.setup.instances - 1);
        for notice in saved.notices {
            self.notify(Notice::Done(notice));
        }
        self.fit_own_round();
        let limited = self.lattices.setup.rounds.is_some(); // a requested number of rounds is run
        let runs = (saved.running || limited) && self.lattices.setup.rounds != Some(0);
        let mode = if runs { Mode::Running } else { Mode::Paused };
        self.safety_copy.clear();
        self.lab.statistics.restart();
        self.forget_slots();
        self.lattices.losses = Losses::default(); // of other positions
        let (log, target) = (saved.timeline.log, saved.timeline.position);
        let budget = self.lattices.setup.time.history_bytes;
        (self.state.log, self.state.position) = (log, target);
        self.state.copies = Copies::new(budget);
        for copy in saved.timeline.copies {
            self.state.add_copy(copy);
        }
        self.state.cells_known = false;
        self.lab.b_switches = saved.b_switches;
        self.state.pacing.left = None;
        self.state.begin_move(target, MoveReason::Opening, mode);
        self.log_changed();
        self.publisher.is_changed = true;
        Ok(())
    }

    /// Takes breadth-first if the order is the user's own and the saved round is no longer right.
    fn fit_own_round(&mut self) {
        let setup = &mut self.lattices.setup;
        if setup.fit_own_round() {
            let instances = setup.instances;
            self.own_round_left(instances);
        }
    }

    /// Says that breadth-first took the place of the user's own round.
    pub(super) fn own_round_left(&mut self, instances: usize) {
        self.notify(Notice::Done(message!(
            "The round of your own is not right for {instances} instances; back to breadth-first"
        )));
    }
}

// Makes copies of all lattices on the host, and answers those who wait for one.
//
// A copy is made by downloading every lattice into one of two page-locked slots: once a second while
// something steps, before the user changes cells, and when somebody waits for one. From its slot it is read
// and compressed on a background thread.

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
    pub(crate) fn save_from_slots(&mut self, instances: &Sim, state: &mut State) {
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
                Ok(snapshot) if state.copies.arrive(position) => drop(state.add_copy(snapshot)),
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
        let position = self.state.position;
        self.snapshots.begin(slot, position, now);
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

    /// Takes the copies that background tasks have read.
    pub(super) fn take_read(&mut self) -> Result<()> {
        let now = self.now();
        let mut all = Ok(());
        while let Some((position, read)) = self.snapshots.take_read(now) {
            let snapshot = match read {
                Ok(snapshot) => snapshot,
                Err(why) => {
                    self.state.copies.arrive(position);
                    self.copy_failed(position);
                    all = Err(why);
                    continue;
                }
            };
            self.publisher.is_changed = true;
            self.safety_copy.is_current = false;
            let is_void = !self.state.copies.arrive(position);
            if !is_void {
                if let Some(each) = self.state.log.parameters(position.records).each() {
                    let differing = snapshot.differing(each);
                    self.lab.differing = Some((differing, position.generation));
                }
                if self.state.add_copy(snapshot.clone()) {
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
        self.state.copies.coming.clear();
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
