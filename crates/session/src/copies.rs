//! Copies of all lattices on the host, within a budget of memory.
//!
//! A copy is a cache: positions between two of them are reached by stepping. So when the budget is used up,
//! copies are thinned: the older they are, the further apart they may lie. The newest, the one before the
//! last edit, the one before A and B were compared and the one that was added last stay whatever the budget,
//! and the oldest as long as there is room.
//!
//! Each lattice is compressed by itself with LZ4.
//!
//! The module is public for `tests/memory.rs`, which counts the memory of a whole process.

use crate::engines::SNAPSHOT_SLOTS;
use crate::instances::Sim;
use crate::log::{Log, Position};
use crate::text;
use engine::{EngineError, LatticeId, Slot, Slots};
use life::{Lattice, MemoryError, Size, memory};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// All lattices at a position. A clone shares their memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// Where they are of.
    pub position: Position,
    pub(crate) lattices: Vec<Packed>,
}

/// A compressed lattice, in [pieces](piece_of), which clones share.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Packed {
    size: Size,
    pieces: Arc<[Box<[u8]>]>,
}

/// Words that are compressed at a time: those of whole rows.
fn piece_of(size: Size) -> usize {
    const WORDS: usize = 1 << 18;
    let row = size.words_per_row();
    (WORDS / row).max(1) * row
}

/// Bytes of bookkeeping for each allocation, rounded up.
const BOOKKEEPING: u64 = 64;

impl Packed {
    fn new(size: Size, words: &[u32]) -> Result<Packed, MemoryError> {
        memory::ensure_one(size)?;
        let pack = |words: &[u32]| lz4_flex::compress(bytemuck::cast_slice(words)).into();
        Ok(Packed {
            size,
            pieces: words.chunks(piece_of(size)).map(pack).collect(),
        })
    }

    fn lattice(&self) -> Result<Arc<Lattice>, MemoryError> {
        let mut lattice = Lattice::try_new(self.size)?;
        let words = lattice.words_mut().chunks_mut(piece_of(self.size));
        for (words, piece) in words.zip(&*self.pieces) {
            lz4_flex::decompress_into(piece, bytemuck::cast_slice_mut(words))
                .expect("compressed here, and kept in memory since");
        }
        Ok(Arc::new(lattice))
    }

    fn bytes(&self) -> u64 {
        let pieces: usize = self.pieces.iter().map(|piece| piece.len()).sum();
        let pieces = pieces + size_of_val(&*self.pieces);
        (size_of::<Packed>() + pieces) as u64 + BOOKKEEPING * (1 + self.pieces.len() as u64)
    }
}

/// As the text of a lattice, with the words of a piece in memory at a time.
impl fmt::Display for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = vec![0; piece_of(self.size).min(self.size.words())];
        text::write_lattice(f, self.size, |rows| {
            for piece in &*self.pieces {
                let bytes = bytemuck::cast_slice_mut(&mut words);
                let count = lz4_flex::decompress_into(piece, bytes);
                let count = count.expect("compressed here, and kept in memory since") / 4;
                rows(&words[..count])?;
            }
            Ok(())
        })
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        text::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Packed, D::Error> {
        let lattice = text::lattice::deserialize(from)?;
        Packed::new(lattice.size(), lattice.words()).map_err(D::Error::custom)
    }
}

impl Snapshot {
    /// A copy of these lattices.
    ///
    /// # Errors
    /// The host has no memory for them.
    pub fn new(position: Position, lattices: &[Arc<Lattice>]) -> Result<Snapshot, MemoryError> {
        let pack = |lattice: &Arc<Lattice>| Packed::new(lattice.size(), lattice.words());
        let lattices = lattices.iter().map(pack).collect::<Result<_, _>>()?;
        Ok(Snapshot { position, lattices })
    }

    /// A copy of the lattices in a slot.
    pub(crate) fn read(
        position: Position,
        (slots, slot): (&dyn Slots, Slot),
        (instances, size): (usize, Size),
    ) -> engine::Result<Snapshot> {
        let read = |instance| {
            let id = LatticeId(instance as u32);
            let mut packed = None;
            slots.read(id, slot, &mut |words| {
                packed = Some(Packed::new(size, &words[..size.words()]));
            });
            Ok::<_, EngineError>(packed.ok_or(EngineError::SlotBusy)??)
        };
        let lattices = (0..instances).map(read).collect::<Result<_, _>>()?;
        Ok(Snapshot { position, lattices })
    }

