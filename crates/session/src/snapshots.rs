//! Snapshots of the log, within a budget of memory.
//!
//! A snapshot is a cache: positions between two of them are reached by stepping. So when the budget
//! is used up, snapshots are thinned: the older they are, the further apart they may lie. The newest
//! is always kept, and the oldest as long as there is room.
//!
//! The module is public for `tests/memory.rs`, which counts the memory of a whole process.
//!
//! # Packing
//! The newest snapshot is kept unpacked. The others are packed in the background, lattice by
//! lattice: a lattice equal to its instance's in a neighbouring snapshot shares that one's memory;
//! any other is stored as what differs from a *key*, the same instance's lattice in an earlier
//! snapshot, compressed with LZ4. A key stays unpacked, and in memory for as long as something
//! is packed against it, even when its own snapshot is gone. A lattice becomes a key itself where
//! packing it saves too little.
//!
//! # What counts against the budget
//! Every lattice with its full size until it is packed, keys for as long as they live, packed
//! lattices with their packed size, the room that packing needs, and some bytes for bookkeeping.
//! Memory that is shared counts once. The log's own bytes count too; [`Keep`] says how many.
//! Lattices handed out by [`Snapshots::get`] are the caller's to count.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::background;
use crate::log::Position;
use life::{Lattice, MemoryError};

/// How a snapshot is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keep {
    /// Thinning leaves no more than this many generations between two neighbours: stepping through
    /// them must not take long.
    pub max_gap: u64,
    /// Bytes that the log takes at present, which count against the budget.
    pub log_bytes: u64,
    /// Whether it lies directly before an edit of the user's, where undo leads: thinning prefers
    /// others.
    pub before_edit: bool,
}

/// Snapshots within a budget; see the module's documentation.
#[derive(Debug)]
pub struct Snapshots {
    /// In the order of their positions.
    snapshots: Vec<Snapshot>,
    budget: u64,
    /// [`Keep::max_gap`] of the last snapshot added.
    max_gap: u64,
    log_bytes: u64,
    packer: Arc<Packer>,
}

/// All lattices at a position.
#[derive(Debug)]
struct Snapshot {
    position: Position,
    before_edit: bool,
    lattices: Vec<Arc<Stored>>,
    _bookkeeping: Counted,
}

/// A lattice, which the background pool replaces once it is packed.
#[derive(Debug)]
struct Stored(Mutex<Cells>);

/// A lattice as it is stored; a clone shares its memory.
#[derive(Clone, Debug)]
enum Cells {
    /// Unpacked; it may still be packed.
    Fresh(Arc<Unpacked>),
    /// Stays unpacked: others may be packed against it.
    Key(Arc<Unpacked>),
    Packed {
        key: Arc<Unpacked>,
        difference: Arc<Difference>,
    },
}

#[derive(Debug)]
struct Unpacked {
    lattice: Arc<Lattice>,
    /// Bytes that were packed against it so far.
    depending: AtomicU64,
    _counted: Counted,
}

/// The difference from a key: XOR, compressed piece by piece.
#[derive(Debug)]
struct Difference {
    /// Of [`PIECE`] words each, the last of what is left; empty where nothing differs.
    pieces: Box<[Box<[u8]>]>,
    _counted: Counted,
}

/// Words that are packed at a time.
const PIECE: usize = 1 << 14;

/// Bytes of a lattice below which packing is not worth its bookkeeping.
const MIN_PACKED: u64 = 1 << 10;

/// Maximum bytes of lattices packed on the calling thread: waking another one takes as long.
const MAX_INLINE_BYTES: u64 = 16 << 10;

/// Bytes of bookkeeping for each allocation, rounded up.
const BOOKKEEPING: u64 = 64;

/// A number of bytes in use, subtracted from the total when it is dropped.
#[derive(Debug)]
struct Counted {
    total: Arc<AtomicU64>,
    bytes: u64,
}

