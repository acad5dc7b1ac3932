//! What the tests of several crates share: the Chinese catalogue, files of what must not change, and an
//! allocator that counts allocated bytes, per thread and in total.
//!
//! A test enables the allocator with `#[global_allocator] static COUNTING: CountingAllocator =
//! CountingAllocator;`.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// Installs the catalogue of the checkout, which crates do not contain. What a test stores as a
/// `Message` before this has no Chinese.
pub fn install_catalogue() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/lang/zh.toml");
    lang::install_catalogue(&std::fs::read_to_string(path).expect("the catalogue"));
}

/// Runs `what` in another language, on this thread only, with the catalogue of the checkout.
pub fn with<T>(language: lang::Language, what: impl FnOnce() -> T) -> T {
    install_catalogue();
    lang::with(language, what)
}

/// A file of what must not change, in the folder `tests/oracle`.
pub fn stored(name: &str) -> String {
    format!("{}/../../tests/oracle/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Compares a text with the file of this name in `tests/oracle`, or writes the file anew if
/// `LIFESTREAMS_RENEW` is set.
#[track_caller]
pub fn compare_with_stored(name: &str, found: &str) {
    let path = stored(name);
    if std::env::var_os("LIFESTREAMS_RENEW").is_some() {
        return std::fs::write(path, found).expect("a file that can be written");
    }
    let expected = std::fs::read_to_string(path).expect("a stored file");
    let lines = expected.lines().zip(found.lines());
    let differing = lines.filter(|(expected, found)| expected != found);
    let first: Vec<_> = differing.take(3).collect();
    assert!(first.is_empty(), "{name}: stored and found:\n{first:#?}");
    assert_eq!(
        expected.len(),
        found.len(),
        "{name} has other lines at its end"
    );
}

/// A short number that tells contents apart (FNV-1a).
pub fn fingerprint(parts: impl IntoIterator<Item = impl Into<u64>>) -> String {
    let mix = |hash: u64, part: u64| (hash ^ part).wrapping_mul(0x0100_0000_01b3);
    let parts = parts.into_iter().map(Into::into);
    let hash = parts.fold(0xcbf2_9ce4_8422_2325, mix);
    format!("{:08x}", (hash ^ hash >> 32) as u32)
}

/// The system allocator with counters.
pub struct CountingAllocator;

/// Bytes allocated by all threads now, and the peak since [`peak_of_all_threads`] was last called.
static HELD: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    /// Bytes allocated by this thread now, and the peak since [`peak_of_this_thread`] was last
    /// called. Freeing another thread's memory can make the count negative.
    static HELD_HERE: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

fn count(bytes: i64) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(held, Ordering::Relaxed);
    // The thread-local is gone while the thread ends.
    let _ = HELD_HERE.try_with(|here| {
        let (held, peak) = here.get();
        let held = held + bytes;
        here.set((held, peak.max(held)));
    });
}

// SAFETY: every call is forwarded unchanged to the system allocator; counting does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks may exist while the data moves.
        count(size as i64);
        count(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Runs `work`. Returns its result and this thread's peak of additionally allocated bytes.
pub fn peak_of_this_thread<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD_HERE.get().0;
    HELD_HERE.set((before, before));
    let result = work();
    (result, HELD_HERE.get().1 - before)
}

/// Runs `work`. Returns its result and the process's peak of additionally allocated bytes. Only one
/// test per process may call this at a time.
pub fn peak_of_all_threads<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, PEAK.load(Ordering::Relaxed) - before)
}
