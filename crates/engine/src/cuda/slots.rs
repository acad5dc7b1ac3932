//! Host memory that downloads are copied to: page-locked, or pageable for comparison.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::context::OwnedContext;
use super::memory::HostWords;
use crate::{EngineError, HostMemory, LatticeId, Result, Slot, Slots, SlotsSpec};

/// A slot's lock holds the number of readers, or this value while a download is pending.
const BOUND: u32 = u32::MAX;

/// The slots of all lattices. Each slot of a group of lattices is one allocation.
pub(super) struct CudaSlots {
    spec: SlotsSpec,
    lattices: Vec<LatticeSlots>,
    locks: Vec<AtomicU32>,
    _regions: Vec<HostWords>,
}

/// Addresses of one lattice's slots: the base of each slot's allocation, and the lattice's index in
/// it.
#[derive(Clone)]
struct LatticeSlots {
    bases: Arc<[*mut u32]>,
    index: usize,
    /// Words of the whole lattice.
    words: usize,
}

/// Number and size of a group's lattices, for [`CudaSlots::allocate`].
pub(super) struct GroupShape {
    pub(super) context: Arc<OwnedContext>,
    pub(super) count: usize,
    pub(super) words: usize,
}

// SAFETY: the addresses are of host memory that lives as long as the struct; who may touch which
// slot when is decided by `locks`.
unsafe impl Send for CudaSlots {}
// SAFETY: as above.
unsafe impl Sync for CudaSlots {}

impl CudaSlots {
    /// Allocates the slots of all groups.
    pub(super) fn allocate(spec: SlotsSpec, groups: &[GroupShape]) -> Result<CudaSlots> {
        let mut regions = Vec::new();
        let mut lattices = Vec::new();
        for group in groups {
            group.context.make_current()?;
            let mut bases = Vec::new();
            for slot in 0..spec.count() {
                let words = spec.words(Slot(slot), group.words);
                let kind = if spec.is_pageable(Slot(slot)) {
                    HostMemory::Pageable
                } else {
                    HostMemory::Pinned
                };
                let words = words.max(1) * group.count;
                let what = || format!("a host slot for {} lattices", group.count);
                let region = HostWords::new(&group.context, words, kind, what)?;
                bases.push(region.at());
                regions.push(region);
            }
            let bases: Arc<[*mut u32]> = bases.into();
            let words = group.words;
            lattices.extend((0..group.count).map(|index| LatticeSlots {
                bases: bases.clone(),
                index,
                words,
            }));
        }
        let per_lattice = usize::from(spec.count());
        let locks = (0..lattices.len() * per_lattice)
            .map(|_| AtomicU32::new(0))
            .collect();
        Ok(CudaSlots {
            spec,
            lattices,
            locks,
            _regions: regions,
        })
    }

    fn words(&self, slots: &LatticeSlots, slot: Slot) -> usize {
        self.spec.words(slot, slots.words)
    }

    /// The address of a slot. Panics for an unknown slot.
    pub(super) fn address(&self, lattice: LatticeId, slot: Slot) -> *mut u32 {
        let slots = &self.lattices[lattice.index()];
        let base = slots.bases[usize::from(slot.0)];
        base.wrapping_add(slots.index * self.words(slots, slot))
    }

    /// Words from a lattice's slot to the same slot of the next lattice in its group.
    pub(super) fn pitch(&self, lattice: LatticeId, slot: Slot) -> usize {
        let slots = self.lattices.get(lattice.index());
        slots.map_or(0, |slots| self.words(slots, slot))
    }

    fn lock(&self, lattice: LatticeId, slot: Slot) -> Option<&AtomicU32> {
        let per_lattice = usize::from(self.spec.count());
        (usize::from(slot.0) < per_lattice).then(|| {
            self.locks
                .get(lattice.index() * per_lattice + usize::from(slot.0))
        })?
    }

    /// Reserves a slot for a download. Errors if it is being read or already reserved.
    pub(super) fn bind(&self, lattice: LatticeId, slot: Slot) -> Result<()> {
        let busy = || EngineError::SlotBusy(lattice, slot);
        let lock = self.lock(lattice, slot).ok_or_else(busy)?;
        lock.compare_exchange(0, BOUND, Ordering::Acquire, Ordering::Relaxed)
            .map(|_| ())
            .map_err(|_| busy())
    }

    /// Makes a slot readable again, once its download is complete or was never issued.
    pub(super) fn unbind(&self, lattice: LatticeId, slot: Slot) {
        if let Some(lock) = self.lock(lattice, slot) {
            lock.store(0, Ordering::Release);
        }
    }
}

impl Slots for CudaSlots {
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool {
        let Some(lock) = self.lock(lattice, slot) else {
            return false;
        };
        let join = |now: u32| (now < BOUND - 1).then_some(now + 1);
        if lock
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, join)
            .is_err()
        {
            return false;
        }
        let slots = &self.lattices[lattice.index()];
        let words = self.words(slots, slot);
        let at = slots.bases[usize::from(slot.0)].wrapping_add(slots.index * words);
        let _reading = Reading(lock);
        // SAFETY: the region holds `words` words from `at` and lives as long as `self`; nothing
        // writes them, because `lock` counts us as a reader and `bind` needs it to be 0.
        visit(unsafe { std::slice::from_raw_parts(at, words) });
        true
    }

    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        self.lock(lattice, slot)
            .is_some_and(|lock| lock.load(Ordering::Relaxed) == 0)
    }
}

/// Counts a reader of a slot until dropped, also by a panic.
struct Reading<'a>(&'a AtomicU32);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}
