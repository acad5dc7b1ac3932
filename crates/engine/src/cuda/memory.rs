//! Memory: host memory for copies, device memory, buffers, and host slots.

use super::driver::{self, OwnedContext, check};
use crate::check::SlotLocks;
use crate::error::{bail, invalid, known};
use crate::host_memory::zeroed;
use crate::{
    BufferId, BufferLocation, BufferOffset, EngineError, HostMemory, LatticeId, MemoryUse,
    PageLocation, Result, Slot, Slots, SlotsSpec,
};
use cust::device::Device;
use cust::sys::CUmem_advise_enum::*;
use cust::sys::{self, CUresult};
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

/// A host allocation. Its owner is responsible for synchronising access.
pub(super) struct HostWords {
    pub at: *mut u32,
    pub words: usize,
    /// The context that locked its pages; `None` for pageable memory.
    context: Option<Arc<OwnedContext>>,
}

impl HostWords {
    /// Allocates zeroed memory whose pages have been written once, so that no copy pays for page faults.
    /// The context must be current; `what` names the memory in an error.
    pub(super) fn new(
        context: &Arc<OwnedContext>,
        words: usize,
        kind: HostMemory,
        what: MemoryUse,
    ) -> Result<HostWords> {
        match kind {
            HostMemory::Pinned => {
                let memory = HostWords::unzeroed(context, words, what)?;
                // SAFETY: just allocated with this length.
                unsafe { std::ptr::write_bytes(memory.at, 0, words) };
                Ok(memory)
            }
            HostMemory::Pageable => {
                let zeros: Box<[u32]> = zeroed(words, what)?.into();
                Ok(HostWords {
                    at: Box::into_raw(zeros).cast(),
                    words,
                    context: None,
                })
            }
        }
    }

    /// Allocates page-locked memory that holds whatever it held before: to zero gigabytes takes
    /// seconds.
    fn unzeroed(context: &Arc<OwnedContext>, words: usize, what: MemoryUse) -> Result<HostWords> {
        let mut at = std::ptr::null_mut();
        let place = BufferLocation::Host(HostMemory::Pinned);
        // SAFETY: `at` is valid for the write; a context is current. 1 is CU_MEMHOSTALLOC_PORTABLE:
        // page-locked for every context.
        let code = unsafe { sys::cuMemHostAlloc(&mut at, words * 4, 1) };
        allocated("cuMemHostAlloc", code, place, words, what)?;
        Ok(HostWords {
            at: at.cast(),
            words,
            context: Some(context.clone()),
        })
    }
}

/// Errors if memory of `words` words could not be allocated.
fn allocated(
    call: &'static str,
    code: CUresult,
    place: BufferLocation,
    words: usize,
    what: MemoryUse,
) -> Result<()> {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(EngineError::OutOfMemory {
            place,
            what,
            needed_mib: (words as u64 * 4).div_ceil(1 << 20),
            fits: None,
        }),
        code => check(call, code),
    }
}

impl Drop for HostWords {
    fn drop(&mut self) {
        match &self.context {
            None => {
                let words = std::ptr::slice_from_raw_parts_mut(self.at, self.words);
                // SAFETY: it was a box of so many words, freed once.
                drop(unsafe { Box::from_raw(words) });
            }
            Some(context) => context.within(|| {
                // SAFETY: allocated by cuMemHostAlloc, freed once.
                unsafe { sys::cuMemFreeHost(self.at.cast()) };
            }),
        }
    }
}

/// A device allocation.
pub(super) struct DeviceWords {
    pub at: sys::CUdeviceptr,
    pub context: Arc<OwnedContext>,
}

impl DeviceWords {
    /// Allocates at least one word, to be written before it is read. The context must be current.
    pub(super) fn uninitialized(
        context: &Arc<OwnedContext>,
        words: usize,
        what: MemoryUse,
    ) -> Result<DeviceWords> {
        let mut at = 0;
        // SAFETY: `at` is valid for the write; a context is current.
        let code = unsafe { sys::cuMemAlloc_v2(&mut at, words * 4) };
        allocated("cuMemAlloc", code, BufferLocation::Device, words, what)?;
        let context = context.clone();
        Ok(DeviceWords { at, context })
    }

    /// Allocates zeroed memory. Waits for everything in the context.
    pub(super) fn zeroed(
        context: &Arc<OwnedContext>,
        words: usize,
        what: MemoryUse,
    ) -> Result<DeviceWords> {
        let memory = Self::uninitialized(context, words, what)?;
        // SAFETY: the allocation holds `words` words.
        check("cuMemsetD32", unsafe {
            sys::cuMemsetD32_v2(memory.at, 0, words)
        })?;
        // The memset runs in the default stream, which other streams do not wait for.
        driver::synchronize().map(|()| memory)
    }

    /// The address of one of its words.
    pub(super) fn word(&self, index: usize) -> sys::CUdeviceptr {
        self.at + 4 * index as u64
    }

