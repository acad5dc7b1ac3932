//! Memory that is refused in words, never by a dead process.
//!
//! Linux promises more memory than it has and ends whoever uses it, so every allocation is
//! first held against what the machine, and the container it may be in, can still give, and is
//! then written through once.

use std::fs;

use crate::{EngineError, Result};

/// Refuses `bytes` for `what` if this machine cannot give them.
pub fn ensure(bytes: u64, what: &str) -> Result<()> {
    match life::memory::available() {
        Some(free) if bytes > free - free / 16 => Err(out_of_memory(bytes, what)),
        _ => Ok(()),
    }
}

/// `count` zeros, their pages in place.
pub(super) fn zeroed<T: Default>(count: usize, what: &str) -> Result<Vec<T>> {
    let mut zeros = Vec::new();
    zeros
        .try_reserve_exact(count)
        .map_err(|_| out_of_memory(bytes_of::<T>(count), what))?;
    zeros.resize_with(count, T::default);
    Ok(zeros)
}

/// Bytes that `count` of `T` take; more than any machine has, rather than an overflow.
pub(super) fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

/// The last cache before memory in bytes, where the system tells.
pub(super) fn last_cache() -> Option<u64> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let size = |cache: fs::DirEntry| {
        let text = fs::read_to_string(cache.path().join("size")).ok()?;
        let kib: u64 = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kib << 10)
    };
    caches.flatten().filter_map(size).max()
}

fn out_of_memory(bytes: u64, what: &str) -> EngineError {
    EngineError::OutOfMemory {
        place: "host",
        what: what.into(),
        needed_mib: bytes.div_ceil(1 << 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_refused_in_words() {
        for error in [
            zeroed::<u64>(usize::MAX, "a test").unwrap_err(),
            zeroed::<u64>(1 << 56, "a test").unwrap_err(),
        ] {
            assert!(
                error
                    .to_string()
                    .contains("out of host memory: a test needs"),
                "{error}"
            );
        }
        if life::memory::total().is_some() {
            ensure(1 << 60, "a test").unwrap_err();
            ensure(1 << 10, "a test").unwrap();
        }
    }
}
