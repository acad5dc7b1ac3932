//! However hostile a pattern is, reading and drawing it takes memory for its text and for the
//! lattice, and next to nothing more.
#![allow(unsafe_code)]

use lifestreams::life::{Lattice, Pattern, Rle, Rule, Size, rle};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;

/// The system's allocator, which keeps count for each thread.
struct Counting;

thread_local! {
    /// Bytes held now, and the most held since [`peak_of`] last began.
    static HELD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

fn count(bytes: i64) {
    // During a thread's end there is nothing left to count in.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: every call goes on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
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

#[global_allocator]
static COUNTING: Counting = Counting;

/// What the work gives, and the most bytes it held beyond those held before.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD.get().0;
    HELD.set((before, before));
    let result = work();
    (result, HELD.get().1 - before)
}

/// For errors' words, paths and the like.
const SMALL: i64 = 4096;

#[test]
fn the_count_counts() {
    let (_, peak) = peak_of(|| drop((vec![0u8; 10_000], vec![1u8; 5_000])));
    assert_eq!(peak, 15_000);
}

#[test]
fn hostile_texts_take_no_memory() {
    let long = 2_000_000;
    let header = "x = 9, y = 9, rule = B3/S23\n";
    for (what, text) in [
        ("a huge header", "x = 16777216, y = 16777216\no!".into()),
        (
            "a header too huge",
            "x = 1000000000, y = 1000000000\no!".into(),
        ),
        (
            "a huge torus",
            "x = 1, y = 1, rule = B3/S23:T262144,262144\no!".into(),
        ),
        ("a huge count", format!("{header}1000000000000o!")),
        ("a far cell", format!("{header}16777215$16777215bo!")),
        (
            "many far cells",
            format!("{header}{}!", "16777215bo$".repeat(long / 11)),
        ),
        (
            "far beyond",
            format!("{header}{}o!", "16777216b".repeat(long / 9)),
        ),
        ("cells without end", format!("{header}{}", "o".repeat(long))),
        ("a line without end", "z".repeat(long)),
        ("a comment without end", format!("#{}", "C".repeat(long))),
        (
            "a rule without end",
            format!("x = 1, y = 1, rule = {}", "B".repeat(long)),
        ),
        (
            "a torus without end",
            format!("x = 1, y = 1, rule = B3/S23:T{}", "9".repeat(long)),
        ),
        (
            "digits without end",
            format!("{header}{}", "9".repeat(long)),
        ),
        (
            "lines without end",
            format!("{header}{}", "\n".repeat(long)),
        ),
        ("zeroes", "\0".repeat(long)),
    ] {
        let (sound, peak) = peak_of(|| match Rle::parse(text.as_bytes()) {
            Ok(rle) => rle.runs().count() > 0,
            Err(error) => error.to_string().is_empty(),
        });
        assert!(peak <= SMALL, "{what}: {peak} bytes");
        let mut lattice = Lattice::new(Size::new(1000, 1000).unwrap());
        if sound {
            let (_, peak) = peak_of(|| {
                Rle::parse(text.as_bytes())
                    .unwrap()
                    .draw_into(&mut lattice, 1, 1)
            });
            assert!(peak <= SMALL, "{what}, drawn: {peak} bytes");
        }
    }
}

#[test]
fn a_file_takes_itself_and_its_lattice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dense.rle");
    let size = Size::new(2048, 2048).unwrap();
    let soup = lifestreams::life::soup(size, 0.5, 1, 0);
    let mut text = Vec::new();
    rle::write(&soup, Rule::LIFE, &mut text).unwrap();
    fs::write(&path, &text).unwrap();
    let (lattice, peak) = peak_of(|| Pattern::load(&path).unwrap().centred_in(size).unwrap());
    assert_eq!(lattice, soup);
    let least = (text.len() + size.words() * 4) as i64;
    assert!(peak <= least + SMALL, "{peak} bytes for {least}");
}

#[test]
fn writing_keeps_no_more_than_a_chunk() {
    let soup = lifestreams::life::soup(Size::new(4096, 1024).unwrap(), 0.5, 1, 0);
    let (_, peak) = peak_of(|| rle::write(&soup, Rule::LIFE, &mut std::io::sink()).unwrap());
    assert!(peak < 100_000, "{peak} bytes");
}
