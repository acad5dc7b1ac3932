//! The lessons' buffers, and the ops on them.
//!
//! All memory is the host's here, so device, page-locked and pageable buffers differ in what a
//! program may do with them, not in what they are. Their words are atomics: lessons race on
//! purpose, kernels that wait for each other share words, and no lock may stand between them.

use super::kernels::lessons;
use crate::check::SlotLocks;
use crate::error::{bail, known};
use crate::host_memory as memory;
use crate::{
    Argument, BufferId, BufferLaunch, BufferLocation, BufferOffset, BufferOp, LatticeId, MemoryOp,
    MemoryUse, Result, Slot, Slots, SlotsSpec,
};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// All buffers, shared with the workers; those given back leave their place empty.
#[derive(Default)]
pub(super) struct Buffers {
    all: RwLock<Vec<Option<Arc<Buffer>>>>,
}

struct Buffer {
    place: BufferLocation,
    bytes: usize,
    /// None while a buffer in a pool is not allocated.
    words: Vec<AtomicU32>,
}

impl Buffer {
    fn new(bytes: usize, place: BufferLocation, is_allocated: bool) -> Result<Arc<Buffer>> {
        let words = if is_allocated { bytes / 4 } else { 0 };
        Ok(Arc::new(Buffer {
            place,
            bytes,
            words: memory::zeroed(words, MemoryUse::Buffer)?,
        }))
    }
}

impl Buffers {
    /// Makes a buffer of zeros.
    pub(super) fn create(&self, bytes: usize, place: BufferLocation) -> Result<()> {
        memory::ensure(bytes as u64, MemoryUse::Buffer)?;
        let buffer = Buffer::new(bytes, place, place != BufferLocation::Pool)?;
        self.all.write().push(Some(buffer));
        Ok(())
    }

    /// Allocates or frees the memory of a buffer in a pool.
    fn allocate(&self, id: BufferId, is_allocated: bool) -> Result<()> {
        let buffer = self.get(id)?;
        let changed = Buffer::new(buffer.bytes, buffer.place, is_allocated)?;
        let mut all = self.all.write();
        all[id.0 as usize] = Some(changed);
        Ok(())
    }

    /// Drops all buffers. Nothing may be running.
    pub(super) fn clear(&self) {
        let mut all = self.all.write();
        all.fill(None);
    }

    /// Calls `visit` with a host buffer's words. Nothing may be running.
    pub(super) fn access(&self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        let buffer = self.get(buffer)?;
        if matches!(buffer.place, BufferLocation::Device | BufferLocation::Pool) {
            bail!("a device cannot copy from host to host");
        }
        let mut words: Vec<u32> = memory::zeroed(buffer.words.len(), MemoryUse::Buffer)?;
        for (to, from) in words.iter_mut().zip(&buffer.words) {
            *to = from.load(Ordering::Relaxed);
        }
        visit(&mut words);
        for (to, from) in buffer.words.iter().zip(words) {
            to.store(from, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Runs a validated op.
    pub(super) fn execute(&self, op: &BufferOp, stop: &AtomicBool) -> Result<()> {
        match op {
            BufferOp::Copy { from, to, bytes } => {
                let (from, to) = (self.at(*from)?, self.at(*to)?);
                for (to, from) in to.rest().iter().zip(from.rest()).take(bytes / 4) {
                    to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                }
                Ok(())
            }
            BufferOp::Launch(call) => self.call(call, stop),
            BufferOp::HostFunction(buffer) => {
                for word in &self.get(*buffer)?.words {
                    word.store(!word.load(Ordering::Relaxed), Ordering::Relaxed);
                }
                Ok(())
            }
            BufferOp::Memory(MemoryOp::Allocate(buffer)) => self.allocate(*buffer, true),
            BufferOp::Memory(MemoryOp::Free(buffer)) => self.allocate(*buffer, false),
            BufferOp::Memory(_) => Ok(()), // hints that change nothing here
        }
    }

    /// Runs the CPU version of a call's kernel.
    fn call(&self, call: &BufferLaunch, stop: &AtomicBool) -> Result<()> {
        let regions = call.arguments.iter().filter_map(|argument| match argument {
            Argument::Buffer(region) => Some(self.at(*region)),
            _ => None,
        });
        let places: Vec<At> = regions.collect::<Result<_>>()?;
        let buffers: Vec<_> = places.iter().map(At::rest).collect();
        lessons::run(call, &buffers, stop)
    }

    fn get(&self, buffer: BufferId) -> Result<Arc<Buffer>> {
        let all = self.all.read();
        known(all.get(buffer.0 as usize).cloned().flatten(), buffer)
    }

    fn at(&self, region: BufferOffset) -> Result<At> {
        let buffer = self.get(region.buffer)?;
        let first = region.offset / 4;
        Ok(At { buffer, first })
    }
}

/// A position in a buffer.
struct At {
    buffer: Arc<Buffer>,
    first: usize,
}

impl At {
    /// The words from here to the end.
    fn rest(&self) -> &[AtomicU32] {
        &self.buffer.words[self.first..]
    }
}

// Host slots: downloads fill them, and any thread reads pictures from them.

/// The slots of all lattices.
#[derive(Default)]
pub(super) struct CpuSlots {
    /// The words of every lattice's slots. Never contended: only the download uses a slot while it is
    /// bound, and only readers otherwise.
    lattices: Vec<Vec<RwLock<Vec<u32>>>>,
    pub locks: SlotLocks,
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