impl Counted {
    fn new(total: &Arc<AtomicU64>, bytes: u64) -> Counted {
        total.fetch_add(bytes, Ordering::Relaxed);
        Counted {
            total: total.clone(),
            bytes,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Snapshots {
    /// No snapshots yet; they and the log may take `budget` bytes.
    pub fn new(budget: u64) -> Snapshots {
        Snapshots {
            snapshots: Vec::new(),
            budget,
            max_gap: u64::MAX,
            log_bytes: 0,
            packer: Arc::default(),
        }
    }

    /// The positions of the snapshots, ascending.
    pub fn positions(&self) -> impl Iterator<Item = Position> + '_ {
        self.snapshots.iter().map(|snapshot| snapshot.position)
    }

    /// Bytes in use, room for packing included. Shrinks as the background pool packs.
    pub fn bytes(&self) -> u64 {
        self.packer.total.load(Ordering::Relaxed)
    }

    /// Adds a snapshot, replacing one at the same position, and drops others to stay within the
    /// budget. The newest is kept even if it alone exceeds the budget.
    pub fn add(&mut self, position: Position, lattices: Vec<Arc<Lattice>>, keep: Keep) {
        (self.max_gap, self.log_bytes) = (keep.max_gap, keep.log_bytes);
        let at = self.snapshots.partition_point(|it| it.position < position);
        if self.position_at(at) == Some(position) {
            self.snapshots.remove(at);
        }
        let before = at.checked_sub(1);
        let stored = |(instance, lattice): (usize, Arc<Lattice>)| {
            // The very same lattice needs no comparing.
            let neighbours = [before, Some(at)].into_iter().flatten();
            let shared = neighbours.filter_map(|at| self.stored(at, instance)?.unpacked());
            let shared = shared
                .into_iter()
                .find(|it| Arc::ptr_eq(&it.lattice, &lattice));
            let unpacked = shared.unwrap_or_else(|| self.packer.unpacked(lattice));
            Arc::new(Stored(Mutex::new(Cells::Fresh(unpacked))))
        };
        let lattices: Vec<_> = lattices.into_iter().enumerate().map(stored).collect();
        let bookkeeping =
            size_of::<Snapshot>() + lattices.len() * (size_of::<Stored>() + 2 * size_of::<usize>());
        let snapshot = Snapshot {
            position,
            before_edit: keep.before_edit,
            _bookkeeping: Counted::new(&self.packer.total, bookkeeping as u64 + BOOKKEEPING),
            lattices,
        };
        self.snapshots.insert(at, snapshot);
        let is_newest = at + 1 == self.snapshots.len();
        // The newest is compared, but not packed before there is a newer one.
        let mut tasks = self.tasks(at, !is_newest);
        if let Some(before) = before.filter(|_| is_newest) {
            tasks.extend(self.tasks(before, true));
        }
        self.packer.queue(tasks);
        self.make_room();
        Packer::start(&self.packer);
    }

    /// The lattices of the snapshot at a position; `None` without a snapshot there.
    ///
    /// # Errors
    /// The host has no memory to unpack them.
    pub fn get(&self, position: Position) -> Option<Result<Vec<Arc<Lattice>>, MemoryError>> {
        let find = |snapshot: &Snapshot| snapshot.position.cmp(&position);
        let at = self.snapshots.binary_search_by(find).ok()?;
        let lattices = self.snapshots[at].lattices.iter();
        Some(lattices.map(|stored| stored.cells().lattice()).collect())
    }

    /// The newest snapshot at `limit` or before whose lattices are all unpacked, as the newest is.
    pub fn newest_unpacked(&self, limit: Position) -> Option<(Position, Vec<Arc<Lattice>>)> {
        let mut snapshots = self.snapshots.iter().rev();
        let newest = snapshots.find(|snapshot| snapshot.position <= limit)?;
        let lattice = |stored: &Arc<Stored>| Some(stored.unpacked()?.lattice.clone());
        let lattices = newest.lattices.iter().map(lattice);
        Some((newest.position, lattices.collect::<Option<_>>()?))
    }

    /// Whether a snapshot fits into the budget beside the log. One that does not fit
    /// would displace all others and be kept only while it is the newest.
    pub fn would_keep(&self, bytes_of_all: u64, log_bytes: u64) -> bool {
        bytes_of_all.saturating_add(log_bytes) <= self.budget
    }

    /// Keeps only the snapshots at positions for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(Position) -> bool) {
        self.snapshots.retain(|snapshot| keep(snapshot.position));
    }

    fn position_at(&self, at: usize) -> Option<Position> {
        Some(self.snapshots.get(at)?.position)
    }

    fn stored(&self, at: usize, instance: usize) -> Option<&Arc<Stored>> {
        self.snapshots.get(at)?.lattices.get(instance)
    }

    /// The packer's tasks for a snapshot.
    fn tasks(&self, at: usize, pack: bool) -> Vec<Task> {
        let weak = |at: Option<usize>, instance| {
            let stored = self.stored(at?, instance)?;
            Some(Arc::downgrade(stored))
        };
        let of = |instance| Task {
            stored: weak(Some(at), instance).unwrap_or_default(),
            before: weak(at.checked_sub(1), instance),
            after: weak(Some(at + 1), instance),
            pack,
        };
        (0..self.snapshots[at].lattices.len()).map(of).collect()
    }

    /// Drops snapshots until the others fit, or only the newest is left.
    fn make_room(&mut self) {
        while self.bytes().saturating_add(self.log_bytes) > self.budget && self.snapshots.len() > 1
        {
            let at = self.least_missed().unwrap_or(0);
            self.snapshots.remove(at);
        }
    }

    /// The snapshot between two others whose gap, when it is gone, is smallest for its age. Those
    /// whose memory others share come last, as do those before an edit.
    fn least_missed(&self) -> Option<usize> {
        let gaps = self.snapshots.windows(2);
        let gaps: Vec<u64> = gaps
            .map(|two| gap(two[0].position, two[1].position))
            .collect();
        let mut age: u64 = 1;
        let mut least = None;
        for at in (1..gaps.len()).rev() {
            age = age.saturating_add(gaps[at]);
            let gap = gaps[at - 1].saturating_add(gaps[at]);
            if gap > self.max_gap {
                continue;
            }
            let snapshot = &self.snapshots[at];
            let weight = if snapshot.before_edit {
                BEFORE_EDIT_WEIGHT
            } else {
                1
            };
            let missed = (u128::from(gap) + 1) * weight * 1024 / u128::from(age);
            let missed = (!snapshot.frees_lattices(), missed);
            if least.is_none_or(|(_, least)| missed <= least) {
                least = Some((at, missed));
            }
        }
        least.map(|(at, _)| at)
    }
}

/// Weight of a snapshot before an edit of the user's, for thinning.
const BEFORE_EDIT_WEIGHT: u128 = 8;

/// Generations from one position to a later one; where the clock shows fewer there, a start lies
/// between them, and these are counted from generation 0.
fn gap(from: Position, to: Position) -> u64 {
    let between = to.generation.checked_sub(from.generation);
    between.unwrap_or(to.generation)
}

impl Snapshot {
    /// Whether dropping it frees the memory of at least one lattice.
    fn frees_lattices(&self) -> bool {
        self.lattices.iter().any(|stored| match &*stored.lock() {
            Cells::Fresh(unpacked) | Cells::Key(unpacked) => Arc::strong_count(unpacked) == 1,
            Cells::Packed { difference, .. } => Arc::strong_count(difference) == 1,
        })
    }
}

impl Stored {
    fn lock(&self) -> MutexGuard<'_, Cells> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cells(&self) -> Cells {
        self.lock().clone()
    }

