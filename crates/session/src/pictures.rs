//! The newest complete picture of each instance, for whoever draws.

use crate::population::Series;
use crate::trace::Trace;
use crate::{Setting, TransferChoice};
use engine::{LatticeId, Layout, ReduceRegion, Slot, Slots, Transfer};
use life::Size;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// One instance's newest complete picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Grows with every picture of this instance; 0 means there is none yet.
    pub sequence: u64,
    /// Its generation.
    pub generation: u64,
    /// The number of the last edit that was applied before it, to this or another instance.
    pub edits: u64,
    /// The region its bytes were reduced to, or `None` for the lattice's bits.
    pub region: Option<ReduceRegion>,
    /// Its words; a slot may have more.
    pub words: usize,
    /// The slot that holds them.
    pub slot: Slot,
    /// Whether the slot holds an `i32` per cell; the painter packs them into bits.
    pub cells: bool,
}

/// All instances' pictures. A picture is current as soon as its own stream's event has fired.
#[derive(Clone)]
pub struct Pictures {
    board: Arc<Mutex<Inner>>,
}

struct Inner {
    /// `None` while an engine is being replaced.
    slots: Option<Arc<dyn Slots>>,
    size: Size,
    /// The newest picture of each instance; `None` until there is one in `slots`.
    newest: Vec<Option<Picture>>,
    sequence: u64,
}

impl Pictures {
    /// No pictures yet, of this many instances of one size; their words will be in `slots`.
    pub fn new(slots: Arc<dyn Slots>, instances: usize, size: Size) -> Pictures {
        let board = Inner {
            slots: Some(slots),
            size,
            newest: vec![None; instances],
            sequence: 0,
        };
        Pictures {
            board: Arc::new(Mutex::new(board)),
        }
    }

    /// Hands over every picture that is newer than `seen` says (by instance), and notes it there.
    /// The words are the lattice's bits, or the view's bytes, four a word.
    pub fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        let mut packed = Vec::new();
        for (instance, seen) in seen.iter_mut().enumerate() {
            // Twice at most: a slot is only bound again after a newer picture has been noted.
            for _ in 0..2 {
                let board = self.board.lock();
                let newest = board.newest.get(instance).copied().flatten();
                let newer = newest.filter(|it| it.sequence > *seen);
                let Some((picture, slots)) = newer.zip(board.slots.clone()) else {
                    break;
                };
                let size = board.size;
                drop(board);
                let id = LatticeId(instance as u32);
                if slots.read(id, picture.slot, &mut |words| {
                    let words = &words[..picture.words];
                    if picture.cells {
                        pack(size, words, &mut packed);
                        draw(instance, &picture, &packed);
                    } else {
                        draw(instance, &picture, words);
                    }
                }) {
                    *seen = picture.sequence;
                    break;
                }
            }
        }
    }

    /// Notes that pictures of instances are complete, given their generation and the number of the
    /// last edit that was applied before them.
    pub fn publish(
        &self,
        instances: Range<usize>,
        (generation, edits): (u64, u64),
        plan: PicturePlan,
        slot: Slot,
    ) {
        let mut board = self.board.lock();
        board.sequence += 1;
        let sequence = board.sequence;
        let view = plan.transfer == Transfer::View;
        let region = view.then_some(plan.region);
        let cells = plan.transfer == Transfer::Cells;
        let words = match (region, cells) {
            (Some(region), _) => region.words(),
            (None, true) => board.size.cells() as usize,
            (None, false) => board.size.words(),
        };
        for instance in instances {
            board.newest[instance] = Some(Picture {
                sequence,
                generation,
                edits,
                region,
                words,
                slot,
                cells,
            });
        }
    }

    /// Whether a slot holds the newest picture of any of these instances.
    pub fn holds_newest(&self, slot: Slot, instances: Range<usize>) -> bool {
        self.board.lock().newest[instances]
            .iter()
            .flatten()
            .any(|picture| picture.slot == slot)
    }

    /// Lets go of the slots: there are no pictures until there are new slots.
    pub fn clear(&self) {
        let mut board = self.board.lock();
        board.slots = None;
        board.newest.fill(None);
    }

    /// Goes over to lattices with slots of their own, which hold no picture yet; the old ones stay until
    /// nobody reads them. Sequences go on growing. Returns whether size or number are others than before.
    pub fn replace(&self, slots: Arc<dyn Slots>, instances: usize, size: Size) -> bool {
        let mut board = self.board.lock();
        let is_other_grid = (size, instances) != (board.size, board.newest.len());
        board.slots = Some(slots);
        board.size = size;
        board.newest = vec![None; instances];
        is_other_grid
    }
}

/// Bits of cells, row by row, the least significant bit leftmost.
fn pack(size: Size, cells: &[u32], packed: &mut Vec<u32>) {
    packed.clear();
    for row in cells.chunks_exact(size.width as usize) {
        let word = |cells: &[u32]| {
            cells
                .iter()
                .rev()
                .fold(0, |word, cell| word << 1 | cell & 1)
        };
        packed.extend(row.chunks(32).map(word));
    }
}

/// Where pictures come from: a session, or a test's own.
pub trait PictureSource {
    /// As [`Pictures::visit_newer`].
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32]));

    /// The latest timed rounds, if their sequence number is above `seen`. Never waits: `None` while a
    /// session's thread is adding a round. There are none by default.
    fn newer_trace(&self, _seen: u64) -> Option<Trace> {
        None
    }

    /// The population over time of one instance, or of all together for `None`, with its sequence
    /// number, if that is above `seen`. Never waits: `None` while a session's thread is adding
    /// measurements. There is none by default.
    fn newer_population(&self, _of: Option<usize>, _seen: u64) -> Option<(u64, Series)> {
        None
    }
}

// What a round downloads for its pictures.

/// What a round downloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PicturePlan {
    /// Bits, the reduced view, or the cells.
    pub transfer: Transfer,
    /// The part of every lattice that its panel shows; used by [`Transfer::View`] alone.
    pub region: ReduceRegion,
    /// The one instance that is drawn, or all; used by [`Transfer::View`] alone.
    pub only: Option<usize>,
}

impl PicturePlan {
    /// Maximum bytes of a round's reduced views, all instances together.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// Maximum bytes of all lattices' bits with
    /// [`TransferChoice::Auto`]; more are reduced to views. Handing 32
    /// MiB to the drawing GPU would take the host 5 ms per frame, more than everything else.
    pub const MAX_AUTO_BITS_BYTES: u64 = 8 << 20;

    /// Every instance's bits.
    pub const BITS: PicturePlan = PicturePlan {
        transfer: Transfer::Bits,
        region: ReduceRegion::of_cells(4, 1),
        only: None,
    };

    /// Every instance whole: as cells if the setting wants those and its kernel has them, else as bits.
    pub fn whole(setting: &Setting) -> PicturePlan {
        let wants_cells = setting.switches.transfer == TransferChoice::Cells;
        PicturePlan {
            transfer: if wants_cells && setting.kernel.layout == Layout::I32 {
                Transfer::Cells
            } else {
                Transfer::Bits
            },
            ..PicturePlan::BITS
        }
    }
}
