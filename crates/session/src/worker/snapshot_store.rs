//! Copies of all lattices on the host.
//!
//! A copy is made by downloading every lattice into one of three page-locked slots: once a second
//! while something steps, before the user changes cells, and when somebody waits for one. From its
//! slot it is read on a background thread into the [`Snapshots`] if the memory budget has room for
//! it; if only one lattice is wanted, only that is read. Without room it stays in its slot: the
//! newest copy and the one before the last edit are not overwritten before others replace them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::{RETRY_INTERVAL, SessionWorker};
use crate::background;
use crate::command::{Command, Query};
use crate::last_known::HostCopy;
use crate::log::{Content, Position};
use crate::next_task::SnapshotReason;
use crate::saved::SavedSession;
use crate::snapshots::{Keep, Snapshots};
use engine::{Result, Slot, Slots};
use life::{Lattice, Size};
use simulation::instances::{Instances, read_lattice};

/// Number of page-locked slots for copies of all lattices.
pub(crate) const SNAPSHOT_SLOTS: u8 = 3;

/// Time between two periodic copies while cells change.
const COPY_INTERVAL: Duration = Duration::from_secs(1);

/// Reading periodic copies takes at most this fraction of a core's time: one part in this many.
const READING_SHARE: u32 = 50;

/// How long stepping from one copy to the next may take, in microseconds.
const MAX_GAP_US: f64 = 2e6;

/// The use of a slot.
#[derive(Clone, Copy, PartialEq, Debug)]
enum SlotUse {
    Free,
    /// A copy of this position is under way.
    UnderWay(Position, SnapshotReason),
    /// The same, but the log has changed meanwhile: it only serves those who wait for it.
    VoidUnderWay(Position, SnapshotReason),
    /// It holds the copy of this position.
    Holds(Position, SnapshotReason),
}

impl SlotUse {
    /// The position of the copy that it holds.
    fn held(&self) -> Option<Position> {
        match self {
            SlotUse::Holds(position, _) => Some(*position),
            _ => None,
        }
    }

    /// Whether a copy is under way.
    fn is_under_way(&self) -> bool {
        matches!(self, SlotUse::UnderWay(..) | SlotUse::VoidUnderWay(..))
    }
}

/// All copies of a session, and who waits for one.
pub(super) struct SnapshotStore {
    slots: [SlotUse; SNAPSHOT_SLOTS as usize],
    kept: Snapshots,
    readings: VecDeque<Reading>,
    /// The last [`SnapshotReason::AllCells`] copy.
    whole: Option<(Position, Vec<Arc<Lattice>>)>,
    /// The position before the user's last change of cells.
    landmark: Option<Position>,
    /// Every position with a copy, finished or under way.
    positions: Arc<[Position]>,
    waiters: Vec<Waiter>,
    /// Whether cells changed since the last copy was begun.
    is_stale: bool,
    begun: Option<Instant>,
    /// How long reading the last periodic copy took, and when that ended.
    read: Option<(Duration, Instant)>,
    generation_us: Option<f64>,
    /// What was read in the background is reported to the session by this.
    sender: Sender<Command>,
}

/// Somebody who waits for a copy.
enum Waiter {
    /// One instance's cells; with the position of the copy once it is under way.
    Cells(usize, Query<(Arc<Lattice>, u64)>, Option<Position>),
    /// A session to save; with everything but the copy once that is under way.
    Session(Query<SavedSession>, Option<Box<(Position, SavedSession)>>),
}

/// A copy being read out of its slot, which must not be overwritten meanwhile.
struct Reading {
    slot: usize,
    position: Position,
    why: SnapshotReason,
    instances: Range<usize>,
    /// Whether the log has changed meanwhile: the copy only serves those who wait for it.
    is_void: bool,
    done: Receiver<(Result<Vec<Arc<Lattice>>>, Duration)>,
}

/// Lattices read out of a slot.
struct Read {
    position: Position,
    why: SnapshotReason,
    first: usize,
    lattices: Vec<Arc<Lattice>>,
    is_void: bool,
}

