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
    /// Of each lattice its group, and its index there.
    lattices: Vec<(usize, usize)>,
    pub(super) locks: SlotLocks,
}

/// The memory of a group's slots.
struct GroupSlots {
    shape: GroupShape,
    regions: Vec<OnceLock<HostWords>>,
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
            lattices.extend((0..shape.count).map(|index| (group, index)));
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
            let group = &self.groups[self.lattices[lattice.index()].0];
            self.allocate_slot(group, slot)?;
        }
        Ok(())
    }

    /// The address of a lattice's slot, and the words from there to the same slot of the next lattice in
    /// its group; `None` if it is not allocated.
    pub(super) fn place(&self, lattice: LatticeId, slot: Slot) -> Option<(*mut u32, usize)> {
        let (group, index) = *self.lattices.get(lattice.index())?;
        let GroupSlots { shape, regions } = &self.groups[group];
        let region = regions.get(usize::from(slot.0))?.get()?;
        let words = self.spec.words(slot, shape.words);
        Some((region.at().wrapping_add(index * words), words))
    }
}

impl Slots for CudaSlots {
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool {
        let Some(_reading) = self.locks.read(lattice, slot) else {
            return false;
        };
        let Some((at, words)) = self.place(lattice, slot) else {
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
