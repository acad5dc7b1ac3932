//! Host slots: downloads fill them, and any thread reads pictures from them.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{PoisonError, RwLock};

use super::memory;
use crate::{EngineError, LatticeId, Measure, MemoryUse, Result, Slot, Slots, SlotsSpec};

/// The slots of all lattices.
pub(super) struct CpuSlots {
    lattices: Vec<Vec<HostSlot>>,
}

struct HostSlot {
    /// Number of readers; [`BOUND`] while a download is pending.
    readers: AtomicI32,
    /// Never contended: only the download uses it while the slot is bound, and only readers
    /// otherwise.
    words: RwLock<Vec<u32>>,
}

const BOUND: i32 = -1;

impl CpuSlots {
    /// Allocates slots for lattices of these sizes in words.
    pub(super) fn new(spec: SlotsSpec, lattice_words: &[usize]) -> Result<CpuSlots> {
        let kinds = |whole: usize| {
            let picture = (spec.pictures(), spec.picture_words);
            let measures = (spec.measures, Measure::WORDS);
            [picture, (spec.snapshots, whole), measures]
        };
        let words = lattice_words.iter().flat_map(|&whole| kinds(whole));
        let all = words.fold(0, |sum: usize, (count, words)| {
            sum.saturating_add(words.saturating_mul(count.into()))
        });
        let what = MemoryUse::Slot(lattice_words.len());
        memory::ensure(memory::bytes_of::<u32>(all), what)?;
        let slot = |length| {
            let words = RwLock::new(memory::zeroed(length, what)?);
            Ok(HostSlot {
                readers: AtomicI32::new(0),
                words,
            })
        };
        let lattice = |&whole: &usize| {
            let counts = kinds(whole).into_iter();
            counts
                .flat_map(|(count, words)| (0..count).map(move |_| slot(words)))
                .collect()
        };
        Ok(CpuSlots {
            lattices: lattice_words.iter().map(lattice).collect::<Result<_>>()?,
        })
    }

    /// Reserves a slot for a download. Errors if it is being read or already reserved.
    pub(super) fn bind(&self, lattice: LatticeId, slot: Slot) -> Result<()> {
        let free = self.slot(lattice, slot).is_some_and(|slot| {
            let bound =
                slot.readers
                    .compare_exchange(0, BOUND, Ordering::Acquire, Ordering::Relaxed);
            bound.is_ok()
        });
        if free {
            Ok(())
        } else {
            Err(EngineError::SlotBusy(lattice, slot))
        }
    }

    /// Makes a reserved slot readable again.
    pub(super) fn release(&self, lattice: LatticeId, slot: Slot) {
        if let Some(slot) = self.slot(lattice, slot) {
            slot.readers.store(0, Ordering::Release);
        }
    }

    /// Fills a reserved slot and makes it readable.
    pub(super) fn land(&self, lattice: LatticeId, slot: Slot, fill: impl FnOnce(&mut [u32])) {
        if let Some(slot) = self.slot(lattice, slot) {
            fill(&mut slot.words.write().unwrap_or_else(PoisonError::into_inner));
        }
        self.release(lattice, slot);
    }

    fn slot(&self, lattice: LatticeId, slot: Slot) -> Option<&HostSlot> {
        self.lattices.get(lattice.index())?.get(slot.0 as usize)
    }
}

impl Slots for CpuSlots {
    fn read(&self, lattice: LatticeId, slot: Slot, visit: &mut dyn FnMut(&[u32])) -> bool {
        let Some(slot) = self.slot(lattice, slot) else {
            return false;
        };
        let one_more = |readers| (readers != BOUND).then_some(readers + 1);
        if slot
            .readers
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more)
            .is_err()
        {
            return false;
        }
        let _reading = Reading(slot);
        visit(&slot.words.read().unwrap_or_else(PoisonError::into_inner));
        true
    }

    fn is_free(&self, lattice: LatticeId, slot: Slot) -> bool {
        self.slot(lattice, slot)
            .is_some_and(|slot| slot.readers.load(Ordering::Relaxed) == 0)
    }
}

/// Counts a reader until dropped, also by a panic.
struct Reading<'a>(&'a HostSlot);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATTICE: LatticeId = LatticeId(1);

    fn slots() -> CpuSlots {
        let spec = SlotsSpec {
            pinned: 1,
            pageable: 1,
            picture_words: 3,
            snapshots: 1,
            measures: 0,
        };
        CpuSlots::new(spec, &[5, 7]).unwrap()
    }

    #[test]
    fn pictures_come_first_and_snapshots_are_whole() {
        let words = |slot| {
            let mut words = None;
            slots().read(LATTICE, Slot(slot), &mut |slot| words = Some(slot.len()));
            words
        };
        assert_eq!([0, 1, 2, 3].map(words), [Some(3), Some(3), Some(7), None]);
    }

    #[test]
    fn a_slot_is_read_or_bound_but_not_both() {
        let slots = slots();
        slots.bind(LATTICE, Slot(0)).unwrap();
        assert_eq!(
            slots.bind(LATTICE, Slot(0)),
            Err(EngineError::SlotBusy(LATTICE, Slot(0)))
        );
        assert!(!slots.read(LATTICE, Slot(0), &mut |_| panic!("read while bound")));
        assert!(!slots.is_free(LATTICE, Slot(0)));
        slots.land(LATTICE, Slot(0), |words| words.fill(9));
        assert!(slots.read(LATTICE, Slot(0), &mut |words| {
            assert_eq!(words, [9, 9, 9]);
            assert!(slots.bind(LATTICE, Slot(0)).is_err(), "it is being read");
            slots.bind(LATTICE, Slot(1)).unwrap();
        }));
        assert!(slots.is_free(LATTICE, Slot(0)));
    }

    #[test]
    fn slots_that_cannot_be_are_refused() {
        let spec = SlotsSpec {
            pinned: 255,
            pageable: 0,
            picture_words: 1 << 50,
            snapshots: 0,
            measures: 0,
        };
        let error = CpuSlots::new(spec, &[1]).err().unwrap();
        assert!(matches!(error, EngineError::OutOfMemory { .. }), "{error}");
    }
}
