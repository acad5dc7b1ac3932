//! For tests alone: an allocator that counts the bytes held, of each thread and of all together.
//!
//! A test makes it its own with
//! `#[global_allocator] static COUNTING: CountingAllocator = CountingAllocator;`.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// The system's allocator, which keeps count.
pub struct CountingAllocator;

/// Bytes held by all threads now, and the most since [`peak_of_all_threads`] last began.
static HELD: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    /// Bytes that this thread holds now, and the most since [`peak_of_this_thread`] last began.
    /// What one thread gives back of another's counts below 0.
    static HELD_HERE: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

fn count(bytes: i64) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(held, Ordering::Relaxed);
    // During a thread's end there is nothing left to count in.
    let _ = HELD_HERE.try_with(|here| {
        let (held, peak) = here.get();
        let held = held + bytes;
        here.set((held, peak.max(held)));
    });
}

// SAFETY: every call goes on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While it moves, both may be held.
        count(size as i64);
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What the work gives, and the most bytes that this thread held during it beyond those before.
pub fn peak_of_this_thread<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD_HERE.get().0;
    HELD_HERE.set((before, before));
    let result = work();
    (result, HELD_HERE.get().1 - before)
}

/// What the work gives, and the most bytes that the process held during it beyond those before.
/// Only one test of a process may ask at a time.
pub fn peak_of_all_threads<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, PEAK.load(Ordering::Relaxed) - before)
}
