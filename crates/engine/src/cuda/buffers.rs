//! Buffers on a device or on the host.

use std::ffi::c_void;
use std::sync::Arc;

use cust::sys;

use super::context::{self, OwnedContext};
use super::driver::check;
use super::memory::{DeviceWords, HostWords};
use crate::{BufferId, BufferLocation, HostFunction, MemoryUse, ProgramError, Resource, Result};

/// A device or host buffer.
pub(super) struct Buffer {
    pub(super) gpu: usize,
    bytes: usize,
    pub(super) memory: Memory,
}

pub(super) enum Memory {
    Device(DeviceWords),
    /// At an address of its own, where host functions find it.
    Host(Box<HostWords>),
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
            BufferLocation::Host(kind) => {
                Memory::Host(Box::new(HostWords::new(context, words, kind, what)?))
            }
        };
        Ok(Buffer { gpu, bytes, memory })
    }

    /// A function of the host as the driver calls it, and its argument: the buffer's words.
    pub(super) fn on_host(&self, function: HostFunction) -> Result<(sys::CUhostFn, *mut c_void)> {
        match (&self.memory, function) {
            (Memory::Host(words), HostFunction::Invert) => {
                Ok((Some(invert), (&raw const **words).cast_mut().cast()))
            }
            (Memory::Device(_), _) => Err(ProgramError::WrongOp("a host function").into()),
        }
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

/// [`HostFunction::Invert`] on the [`HostWords`] at this address.
unsafe extern "C" fn invert(words: *mut c_void) {
    // SAFETY: `Buffer::on_host` passed the words, and buffers are dropped only when nothing runs. The
    // order of the stream keeps other work away.
    let words = unsafe {
        let words: &HostWords = &*words.cast();
        std::slice::from_raw_parts_mut(words.at(), words.words())
    };
    for word in words {
        *word = HostFunction::Invert.apply(*word);
    }
}

pub(super) fn find(buffers: &[Option<Buffer>], id: BufferId) -> Result<&Buffer> {
    let found = buffers.get(id.0 as usize).and_then(Option::as_ref);
    found.ok_or_else(|| ProgramError::Unknown(Resource::Buffer(id)).into())
}
