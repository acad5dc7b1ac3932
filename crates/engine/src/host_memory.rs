//! The host's memory, for both engines: allocations that error instead of a killed process.
//!
//! Linux overcommits memory and kills processes that use too much. So every allocation is first
//! compared with the memory available to this machine or container, and is then written once.

use crate::{BufferLocation, EngineError, HostMemory, MemoryUse, Result};

/// Errors if `bytes` bytes for `what` are more than this machine has available.
pub(crate) fn ensure(bytes: u64, what: MemoryUse) -> Result<()> {
    match life::memory::usable() {
        Some(free) if bytes > free => Err(out_of_memory(bytes, what)),
        _ => Ok(()),
    }
}

/// Allocates `count` zeroed values and touches their pages.
pub(crate) fn zeroed<T: Default>(count: usize, what: MemoryUse) -> Result<Vec<T>> {
    let mut zeros = Vec::new();
    zeros
        .try_reserve_exact(count)
        .map_err(|_| out_of_memory(bytes_of::<T>(count), what))?;
    zeros.resize_with(count, T::default);
    Ok(zeros)
}

/// Size in bytes of `count` values, saturating on overflow.
pub(crate) fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

fn out_of_memory(bytes: u64, what: MemoryUse) -> EngineError {
    EngineError::OutOfMemory {
        place: BufferLocation::Host(HostMemory::Pageable),
        what,
        needed_mib: bytes.div_ceil(1 << 20),
        fits: None,
    }
}
