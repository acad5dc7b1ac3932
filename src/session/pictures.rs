//! The newest complete picture of each instance, for whoever draws.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::engine::{LatticeId, Slot, Slots, Viewport};

/// One instance's newest complete picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Grows with every picture of this instance; 0 means there is none yet.
    pub sequence: u64,
    /// Its generation.
    pub generation: u64,
    /// The viewport its bytes were reduced to, or `None` for the lattice's bits.
    pub viewport: Option<Viewport>,
    pub(crate) slot: Slot,
    /// Its words; a slot may have more.
    pub(crate) words: usize,
}

/// All instances' pictures. A picture is current as soon as its own stream's event has fired.
#[derive(Clone)]
pub struct Pictures {
    board: Arc<Mutex<Board>>,
}

struct Board {
    slots: Arc<dyn Slots>,
    /// The newest picture of each instance; `None` until there is one in `slots`.
    newest: Vec<Option<Picture>>,
    sequence: u64,
}

impl Pictures {
    pub(crate) fn new(slots: Arc<dyn Slots>, instances: usize) -> Pictures {
        let board = Board {
            slots,
            newest: vec![None; instances],
            sequence: 0,
        };
        Pictures {
            board: Arc::new(Mutex::new(board)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        self.board
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Hands over every picture that is newer than `seen` says (by instance), and notes it there.
    /// The words are the lattice's bits, or the view's bytes, four a word.
    pub fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        for (instance, seen) in seen.iter_mut().enumerate() {
            // Twice at most: a slot is only bound again after a newer picture has been noted.
            for _ in 0..2 {
                let (slots, picture) = {
                    let board = self.lock();
                    match board.newest.get(instance).copied().flatten() {
                        Some(picture) if picture.sequence > *seen => (board.slots.clone(), picture),
                        _ => break,
                    }
                };
                let id = LatticeId(instance as u32);
                if slots.read(id, picture.slot, &mut |words| {
                    draw(instance, &picture, &words[..picture.words])
                }) {
                    *seen = picture.sequence;
                    break;
                }
            }
        }
    }

    /// Notes that an instance's picture is complete.
    pub(crate) fn note(
        &self,
        instance: usize,
        generation: u64,
        viewport: Option<Viewport>,
        slot: Slot,
        words: usize,
    ) {
        let mut board = self.lock();
        board.sequence += 1;
        let sequence = board.sequence;
        board.newest[instance] = Some(Picture {
            sequence,
            generation,
            viewport,
            slot,
            words,
        });
    }

    /// Whether a slot holds the newest picture of any of these instances.
    pub(crate) fn holds_newest(&self, slot: Slot, instances: std::ops::Range<usize>) -> bool {
        self.lock().newest[instances]
            .iter()
            .flatten()
            .any(|picture| picture.slot == slot)
    }

    /// Lets go of the slots: there are no pictures until there are new slots.
    pub(crate) fn clear(&self) {
        self.replace_slots(Arc::new(NoSlots));
    }

    /// Goes over to new slots, which hold no picture yet; the old ones stay until nobody reads
    /// them.
    pub(crate) fn replace_slots(&self, slots: Arc<dyn Slots>) {
        let mut board = self.lock();
        board.slots = slots;
        board.newest.fill(None);
    }
}

/// Slots of an engine that is gone.
struct NoSlots;

impl Slots for NoSlots {
    fn read(&self, _: LatticeId, _: Slot, _: &mut dyn FnMut(&[u32])) -> bool {
        false
    }

    fn is_free(&self, _: LatticeId, _: Slot) -> bool {
        false
    }
}
