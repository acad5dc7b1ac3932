//! The newest complete picture of each instance, for whoever draws.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::PicturePlan;
use crate::population::Series;
use crate::trace::Trace;
use engine::{LatticeId, ReduceRegion, Slot, Slots, Transfer};
use life::Size;

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

impl Picture {
    /// Whether a cell is alive, given the words that come with the picture; of a view, whether
    /// most of what a pixel stands for is, and not if the cell is not in it.
    pub fn is_alive(&self, size: Size, [x, y]: [u32; 2], words: &[u32]) -> bool {
        let bit = |at: usize| {
            words
                .get(at / 32)
                .is_some_and(|word| word >> (at % 32) & 1 == 1)
        };
        let Some(region) = self.region else {
            return bit(y as usize * size.words_per_row() * 32 + x as usize);
        };
        let [x, y] = [x, y].map(|cell| i64::from(cell) * ReduceRegion::ONE + ReduceRegion::ONE / 2);
        let (column, row) = (
            region.column_at(x, size.width()),
            region.row_at(y, size.height()),
        );
        column.zip(row).is_some_and(|(column, row)| {
            let at = (row * region.width + column) as usize;
            let density = words
                .get(at / 4)
                .map_or(0, |word| word >> (8 * (at % 4)) & 255);
            density > 127
        })
    }
}

/// The smallest area with all live cells, which may go around the torus, in cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LiveArea {
    /// Its middle.
    pub middle: [f64; 2],
    /// Its sides.
    pub sides: [f64; 2],
}

impl Picture {
    /// The area of the live cells, as far as the picture shows them; `None` where none live, or if the
    /// picture is of a part.
    pub fn live_area(&self, size: Size, words: &[u32]) -> Option<LiveArea> {
        let (row_length, bits) = match self.region {
            None => (size.words_per_row(), 1),
            Some(region) => (region.width as usize / 4, 8),
        };
        let mut columns = vec![0; row_length];
        let mut rows = Vec::new();
        for row in words.chunks_exact(row_length) {
            let all = columns.iter_mut().zip(row);
            all.for_each(|(column, word)| *column |= word);
            rows.push(row.iter().any(|word| *word != 0));
        }
        let pixel = |cell: u32| i64::from(cell) * ReduceRegion::ONE + ReduceRegion::ONE / 2;
        let column = |x: u32| {
            let at = self
                .region
                .map_or(Some(x), |it| it.column_at(pixel(x), size.width()))?;
            let at = at as usize * bits;
            Some(columns.get(at / 32)? >> (at % 32) & ((1 << bits) - 1) != 0)
        };
        let row = |y: u32| {
            let at = self
                .region
                .map_or(Some(y), |it| it.row_at(pixel(y), size.height()))?;
            rows.get(at as usize).copied()
        };
        let columns: Option<Vec<bool>> = (0..size.width()).map(column).collect();
        let rows: Option<Vec<bool>> = (0..size.height()).map(row).collect();
        let ((x, width), (y, height)) = (around(&columns?)?, around(&rows?)?);
        let (middle, sides) = ([x, y], [width, height]);
        Some(LiveArea { middle, sides })
    }
}

/// The middle and the length of the shortest part of a circle that has all places that are set.
fn around(set: &[bool]) -> Option<(f64, f64)> {
    let places: Vec<usize> = (0..set.len()).filter(|&at| set[at]).collect();
    let (first, last) = (*places.first()?, *places.last()?);
    let gaps = places.windows(2).map(|pair| (pair[1] - pair[0], pair[1]));
    let gaps = gaps.chain([(first + set.len() - last, first)]);
    let (gap, start) = gaps.max_by_key(|(gap, _)| *gap)?;
    let length = (set.len() + 1 - gap) as f64;
    Some((start as f64 + length / 2.0, length))
}

/// All instances' pictures. A picture is current as soon as its own stream's event has fired.
#[derive(Clone)]
pub struct Pictures {
    board: Arc<Mutex<Inner>>,
}

struct Inner {
    slots: Arc<dyn Slots>,
    size: Size,
    /// The newest picture of each instance; `None` until there is one in `slots`.
    newest: Vec<Option<Picture>>,
    sequence: u64,
}

