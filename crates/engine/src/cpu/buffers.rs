//! The lessons' buffers, and the ops on them.
//!
//! All memory is the host's here, so device, page-locked and pageable buffers differ in what a
//! program may do with them, not in what they are. Their words are atomics: lessons race on
//! purpose, kernels that wait for each other share words, and no lock may stand between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::RwLock;

use super::kernels::lessons;
use super::memory;
use crate::error::{bail, known};
use crate::{
    Argument, BufferId, BufferLaunch, BufferLocation, BufferOffset, BufferOp, MemoryOp, MemoryUse,
    Result,
};

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
    pub(super) fn create(&self, bytes: usize, place: BufferLocation) -> Result<BufferId> {
        memory::ensure(bytes as u64, MemoryUse::Buffer)?;
        let buffer = Buffer::new(bytes, place, place != BufferLocation::Pool)?;
        let mut all = self.all.write();
        all.push(Some(buffer));
        Ok(BufferId(all.len() as u32 - 1))
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