    /// An instance's lattice, if there is such an instance, and memory for it.
    pub fn lattice(&self, instance: usize) -> Option<Arc<Lattice>> {
        let lattice = self.lattices.get(instance)?.lattice();
        lattice
            .inspect_err(|why| tracing::warn!("{}", lang::english(why)))
            .ok()
    }

    /// Every lattice.
    ///
    /// # Errors
    /// The host has no memory for them.
    pub fn lattices(&self) -> Result<Vec<Arc<Lattice>>, MemoryError> {
        self.lattices.iter().map(Packed::lattice).collect()
    }

    /// The sizes of the lattices.
    pub(crate) fn sizes(&self) -> impl ExactSizeIterator<Item = Size> {
        self.lattices.iter().map(|packed| packed.size)
    }

    /// Number of cells that differ between the first `each` lattices and the next.
    pub(crate) fn differing(&self, each: usize) -> u64 {
        let pairs = self.lattices.iter().zip(self.lattices.iter().skip(each));
        let differing = pairs.take(each).filter(|(a, b)| a != b).map(|(a, b)| {
            let (Ok(a), Ok(b)) = (a.lattice(), b.lattice()) else {
                return 0;
            };
            let words = a.words().iter().zip(b.words());
            words.map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
        });
        differing.sum()
    }

    fn bytes(&self) -> u64 {
        let lattices: u64 = self.lattices.iter().map(Packed::bytes).sum();
        lattices + size_of::<Kept>() as u64 + 2 * BOOKKEEPING
    }
}

/// Copies within a budget; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Copies {
    /// In the order of their positions.
    all: Vec<Kept>,
    /// The positions of the copies that are still being made.
    pub(crate) coming: Vec<Position>,
    budget: u64,
    /// Thinning leaves no more than this many generations between two neighbours: stepping through them must
    /// not take long.
    pub max_gap: u64,
    /// The last position to which undo leads.
    pub landmark: Option<Position>,
    /// Where the comparison of A and B began: leaving it leads there.
    pub(crate) pinned: Option<Position>,
    /// The position of the last one added.
    added: Option<Position>,
    generation_us: Option<f64>,
}

#[derive(Clone, Debug)]
struct Kept {
    snapshot: Snapshot,
    bytes: u64,
    /// Whether undo leads there: thinning prefers others.
    is_landmark: bool,
}

/// How long stepping from one copy to the next may take, in microseconds.
const MAX_GAP_US: f64 = 2e6;

/// Weight of a copy to which undo leads, for thinning.
const LANDMARK_WEIGHT: u128 = 8;

impl Copies {
    /// No copies yet; they and the log may take `budget` bytes.
    pub fn new(budget: u64) -> Copies {
        Copies {
            all: Vec::new(),
            coming: Vec::new(),
            budget,
            max_gap: u32::MAX.into(),
            landmark: None,
            pinned: None,
            added: None,
            generation_us: None,
        }
    }

