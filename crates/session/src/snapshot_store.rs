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

use crate::background;
use crate::command::{Command, Query};
use crate::instances::{Instances, read_lattice};
use crate::last_known::HostCopy;
use crate::log::Position;
use crate::next_task::SnapshotReason;
use crate::saved::SavedSession;
use crate::snapshots::{Keep, Snapshots};
use engine::{EngineError, Result, Slot, Slots};
use life::{Lattice, Size};

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
pub(crate) struct SnapshotStore {
    slots: [SlotUse; SNAPSHOT_SLOTS as usize],
    kept: Snapshots,
    readings: VecDeque<Reading>,
    /// The last [`SnapshotReason::AllCells`] copy.
    whole: Option<(Position, Vec<Arc<Lattice>>)>,
    /// The position before the user's last change of cells.
    landmark: Option<Position>,
    /// Every position with a copy, finished or under way.
    positions: Arc<[Position]>,
    /// Who waits for a copy.
    pub(crate) waiters: Vec<Waiter>,
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
pub(crate) enum Waiter {
    /// One instance's cells; with the position of the copy once it is under way.
    Cells(usize, Query<(Arc<Lattice>, u64)>, Option<Position>),
    /// A session to save; with everything but the copy once that is under way.
    Session(Query<SavedSession>, Option<Box<(Position, SavedSession)>>),
}

/// A copy being read out of its slot, which must not be overwritten meanwhile.
struct Reading {
    landed: Landed,
    instances: Range<usize>,
    done: Receiver<(Result<Vec<Arc<Lattice>>>, Duration)>,
}

/// Lattices read out of a slot.
pub(crate) struct Read {
    /// Where they were copied.
    pub(crate) position: Position,
    /// Why.
    pub(crate) why: SnapshotReason,
    /// The first of the instances.
    pub(crate) first: usize,
    /// Their lattices.
    pub(crate) lattices: Vec<Arc<Lattice>>,
    /// Whether the log has changed meanwhile: the copy only serves those who wait for it.
    pub(crate) is_void: bool,
}

/// A copy that has arrived in its slot.
#[derive(Clone, Copy)]
pub(crate) struct Landed {
    slot: usize,
    /// Where it was made.
    pub(crate) position: Position,
    /// Why.
    pub(crate) why: SnapshotReason,
    is_void: bool,
}

impl SnapshotStore {
    /// No copies yet; kept ones take at most `budget` bytes.
    pub(crate) fn new(budget: u64, sender: Sender<Command>) -> SnapshotStore {
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
    pub(crate) fn mark_stale(&mut self) {
        self.is_stale = true;
    }

    /// Whether a copy is being read.
    pub(crate) fn is_reading(&self) -> bool {
        !self.readings.is_empty()
    }

    /// Every position with a copy, finished or under way.
    pub(crate) fn positions(&self) -> Arc<[Position]> {
        self.positions.clone()
    }

    /// Every position with a finished copy. The newest of them outlives the device.
    pub(crate) fn arrived(&self) -> impl Iterator<Item = Position> {
        let whole = self.whole.iter().map(|(position, _)| *position);
        let in_slots = self.slots.iter().filter_map(SlotUse::held);
        self.kept.positions().chain(in_slots).chain(whole)
    }

    fn list_positions(&mut self) {
        let in_slots = self.slots.iter().filter_map(|slot| match slot {
            SlotUse::Free | SlotUse::VoidUnderWay(..) => None,
            SlotUse::UnderWay(position, _) | SlotUse::Holds(position, _) => Some(*position),
        });
        let whole = self.whole.iter().map(|(position, _)| *position);
        let read = self
            .readings
            .iter()
            .filter(|reading| !reading.landed.is_void);
        let read = read.map(|reading| reading.landed.position);
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
    pub(crate) fn whole(&self) -> Option<Position> {
        self.whole.as_ref().map(|(position, _)| *position)
    }

    /// That copy's lattices.
    pub(crate) fn whole_lattices(&self) -> Option<Vec<Arc<Lattice>>> {
        self.whole.as_ref().map(|(_, lattices)| lattices.clone())
    }

    /// Takes that copy's lattices.
    pub(crate) fn take_whole(&mut self) -> Option<Vec<Arc<Lattice>>> {
        let (_, lattices) = self.whole.take()?;
        self.list_positions();
        Some(lattices)
    }

    /// Whether a periodic copy is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let old = |begun| now - begun >= COPY_INTERVAL;
        self.is_stale && self.begun.is_none_or(old) && !self.slots.iter().any(SlotUse::is_under_way)
    }

    /// The kind of copy that somebody waits for and that is not under way. Those who want one instance
    /// wait for the end of a move.
    pub(crate) fn wanted(&self, is_moving: bool) -> Option<SnapshotReason> {
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
    pub(crate) fn free_slot(&self) -> Option<usize> {
        let newest = self.slots.iter().filter_map(SlotUse::held).max();
        let kept = |position: Position| self.kept.positions().any(|at| at == position);
        let is_double = |at: usize, position: Position| {
            let mut held = self.slots[..at].iter().filter_map(SlotUse::held);
            held.any(|of| of == position)
        };
        let rank = |at: &usize| {
            if self
                .readings
                .iter()
                .any(|reading| reading.landed.slot == *at)
            {
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
    pub(crate) fn take_slot(&mut self) -> usize {
        let slot = self.free_slot().expect("nothing is under way");
        self.slots[slot] = SlotUse::Free;
        self.list_positions();
        slot
    }

    /// Forgets the copy in a slot, which is about to be overwritten.
    pub(crate) fn overwrite(&mut self, slot: usize) {
        self.slots[slot] = SlotUse::Free;
        self.list_positions();
    }

    /// Notes that a copy is on its way into a slot.
    pub(crate) fn begin(
        &mut self,
        slot: usize,
        position: Position,
        why: SnapshotReason,
        now: Instant,
    ) {
        self.slots[slot] = SlotUse::UnderWay(position, why);
        self.is_stale = false;
        self.begun = Some(now);
        self.list_positions();
    }

    /// Notes that the copy of this position is the one before the user's last change of cells.
    pub(crate) fn set_landmark(&mut self, position: Position) {
        self.landmark = Some(position);
    }

    /// Notes that the copy under way in a slot has arrived.
    pub(crate) fn land(&mut self, slot: usize) -> Option<Landed> {
        let (position, why, is_void) = match self.slots[slot] {
            SlotUse::UnderWay(position, why) => (position, why, false),
            SlotUse::VoidUnderWay(position, why) => (position, why, true),
            SlotUse::Free | SlotUse::Holds(..) => return None,
        };
        self.slots[slot] = if is_void {
            SlotUse::Free
        } else {
            SlotUse::Holds(position, why)
        };
        self.list_positions();
        Some(Landed {
            slot,
            position,
            why,
            is_void,
        })
    }

    /// Which lattices of a copy to read: all that somebody waits for, or that there is room for; else
    /// `edited`, whose cells are about to change. `is_compared` says that A and B are compared, whose
    /// differing cells are counted.
    pub(crate) fn wanted_of(
        &self,
        landed: Landed,
        (instances, log_bytes): (&Instances, u64),
        edited: Option<usize>,
        is_compared: bool,
        now: Instant,
    ) -> Option<Range<usize>> {
        let Landed { position, why, .. } = landed;
        let recently = |(took, at): (Duration, Instant)| now - at < took * READING_SHARE;
        let is_throttled = why == SnapshotReason::Periodic && self.read.is_some_and(recently);
        let bytes = instances.all_bits();
        let has_room = !landed.is_void && !is_throttled && self.kept.would_keep(bytes, log_bytes);
        let wants_all = |waiter: &Waiter| matches!(waiter, Waiter::Session(_, Some(begun)) if begun.0 == position);
        if why == SnapshotReason::AllCells
            || has_room
            || is_compared
            || self.waiters.iter().any(wants_all)
        {
            return Some(0..instances.instances());
        }
        let one = match why {
            SnapshotReason::Instance(instance) => Some(instance),
            SnapshotReason::Landmark => edited,
            SnapshotReason::Periodic | SnapshotReason::AllCells => None,
        };
        // Who waits for one instance gets it with the others, or alone.
        let waits = |waiter: &Waiter| match waiter {
            Waiter::Cells(instance, _, Some(at)) if *at == position => Some(*instance),
            _ => None,
        };
        let one = one.or_else(|| self.waiters.iter().find_map(waits));
        one.map(|instance| instance..instance + 1)
    }

    /// Begins to read lattices of a copy in the background.
    pub(crate) fn begin_reading(
        &mut self,
        landed: Landed,
        of: Range<usize>,
        instances: &Instances,
    ) {
        let (answer, done) = channel();
        // If the slots are gone meanwhile, nothing is read: those who wait get another copy.
        let (slots, size) = (Arc::downgrade(instances.slots()), instances.size());
        let slot = instances.snapshot_slot(landed.slot as u8);
        let (told, range) = (self.sender.clone(), of.clone());
        background::spawn(move || {
            let Some(slots) = slots.upgrade() else {
                return;
            };
            let began = Instant::now();
            let read = platform::catch_panic(|| read_all(&*slots, range, slot, size));
            let lattices = read.unwrap_or_else(|why| Err(EngineError::failed_op("download", why)));
            drop(slots); // after the answer the slots may be freed
            let _ = answer.send((lattices, began.elapsed())); // the reading may be forgotten
            let _ = told.send(Command::Ready); // and may have ended
        });
        self.readings.push_back(Reading {
            landed,
            instances: of,
            done,
        });
        self.list_positions();
    }

    /// Takes the lattices of the oldest reading, once it is over.
    ///
    /// # Errors
    /// They could not be read.
    pub(crate) fn take_read(&mut self, now: Instant) -> Result<Option<Read>> {
        let Some(Ok((lattices, took))) = self.readings.front().map(|it| it.done.try_recv()) else {
            return Ok(None);
        };
        let Some(Reading {
            landed, instances, ..
        }) = self.readings.pop_front()
        else {
            return Ok(None);
        };
        if landed.why == SnapshotReason::Periodic {
            self.read = Some((took, now));
        }
        self.list_positions();
        Ok(Some(Read {
            position: landed.position,
            why: landed.why,
            first: instances.start,
            lattices: lattices?,
            is_void: landed.is_void,
        }))
    }

    /// Keeps a copy of all lattices, if there is room for it. Returns whether it is kept.
    pub(crate) fn keep(&mut self, read: &Read, bytes: u64, log_bytes: u64) -> bool {
        let has_room = self.kept.would_keep(bytes, log_bytes);
        if has_room {
            self.add(read.position, read.lattices.clone(), log_bytes);
        }
        has_room
    }

    /// Sets the last [`SnapshotReason::AllCells`] copy.
    pub(crate) fn set_whole(&mut self, position: Position, lattices: Vec<Arc<Lattice>>) {
        self.whole = Some((position, lattices));
        self.list_positions();
    }

    /// The lattices of a copy that is in no slot.
    pub(crate) fn kept_lattices(&self, position: Position) -> Option<Vec<Arc<Lattice>>> {
        self.kept.get(position)?.ok()
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
            reading.landed.is_void |= !of_use(reading.landed.position);
        }
        self.whole.take_if(|(position, _)| !of_use(*position));
        self.landmark.take_if(|position| !of_use(*position));
        self.list_positions();
    }

    /// Notes the time of a round, from which the maximum gap between copies follows.
    pub(crate) fn round(&mut self, generations: u32, took: Duration) {
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
    pub(crate) fn lattices(
        &self,
        position: Position,
        instances: &Instances,
    ) -> Option<Vec<Arc<Lattice>>> {
        if let Some((_, lattices)) = self.whole.as_ref().filter(|(at, _)| *at == position) {
            return Some(lattices.clone());
        }
        match self.kept.get(position) {
            Some(Ok(lattices)) => return Some(lattices),
            Some(Err(why)) => tracing::warn!("{}", lang::english(why)),
            None => {}
        }
        let holds = |slot: &SlotUse| slot.held() == Some(position);
        let slot = instances.snapshot_slot(self.slots.iter().position(holds)? as u8);
        let all = 0..instances.instances();
        let read = read_all(&**instances.slots(), all, slot, instances.size());
        read.inspect_err(|why| tracing::warn!("{}", lang::english(why)))
            .ok()
    }

    /// The newest copy on the host at `limit` or before. Unpacks nothing.
    pub(crate) fn newest(
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
    pub(crate) fn add(&mut self, position: Position, lattices: Vec<Arc<Lattice>>, log_bytes: u64) {
        let keep = Keep {
            max_gap: self.max_gap(),
            log_bytes,
            before_edit: self.landmark == Some(position),
        };
        self.kept.add(position, lattices, keep);
        self.list_positions();
    }

    /// The slots are about to be given back: what only they hold and is needed is kept elsewhere.
    pub(crate) fn save_from_slots(&mut self, instances: &Instances, log_bytes: u64) {
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
    pub(crate) fn clear_slots(&mut self) {
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
    pub(crate) fn forget_missing(&mut self, instances: usize) {
        let is_missing =
            |waiter: &Waiter| matches!(waiter, Waiter::Cells(i, ..) if *i >= instances);
        self.waiters.retain(|waiter| !is_missing(waiter));
    }

    /// Replaces the snapshots by those of another log and returns them. Forgets the copies in slots.
    pub(crate) fn exchange(&mut self, mut kept: Snapshots) -> Snapshots {
        self.clear_slots();
        self.whole = None;
        self.landmark = None;
        std::mem::swap(&mut self.kept, &mut kept);
        self.list_positions();
        kept
    }

    /// The snapshots.
    pub(crate) fn kept(&mut self) -> &mut Snapshots {
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