    /// The host's address of unified memory, which is the same.
    fn on_host(&self) -> *mut u32 {
        std::ptr::with_exposed_provenance_mut(self.at as usize)
    }
}

impl Drop for DeviceWords {
    fn drop(&mut self) {
        self.context.within(|| {
            // SAFETY: allocated by cuMemAlloc, freed once; the driver waits for running work first.
            unsafe { sys::cuMemFree_v2(self.at) };
        });
    }
}

/// Device memory with a page-locked copy on the host, for block timestamps.
pub(super) struct MirroredWords {
    pub device: DeviceWords,
    pub host: HostWords,
}

/// A device or host buffer.
pub(super) struct Buffer {
    pub gpu: usize,
    pub context: Arc<OwnedContext>,
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
        let (words, what, context) = (bytes / 4, MemoryUse::Buffer, context.clone());
        let memory = match place {
            BufferLocation::Device => Memory::Device(DeviceWords::zeroed(&context, words, what)?),
            BufferLocation::Host(kind) => {
                Memory::Host(Box::new(HostWords::new(&context, words, kind, what)?))
            }
            BufferLocation::Managed => {
                let mut at = 0;
                // SAFETY: `at` is valid for the write; a context is current. 1 is
                // CU_MEM_ATTACH_GLOBAL.
                let code = unsafe { sys::cuMemAllocManaged(&mut at, bytes, 1) };
                allocated("cuMemAllocManaged", code, place, words, what)?;
                let context = context.clone();
                let memory = DeviceWords { at, context };
                // SAFETY: the host may write to unified memory that nothing uses yet.
                unsafe { std::ptr::write_bytes(memory.on_host(), 0, words) };
                Memory::Managed(memory)
            }
            BufferLocation::Pool => Memory::Pool(RefCell::default()),
        };
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
                let at = words.at.wrapping_byte_add(part.offset);
                return Ok(Address::Host(at.cast()));
            }
            Memory::Device(words) | Memory::Managed(words) => words.at,
            Memory::Pool(words) => match &*words.borrow() {
                Some(words) => words.at,
                None => {
                    bail!("{:?} is not allocated in this stream", part.buffer);
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
            let mut at = 0;
            // SAFETY: `at` is valid for the write; the stream is alive.
            let code = unsafe { sys::cuMemAllocAsync(&mut at, self.bytes, stream) };
            let (place, what) = (BufferLocation::Pool, MemoryUse::Buffer);
            allocated("cuMemAllocAsync", code, place, self.bytes / 4, what)?;
            let context = self.context.clone();
            words.replace(Some(DeviceWords { at, context }));
        }
        Ok(())
    }

    /// Frees a buffer of a pool in the order of a stream.
    pub(super) fn free(&self, stream: sys::CUstream) -> Result<()> {
        if let Memory::Pool(words) = &self.memory
            && let Some(mut words) = words.take()
        {
            let at = std::mem::take(&mut words.at);
            // SAFETY: allocated by cuMemAllocAsync, freed once: to free address 0 does nothing.
            check("cuMemFreeAsync", unsafe { sys::cuMemFreeAsync(at, stream) })?;
        }
        Ok(())
    }

    /// The address of unified memory.
    fn managed(&self) -> Result<sys::CUdeviceptr> {
        match &self.memory {
            Memory::Managed(words) => Ok(words.at),
            _ => Err(invalid!("this is no unified memory")),
        }
    }

    /// Advises the driver that unified memory is hardly written.
    pub(super) fn advise(&self, device: Device) -> Result<()> {
        let at = self.managed()?;
        // SAFETY: the allocation has `bytes` bytes.
        check("cuMemAdvise", unsafe {
            sys::cuMemAdvise(
                at,
                self.bytes,
                CU_MEM_ADVISE_SET_READ_MOSTLY,
                device.as_raw(),
            )
        })
    }

    /// Moves unified memory in the order of a stream.
    pub(super) fn prefetch(
        &self,
        to: PageLocation,
        device: Device,
        stream: sys::CUstream,
    ) -> Result<()> {
        let at = self.managed()?;
        let to = match to {
            PageLocation::Device => device.as_raw(),
            PageLocation::Host => -1, // as the driver numbers it
        };
        // SAFETY: the allocation has `bytes` bytes; the stream is alive.
        check("cuMemPrefetchAsync", unsafe {
            sys::cuMemPrefetchAsync(at, self.bytes, to, stream)
        })
    }

    /// Its words as the argument of [`invert`].
    pub(super) fn on_host(&self) -> Result<*mut c_void> {
        match &self.memory {
            Memory::Host(words) => Ok((&raw const **words).cast_mut().cast()),
            _ => Err(invalid!("a host function cannot be done here")),
        }
    }

    /// Calls `visit` with its words. Nothing else may be using them.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        let count = self.bytes / 4;
        let at = match &self.memory {
            Memory::Host(words) => words.at,
            Memory::Managed(words) => words.on_host(),
            Memory::Device(words) => {
                let mut copy = vec![0u32; count];
                // SAFETY: both have `bytes` bytes; the call waits for the copy.
                check("cuMemcpyDtoH", unsafe {
                    sys::cuMemcpyDtoH_v2(copy.as_mut_ptr().cast(), words.at, self.bytes)
                })?;
                visit(&mut copy);
                // SAFETY: both have `bytes` bytes; the driver has read `copy` when the call returns.
                check("cuMemcpyHtoD", unsafe {
                    sys::cuMemcpyHtoD_v2(words.at, copy.as_ptr().cast(), self.bytes)
                })?;
                return driver::synchronize(); // other streams do not wait for the default stream
            }
            Memory::Pool(..) => bail!("a device cannot copy from host to host"),
        };
        // SAFETY: the allocation has that many initialised words; nothing runs, on the device
        // either, and this is the only place that makes a reference to them.
        visit(unsafe { std::slice::from_raw_parts_mut(at, count) });
        Ok(())
    }
}