    /// The copies, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Snapshot> {
        self.all.iter().map(|kept| &kept.snapshot)
    }

    /// Their positions, ascending.
    pub fn positions(&self) -> impl Iterator<Item = Position> + '_ {
        self.iter().map(|snapshot| snapshot.position)
    }

    /// The positions of all copies, finished or under way.
    pub(crate) fn all_positions(&self) -> impl Iterator<Item = Position> {
        self.positions().chain(self.coming.iter().copied())
    }

    /// Notes that a copy is no longer under way. Returns `false` if the log has changed meanwhile: the copy
    /// only serves those who wait for cells.
    pub(crate) fn arrive(&mut self, position: Position) -> bool {
        let at = self.coming.iter().position(|it| *it == position);
        at.map(|at| self.coming.remove(at)).is_some()
    }

    /// Notes that undo leads to a position.
    pub(crate) fn mark(&mut self, position: Position) {
        self.landmark = Some(position);
        let mut all = self.all.iter_mut();
        if let Some(kept) = all.find(|kept| kept.snapshot.position == position) {
            kept.is_landmark = true;
        }
    }

    /// Notes the time of a round, from which the maximum gap follows.
    pub(crate) fn round(&mut self, generations: u32, took: Duration) {
        let us = took.as_secs_f64() * 1e6 / f64::from(generations.max(1));
        let before = self.generation_us.unwrap_or(us);
        let us = before + 0.1 * (us - before);
        self.generation_us = Some(us);
        self.max_gap = (MAX_GAP_US / us.max(1e-6)).clamp(1.0, u32::MAX.into()) as u64;
    }

    /// The copy at a position.
    pub fn get(&self, position: Position) -> Option<&Snapshot> {
        self.iter().find(|snapshot| snapshot.position == position)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.all.iter().map(|kept| kept.bytes).sum()
    }

    /// Adds a copy, replacing one at the same position, and drops others until all fit into the budget beside
    /// so many bytes of the log. Returns whether this one alone does.
    pub fn add(&mut self, snapshot: Snapshot, log_bytes: u64) -> bool {
        let position = snapshot.position;
        self.all.retain(|kept| kept.snapshot.position != position);
        let at = self.positions().filter(|it| *it < position).count();
        let kept = Kept {
            bytes: snapshot.bytes(),
            is_landmark: self.landmark == Some(position),
            snapshot,
        };
        let fits = kept.bytes.saturating_add(log_bytes) <= self.budget;
        self.all.insert(at, kept);
        self.added = Some(position);
        while self.bytes().saturating_add(log_bytes) > self.budget {
            let Some(at) = self.least_missed() else {
                break;
            };
            self.all.remove(at);
        }
        fits
    }

    /// Keeps only the copies at positions for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(Position) -> bool) {
        self.all.retain(|kept| keep(kept.snapshot.position));
        self.coming.retain(|position| keep(*position));
        self.landmark.take_if(|position| !keep(*position));
    }

    /// The copy between two others whose gap, when it is gone, is smallest for its age, landmarks
    /// last; where each gap would be too large, the oldest.
    fn least_missed(&self) -> Option<usize> {
        let stays = |at: &usize| {
            let position = Some(self.all[*at].snapshot.position);
            let needed = [self.landmark, self.pinned, self.added];
            at + 1 == self.all.len() || needed.contains(&position)
        };
        let positions: Vec<Position> = self.positions().collect();
        let gaps = positions.windows(2).map(|two| gap(two[0], two[1]));
        let gaps: Vec<u64> = gaps.collect();
        let mut age: u64 = 1;
        let mut least = None;
        for at in (1..gaps.len()).rev() {
            age = age.saturating_add(gaps[at]);
            let gap = gaps[at - 1].saturating_add(gaps[at]);
            if gap > self.max_gap || stays(&at) {
                continue;
            }
            let weight = if self.all[at].is_landmark {
                LANDMARK_WEIGHT
            } else {
                1
            };
            let missed = (u128::from(gap) + 1) * weight * 1024 / u128::from(age);
            if least.is_none_or(|(_, least)| missed <= least) {
                least = Some((at, missed));
            }
        }
        let oldest = || (0..self.all.len()).find(|at| !stays(at));
        least.map(|(at, _)| at).or_else(oldest)
    }
}

/// Generations from one position to a later one; where the clock shows fewer there, a start lies between
/// them, and these are counted from generation 0.
fn gap(from: Position, to: Position) -> u64 {
    let between = to.generation.checked_sub(from.generation);
    between.unwrap_or(to.generation)
}

// The background pool: threads that read and pack large lattices beside the session's thread.

/// Two threads: one lattice can be read while another is packed.
const THREADS: usize = 2;

/// Runs work on a background thread, or on this one if the pool could not be created.
pub(super) fn in_background(work: impl FnOnce() + Send + 'static) {
    #[cfg(test)]
    let Some(work) = deferred::put_off(work) else {
        return;
    };
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(THREADS)
            .thread_name(|i| format!("background {i}"))
            .build();
        pool.inspect_err(|why| tracing::warn!("{why}: lattices are copied between rounds"))
            .ok()
    });
    match &*POOL {
        Some(pool) => pool.spawn(work),
        None => work(),
    }
}

// Copies on their way to the host: each is downloaded into one of two page-locked slots, and read from there and
// compressed in the background.

