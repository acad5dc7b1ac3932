//! Memory besides the lattices': host memory for copies, and device memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;

use cust::sys;

use super::context::{self, OwnedContext};
use super::driver::check;
use crate::{BufferLocation, EngineError, HostMemory, MemoryUse, Result};

/// A host allocation. Its owner is responsible for synchronising access.
pub(super) struct HostWords {
    at: *mut u32,
    words: usize,
    kind: HostMemory,
    context: Arc<OwnedContext>,
}

impl HostWords {
    /// Words of the smallest page. Each page is written once after allocation, so that no copy pays
    /// for page faults.
    const PAGE_WORDS: usize = 1024;

    /// Allocates at least one word, zeroed. The context must be current; `what` names the memory in an
    /// error.
    pub(super) fn new(
        context: &Arc<OwnedContext>,
        words: usize,
        kind: HostMemory,
        what: MemoryUse,
    ) -> Result<HostWords> {
        let at: *mut u32 = match kind {
            HostMemory::Pinned => {
                let at = page_locked(words, what)?;
                // SAFETY: just allocated with this length.
                unsafe { std::ptr::write_bytes(at, 0, words) };
                at
            }
            HostMemory::Pageable => pageable(words, what)?,
        };
        Ok(HostWords {
            at,
            words,
            kind,
            context: context.clone(),
        })
    }

    /// Allocates page-locked memory that holds whatever it held before: to zero gigabytes takes
    /// seconds.
    pub(super) fn unzeroed(
        context: &Arc<OwnedContext>,
        words: usize,
        what: MemoryUse,
    ) -> Result<HostWords> {
        Ok(HostWords {
            at: page_locked(words, what)?,
            words,
            kind: HostMemory::Pinned,
            context: context.clone(),
        })
    }

    pub(super) fn at(&self) -> *mut u32 {
        self.at
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }
}

fn page_locked(words: usize, what: MemoryUse) -> Result<*mut u32> {
    let mut at = std::ptr::null_mut();
    // SAFETY: `at` is valid for the write; a context is current. 1 is CU_MEMHOSTALLOC_PORTABLE:
    // page-locked for every context.
    let code = unsafe { sys::cuMemHostAlloc(&mut at, words * 4, 1) };
    if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        return Err(out_of(
            BufferLocation::Host(HostMemory::Pinned),
            words,
            what,
        ));
    }
    check("cuMemHostAlloc", code)?;
    Ok(at.cast())
}

fn pageable(words: usize, what: MemoryUse) -> Result<*mut u32> {
    // SAFETY: the layout is not empty.
    let at: *mut u32 = unsafe { alloc_zeroed(layout_of(words)) }.cast();
    if at.is_null() {
        return Err(out_of(
            BufferLocation::Host(HostMemory::Pageable),
            words,
            what,
        ));
    }
    for word in (0..words).step_by(HostWords::PAGE_WORDS) {
        // SAFETY: within the allocation. Volatile, so that the compiler does not remove the write
        // of 0.
        unsafe { at.add(word).write_volatile(0) };
    }
    Ok(at)
}

fn out_of(place: BufferLocation, words: usize, what: MemoryUse) -> EngineError {
    EngineError::OutOfMemory {
        place,
        what,
        needed_mib: (words as u64 * 4).div_ceil(1 << 20),
        fits: None,
    }
}

fn layout_of(words: usize) -> Layout {
    Layout::array::<u32>(words.max(1)).expect("less than the address space")
}

impl Drop for HostWords {
    fn drop(&mut self) {
        match self.kind {
            HostMemory::Pageable => {
                // SAFETY: allocated with this layout, freed once.
                unsafe { dealloc(self.at.cast(), layout_of(self.words)) }
            }
            HostMemory::Pinned => self.context.within(|| {
                // SAFETY: allocated by cuMemHostAlloc, freed once.
                unsafe { sys::cuMemFreeHost(self.at.cast()) };
            }),
        }
    }
}

/// A device allocation.
pub(super) struct DeviceWords {
    at: sys::CUdeviceptr,
    context: Arc<OwnedContext>,
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
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(out_of(BufferLocation::Device, words, what));
        }
        check("cuMemAlloc", code)?;
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
        context::synchronize().map(|()| memory)
    }

    /// Allocates from the device's pool in the order of a stream. The context must be current.
    pub(super) fn from_pool(
        context: &Arc<OwnedContext>,
        words: usize,
        stream: sys::CUstream,
    ) -> Result<DeviceWords> {
        let mut at = 0;
        // SAFETY: `at` is valid for the write; the stream is alive.
        let code = unsafe { sys::cuMemAllocAsync(&mut at, words * 4, stream) };
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(out_of(BufferLocation::Pool, words, MemoryUse::Buffer));
        }
        check("cuMemAllocAsync", code)?;
        let context = context.clone();
        Ok(DeviceWords { at, context })
    }

    /// Frees memory of the pool in the order of a stream.
    pub(super) fn free_in(mut self, stream: sys::CUstream) -> Result<()> {
        let at = std::mem::take(&mut self.at);
        // SAFETY: allocated by cuMemAllocAsync, freed once: to free address 0 does nothing.
        check("cuMemFreeAsync", unsafe { sys::cuMemFreeAsync(at, stream) })
    }

    /// Allocates zeroed unified memory. The context must be current.
    pub(super) fn managed(context: &Arc<OwnedContext>, words: usize) -> Result<DeviceWords> {
        let mut at = 0;
        // SAFETY: `at` is valid for the write; a context is current. 1 is CU_MEM_ATTACH_GLOBAL.
        let code = unsafe { sys::cuMemAllocManaged(&mut at, words * 4, 1) };
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(out_of(BufferLocation::Managed, words, MemoryUse::Buffer));
        }
        check("cuMemAllocManaged", code)?;
        let context = context.clone();
        let memory = DeviceWords { at, context };
        // SAFETY: the host may write to unified memory that nothing uses yet.
        unsafe { std::ptr::write_bytes(memory.on_host(), 0, words) };
        Ok(memory)
    }

    /// The host's address of unified memory, which is the same.
    pub(super) fn on_host(&self) -> *mut u32 {
        std::ptr::with_exposed_provenance_mut(self.at as usize)
    }

    pub(super) fn at(&self) -> sys::CUdeviceptr {
        self.at
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
    pub(super) device: DeviceWords,
    pub(super) host: HostWords,
}

impl MirroredWords {
    pub(super) fn new(context: &Arc<OwnedContext>, words: usize) -> Result<MirroredWords> {
        let what = MemoryUse::BlockTimestamps;
        Ok(MirroredWords {
            device: DeviceWords::uninitialized(context, words, what)?,
            host: HostWords::new(context, words, HostMemory::Pinned, what)?,
        })
    }
}