impl SnapshotStore {
    /// No copies yet; kept ones take at most `budget` bytes.
    pub(super) fn new(budget: u64, sender: Sender<Command>) -> SnapshotStore {
        SnapshotStore {
            slots: [SlotUse::Free; SNAPSHOT_SLOTS as usize],
            kept: Snapshots::new(budget),
            readings: VecDeque::new(),
            whole: None,
            landmark: None,
            positions: Arc::default(),
            waiters: Vec::new(),
            is_stale: true,
            begun: None,
            read: None,
            generation_us: None,
            sender,
        }
    }

    /// Notes that cells have changed since the last copy.
    pub(super) fn mark_stale(&mut self) {
        self.is_stale = true;
    }

    /// Whether a copy is being read.
    pub(super) fn is_reading(&self) -> bool {
        !self.readings.is_empty()
    }

    /// Every position with a copy, finished or under way.
    pub(super) fn positions(&self) -> Arc<[Position]> {
        self.positions.clone()
    }

    fn list_positions(&mut self) {
        let in_slots = self.slots.iter().filter_map(|slot| match slot {
            SlotUse::Free | SlotUse::VoidUnderWay(..) => None,
            SlotUse::UnderWay(position, _) | SlotUse::Holds(position, _) => Some(*position),
        });
        let whole = self.whole.iter().map(|(position, _)| *position);
        let read = self.readings.iter().filter(|reading| !reading.is_void);
        let read = read.map(|reading| reading.position);
        let all = self
            .kept
            .positions()
            .chain(in_slots)
            .chain(whole)
            .chain(read);
        let mut all: Vec<Position> = all.collect();
        all.sort_unstable();
        all.dedup();
        self.positions = all.into();
    }

    /// The position of the last [`SnapshotReason::AllCells`] copy, once it is on the host.
    pub(super) fn whole(&self) -> Option<Position> {
        self.whole.as_ref().map(|(position, _)| *position)
    }

    /// That copy's lattices.
    pub(super) fn whole_lattices(&self) -> Option<Vec<Arc<Lattice>>> {
        self.whole.as_ref().map(|(_, lattices)| lattices.clone())
    }

    /// Takes that copy's lattices.
    pub(super) fn take_whole(&mut self) -> Option<Vec<Arc<Lattice>>> {
        let (_, lattices) = self.whole.take()?;
        self.list_positions();
        Some(lattices)
    }