/// Time between two periodic copies while cells change.
const COPY_INTERVAL: Duration = Duration::from_secs(1);

/// Reading periodic copies takes at most this fraction of a core's time: one part in this many.
const READING_SHARE: u32 = 50;

/// A copy that is under way to a slot, or read out of it.
struct UnderWay {
    position: Position,
    /// What the background reads, and how long it took, once the copy has arrived in the slot.
    read: Option<Receiver<(engine::Result<Snapshot>, Duration)>>,
}

/// The copies under way; none at first.
#[derive(Default)]
pub(crate) struct CopySlots {
    slots: [Option<UnderWay>; SNAPSHOT_SLOTS as usize],
    /// Whether a copy of the present cells was begun.
    pub is_current: bool,
    /// When the next periodic copy may be made.
    due: Option<Instant>,
}

impl CopySlots {
    /// Whether a copy is being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.slots.iter().flatten().any(|it| it.read.is_some())
    }

    /// Whether the copy of a position is in its slot.
    pub(crate) fn has_landed(&self, position: Position) -> bool {
        let mut copies = self.slots.iter().flatten();
        copies.any(|it| it.read.is_some() && it.position == position)
    }

    /// Whether a periodic copy is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let is_early = self.due.is_some_and(|due| now < due);
        !self.is_current && !is_early && self.slots.iter().all(Option::is_none)
    }

    /// A slot for the next copy.
    pub(crate) fn free_slot(&self) -> Option<usize> {
        self.slots.iter().position(Option::is_none)
    }

    /// Notes that a copy is under way to a slot.
    pub(crate) fn begin(&mut self, slot: usize, position: Position, now: Instant) {
        self.slots[slot] = Some(UnderWay {
            position,
            read: None,
        });
        self.is_current = true;
        self.due = Some(now + COPY_INTERVAL);
    }

    /// Begins to read the copy that has arrived in a slot in the background, which calls `told` at the end.
    pub(crate) fn landed(&mut self, slot: usize, sim: &Sim, told: impl FnOnce() + Send + 'static) {
        let Some(under_way) = &mut self.slots[slot] else {
            return;
        };
        let (answer, read) = channel();
        under_way.read = Some(read);
        let position = under_way.position;
        // If the slots are gone meanwhile, nothing is read: those who wait get another copy.
        let slots = Arc::downgrade(&sim.slots);
        let grid = (sim.instances(), sim.size);
        let slot = sim.snapshot_slot(slot as u8);
        in_background(move || {
            let Some(slots) = slots.upgrade() else {
                return;
            };
            let began = Instant::now();
            let read = || Snapshot::read(position, (&*slots, slot), grid);
            let snapshot = platform::catch_panic(read)
                .unwrap_or_else(|why| Err(EngineError::failed_op("download", why)));
            drop(slots); // after the answer the slots may be freed
            let _ = answer.send((snapshot, began.elapsed())); // the reading may be forgotten
            told();
        });
    }

    /// Takes a copy that was read, or why it could not be read, if there is one.
    pub(crate) fn take_read(
        &mut self,
        now: Instant,
    ) -> Option<(Position, engine::Result<Snapshot>)> {
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

    /// Takes a copy that has arrived in its slot, and reads it now.
    pub(crate) fn read_now(&mut self, sim: &Sim) -> Option<(Position, engine::Result<Snapshot>)> {
        let has_arrived = |it: &Option<UnderWay>| it.as_ref().is_some_and(|it| it.read.is_some());
        let at = self.slots.iter().position(has_arrived)?;
        let position = self.slots[at].take()?.position;
        let slot = sim.snapshot_slot(at as u8);
        let grid = (sim.instances(), sim.size);
        Some((
            position,
            Snapshot::read(position, (&*sim.slots, slot), grid),
        ))
    }
}