impl Pictures {
    /// No pictures yet, of this many instances of one size; their words will be in `slots`.
    pub fn new(slots: Arc<dyn Slots>, instances: usize, size: Size) -> Pictures {
        let board = Inner {
            slots,
            size,
            newest: vec![None; instances],
            sequence: 0,
        };
        Pictures {
            board: Arc::new(Mutex::new(board)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.board
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Hands over every picture that is newer than `seen` says (by instance), and notes it there.
    /// The words are the lattice's bits, or the view's bytes, four a word.
    pub fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        let mut packed = Vec::new();
        for (instance, seen) in seen.iter_mut().enumerate() {
            // Twice at most: a slot is only bound again after a newer picture has been noted.
            for _ in 0..2 {
                let (slots, picture, size) = {
                    let board = self.lock();
                    match board.newest.get(instance).copied().flatten() {
                        Some(picture) if picture.sequence > *seen => {
                            (board.slots.clone(), picture, board.size)
                        }
                        _ => break,
                    }
                };
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
        let mut board = self.lock();
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
        self.lock().newest[instances]
            .iter()
            .flatten()
            .any(|picture| picture.slot == slot)
    }

    /// Lets go of the slots: there are no pictures until there are new slots.
    pub fn clear(&self) {
        self.replace_slots(Arc::new(NoSlots));
    }

    /// Goes over to other lattices with slots of their own, which hold no picture yet. Sequences
    /// go on growing.
    pub fn replace_grid(&self, slots: Arc<dyn Slots>, instances: usize, size: Size) {
        let mut board = self.lock();
        board.slots = slots;
        board.size = size;
        board.newest = vec![None; instances];
    }

    /// The size of the lattices.
    pub fn size(&self) -> Size {
        self.lock().size
    }

    /// How many lattices there are.
    pub fn instances(&self) -> usize {
        self.lock().newest.len()
    }

    /// Goes over to new slots, which hold no picture yet; the old ones stay until nobody reads
    /// them.
    pub fn replace_slots(&self, slots: Arc<dyn Slots>) {
        let mut board = self.lock();
        board.slots = slots;
        board.newest.fill(None);
    }
}

/// Bits of cells, row by row, the least significant bit leftmost.
fn pack(size: Size, cells: &[u32], packed: &mut Vec<u32>) {
    packed.clear();
    for row in cells.chunks_exact(size.width() as usize) {
        let word = |cells: &[u32]| {
            cells
                .iter()
                .rev()
                .fold(0, |word, cell| word << 1 | cell & 1)
        };
        packed.extend(row.chunks(32).map(word));
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

impl PictureSource for Pictures {
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        Pictures::visit_newer(self, seen, draw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::{Lattice, soup};

    #[test]
    fn a_view_across_the_edges_says_what_is_alive_there() {
        let size = Size::new(100, 60).unwrap();
        let lattice = soup(size, 0.4, 3, 0);
        let region = ReduceRegion {
            x0: 90 * ReduceRegion::ONE,
            y0: -7 * ReduceRegion::ONE,
            step: ReduceRegion::ONE,
            width: 24,
            height: 20,
        };
        let four = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let view = |region, lattice: &Lattice| -> Vec<u32> {
            let bytes = engine::conformance::reduced(region, lattice);
            bytes.chunks_exact(4).map(four).collect()
        };
        let words = view(region, &lattice);
        let picture = Picture {
            sequence: 1,
            generation: 0,
            edits: 0,
            region: Some(region),
            words: words.len(),
            slot: Slot(0),
            cells: false,
        };
        for (x, y) in (0..100).flat_map(|x| (0..60).map(move |y| (x, y))) {
            let inside = !(14..90).contains(&x) && !(13..53).contains(&y);
            let want = inside && lattice.get(x, y);
            assert_eq!(picture.is_alive(size, [x, y], &words), want, "{x}, {y}");
        }
        assert_eq!(picture.live_area(size, &words), None, "a part");
        // As bits, and as a view of all.
        let mut two = Lattice::new(size);
        [[40, 7], [42, 9]]
            .iter()
            .for_each(|&[x, y]| two.set(x, y, true));
        let all = ReduceRegion::of_cells(100, 60);
        let area = Some(LiveArea {
            middle: [41.5, 8.5],
            sides: [3.0, 3.0],
        });
        for (region, words) in [(None, two.words()), (Some(all), &view(all, &two))] {
            let picture = Picture { region, ..picture };
            assert_eq!(picture.live_area(size, words), area);
        }
    }
}
