//! Host memory that downloads are copied to: page-locked, or pageable for comparison.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::context::OwnedContext;
use super::memory::HostWords;
use crate::{EngineError, HostMemory, LatticeId, MemoryUse, Result, Slot, Slots, SlotsSpec};

/// A slot's lock holds the number of readers, or this value while a download is pending.
const BOUND: u32 = u32::MAX;

/// The slots of all lattices. Each slot of a group of lattices is one allocation. Slots for whole
/// lattices are allocated when they are first needed: to lock the pages of gigabytes takes seconds.
pub(super) struct CudaSlots {
    spec: SlotsSpec,
    groups: Vec<GroupSlots>,
    lattices: Vec<LatticeSlots>,
    locks: Vec<AtomicU32>,
}

/// The memory of a group's slots.
struct GroupSlots {
    shape: GroupShape,
    regions: Vec<OnceLock<HostWords>>,
}

/// Where one lattice's slots are: its group, and its index there.
struct LatticeSlots {
    group: usize,
    index: usize,
}

/// Number and size of a group's lattices, for [`CudaSlots::allocate`].
#[derive(Clone)]
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
        let mut lattices = Vec::new();
        for (group, shape) in groups.iter().enumerate() {
            let of_group = (0..shape.count).map(|index| LatticeSlots { group, index });
            lattices.extend(of_group);
        }
        let group = |shape: &GroupShape| GroupSlots {
            shape: shape.clone(),
            regions: (0..spec.count()).map(|_| OnceLock::new()).collect(),
        };
        let per_lattice = usize::from(spec.count());
        let locks = (0..lattices.len() * per_lattice)
            .map(|_| AtomicU32::new(0))
            .collect();
        let slots = CudaSlots {
            spec,
            groups: groups.iter().map(group).collect(),
            lattices,
            locks,
        };
        for group in &slots.groups {
            let at_once = (0..spec.count()).map(Slot);
            for slot in at_once.filter(|slot| !spec.is_whole(*slot)) {
                slots.allocate_slot(group, slot)?;
            }
        }
        Ok(slots)
    }

    /// Allocates a slot of a group, unless it already is.
    fn allocate_slot(&self, group: &GroupSlots, slot: Slot) -> Result<()> {
        let (shape, region) = (&group.shape, &group.regions[usize::from(slot.0)]);
        if region.get().is_some() {
            return Ok(());
        }
        let words = self.spec.words(slot, shape.words).max(1) * shape.count;
        let what = MemoryUse::Slot(shape.count);
        shape.context.make_current()?;
        let allocated = if self.spec.is_pageable(slot) {
            HostWords::new(&shape.context, words, HostMemory::Pageable, what)?
        } else if self.spec.is_whole(slot) {
            HostWords::unzeroed(&shape.context, words, what)?
        } else {
            HostWords::new(&shape.context, words, HostMemory::Pinned, what)?
        };
        // Only the thread that owns the engine allocates.
        let _ = region.set(allocated);
        Ok(())
    }

    /// Allocates the slots that downloads need and that are not yet allocated.
    pub(super) fn allocate_for(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)>,
    ) -> Result<()> {
        for (lattice, slot) in downloads {
            let group = &self.groups[self.lattices[lattice.index()].group];
            self.allocate_slot(group, slot)?;
        }
        Ok(())
    }

    fn words(&self, slots: &LatticeSlots, slot: Slot) -> usize {
        self.spec.words(slot, self.groups[slots.group].shape.words)
    }

    /// The address of a slot, or `None` if it is not allocated. Panics for an unknown slot.
    pub(super) fn address(&self, lattice: LatticeId, slot: Slot) -> Option<*mut u32> {
        let slots = &self.lattices[lattice.index()];
        let region = self.groups[slots.group].regions[usize::from(slot.0)].get()?;
        Some(
            region
                .at()
                .wrapping_add(slots.index * self.words(slots, slot)),
        )
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

    /// Binds all these slots to downloads, or none if one is busy.
    pub(super) fn bind_all(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone,
    ) -> Result<()> {
        for (bound, (lattice, slot)) in downloads.clone().enumerate() {
            if let Err(busy) = self.bind(lattice, slot) {
                self.unbind_all(downloads.take(bound));
                return Err(busy);
            }
        }
        Ok(())
    }

    /// Returns slots once nothing will be written to them.
    pub(super) fn unbind_all(&self, downloads: impl Iterator<Item = (LatticeId, Slot)>) {
        downloads.for_each(|(lattice, slot)| self.unbind(lattice, slot));
    }

    /// Reserves a slot for a download. Errors if it is being read or already reserved.
    fn bind(&self, lattice: LatticeId, slot: Slot) -> Result<()> {
        let busy = || EngineError::SlotBusy(lattice, slot);
        let lock = self.lock(lattice, slot).ok_or_else(busy)?;
        lock.compare_exchange(0, BOUND, Ordering::Acquire, Ordering::Relaxed)
            .map(|_| ())
            .map_err(|_| busy())
    }

    /// Makes a slot readable again, once its download is complete or was never issued.
    fn unbind(&self, lattice: LatticeId, slot: Slot) {
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
        let _reading = Reading(lock);
        let words = self.words(&self.lattices[lattice.index()], slot);
        let Some(at) = self.address(lattice, slot) else {
            return false;
        };
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