/// A log, a position on it, and cells to continue from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedTimeline {
    /// The log.
    pub log: Log,
    /// The session's position on the log.
    pub position: Position,
    /// Copies from which it goes on, ascending: of the log's base, unless that is a start, of where A and B
    /// began to be compared, and the newest that leads to the position.
    pub copies: Vec<Snapshot>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::at;
    use life::soup;

    fn noise(position: Position) -> Snapshot {
        let seed = 10_000 * position.records + position.generation;
        let size = Size::new(32, 32).unwrap();
        Snapshot::new(position, &[Arc::new(soup(size, 0.5, seed, 0))]).unwrap()
    }

    /// Room for this many copies.
    fn room_for(copies: u64) -> Copies {
        Copies::new(copies * noise(at(0, 0)).bytes())
    }

    fn generations(copies: &Copies) -> Vec<u64> {
        copies.positions().map(|it| it.generation).collect()
    }

    #[test]
    fn copies_grow_sparse_with_age() {
        let mut copies = room_for(20);
        for generation in 0..1000 {
            copies.add(noise(at(0, generation)), 0);
            assert!(copies.bytes() <= copies.budget);
        }
        let kept = generations(&copies);
        assert_eq!((kept[0], kept.len(), kept[19]), (0, 20, 999));
        assert!(kept[17] > 990, "{kept:?}");
        let gaps: Vec<u64> = kept.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps[0] > 100 && gaps[18] == 1, "{gaps:?}");
        assert!(copies.iter().all(|copy| *copy == noise(copy.position)));
    }

    #[test]
    fn where_stepping_would_take_long_the_oldest_go() {
        let mut copies = room_for(10);
        copies.max_gap = 250;
        for generation in 0..1000 {
            copies.add(noise(at(0, generation * 100)), 0);
        }
        let kept = generations(&copies);
        assert!(kept.windows(2).all(|two| two[1] - two[0] <= 250));
        assert!(kept.len() > 5 && kept[0] > 90_000, "{kept:?}");
    }

    #[test]
    fn what_somebody_needs_stays_whatever_the_budget() {
        let mut copies = room_for(0);
        copies.landmark = Some(at(0, 3));
        let added = [(0, [0].as_slice()), (3, &[3]), (5, &[3, 5]), (7, &[3, 7])];
        for (generation, kept) in added.into_iter().chain([(4, [3, 4, 7].as_slice())]) {
            copies.add(noise(at(0, generation)), 0);
            assert_eq!(generations(&copies), kept);
        }
        // One before an edit outlives its neighbours, though another edit has come since.
        let mut copies = room_for(10);
        for generation in 0..60 {
            if generation % 31 == 0 {
                copies.landmark = Some(at(0, generation));
            }
            copies.add(noise(at(0, generation)), 0);
        }
        copies.landmark = None;
        for generation in 60..70 {
            assert!(copies.add(noise(at(0, generation)), 0));
        }
        assert!(copies.get(at(0, 31)).is_some(), "{copies:?}");
        assert!(!copies.add(noise(at(0, 70)), copies.budget));
        assert_eq!(generations(&copies), [70], "the log takes it all");
    }

    #[test]
    fn a_lattice_of_several_pieces_comes_back() {
        let lattices = [Arc::new(soup(Size::new(5300, 2100).unwrap(), 0.02, 1, 0))];
        let copy = Snapshot::new(at(0, 0), &lattices).unwrap();
        assert_eq!(copy.lattices().unwrap(), lattices);
    }
}

/// Background work that a test runs on its own thread, when it chooses.
#[cfg(test)]
pub(crate) mod deferred {
    use std::cell::RefCell;
    use std::collections::VecDeque;

    type Job = Box<dyn FnOnce()>;

    thread_local! {
        static WAITING: RefCell<Option<VecDeque<Job>>> = const { RefCell::new(None) };
    }

    /// From now on, work that this thread spawns waits for [`run_one`].
    pub(crate) fn begin() {
        WAITING.set(Some(VecDeque::new()));
    }

    /// Runs the oldest waiting piece of work. Returns whether there was one.
    pub(crate) fn run_one() -> bool {
        let work = WAITING.with_borrow_mut(|waiting| waiting.as_mut()?.pop_front());
        work.is_some_and(|work| {
            work();
            true
        })
    }

    /// Queues work if this thread's work waits, or else returns it.
    pub(super) fn put_off<W: FnOnce() + 'static>(work: W) -> Option<W> {
        WAITING.with_borrow_mut(|waiting| match waiting {
            Some(waiting) => {
                waiting.push_back(Box::new(work));
                None
            }
            None => Some(work),
        })
    }
}
