//! What a lattice was before each edit, for undoing, and after it, for doing it again.
//!
//! The newest state is kept as it is; every older one as what differs from the next newer one,
//! packed. Edits of a lattice that stands still take some bytes each, however large it is; one that
//! ran on between two edits takes what its cells take when packed. So there is no limit but memory:
//! [`History::MOST_BYTES`] for all of a session, beyond which the oldest are let go.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::aside::aside;
use life::{Lattice, Size};

/// States of a lattice, each with its generation, the newest on top.
#[derive(Debug, Default)]
pub struct History {
    top: Option<(Arc<Lattice>, u64)>,
    older: VecDeque<(Arc<Mutex<Held>>, u64)>,
}

/// A state below the top.
#[derive(Debug)]
enum Held {
    /// Until it is packed.
    Plain(Arc<Lattice>),
    /// What differs from the next newer one.
    Packed(Vec<u8>),
}

impl History {
    /// The most bytes of packed states of a session, shared out to the lattices that are edited.
    pub const MOST_BYTES: usize = 1 << 30;

    /// Words of a lattice beyond which it is packed on another thread.
    const LARGE: usize = 1 << 14;

    /// Puts a state on top.
    /// The oldest are let go where all of them together are packed in more bytes than `most`.
    pub fn push(&mut self, lattice: Arc<Lattice>, generation: u64, most: usize) {
        if let Some((older, of)) = self.top.replace((lattice.clone(), generation)) {
            let large = older.size().words() > Self::LARGE;
            let held = Arc::new(Mutex::new(Held::Plain(older)));
            self.older.push_back((held.clone(), of));
            let pack = move || pack(&held, &lattice);
            if large { aside(pack) } else { pack() }
        }
        while self.bytes() > most && self.older.pop_front().is_some() {}
    }

    /// Takes the state on top.
    pub fn pop(&mut self) -> Option<(Arc<Lattice>, u64)> {
        let (top, generation) = self.top.take()?;
        self.top = self.older.pop_back().map(|(held, of)| {
            let held = held.lock().unwrap_or_else(PoisonError::into_inner);
            let lattice = match &*held {
                Held::Plain(lattice) => lattice.clone(),
                Held::Packed(packed) => Arc::new(unpacked(packed, &top)),
            };
            (lattice, of)
        });
        Some((top, generation))
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.older.len() + usize::from(self.top.is_some())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.top.is_none()
    }

    /// Bytes of the states below the top, without those that are still to be packed.
    pub fn bytes(&self) -> usize {
        let bytes = |(held, _): &(Arc<Mutex<Held>>, u64)| match held.try_lock().as_deref() {
            Ok(Held::Packed(packed)) => packed.len(),
            _ => 0,
        };
        self.older.iter().map(bytes).sum()
    }
}

fn pack(held: &Mutex<Held>, newer: &Lattice) {
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    if let Held::Plain(lattice) = &*held {
        let words = lattice.words().iter().zip(newer.words());
        let differs: Vec<u32> = words.map(|(old, new)| old ^ new).collect();
        *held = Held::Packed(lz4_flex::compress(bytemuck::cast_slice(&differs)));
    }
}

fn unpacked(packed: &[u8], newer: &Lattice) -> Lattice {
    let size: Size = newer.size();
    let mut words = vec![0u32; size.words()];
    let into = bytemuck::cast_slice_mut(&mut words);
    let length = lz4_flex::decompress_into(packed, into).expect("what was packed here");
    debug_assert_eq!(length, 4 * size.words());
    let pairs = words.iter_mut().zip(newer.words());
    pairs.for_each(|(word, newer)| *word ^= newer);
    Lattice::from_words(size, words)
}