/// Inverts the [`HostWords`] at this address.
pub(super) unsafe extern "C" fn invert(words: *mut c_void) {
    // SAFETY: `Buffer::on_host` passed the words, and buffers are dropped only when nothing runs. The
    // order of the stream keeps other work away.
    let words = unsafe {
        let words: &HostWords = &*words.cast();
        std::slice::from_raw_parts_mut(words.at, words.words)
    };
    for word in words {
        *word = !*word;
    }
}

pub(super) fn find(buffers: &[Option<Buffer>], id: BufferId) -> Result<&Buffer> {
    known(buffers.get(id.0 as usize).and_then(Option::as_ref), id)
}

/// The slots of all lattices: host memory that downloads are copied to, page-locked, or pageable for
/// comparison. Each slot of a group of lattices is one allocation. Slots for whole lattices are allocated
/// when they are first needed: to lock the pages of gigabytes takes seconds.
#[derive(Default)]
pub(super) struct CudaSlots {
    spec: SlotsSpec,
    groups: Vec<GroupSlots>,
    /// Of each lattice its group, and its index there.
    lattices: Vec<(usize, usize)>,
    pub locks: SlotLocks,
}

/// The memory of a group's slots.
struct GroupSlots {
    context: Arc<OwnedContext>,
    /// The group's lattices, and the words of each.
    count: usize,
    lattice_words: usize,
    regions: Vec<OnceLock<HostWords>>,
}

// SAFETY: the addresses are of host memory that lives as long as the struct; who may touch which
// slot when is decided by `locks`.
unsafe impl Send for CudaSlots {}
// SAFETY: as above.
unsafe impl Sync for CudaSlots {}

impl CudaSlots {
    /// Allocates the slots of all groups, each given by its context, its number of lattices and the words
    /// of each.
    pub(super) fn allocate(
        spec: SlotsSpec,
        groups: impl Iterator<Item = (Arc<OwnedContext>, usize, usize)>,
    ) -> Result<CudaSlots> {
        let mut lattices = Vec::new();
        let group = |(group, (context, count, lattice_words))| {
            lattices.extend((0..count).map(|index| (group, index)));
            GroupSlots {
                context,
                count,
                lattice_words,
                regions: (0..spec.count()).map(|_| OnceLock::new()).collect(),
            }
        };
        let groups: Vec<GroupSlots> = groups.enumerate().map(group).collect();
        let slots = CudaSlots {
            spec,
            groups,
            locks: SlotLocks::new(lattices.len(), spec.count()),
            lattices,
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
        let region = &group.regions[usize::from(slot.0)];
        if region.get().is_some() {
            return Ok(());
        }
        let words = self.spec.words(slot, group.lattice_words).max(1) * group.count;
        let (context, what) = (&group.context, MemoryUse::Slot(group.count));
        context.make_current()?;
        let allocated = if self.spec.is_pageable(slot) {
            HostWords::new(context, words, HostMemory::Pageable, what)?
        } else if self.spec.is_whole(slot) {
            HostWords::unzeroed(context, words, what)?
        } else {
            HostWords::new(context, words, HostMemory::Pinned, what)?
        };
        // Only the thread that owns the engine allocates.
        let _ = region.set(allocated);
        Ok(())
    }

    /// Allocates the slots that downloads need and that are not yet allocated.
    pub(super) fn allocate_for(
        &self,
        mut downloads: impl Iterator<Item = (LatticeId, Slot)>,
    ) -> Result<()> {
        downloads.try_for_each(|(lattice, slot)| {
            let (group, _) = self.lattices[lattice.index()];
            self.allocate_slot(&self.groups[group], slot)
        })
    }

    /// The address of a lattice's slot, and the words from there to the same slot of the next lattice in
    /// its group; `None` if it is not allocated.
    pub(super) fn place(&self, lattice: LatticeId, slot: Slot) -> Option<(*mut u32, usize)> {
        let (group, index) = *self.lattices.get(lattice.index())?;
        let group = &self.groups[group];
        let region = group.regions.get(usize::from(slot.0))?.get()?;
        let words = self.spec.words(slot, group.lattice_words);
        Some((region.at.wrapping_add(index * words), words))
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