    /// Whether a periodic copy is due.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let old = |begun| now - begun >= COPY_INTERVAL;
        self.is_stale && self.begun.is_none_or(old) && !self.slots.iter().any(SlotUse::is_under_way)
    }

    /// The kind of copy that somebody waits for and that is not under way. Those who want one instance
    /// wait for the end of a move.
    pub(super) fn wanted(&self, is_moving: bool) -> Option<SnapshotReason> {
        let mut wanted = None;
        for waiter in &self.waiters {
            let why = match waiter {
                Waiter::Cells(..) if is_moving => continue,
                Waiter::Cells(instance, _, None) => SnapshotReason::Instance(*instance),
                Waiter::Session(_, None) => SnapshotReason::AllCells,
                Waiter::Cells(_, _, Some(_)) | Waiter::Session(_, Some(_)) => continue,
            };
            wanted = match wanted {
                None => Some(why),
                Some(other) if other == why => Some(why),
                Some(_) => Some(SnapshotReason::AllCells),
            };
        }
        wanted
    }

    /// The slot for the next copy: an empty one, else one whose copy is kept elsewhere too, else any
    /// but those of the newest copy and the one before the last edit.
    pub(super) fn free_slot(&self) -> Option<usize> {
        let newest = self.slots.iter().filter_map(SlotUse::held).max();
        let kept = |position: Position| self.kept.positions().any(|at| at == position);
        let is_double = |at: usize, position: Position| {
            let mut held = self.slots[..at].iter().filter_map(SlotUse::held);
            held.any(|of| of == position)
        };
        let rank = |at: &usize| {
            if self.readings.iter().any(|reading| reading.slot == *at) {
                return None;
            }
            match self.slots[*at] {
                SlotUse::UnderWay(..) | SlotUse::VoidUnderWay(..) => None,
                SlotUse::Free => Some(0),
                SlotUse::Holds(position, _) if kept(position) || is_double(*at, position) => {
                    Some(1)
                }
                SlotUse::Holds(position, _) => {
                    let needed = Some(position) == newest || Some(position) == self.landmark;
                    (!needed).then_some(2)
                }
            }
        };
        let mut slots: Vec<(u8, usize)> = (0..self.slots.len())
            .filter_map(|at| Some((rank(&at)?, at)))
            .collect();
        slots.sort_unstable();
        slots.first().map(|&(_, at)| at)
    }

    /// A slot for a test, emptied.
    #[cfg(test)]
    pub(super) fn take_slot(&mut self) -> usize {
        let slot = self.free_slot().expect("nothing is under way");
        self.slots[slot] = SlotUse::Free;
        self.list_positions();
        slot
    }

    /// Drops copies of later positions.
    pub(super) fn forget_after(&mut self, position: Position) {
        self.retain(|at| at <= position);
    }

    /// Drops copies of positions for which `of_use` is false.
    pub(super) fn retain(&mut self, of_use: impl Fn(Position) -> bool) {
        if self.positions.iter().all(|&position| of_use(position)) {
            return;
        }
        self.kept.retain(&of_use);
        for slot in &mut self.slots {
            match slot {
                SlotUse::Holds(position, _) if !of_use(*position) => *slot = SlotUse::Free,
                SlotUse::UnderWay(position, why) if !of_use(*position) => {
                    *slot = SlotUse::VoidUnderWay(*position, *why);
                }
                _ => {}
            }
        }
        for reading in &mut self.readings {
            reading.is_void |= !of_use(reading.position);
        }
        self.whole.take_if(|(position, _)| !of_use(*position));
        self.landmark.take_if(|position| !of_use(*position));
        self.list_positions();
    }

    /// Notes the time of a round, from which the maximum gap between copies follows.
    pub(super) fn round(&mut self, generations: u32, took: Duration) {
        let us = took.as_secs_f64() * 1e6 / f64::from(generations.max(1));
        let before = self.generation_us.unwrap_or(us);
        self.generation_us = Some(before + 0.1 * (us - before));
    }

    /// Maximum number of generations between two neighbouring copies.
    fn max_gap(&self) -> u64 {
        let most = self.generation_us.map(|us| MAX_GAP_US / us.max(1e-6));
        most.map_or(u64::from(u32::MAX), |most| {
            most.clamp(1.0, u32::MAX.into()) as u64
        })
    }

    /// The lattices of a copy, read out of its slot if they are kept nowhere else.
    fn lattices(&self, position: Position, instances: &Instances) -> Option<Vec<Arc<Lattice>>> {
        if let Some((_, lattices)) = self.whole.as_ref().filter(|(at, _)| *at == position) {
            return Some(lattices.clone());
        }
        match self.kept.get(position) {
            Some(Ok(lattices)) => return Some(lattices),
            Some(Err(why)) => tracing::warn!("{why}"),
            None => {}
        }
        let holds = |slot: &SlotUse| slot.held() == Some(position);
        let slot = instances.snapshot_slot(self.slots.iter().position(holds)? as u8);
        let all = 0..instances.instances();
        let read = read_all(&**instances.slots(), all, slot, instances.size());
        read.inspect_err(|why| tracing::warn!("{why}")).ok()
    }

    /// The newest copy on the host at `limit` or before. Unpacks nothing.
    pub(super) fn newest(
        &self,
        limit: Position,
        instances: &Instances,
    ) -> Option<(Position, HostCopy)> {
        let whole = self.whole.as_ref();
        let whole = whole.map(|(at, lattices)| (*at, HostCopy::Lattices(lattices.clone())));
        let kept = self.kept.newest_unpacked(limit);
        let kept = kept.map(|(at, lattices)| (at, HostCopy::Lattices(lattices)));
        let slots = self.slots.iter().zip(0..).filter_map(|(slot, at)| {
            let position = slot.held()?;
            let copy = HostCopy::Slot {
                slots: Arc::downgrade(instances.slots()),
                slot: instances.snapshot_slot(at),
                instances: instances.instances(),
                size: instances.size(),
            };
            Some((position, copy))
        });
        // Of one position, rather the one that nothing overwrites.
        let all = slots.chain(kept).chain(whole);
        all.filter(|(at, _)| *at <= limit).max_by_key(|(at, _)| *at)
    }

    /// Adds a copy to the snapshots.
    pub(super) fn add(&mut self, position: Position, lattices: Vec<Arc<Lattice>>, log_bytes: u64) {
        let keep = Keep {
            max_gap: self.max_gap(),
            log_bytes,
            before_edit: self.landmark == Some(position),
        };
        self.kept.add(position, lattices, keep);
        self.list_positions();
    }

    /// The slots are about to be given back: what only they hold and is needed is kept elsewhere.
    pub(super) fn save_from_slots(&mut self, instances: &Instances, log_bytes: u64) {
        let held = self.slots.iter().filter_map(SlotUse::held);
        let mut held: Vec<Position> = held.collect();
        held.sort_unstable();
        let newest = held.last().copied();
        for position in held {
            let needed = Some(position) == newest || Some(position) == self.landmark;
            if needed
                && !self.kept.positions().any(|at| at == position)
                && let Some(lattices) = self.lattices(position, instances)
            {
                self.add(position, lattices, log_bytes);
            }
        }
    }

    /// Forgets the copies in slots, which are gone, and those under way. Those who wait get another
    /// copy.
    pub(super) fn clear_slots(&mut self) {
        self.slots = [SlotUse::Free; SNAPSHOT_SLOTS as usize];
        self.readings.clear();
        self.is_stale = true;
        self.begun = None;
        for waiter in &mut self.waiters {
            match waiter {
                Waiter::Cells(.., begun) => *begun = None,
                Waiter::Session(_, begun) => *begun = None,
            }
        }
        self.list_positions();
    }

    /// Forgets who waits for an instance that is no longer there: finds the channel closed.
    pub(super) fn forget_missing(&mut self, instances: usize) {
        let is_missing =
            |waiter: &Waiter| matches!(waiter, Waiter::Cells(i, ..) if *i >= instances);
        self.waiters.retain(|waiter| !is_missing(waiter));
    }

    /// Replaces the snapshots by those of another log and returns them. Forgets the copies in slots.
    pub(super) fn exchange(&mut self, mut kept: Snapshots) -> Snapshots {
        self.clear_slots();
        self.whole = None;
        self.landmark = None;
        std::mem::swap(&mut self.kept, &mut kept);
        self.list_positions();
        kept
    }

    /// The snapshots.
    pub(super) fn kept(&mut self) -> &mut Snapshots {
        &mut self.kept
    }
}

