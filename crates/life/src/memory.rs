//! Checks available memory before lattices are allocated.
//!
//! Linux overcommits memory and kills processes that use too much. So the size of a lattice is
//! first compared with the memory available to this machine or container.

use std::fs;

use lang::{Message, message, tr};

use crate::Size;

/// Smaller allocations are not checked: a check takes a tenth of a millisecond.
const MIN_CHECKED_BYTES: u64 = 256 << 10;

/// Not enough memory for lattices.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct MemoryError(Message);

impl MemoryError {
    /// The error for these lattices. `fits` is a size of which there would be memory for as many.
    pub fn new(what: Message, needed_bytes: u64, free_bytes: u64, fits: Option<Size>) -> Self {
        MemoryError(message!(
            "out of host memory: {what} would take {needed_mib} MiB, and {free_mib} MiB are free; {}",
            remedy(fits),
            needed_mib = needed_bytes.div_ceil(1 << 20),
            free_mib = free_bytes >> 20
        ))
    }
}

/// What to do about too little memory, where lattices of this size fit.
pub fn remedy(fits: Option<Size>) -> String {
    match fits {
        Some(size) => tr!("use fewer --instances, a smaller --size ({size} fits) or --kernel bits"),
        None => tr!("use fewer --instances, a smaller --size or --kernel bits").into(),
    }
}

/// Checks that the memory for lattices of this size is available. `bytes` gives the bytes needed
/// for any size, and `what` says what it is for.
///
/// # Errors
/// If it is not: with the memory needed, the memory free, and the largest square that fits.
pub fn ensure(
    size: Size,
    bytes: impl Fn(Size) -> u64,
    what: impl FnOnce() -> Message,
) -> Result<(), MemoryError> {
    let needed = bytes(size);
    if needed < MIN_CHECKED_BYTES {
        return Ok(());
    }
    match usable() {
        Some(free) if needed > free => Err(memory_error(size, needed, free, bytes, what())),
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
        size.bytes(),
        free.min(size.bytes()),
        Size::bytes,
        message!("a lattice of {size}"),
    )
}

/// [Checks](ensure) that the memory for one lattice is available.
///
/// # Errors
/// If it is not.
pub fn ensure_one(size: Size) -> Result<(), MemoryError> {
    ensure(size, Size::bytes, || message!("a lattice of {size}"))
}

fn memory_error(
    size: Size,
    needed: u64,
    free: u64,
    bytes: impl Fn(Size) -> u64,
    what: Message,
) -> MemoryError {
    // Leave some for threads and pictures.
    let fits = largest(size, |size| bytes(size) <= free - free / 4);
    MemoryError::new(what, needed, free, fits)
}

/// The largest square that satisfies `fits` and is smaller than `size`, which does not. Its side is
/// a multiple of 128, which every kernel supports.
pub fn largest(size: Size, fits: impl Fn(Size) -> bool) -> Option<Size> {
    const STEP: u64 = 128;
    let square = |steps: u64| Size::new(steps * STEP, steps * STEP).ok();
    let (mut below, mut above) = (0, u64::from(size.width.max(size.height)).div_ceil(STEP));
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
pub fn usable() -> Option<u64> {
    let limits = [meminfo("MemAvailable:"), container(), address_space()];
    let free = limits.into_iter().flatten().min()?;
    Some(free - free / 16)
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
        let size = |width, height| Size::new(width, height).unwrap();
        for (of, most, fits) in [
            ([1 << 16, 1 << 16], 32 << 20, Some(16384)),
            ([1 << 16, 1 << 16], (32 << 20) - 1, Some(16256)),
            ([1 << 16, 1 << 16], 100, None),
            ([1 << 24, 64], 100 << 20, Some(28928)),
        ] {
            let found = largest(size(of[0], of[1]), |size| size.bytes() <= most);
            assert_eq!(found, fits.map(|side| size(side, side)), "{of:?} in {most}");
        }
        // More than any machine has.
        if usable().is_some() {
            let error = ensure(size(512, 512), |size| size.bytes() << 40, || "all".into());
            let said = error.unwrap_err().to_string();
            let wanted = "out of host memory: all would take 34359738368 MiB, and ";
            assert!(said.starts_with(wanted), "{said}");
        }
        ensure(size(512, 512), Size::bytes, || "all".into()).unwrap();
    }
}
