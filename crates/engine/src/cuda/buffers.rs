//! Buffers on a device or on the host.

use std::sync::Arc;

use cust::sys;

use super::context::{self, OwnedContext};
use super::driver::check;
use super::memory::{DeviceWords, HostWords};
use crate::{BufferId, BufferLocation, MemoryUse, ProgramError, Resource, Result};

/// A device or host buffer.
pub(super) struct Buffer {
    pub(super) gpu: usize,
    bytes: usize,
    pub(super) memory: Memory,
}

pub(super) enum Memory {
    Device(DeviceWords),
    Host(HostWords),
}

impl Buffer {
    /// Allocates a zeroed buffer in a GPU's context, which must be current.
    pub(super) fn new(
        gpu: usize,
        context: &Arc<OwnedContext>,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<Buffer> {
        let (words, what) = (bytes / 4, MemoryUse::Buffer);
        let memory = match place {
            BufferLocation::Device => Memory::Device(DeviceWords::zeroed(context, words, what)?),
            BufferLocation::Host(kind) => Memory::Host(HostWords::new(context, words, kind, what)?),
        };
        Ok(Buffer { gpu, bytes, memory })
    }

    /// Calls `visit` with its words. Nothing else may be using them.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        let words = match &self.memory {
            Memory::Host(words) => {
                // SAFETY: the allocation has that many initialised words; nothing runs, and this is
                // the only place that makes a reference to them.
                visit(unsafe { std::slice::from_raw_parts_mut(words.at(), words.words()) });
                return Ok(());
            }
            Memory::Device(words) => words,
        };
        let mut copy = vec![0u32; self.bytes / 4];
        // SAFETY: both have `bytes` bytes; the call waits for the copy.
        check("cuMemcpyDtoH", unsafe {
            sys::cuMemcpyDtoH_v2(copy.as_mut_ptr().cast(), words.at(), self.bytes)
        })?;
        visit(&mut copy);
        // SAFETY: both have `bytes` bytes; the driver has read `copy` when the call returns.
        check("cuMemcpyHtoD", unsafe {
            sys::cuMemcpyHtoD_v2(words.at(), copy.as_ptr().cast(), self.bytes)
        })?;
        context::synchronize() // other streams do not wait for the default stream
    }
}

pub(super) fn find(buffers: &[Option<Buffer>], id: BufferId) -> Result<&Buffer> {
    let found = buffers.get(id.0 as usize).and_then(Option::as_ref);
    found.ok_or_else(|| ProgramError::Unknown(Resource::Buffer(id)).into())
}
