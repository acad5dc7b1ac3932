//! Host slots: downloads fill them, and any thread reads pictures from them.

use parking_lot::RwLock;

use super::memory;
use crate::slot_locks::SlotLocks;
use crate::{LatticeId, MemoryUse, Result, Slot, Slots, SlotsSpec};

/// The slots of all lattices.
pub(super) struct CpuSlots {
    /// The words of every lattice's slots. Never contended: only the download uses a slot while it is
    /// bound, and only readers otherwise.
    lattices: Vec<Vec<RwLock<Vec<u32>>>>,
    pub(super) locks: SlotLocks,
}

impl CpuSlots {
    /// Allocates slots for lattices of these sizes in words.
    pub(super) fn new(spec: SlotsSpec, lattice_words: &[usize]) -> Result<CpuSlots> {
        let words = |&whole: &usize| {
            let slots = (0..spec.count()).map(Slot);
            slots.map(move |slot| spec.words(slot, whole))
        };
        let all = lattice_words.iter().flat_map(words);
        let what = MemoryUse::Slot(lattice_words.len());
        let sum = all.fold(0, usize::saturating_add);
        memory::ensure(memory::bytes_of::<u32>(sum), what)?;
        let slot = |length| Ok(RwLock::new(memory::zeroed(length, what)?));
        let lattice = |whole| words(whole).map(slot).collect();
        Ok(CpuSlots {
            lattices: lattice_words.iter().map(lattice).collect::<Result<_>>()?,
            locks: SlotLocks::new(lattice_words.len(), spec.count()),
        })
    }

    /// Fills a bound slot and makes it readable.
    pub(super) fn land(&self, lattice: LatticeId, slot: Slot, fill: impl FnOnce(&mut [u32])) {
        if let Some(words) = self.slot(lattice, slot) {
            fill(&mut words.write());
        }
        self.locks.unbind_all([(lattice, slot)].into_iter());
    }

    fn slot(&self, lattice: LatticeId, slot: Slot) -> Option<&RwLock<Vec<u32>>> {
        self.lattices.get(lattice.index())?.get(slot.0 as usize)
    }
}

impl Slots for CpuSlots {
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool {
        let (Some(_reading), Some(words)) =
            (self.locks.read(lattice, slot), self.slot(lattice, slot))
        else {
            return false;
        };
        visit(&words.read());
        true
    }

    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        self.locks.is_free(lattice, slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineError;

    const LATTICE: LatticeId = LatticeId(1);

    #[test]
    fn a_slot_is_read_or_bound_but_not_both() {
        let spec = SlotsSpec {
            pinned: 2,
            picture_words: 3,
            ..SlotsSpec::default()
        };
        let slots = CpuSlots::new(spec, &[5, 7]).unwrap();
        let bind = |slot| slots.locks.bind_all([(LATTICE, Slot(slot))].into_iter());
        bind(0).unwrap();
        assert_eq!(bind(0), Err(EngineError::SlotBusy(LATTICE, Slot(0))));
        assert!(!slots.read(LATTICE, Slot(0), &mut |_| panic!("read while bound")));
        assert!(!slots.is_free(LATTICE, Slot(0)));
        slots.land(LATTICE, Slot(0), |words| words.fill(9));
        assert!(slots.read(LATTICE, Slot(0), &mut |words| {
            assert_eq!(words, [9, 9, 9]);
            assert!(bind(0).is_err(), "it is being read");
            bind(1).unwrap();
        }));
        assert!(slots.is_free(LATTICE, Slot(0)));
    }
}
