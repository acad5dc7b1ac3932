//! Host memory that downloads are copied to: page-locked, or pageable for comparison.

use std::sync::{Arc, OnceLock};

use super::context::OwnedContext;
use super::memory::HostWords;
use crate::slot_locks::SlotLocks;
use crate::{HostMemory, LatticeId, MemoryUse, Result, Slot, Slots, SlotsSpec};

/// The slots of all lattices. Each slot of a group of lattices is one allocation. Slots for whole
/// lattices are allocated when they are first needed: to lock the pages of gigabytes takes seconds.
pub(super) struct CudaSlots {
    spec: SlotsSpec,
    groups: Vec<GroupSlots>,
    lattices: Vec<LatticeSlots>,
    pub(super) locks: SlotLocks,
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
        let locks = SlotLocks::new(lattices.len(), spec.count());
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
}

impl Slots for CudaSlots {
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool {
        let Some(_reading) = self.locks.read(lattice, slot) else {
            return false;
        };
        let words = self.words(&self.lattices[lattice.index()], slot);
        let Some(at) = self.address(lattice, slot) else {
            return false;
        };
        // SAFETY: the region holds `words` words from `at` and lives as long as `self`; nothing
        // writes them, because `locks` counts us as a reader and binds no slot that has one.
        visit(unsafe { std::slice::from_raw_parts(at, words) });
        true
    }

    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        self.locks.is_free(lattice, slot)
    }
}