    fn unpacked(&self) -> Option<Arc<Unpacked>> {
        match self.cells() {
            Cells::Fresh(unpacked) | Cells::Key(unpacked) => Some(unpacked),
            Cells::Packed { .. } => None,
        }
    }
}

impl Cells {
    fn lattice(&self) -> Result<Arc<Lattice>, MemoryError> {
        match self {
            Cells::Fresh(unpacked) | Cells::Key(unpacked) => Ok(unpacked.lattice.clone()),
            Cells::Packed { key, difference } => {
                let mut lattice = Lattice::try_new(key.lattice.size())?;
                let into = lattice.words_mut().chunks_mut(PIECE);
                difference.visit(&key.lattice, into, |words, into| {
                    into.copy_from_slice(words);
                    true
                });
                Ok(Arc::new(lattice))
            }
        }
    }

    /// Whether it equals a lattice.
    fn equals(&self, lattice: &Lattice) -> bool {
        match self {
            Cells::Fresh(unpacked) | Cells::Key(unpacked) => *unpacked.lattice == *lattice,
            Cells::Packed { key, difference } => {
                let own = lattice.words().chunks(PIECE);
                key.lattice.size() == lattice.size()
                    && difference.visit(&key.lattice, own, |words, own| words == own)
            }
        }
    }