fn read_all(
    slots: &dyn Slots,
    instances: Range<usize>,
    slot: Slot,
    size: Size,
) -> Result<Vec<Arc<Lattice>>> {
    instances
        .map(|i| read_lattice(slots, i, slot, size).map(Arc::new))
        .collect()
}

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
        // Its former copy is overwritten.
        self.snapshots.slots[slot] = SlotUse::Free;
        let issued = instances.issue_snapshot(slot as u8)?;
        if !issued {
            self.snapshots.list_positions();
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
            return Ok(());
        }
        let position = self.state.position();
        self.snapshots.slots[slot] = SlotUse::UnderWay(position, why);
        self.snapshots.is_stale = false;
        self.snapshots.begun = Some(now);
        if why == SnapshotReason::Landmark {
            match self.state.moving() {
                Some(_) => self.state.passed_waypoint(),
                None => self.snapshots.landmark = Some(position),
            }
        }
        self.snapshots.list_positions();
        let is_moving = self.state.moving().is_some();
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
        let Some(instances) = &self.lattices.instances else {
            return;
        };
        let (position, why, is_void) = match self.snapshots.slots[slot] {
            SlotUse::UnderWay(position, why) => (position, why, false),
            SlotUse::VoidUnderWay(position, why) => (position, why, true),
            SlotUse::Free | SlotUse::Holds(..) => return,
        };
        self.safety_copy.mark_stale();
        self.snapshots.slots[slot] = if is_void {
            SlotUse::Free
        } else {
            SlotUse::Holds(position, why)
        };
        let all = 0..instances.instances();
        let now = self.now();
        let wants_all = |waiter: &Waiter| matches!(waiter, Waiter::Session(_, Some(begun)) if begun.0 == position);
        let recently = |(took, at): (Duration, Instant)| now - at < took * READING_SHARE;
        let throttled =
            why == SnapshotReason::Periodic && self.snapshots.read.is_some_and(recently);
        let has_room = !is_void
            && !throttled
            && self
                .snapshots
                .kept
                .would_keep(instances.all_bits(), self.state.log().bytes());
        let wanted = if why == SnapshotReason::AllCells
            || has_room
            || self.comparison.is_some() // cells that differ are counted
            || self.snapshots.waiters.iter().any(wants_all)
        {
            Some(all)
        } else {
            match why {
                SnapshotReason::Instance(instance) => Some(instance..instance + 1),
                SnapshotReason::Landmark => self.edited_at(position).map(|i| i..i + 1),
                SnapshotReason::Periodic | SnapshotReason::AllCells => None,
            }
        };
        // Who waits for one instance gets it with the others, or alone.
        let waits = self
            .snapshots
            .waiters
            .iter()
            .find_map(|waiter| match waiter {
                Waiter::Cells(instance, _, Some(at)) if *at == position => Some(*instance),
                _ => None,
            });
        let wanted = wanted.or_else(|| waits.map(|instance| instance..instance + 1));
        let Some(range) = wanted else {
            return self.snapshots.list_positions();
        };
        let (answer, done) = channel();
        // If the slots are gone meanwhile, nothing is read: those who wait get another copy.
        let (slots, size) = (Arc::downgrade(instances.slots()), instances.size());
        let (whole_slot, read) = (instances.snapshot_slot(slot as u8), range.clone());
        let told = self.snapshots.sender.clone();
        background::spawn(move || {
            let Some(slots) = slots.upgrade() else {
                return;
            };
            let began = Instant::now();
            let lattices = read_all(&*slots, read, whole_slot, size);
            drop(slots); // after the answer the slots may be freed
            let _ = answer.send((lattices, began.elapsed())); // the reading may be forgotten
            let _ = told.send(Command::Ready); // and may have ended
        });
        self.snapshots.readings.push_back(Reading {
            slot,
            position,
            why,
            instances: range,
            is_void,
            done,
        });
        self.snapshots.list_positions();
    }

    /// The instance that the record at a position changes.
    fn edited_at(&self, position: Position) -> Option<usize> {
        let record = self.state.log().record(position.records)?;
        match record.content {
            Content::Cells { instance, .. } => {
                Some(self.state.log().base_parameters().instances_of(instance)[0])
            }
            Content::Start(_) | Content::Rule(_) | Content::Grid { .. } => None,
        }
    }

    /// Takes the lattices that background tasks have read.
    pub(super) fn take_read(&mut self) -> Result<()> {
        while let Some(reading) = self.snapshots.readings.front() {
            let Ok((lattices, took)) = reading.done.try_recv() else {
                return Ok(());
            };
            let Some(reading) = self.snapshots.readings.pop_front() else {
                return Ok(());
            };
            if reading.why == SnapshotReason::Periodic {
                self.snapshots.read = Some((took, self.now()));
            }
            self.publisher.mark_changed();
            let lattices = lattices.inspect_err(|_| self.snapshots.list_positions())?;
            self.take_one(Read {
                position: reading.position,
                why: reading.why,
                first: reading.instances.start,
                lattices,
                is_void: reading.is_void,
            });
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
            if all && self.comparison.is_some() {
                self.compare_lattices(&read.lattices, read.position.generation);
            }
            if read.why == SnapshotReason::AllCells {
                self.snapshots.whole = Some((read.position, read.lattices.clone()));
            }
            let bytes = self
                .lattices
                .instances
                .as_ref()
                .map_or(0, Instances::all_bits);
            let log_bytes = self.state.log().bytes();
            if all && self.snapshots.kept.would_keep(bytes, log_bytes) {
                self.snapshots
                    .add(read.position, read.lattices.clone(), log_bytes);
                self.forget_unreachable();
            }
            self.snapshot_stored(read.position);
        }
        self.snapshots.list_positions();
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
        let (snapshots, budget) = (
            self.snapshots.positions(),
            self.lattices.setup().time.history_bytes / 2,
        );
        if let Some(base) = self.state.discard_unreachable(&snapshots, budget) {
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
                None => self.snapshots.kept.get(position).and_then(|it| it.ok()),
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
