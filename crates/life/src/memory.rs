//! Checks available memory before lattices are allocated.
//!
//! Linux overcommits memory and kills processes that use too much. So the size of a lattice is
//! first compared with the memory available to this machine or container.

use std::fs;

use crate::Size;

/// Smaller allocations are not checked: a check takes a tenth of a millisecond.
const MIN_CHECKED_BYTES: u64 = 256 << 10;

/// Not enough memory for lattices.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("out of host memory: {needed_mib} MiB for {what:?}, {free_mib} MiB free")]
pub struct MemoryError {
    /// What the memory was for.
    pub what: Lattices,
    /// Memory needed, in MiB.
    pub needed_mib: u64,
    /// Memory available, in MiB.
    pub free_mib: u64,
    /// The largest square lattice that fits.
    pub fits: Option<Size>,
}

/// The lattices that memory is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lattices {
    /// One of this size.
    One(Size),
    /// So many of this size, with those that they start from.
    WithStarts(usize, Size),
    /// Those of a saved session.
    Saved,
}

/// Checks that the memory for lattices of this size is available. `bytes` gives the bytes needed
/// for any size.
///
/// # Errors
/// If it is not: with the memory needed, the memory free, and the largest square that fits.
pub fn ensure(size: Size, bytes: impl Fn(Size) -> u64, what: Lattices) -> Result<(), MemoryError> {
    let needed = bytes(size);
    if needed < MIN_CHECKED_BYTES {
        return Ok(());
    }
    match usable() {
        Some(free) if needed > free => Err(memory_error(size, needed, free, bytes, what)),
        _ => Ok(()),
    }
}

/// Whether fewer than `bytes` bytes are available.
pub(crate) fn lacks(bytes: u64) -> bool {
    bytes >= MIN_CHECKED_BYTES && usable().is_some_and(|free| bytes > free)
}

/// The error for an allocation that failed although memory seemed available.
pub(crate) fn refused(size: Size) -> MemoryError {
    let free = usable().unwrap_or(0);
    memory_error(
        size,
        bits(size),
        free.min(bits(size)),
        bits,
        Lattices::One(size),
    )
}

/// Size in bytes of a bit-packed lattice.
pub(crate) fn bits(size: Size) -> u64 {
    size.words() as u64 * 4
}

fn memory_error(
    size: Size,
    needed: u64,
    free: u64,
    bytes: impl Fn(Size) -> u64,
    what: Lattices,
) -> MemoryError {
    MemoryError {
        what,
        needed_mib: needed.div_ceil(1 << 20),
        free_mib: free >> 20,
        // Leave some for threads and pictures.
        fits: largest(size, |size| bytes(size) <= free - free / 4),
    }
}

/// The largest square that satisfies `fits` and is smaller than `size`, which does not. Its side is
/// a multiple of 128, which every kernel supports.
pub fn largest(size: Size, fits: impl Fn(Size) -> bool) -> Option<Size> {
    const STEP: u64 = 128;
    let square = |steps: u64| Size::new(steps * STEP, steps * STEP).ok();
    let (mut below, mut above) = (0, u64::from(size.width().max(size.height())).div_ceil(STEP));
    while above - below > 1 {
        let middle = below.midpoint(above);
        if square(middle).is_some_and(&fits) {
            below = middle;
        } else {
            above = middle;
        }
    }
    square(below).filter(|_| below > 0)
}

/// Usable bytes, if known: the available memory less a sixteenth for the system.
fn usable() -> Option<u64> {
    available().map(|free| free - free / 16)
}

/// Available bytes, if known.
pub fn available() -> Option<u64> {
    [meminfo("MemAvailable:"), container(), address_space()]
        .into_iter()
        .flatten()
        .min()
}

fn meminfo(key: &str) -> Option<u64> {
    let kib = field(&fs::read_to_string("/proc/meminfo").ok()?, key)?;
    Some(kib * 1024)
}

/// Bytes left in the control group (version 2), counting the page cache as free.
fn container() -> Option<u64> {
    let root = "/sys/fs/cgroup/memory";
    let max: u64 = fs::read_to_string(format!("{root}.max"))
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let used = field(&fs::read_to_string(format!("{root}.stat")).ok()?, "anon ")?;
    Some(max.saturating_sub(used))
}

/// Half of the address space left under `ulimit -v`, if set: thread stacks and the allocator's
/// arenas use address space too.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    let max: u64 = line.split_whitespace().next()?.parse().ok()?; // not for `unlimited`
    let used = field(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(max.saturating_sub(used * 1024) / 2)
}

fn field(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Total memory of this machine in bytes, if known.
pub fn total() -> Option<u64> {
    meminfo("MemTotal:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found() {
        let text = "MemTotal:       24 kB\nMemAvailable:   7 kB\n";
        assert_eq!(field(text, "MemAvailable:"), Some(7));
        assert_eq!(field(text, "MemNone:"), None);
    }

    #[test]
    fn the_largest_that_fits_is_named() {
        let size = |side| Size::new(side, side).unwrap();
        let fits = |max: u64| move |size: Size| bits(size) <= max;
        assert_eq!(largest(size(65536), fits(32 << 20)), Some(size(16384)));
        assert_eq!(
            largest(size(65536), fits((32 << 20) - 1)),
            Some(size(16256))
        );
        assert_eq!(largest(size(65536), fits(100)), None);
        let narrow = Size::new(1 << 24, 64).unwrap();
        assert!(largest(narrow, fits(100 << 20)).is_some_and(|size| size.height() == 28928));
        // More than any machine has.
        if available().is_some() {
            let error = ensure(size(512), |size| bits(size) << 40, Lattices::Saved);
            let error = error.unwrap_err();
            assert!(error.needed_mib > error.free_mib, "{error}");
            assert_eq!(error.what, Lattices::Saved);
        }
        ensure(size(512), bits, Lattices::Saved).unwrap();
    }
}
