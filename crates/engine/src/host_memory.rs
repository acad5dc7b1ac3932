//! The host's memory, for both engines: allocations that error instead of a killed process, and the locks of
//! host slots.
//!
//! Linux overcommits memory and kills processes that use too much. So every allocation is first
//! compared with the memory available to this machine or container, and is then written once.

use crate::{BufferLocation, EngineError, HostMemory, LatticeId, MemoryUse, Result, Slot};
use std::sync::atomic::{AtomicU32, Ordering};

/// Errors if `bytes` bytes for `what` are more than this machine has available.
pub(crate) fn ensure(bytes: u64, what: MemoryUse) -> Result<()> {
    match life::memory::available() {
        Some(free) if bytes > free - free / 16 => Err(out_of_memory(bytes, what)),
        _ => Ok(()),
    }
}

/// Allocates `count` zeroed values and touches their pages.
pub(crate) fn zeroed<T: Default>(count: usize, what: MemoryUse) -> Result<Vec<T>> {
    let mut zeros = Vec::new();
    zeros
        .try_reserve_exact(count)
        .map_err(|_| out_of_memory(bytes_of::<T>(count), what))?;
    zeros.resize_with(count, T::default);
    Ok(zeros)
}

/// Size in bytes of `count` values, saturating on overflow.
pub(crate) fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

fn out_of_memory(bytes: u64, what: MemoryUse) -> EngineError {
    EngineError::OutOfMemory {
        place: BufferLocation::Host(HostMemory::Pageable),
        what,
        needed_mib: bytes.div_ceil(1 << 20),
        fits: None,
    }
}

// Which host slots a download fills and which are being read.

/// The locks of all lattices' slots: a slot is bound to one download, or read by any number of
/// threads.
#[derive(Default)]
pub(crate) struct SlotLocks {
    /// Readers of each slot, by lattice; [`BOUND`] while a download is pending.
    readers: Vec<AtomicU32>,
    per_lattice: usize,
}

const BOUND: u32 = u32::MAX;

impl SlotLocks {
    pub(crate) fn new(lattices: usize, per_lattice: u8) -> SlotLocks {
        let per_lattice = usize::from(per_lattice);
        let all = 0..lattices * per_lattice;
        SlotLocks {
            readers: all.map(|_| AtomicU32::new(0)).collect(),
            per_lattice,
        }
    }

    fn of(&self, lattice: LatticeId, slot: Slot) -> Option<&AtomicU32> {
        let slot = usize::from(slot.0);
        let at = lattice.index() * self.per_lattice + slot;
        self.readers.get(at).filter(|_| slot < self.per_lattice)
    }

    /// Binds all these slots to downloads, or none if one is bound or being read.
    pub(crate) fn bind_all(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone,
    ) -> Result<()> {
        for (bound, (lattice, slot)) in downloads.clone().enumerate() {
            let bind = |readers: &AtomicU32| {
                readers.compare_exchange(0, BOUND, Ordering::Acquire, Ordering::Relaxed)
            };
            if self
                .of(lattice, slot)
                .map(bind)
                .is_none_or(|it| it.is_err())
            {
                self.unbind_all(downloads.take(bound));
                return Err(EngineError::SlotBusy(lattice, slot));
            }
        }
        Ok(())
    }

    /// Makes bound slots readable, once nothing will be written to them.
    pub(crate) fn unbind_all(&self, downloads: impl Iterator<Item = (LatticeId, Slot)>) {
        for (lattice, slot) in downloads {
            if let Some(readers) = self.of(lattice, slot) {
                readers.store(0, Ordering::Release);
            }
        }
    }

    /// Adds a reader, until the answer is dropped; `None` if there is no such slot or a download into
    /// it is pending.
    pub(crate) fn read(&self, lattice: LatticeId, slot: Slot) -> Option<Reading<'_>> {
        let readers = self.of(lattice, slot)?;
        let one_more = |now: u32| (now < BOUND - 1).then(|| now + 1);
        let added = readers.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more);
        added.is_ok().then_some(Reading(readers))
    }

    /// Whether a slot could be bound now.
    pub(crate) fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        let readers = self.of(lattice, slot);
        readers.is_some_and(|readers| readers.load(Ordering::Relaxed) == 0)
    }
}

/// Counts a reader until dropped, also by a panic.
pub(crate) struct Reading<'a>(&'a AtomicU32);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}