    /// The key that a neighbouring lattice may be packed against.
    fn key(&self) -> Option<&Arc<Unpacked>> {
        match self {
            Cells::Fresh(_) => None,
            Cells::Key(key) | Cells::Packed { key, .. } => Some(key),
        }
    }
}

/// Lattices that wait for being compared and packed, one after the other, in the background.
#[derive(Debug, Default)]
struct Packer {
    /// Bytes in use.
    total: Arc<AtomicU64>,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    tasks: VecDeque<Task>,
    is_running: bool,
    /// Counts what packing the largest of the lattices can take.
    room: Option<Counted>,
}

/// A lattice to compare with its neighbours, and to pack.
#[derive(Debug)]
struct Task {
    stored: Weak<Stored>,
    before: Option<Weak<Stored>>,
    after: Option<Weak<Stored>>,
    pack: bool,
}

impl Packer {
    fn unpacked(&self, lattice: Arc<Lattice>) -> Arc<Unpacked> {
        let bytes = bytes_of(&lattice) + size_of::<Unpacked>() as u64 + 2 * BOOKKEEPING;
        Arc::new(Unpacked {
            lattice,
            depending: AtomicU64::new(0),
            _counted: Counted::new(&self.total, bytes),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds tasks, and counts the room that they need.
    fn queue(&self, tasks: Vec<Task>) {
        let rooms = tasks.iter().filter(|task| task.pack).filter_map(|task| {
            let unpacked = task.stored.upgrade()?.unpacked()?;
            Some(packing_room(bytes_of(&unpacked.lattice)))
        });
        let room = rooms.max().unwrap_or(0);
        let mut queue = self.lock();
        queue.tasks.extend(tasks);
        if queue.room.as_ref().is_none_or(|it| it.bytes < room) {
            queue.room = Some(Counted::new(&self.total, room));
        }
    }

    /// Works through the queue, unless that is under way: at once where there is little to do, else
    /// in the background.
    fn start(packer: &Arc<Packer>) {
        let mut queue = packer.lock();
        if std::mem::replace(&mut queue.is_running, true) {
            return;
        }
        let bytes = |task: &Task| {
            task.stored
                .upgrade()?
                .unpacked()
                .map(|it| bytes_of(&it.lattice))
        };
        let bytes: u64 = queue.tasks.iter().filter_map(bytes).sum();
        drop(queue);
        let packer = packer.clone();
        let work = move || {
            while let Some(task) = packer.next_task() {
                // A copy that is not packed is larger, and no less good.
                if let Err(why) = platform::catch_panic(|| task.process(&packer.total)) {
                    tracing::error!("a copy is not packed: {why}");
                }
            }
        };
        if bytes <= MAX_INLINE_BYTES {
            work();
        } else {
            background::spawn(work);
        }
    }

    fn next_task(&self) -> Option<Task> {
        let mut queue = self.lock();
        let task = queue.tasks.pop_front();
        if task.is_none() {
            (queue.is_running, queue.room) = (false, None);
        }
        task
    }
}

impl Task {
    fn process(&self, total: &Arc<AtomicU64>) {
        let Some(stored) = self.stored.upgrade() else {
            return; // dropped in the meantime
        };
        let Cells::Fresh(fresh) = stored.cells() else {
            return;
        };
        let cells_of = |stored: &Option<Weak<Stored>>| Some(stored.as_ref()?.upgrade()?.cells());
        let neighbours = [cells_of(&self.before), cells_of(&self.after)];
        let neighbours = neighbours.iter().flatten();
        let same = neighbours.clone().find(|it| it.equals(&fresh.lattice));
        if let Some(same) = same {
            *stored.lock() = same.clone();
            if !matches!(same, Cells::Fresh(_)) {
                return;
            }
        }
        if !self.pack {
            return;
        }
        let fresh = stored.unpacked().unwrap_or(fresh);
        let size = fresh.lattice.size();
        let key = neighbours
            .filter_map(Cells::key)
            .find(|key| key.lattice.size() == size);
        let packed = key.and_then(|key| {
            let difference = Difference::packed(&fresh.lattice, key, total)?;
            Some(Cells::Packed {
                key: key.clone(),
                difference: Arc::new(difference),
            })
        });
        *stored.lock() = packed.unwrap_or(Cells::Key(fresh));
    }
}

impl Difference {
    /// What differs from a key; `None` where that takes too many bytes: more than half of what the
    /// lattice takes, or this many with all that was packed against the key before that another key
    /// would have cost less.
    fn packed(lattice: &Lattice, key: &Unpacked, total: &Arc<AtomicU64>) -> Option<Difference> {
        let whole = bytes_of(lattice);
        let depending = key.depending.load(Ordering::Relaxed);
        let most = (whole / 2).min(whole.saturating_sub(depending));
        if whole < MIN_PACKED {
            return None;
        }
        let longest = PIECE.min(lattice.words().len());
        let mut words = vec![0; longest];
        let mut compressed = vec![0; lz4_flex::block::get_maximum_output_size(4 * longest)];
        let mut pieces = Vec::with_capacity(lattice.words().len().div_ceil(PIECE));
        let mut bytes = 0;
        let pairs = lattice.words().chunks(PIECE);
        for (own, key) in pairs.zip(key.lattice.words().chunks(PIECE)) {
            let words = &mut words[..own.len()];
            let xored = words.iter_mut().zip(own.iter().zip(key));
            xored.for_each(|(word, (own, key))| *word = own ^ key);
            let length = if words.iter().all(|&word| word == 0) {
                0
            } else {
                lz4_flex::compress_into(bytemuck::cast_slice(words), &mut compressed)
                    .expect("room for the longest output")
            };
            let piece: Box<[u8]> = compressed[..length].into();
            bytes += size_of_val(&piece) as u64 + length as u64;
            if bytes > most {
                return None;
            }
            pieces.push(piece);
        }
        key.depending.fetch_add(bytes, Ordering::Relaxed);
        let bookkeeping = size_of::<Difference>() as u64 + 2 * BOOKKEEPING;
        Some(Difference {
            pieces: pieces.into(),
            _counted: Counted::new(total, bytes + bookkeeping),
        })
    }

    /// Visits the words of the lattice piece by piece, each with one of `others`, as long as
    /// `visit` says so; answers whether all were visited.
    fn visit<T>(
        &self,
        key: &Lattice,
        others: impl Iterator<Item = T>,
        mut visit: impl FnMut(&[u32], T) -> bool,
    ) -> bool {
        let mut words = vec![0; PIECE.min(key.words().len())];
        let pieces = self.pieces.iter().zip(key.words().chunks(PIECE));
        pieces.zip(others).all(|((piece, key), other)| {
            if piece.is_empty() {
                return visit(key, other);
            }
            let words = &mut words[..key.len()];
            let length = lz4_flex::decompress_into(piece, bytemuck::cast_slice_mut(words))
                .expect("compressed here, and kept in memory since");
            debug_assert_eq!(length, 4 * key.len());
            words
                .iter_mut()
                .zip(key)
                .for_each(|(word, key)| *word ^= key);
            visit(words, other)
        })
    }
}

fn bytes_of(lattice: &Lattice) -> u64 {
    size_of_val(lattice.words()) as u64
}

/// The most bytes that are held while a lattice of this many is packed: the packed pieces, one piece
/// before and after its compression, and LZ4's table.
fn packing_room(bytes: u64) -> u64 {
    let piece = bytes.min(4 * PIECE as u64);
    bytes / 2 + 2 * piece + piece / 64 + (16 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::at;
    use life::{Size, soup};

    fn keep(max_gap: u64) -> Keep {
        Keep {
            max_gap,
            log_bytes: 0,
            before_edit: false,
        }
    }

    /// Small enough that it is packed at once, and so different each time that it stays whole.
    fn noise(seed: u64) -> Vec<Arc<Lattice>> {
        vec![Arc::new(soup(Size::new(32, 32).unwrap(), 0.5, seed, 0))]
    }

    /// Bytes that one of these takes.
    fn each() -> u64 {
        let mut snapshots = Snapshots::new(u64::MAX);
        snapshots.add(at(0, 0), noise(0), keep(u64::MAX));
        snapshots.bytes()
    }

    fn generations(snapshots: &Snapshots) -> Vec<u64> {
        snapshots.positions().map(|it| it.generation).collect()
    }

    /// Waits until the background pool has nothing left to do.
    fn packed(snapshots: &Snapshots) {
        while snapshots.packer.lock().is_running {
            std::thread::yield_now();
        }
    }

    #[test]
    fn snapshots_grow_sparse_with_age() {
        // Packing one needs room for a moment.
        let budget = 20 * each() + packing_room(128);
        let mut snapshots = Snapshots::new(budget);
        for generation in 0..1000 {
            snapshots.add(at(0, generation), noise(generation), keep(u64::MAX));
            assert!(snapshots.bytes() <= budget);
        }
        let kept = generations(&snapshots);
        assert_eq!((kept[0], kept.len(), kept[19]), (0, 20, 999));
        assert!(kept[17] > 990, "{kept:?}");
        let gaps: Vec<u64> = kept.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps[0] > 100 && gaps[18] == 1, "{gaps:?}");
        for generation in kept {
            let found = snapshots.get(at(0, generation)).unwrap().unwrap();
            assert_eq!(found, noise(generation));
        }
    }

    #[test]
    fn where_stepping_would_take_long_the_oldest_go() {
        let mut snapshots = Snapshots::new(10 * each() + packing_room(128));
        for generation in 0..1000 {
            snapshots.add(at(0, generation * 100), noise(generation), keep(250));
        }
        let kept = generations(&snapshots);
        assert!(
            kept.windows(2).all(|two| two[1] - two[0] <= 250),
            "{kept:?}"
        );
        assert!(kept.len() > 5 && kept[0] > 90_000, "{kept:?}");
    }

    #[test]
    fn one_before_an_edit_outlives_its_neighbours() {
        let mut snapshots = Snapshots::new(10 * each() + packing_room(128));
        for generation in 0..60 {
            let before_edit = generation == 31;
            let keep = Keep {
                before_edit,
                ..keep(u64::MAX)
            };
            snapshots.add(at(0, generation), noise(generation), keep);
        }
        let kept = generations(&snapshots);
        assert!(kept.contains(&31), "{kept:?}");
    }

    #[test]
    fn the_newest_stays_whatever_the_budget_and_the_log() {
        let mut snapshots = Snapshots::new(each() / 2);
        for generation in 0..3 {
            assert!(!snapshots.would_keep(each(), 0));
            snapshots.add(at(0, generation), noise(generation), keep(u64::MAX));
            assert_eq!(generations(&snapshots), [generation]);
        }
        snapshots.budget = 100 * each();
        for generation in 3..8 {
            snapshots.add(at(0, generation), noise(generation), keep(u64::MAX));
        }
        assert_eq!(snapshots.positions().count(), 6);
        assert!(snapshots.would_keep(each(), 99 * each()));
        assert!(!snapshots.would_keep(each(), 99 * each() + 1));
        let log_bytes = 100 * each();
        let keep = Keep {
            log_bytes,
            ..keep(u64::MAX)
        };
        snapshots.add(at(0, 8), noise(8), keep);
        assert_eq!(generations(&snapshots), [8]);
        assert_eq!(snapshots.positions().last(), Some(at(0, 8)));
        snapshots.retain(|_| false);
        assert_eq!((snapshots.bytes(), snapshots.positions().count()), (0, 0));
    }

    #[test]
    fn snapshots_come_in_any_order_and_go_by_position() {
        let mut snapshots = Snapshots::new(u64::MAX);
        for (records, generation) in [(0, 5), (2, 7), (1, 9), (0, 2), (1, 9), (3, 0)] {
            let seed = 10 * records + generation;
            snapshots.add(at(records, generation), noise(seed), keep(u64::MAX));
        }
        let all: Vec<_> = snapshots.positions().collect();
        assert_eq!(all, [at(0, 2), at(0, 5), at(1, 9), at(2, 7), at(3, 0)]);
        assert!(snapshots.get(at(1, 7)).is_none());
        snapshots.retain(|position| position <= at(2, 0));
        snapshots.retain(|position| position != at(0, 5));
        let left: Vec<_> = snapshots.positions().collect();
        assert_eq!(left, [at(0, 2), at(1, 9)]);
        assert_eq!(snapshots.get(at(1, 9)).unwrap().unwrap(), noise(19));
    }

    /// As large as that the background pool packs them.
    fn large(changes: u32) -> Vec<Arc<Lattice>> {
        let mut first = soup(Size::new(1000, 700).unwrap(), 0.3, 1, 0);
        for change in 0..changes {
            let [x, y] = [change * 7919 % 1000, change * 104_729 % 700];
            first.set(x, y, change % 2 == 0);
        }
        let second = soup(Size::new(1000, 700).unwrap(), 0.3, 1, 1);
        vec![Arc::new(first), Arc::new(second)]
    }

    #[test]
    fn what_is_packed_is_what_was_added() {
        let mut snapshots = Snapshots::new(u64::MAX);
        let raw = 2 * bytes_of(&large(0)[0]);
        for changes in 0..20 {
            snapshots.add(at(0, changes), large(changes as u32), keep(u64::MAX));
        }
        // Before, while and after they are packed.
        for changes in 0..20 {
            let found = snapshots.get(at(0, changes)).unwrap().unwrap();
            assert_eq!(found, large(changes as u32));
        }
        packed(&snapshots);
        // A key of each, the newest of the first one, and what differs.
        assert!(snapshots.bytes() < 2 * raw, "{} bytes", snapshots.bytes());
        for changes in (0..20).rev() {
            let found = snapshots.get(at(0, changes)).unwrap().unwrap();
            assert_eq!(found, large(changes as u32));
        }
        // The key's snapshot goes; what is packed against it is still there.
        snapshots.retain(|position| position.generation > 12);
        assert_eq!(snapshots.get(at(0, 13)).unwrap().unwrap(), large(13));
        snapshots.retain(|_| false);
        assert_eq!(snapshots.bytes(), 0);
    }

    #[test]
    fn equal_neighbours_share_their_memory() {
        let mut snapshots = Snapshots::new(u64::MAX);
        let raw = 2 * bytes_of(&large(0)[0]);
        let same = large(3);
        snapshots.add(at(0, 0), large(3), keep(u64::MAX));
        snapshots.add(at(0, 1), large(3), keep(u64::MAX));
        packed(&snapshots);
        assert!(snapshots.bytes() < raw + raw / 100, "{}", snapshots.bytes());
        // The very same ones are shared at once.
        let mut snapshots = Snapshots::new(u64::MAX);
        for generation in 0..10 {
            snapshots.add(at(0, generation), same.clone(), keep(u64::MAX));
        }
        let most = raw + raw / 50 + packing_room(raw / 2);
        assert!(snapshots.bytes() < most, "{}", snapshots.bytes());
        packed(&snapshots);
        assert!(snapshots.bytes() < raw + raw / 50, "{}", snapshots.bytes());
    }

    #[test]
    fn sizes_and_numbers_change_between_snapshots() {
        let mut snapshots = Snapshots::new(u64::MAX);
        let of = |number: u64| {
            let size = Size::new(300 + 50 * (number / 3), 400).unwrap();
            let instances = 0..1 + number % 4;
            let lattice = |instance| Arc::new(soup(size, 0.02, number / 2, instance));
            instances.map(lattice).collect::<Vec<_>>()
        };
        for number in 0..12 {
            snapshots.add(at(number, 0), of(number), keep(u64::MAX));
        }
        packed(&snapshots);
        for number in 0..12 {
            assert_eq!(snapshots.get(at(number, 0)).unwrap().unwrap(), of(number));
        }
    }
}
