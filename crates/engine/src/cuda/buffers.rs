//! Buffers on a device or on the host.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

use cust::device::Device;
use cust::sys;
use cust::sys::CUmem_advise_enum::*;

use super::context::{self, OwnedContext};
use super::driver::check;
use super::memory::{DeviceWords, HostWords};
use crate::error::invalid;
use crate::{
    Advice, BufferId, BufferLocation, BufferOffset, HostFunction, MemoryUse, PageLocation, Result,
};

/// A device or host buffer.
pub(super) struct Buffer {
    pub(super) gpu: usize,
    pub(super) context: Arc<OwnedContext>,
    bytes: usize,
    memory: Memory,
}

enum Memory {
    Device(DeviceWords),
    /// At an address of its own, where host functions find it.
    Host(Box<HostWords>),
    Managed(DeviceWords),
    /// Words while it is allocated.
    Pool(RefCell<Option<DeviceWords>>),
}

/// Where a part of a buffer is.
pub(super) enum Address {
    Device(sys::CUdeviceptr),
    Host(*mut c_void),
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
            BufferLocation::Managed => Memory::Managed(DeviceWords::managed(context, words)?),
            BufferLocation::Pool => Memory::Pool(RefCell::default()),
        };
        let context = context.clone();
        Ok(Buffer {
            gpu,
            context,
            bytes,
            memory,
        })
    }

    /// The address of a part of it. Errors if it is not allocated.
    pub(super) fn address(&self, part: BufferOffset) -> Result<Address> {
        let at = match &self.memory {
            Memory::Host(words) => {
                let at = words.at().wrapping_byte_add(part.offset);
                return Ok(Address::Host(at.cast()));
            }
            Memory::Device(words) | Memory::Managed(words) => words.at(),
            Memory::Pool(words) => match &*words.borrow() {
                Some(words) => words.at(),
                None => {
                    return Err(invalid(format!(
                        "{:?} is not allocated in this stream",
                        part.buffer
                    )));
                }
            },
        };
        Ok(Address::Device(at + part.offset as u64))
    }

    pub(super) fn is_pooled(&self) -> bool {
        matches!(self.memory, Memory::Pool(_))
    }

    /// Allocates a buffer of a pool in the order of a stream, whose context must be current.
    pub(super) fn allocate(&self, stream: sys::CUstream) -> Result<()> {
        if let Memory::Pool(words) = &self.memory {
            words.replace(Some(DeviceWords::from_pool(
                &self.context,
                self.bytes / 4,
                stream,
            )?));
        }
        Ok(())
    }

    /// Frees a buffer of a pool in the order of a stream.
    pub(super) fn free(&self, stream: sys::CUstream) -> Result<()> {
        match &self.memory {
            Memory::Pool(words) => words.take().map_or(Ok(()), |words| words.free_in(stream)),
            Memory::Device(_) | Memory::Host(_) | Memory::Managed(_) => Ok(()),
        }
    }

    /// Advises the driver how unified memory will be used.
    pub(super) fn advise(&self, advice: Advice, device: Device) -> Result<()> {
        let (advice, side) = match advice {
            Advice::ReadMostly => (CU_MEM_ADVISE_SET_READ_MOSTLY, PageLocation::Device),
            Advice::Preferred(side) => (CU_MEM_ADVISE_SET_PREFERRED_LOCATION, side),
        };
        let Memory::Managed(words) = &self.memory else {
            return Err(invalid("advise cannot be done here"));
        };
        // SAFETY: the allocation has `bytes` bytes.
        check("cuMemAdvise", unsafe {
            sys::cuMemAdvise(words.at(), self.bytes, advice, number(side, device))
        })
    }

    /// Moves unified memory in the order of a stream.
    pub(super) fn prefetch(
        &self,
        to: PageLocation,
        device: Device,
        stream: sys::CUstream,
    ) -> Result<()> {
        let Memory::Managed(words) = &self.memory else {
            return Err(invalid("prefetch cannot be done here"));
        };
        // SAFETY: the allocation has `bytes` bytes; the stream is alive.
        check("cuMemPrefetchAsync", unsafe {
            sys::cuMemPrefetchAsync(words.at(), self.bytes, number(to, device), stream)
        })
    }

    /// A function of the host as the driver calls it, and its argument: the buffer's words.
    pub(super) fn on_host(&self, function: HostFunction) -> Result<(sys::CUhostFn, *mut c_void)> {
        match (&self.memory, function) {
            (Memory::Host(words), HostFunction::Invert) => {
                Ok((Some(invert), (&raw const **words).cast_mut().cast()))
            }
            (Memory::Device(_) | Memory::Managed(_) | Memory::Pool(..), _) => {
                Err(invalid("a host function cannot be done here"))
            }
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
            Memory::Managed(words) => {
                // SAFETY: as above, and nothing runs on the device either.
                visit(unsafe { std::slice::from_raw_parts_mut(words.on_host(), self.bytes / 4) });
                return Ok(());
            }
            Memory::Device(words) => words,
            Memory::Pool(..) => return Err(invalid("a device cannot copy from host to host")),
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

/// A side as the functions for unified memory number it: -1 is the host.
fn number(side: PageLocation, device: Device) -> sys::CUdevice {
    match side {
        PageLocation::Device => device.as_raw(),
        PageLocation::Host => -1,
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
    found.ok_or_else(|| invalid(format!("there is no {id:?}")))
}
