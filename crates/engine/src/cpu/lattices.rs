//! The lattices' memory and all ops on it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::buffers::CpuSlots;
use super::kernels::{Launch, Pair, Reserved};
use super::planar_rows::{BitRows, PlanarRows};
use super::vector;
use super::worker_pool::WorkerPool;
use crate::host_memory as memory;
use crate::kernels::{OwnCode, no_own_code};
use crate::{
    Band, EngineError, Kernel, LatticeId, LatticeOp, Layout, Loss, Measure, MemoryUse,
    ReduceRegion, Result, RowCopy, Transfer, WordEdit,
};
use life::{Rule, Size};

/// All lattices and their host slots, shared with the workers.
pub(super) struct Lattices {
    worker_pool: WorkerPool,
    all: RwLock<Vec<Arc<Entry>>>,
    /// For all downloads that are submitted from now on.
    pub slots: RwLock<Arc<CpuSlots>>,
}

/// A lattice, and what its ops made of it. That has its own lock, since memory for it is allocated
/// while the lattice may be in use for long.
struct Entry {
    stored: Mutex<Stored>,
    results: Mutex<Results>,
}

/// What ops made of a lattice, in memory that is allocated before they are queued.
#[derive(Default)]
pub(super) struct Results {
    /// The bytes of the last reduction.
    pub view: Vec<u32>,
    measure: Measure,
    /// The bits of the last measure; zeros before the first.
    pub before: Vec<u32>,
}

/// One lattice's buffers.
struct Stored {
    size: Size,
    /// The rows that it has, if it is no whole torus.
    band: Option<Band>,
    /// The layout of the cells: that of the bits, or the reserved one.
    layout: Layout,
    bits: Pair<BitRows>,
    reserved: Reserved,
}

impl Lattices {
    /// Starts without lattices. Kernels use `worker_pool`.
    pub(super) fn new(worker_pool: WorkerPool) -> Lattices {
        Lattices {
            worker_pool,
            all: RwLock::default(),
            slots: RwLock::default(),
        }
    }

    /// Adds dead lattices, each for a band if there is one.
    pub(super) fn create(&self, count: usize, size: Size, band: Option<Band>) -> Result<()> {
        let what = MemoryUse::Lattices(Layout::Bits, count);
        memory::ensure(
            (2 * BitRows::bytes(size)).saturating_mul(count as u64),
            what,
        )?;
        let stored = |_| {
            let bits = Pair::of(|| BitRows::new(size, what))?;
            let stored = Stored {
                size,
                band,
                layout: Layout::Bits,
                bits,
                reserved: Reserved::Nothing,
            };
            Ok(Arc::new(Entry {
                stored: Mutex::new(stored),
                results: Mutex::default(),
            }))
        };
        let new: Vec<_> = (0..count).map(stored).collect::<Result<_>>()?;
        self.all.write().extend(new);
        Ok(())
    }

    /// Allocates a layout for all lattices and frees the others. Nothing may be running.
    pub(super) fn reserve(&self, layout: Layout) -> Result<()> {
        let all = self.all.read();
        let mut all: Vec<_> = all.iter().map(|one| one.stored.lock()).collect();
        all.iter_mut().for_each(|stored| stored.keep_only(layout));
        let mut without: Vec<_> = all.into_iter().filter(|one| !one.has(layout)).collect();
        let count = without.len();
        let what = MemoryUse::Lattices(layout, count);
        let bytes_of = |one: &Stored| match layout {
            Layout::Bits => 0,
            Layout::I32 => 8 * one.size.cells(),
            Layout::Planar => 2 * PlanarRows::bytes(one.size),
        };
        let bytes = without.iter().map(|one| bytes_of(one));
        memory::ensure(bytes.fold(0, u64::saturating_add), what)?;
        let make = |one: &MutexGuard<Stored>| {
            Ok(match layout {
                Layout::Bits => Reserved::Nothing,
                Layout::I32 => {
                    let cells = one.size.cells() as usize;
                    Reserved::I32(Pair::of(|| memory::zeroed(cells, what))?)
                }
                Layout::Planar => {
                    let rows = Pair::of(|| PlanarRows::new(one.size, what))?;
                    Reserved::Planar(rows.into())
                }
            })
        };
        let made: Vec<_> = without.iter().map(make).collect::<Result<_>>()?;
        for (stored, made) in without.iter_mut().zip(made) {
            stored.reserved = made;
        }
        Ok(())
    }

    /// Whether a layout is allocated, or cannot be used for the lattice's size.
    pub(super) fn has(&self, lattice: LatticeId, layout: Layout) -> bool {
        let all = self.all.read();
        all[lattice.index()].stored.lock().has(layout)
    }

    /// Enlarges a part of these lattices' results. Does not wait for ops that step them.
    pub(super) fn enlarge(
        &self,
        lattices: impl Iterator<Item = LatticeId> + Clone,
        words: usize,
        what: MemoryUse,
        part: fn(&mut Results) -> &mut Vec<u32>,
    ) -> Result<()> {
        let bytes = memory::bytes_of::<u32>(words);
        memory::ensure(bytes.saturating_mul(lattices.clone().count() as u64), what)?;
        for lattice in lattices {
            let mut larger = memory::zeroed(words, what)?;
            let entry = self.entry(lattice);
            let mut results = entry.results.lock();
            let part = part(&mut results);
            larger.clear();
            larger.append(part);
            *part = larger;
        }
        Ok(())
    }

    fn entry(&self, lattice: LatticeId) -> Arc<Entry> {
        let all = self.all.read();
        all[lattice.index()].clone()
    }

    /// Runs an op of a validated program; only memory can still run out.
    pub(super) fn execute(
        &self,
        lattices: Range<u32>,
        op: &LatticeOp,
        stop: &AtomicBool,
    ) -> Result<()> {
        let mut lattices = lattices.map(LatticeId);
        self.worker_pool
            .run(|| lattices.try_for_each(|lattice| self.execute_on(lattice, op, stop)))
    }

    fn execute_on(&self, lattice: LatticeId, op: &LatticeOp, stop: &AtomicBool) -> Result<()> {
        // Rows of a lattice may be copied to itself.
        let copied = match op {
            LatticeOp::CopyRows { from, rows, .. } => {
                self.entry(*from).stored.lock().copy_out(*rows)
            }
            _ => Vec::new(),
        };
        let entry = self.entry(lattice);
        let mut stored = entry.stored.lock();
        match op {
            LatticeOp::Upload(words) => {
                stored.bits.now.load(words);
                stored.layout = Layout::Bits;
            }
            LatticeOp::Soup(soup) => {
                let first_row = stored.band.map_or(0, Band::first_of_halo);
                stored.bits.now.make_soup(*soup, first_row);
                stored.layout = Layout::Bits;
            }
            LatticeOp::Edit(edits) => stored.edit(edits),
            LatticeOp::Pack => stored.pack(),
            LatticeOp::Unpack(to) => stored.unpack(*to),
            LatticeOp::Advance {
                kernel,
                rule,
                generations,
                ..
            } => return stored.advance(kernel, *rule, *generations, stop, &self.worker_pool),
            LatticeOp::Reduce(region) => {
                let view = &mut entry.results.lock().view;
                match stored.band {
                    None => reduce(&stored.bits.now, *region, view),
                    Some(band) => count_in_band(&stored.bits.now, band, *region, view),
                }
            }
            LatticeOp::Measure => {
                let Results {
                    measure, before, ..
                } = &mut *entry.results.lock();
                before.resize(stored.size.words(), 0);
                *measure = measure_bits(&stored.bits.now, stored.band, before);
            }
            LatticeOp::CopyRows { rows, .. } => stored.copy_in(*rows, &copied),
            LatticeOp::Download { slot, what } => {
                let slots = self.slots.read().clone();
                slots.land(lattice, *slot, |words| {
                    stored.download(*what, &entry.results.lock(), words);
                });
            }
        }
        Ok(())
    }
}

impl Reserved {
    fn layout(&self) -> Layout {
        match self {
            Reserved::Nothing => Layout::Bits,
            Reserved::I32(_) => Layout::I32,
            Reserved::Planar(_) => Layout::Planar,
        }
    }
}

impl Stored {
    /// Frees all layouts except this one and [`Layout::Bits`].
    fn keep_only(&mut self, layout: Layout) {
        if self.reserved.layout() != layout {
            self.reserved = Reserved::Nothing;
        }
        if self.layout != layout {
            self.layout = Layout::Bits;
        }
    }

    /// Whether a layout is allocated, or cannot be used for the lattice's size.
    fn has(&self, layout: Layout) -> bool {
        [Layout::Bits, self.reserved.layout()].contains(&layout) || !layout.supports(self.size)
    }

    fn pack(&mut self) {
        let width = self.size.width as usize;
        let bits = &mut self.bits.now;
        match &self.reserved {
            _ if self.layout == Layout::Bits => {}
            Reserved::I32(Pair { now, .. }) => bits.fill(|y, row| {
                let cells = now[y * width..][..width].chunks(32);
                for (word, cells) in row.iter_mut().zip(cells) {
                    let cells = cells.iter().rev();
                    *word = cells.fold(0, |word, &cell| word << 1 | (cell as u32 & 1));
                }
            }),
            Reserved::Planar(planar) => {
                let write = |y, words: &[u32]| bits.change(y, |row| row.copy_from_slice(words));
                planar.now.store(write);
            }
            Reserved::Nothing => {}
        }
    }

    fn edit(&mut self, edits: &[WordEdit]) {
        let width = self.size.width as usize;
        let per_row = self.size.words_per_row();
        for edit in edits {
            let (y, word) = (edit.word as usize / per_row, edit.word as usize % per_row);
            let cells = edit.cells();
            let cells = cells.map(|(bit, alive)| (32 * word + bit as usize, alive));
            match &mut self.reserved {
                _ if self.layout == Layout::Bits => {
                    self.bits.now.change(y, |row| edit.apply(&mut row[word]));
                }
                Reserved::I32(Pair { now, .. }) => {
                    cells.for_each(|(x, alive)| now[y * width + x] = alive.into());
                }
                Reserved::Planar(planar) => {
                    cells.for_each(|(x, alive)| planar.now.set(x, y, alive));
                }
                Reserved::Nothing => {}
            }
        }
    }

    fn unpack(&mut self, to: Layout) {
        let width = self.size.width as usize;
        let bits = &self.bits.now;
        match &mut self.reserved {
            _ if to == Layout::Bits => {}
            Reserved::I32(Pair { now, .. }) => {
                for (y, cells) in now.chunks_exact_mut(width).enumerate() {
                    for (cells, word) in cells.chunks_mut(32).zip(bits.row(y)) {
                        for (cell, bit) in cells.iter_mut().zip(0..) {
                            *cell = (word >> bit & 1) as i32;
                        }
                    }
                }
            }
            Reserved::Planar(planar) => planar.now.load(|y| bits.row(y)),
            Reserved::Nothing => {}
        }
        self.layout = to;
    }

    fn advance(
        &mut self,
        kernel: &Kernel,
        rule: Rule,
        generations: u32,
        stop: &AtomicBool,
        worker_pool: &WorkerPool,
    ) -> Result<()> {
        if let Some(own) = &kernel.own {
            return self.advance_by(own, rule, generations);
        }
        let size = self.size;
        let launch = Launch {
            size,
            rule,
            generations,
            stop,
            worker_pool,
        };
        launch.run(kernel, &mut self.bits, &mut self.reserved)
    }

    /// Advances by a kernel of a user's own, which takes bits. An error of it loses the lattices.
    fn advance_by(&mut self, own: &OwnCode, rule: Rule, generations: u32) -> Result<()> {
        let Some(stepper) = &own.cpu else {
            return Err(no_own_code(false));
        };
        let (layout, what) = (self.layout, MemoryUse::Lattices(Layout::Bits, 1));
        let mut words = memory::zeroed(self.size.words(), what)?;
        // In another layout, the bits of the last pack stay as they are.
        let keeps_bits = layout != Layout::Bits;
        if keeps_bits {
            self.bits.flip();
        }
        self.pack();
        self.bits.now.store(0, &mut words);
        let stepped = stepper.step(&mut words, self.size, rule, generations);
        stepped.map_err(|error| EngineError::ContextLost(Loss::OwnKernel(error)))?;
        self.bits.now.load(&words);
        self.unpack(layout);
        if keeps_bits {
            self.bits.flip();
        }
        Ok(())
    }

    /// Rows of the cells in the working layout, one behind the other.
    fn copy_out(&self, rows: RowCopy) -> Vec<u32> {
        let width = self.size.width as usize;
        let mut copied = Vec::new();
        for y in (rows.from as usize..).take(rows.count as usize) {
            match &self.reserved {
                _ if self.layout == Layout::Bits => copied.extend(self.bits.now.row(y)),
                Reserved::I32(Pair { now, .. }) => {
                    copied.extend(now[y * width..][..width].iter().map(|&cell| cell as u32));
                }
                Reserved::Planar(planar) => copied.extend(planar.now.words_of(y)),
                Reserved::Nothing => {}
            }
        }
        copied
    }

    /// Replaces rows by those that [`Stored::copy_out`] returned.
    fn copy_in(&mut self, rows: RowCopy, copied: &[u32]) {
        let width = self.size.width as usize;
        let words = copied.chunks_exact(copied.len() / rows.count as usize);
        for (y, words) in (rows.to as usize..).zip(words) {
            match &mut self.reserved {
                _ if self.layout == Layout::Bits => {
                    self.bits.now.change(y, |row| row.copy_from_slice(words));
                }
                Reserved::I32(Pair { now, .. }) => {
                    let row = now[y * width..].iter_mut();
                    row.zip(words).for_each(|(to, from)| *to = *from as i32);
                }
                Reserved::Planar(planar) => planar.now.set_words(y, words),
                Reserved::Nothing => {}
            }
        }
    }

    fn download(&self, what: Transfer, results: &Results, words: &mut [u32]) {
        match (what, &self.reserved) {
            (Transfer::Bits, _) => self.bits.now.store(0, &mut words[..self.size.words()]),
            (Transfer::Rows { first, count }, _) => {
                let words = &mut words[..self.size.words_per_row() * count as usize];
                self.bits.now.store(first as usize, words);
            }
            (Transfer::Cells, Reserved::I32(Pair { now, .. })) => {
                words
                    .iter_mut()
                    .zip(now)
                    .for_each(|(to, from)| *to = *from as u32);
            }
            (Transfer::Cells, _) => {}
            (Transfer::Measure, _) => {
                words[..Measure::WORDS].copy_from_slice(&results.measure.to_words());
            }
            (Transfer::View, _) => words[..results.view.len()].copy_from_slice(&results.view),
        }
    }
}

// CPU versions of `measure_bits`, which finds live cells, births, deaths and a hash in one pass over the words,
// and of the reduction of bits to a view.

/// Measures a lattice, or of a band its own rows. `before` holds its words at the previous measure (zeros before the first)
/// and is replaced.
fn measure_bits(bits: &BitRows, band: Option<Band>, before: &mut [u32]) -> Measure {
    let size = bits.size;
    let (rows, first) = match band {
        None => (0..size.height as usize, 0),
        Some(band) => {
            let own = band.halo as usize..(band.halo + band.rows) as usize;
            (own, band.first as usize * size.words_per_row())
        }
    };
    let words = &bits.words[rows.start * bits.stride..rows.end * bits.stride];
    let (per_row, mask) = (size.words_per_row(), size.last_word_mask());
    vector::vectorize(
        #[inline(always)]
        move || measure_rows(words, first as u64, bits.stride, per_row, mask, before),
    )
}

/// `words` holds rows `stride` apart, each after a halo word; the index of the first row's first word is
/// `first`. A row has `per_row` words; only the
/// bits in `mask` of the last one are cells.
#[inline(always)]
fn measure_rows(
    words: &[u32],
    first: u64,
    stride: usize,
    per_row: usize,
    mask: u32,
    before: &mut [u32],
) -> Measure {
    let mut sum = Measure::default();
    let rows = words
        .chunks_exact(stride)
        .zip(before.chunks_exact_mut(per_row));
    for ((row, before), index) in rows.zip((first..).step_by(per_row)) {
        let (last, whole) = row[1..=per_row].split_last().expect("a row has a word");
        let (before_last, before_whole) = before.split_last_mut().expect("as long");
        sum.add(index, whole, before_whole);
        let last_index = index + whole.len() as u64;
        let before_last = std::slice::from_mut(before_last);
        sum.add(last_index, &[last & mask], before_last);
    }
    sum
}

// Reduces a lattice's bits to densities, as [`ReduceRegion`] defines.

/// Writes the bytes, four per word, to `view`, which has the capacity.
fn reduce(bits: &BitRows, region: ReduceRegion, view: &mut Vec<u32>) {
    view.resize(region.words(), 0);
    let size = bits.size;
    let widths = region.widths(size.width);
    let mut lines = view.chunks_exact_mut(region.width as usize / 4);
    count_lines(bits, size.height, Some, region, |j, alive| {
        let line = lines.next().expect("as many as the region has");
        region.put_line(j, alive, &widths, size.height, line);
    });
}

/// Writes how many of a band's own cells live in each pixel to `view`, which has the capacity.
fn count_in_band(bits: &BitRows, band: Band, region: ReduceRegion, view: &mut Vec<u32>) {
    view.clear();
    let own_row = |row: usize| band.own_row(row as u32).map(|row| row as usize);
    let height = band.torus.height;
    count_lines(bits, height, own_row, region, |_, alive| {
        view.extend(alive.iter().map(|&alive| alive as u32));
    });
}

/// Calls `take` for each line of pixels with its number and that of the live cells in each pixel.
/// The torus has `height` rows, of which `row_of` has the place in `bits`, if they are there.
fn count_lines(
    bits: &BitRows,
    height: u32,
    row_of: impl Fn(usize) -> Option<usize>,
    region: ReduceRegion,
    mut take: impl FnMut(u32, &[u64]),
) {
    let size = bits.size;
    let mut columns = Vec::with_capacity(region.width as usize);
    // Few pixels wrap around, so their wrapped part is counted separately.
    let mut beyond = Vec::new();
    for i in 0..region.width {
        let [first, second] = on_torus(region.columns(i), size.width);
        if !second.is_empty() {
            beyond.push((i as usize, second));
        }
        columns.push(first);
    }
    let mut alive = vec![0u64; columns.len()];
    for j in 0..region.height {
        let rows = on_torus(region.rows(j), height);
        alive.fill(0);
        for y in rows.into_iter().flatten().filter_map(&row_of) {
            let row = bits.row(y);
            for (alive, columns) in alive.iter_mut().zip(&columns) {
                *alive += count(row, columns.clone());
            }
            for (i, columns) in &beyond {
                alive[*i] += count(row, columns.clone());
            }
        }
        take(j, &alive);
    }
}

/// Splits a range of cells on a ring of `side` cells: the part before the end, and the wrapped part
/// from the start, which may be empty.
fn on_torus((from, to): (i64, i64), side: u32) -> [Range<usize>; 2] {
    let side = i64::from(side);
    let first = from.rem_euclid(side);
    let end = first + (to - from).min(side);
    let cells = |from: i64, to: i64| from as usize..to as usize;
    [cells(first, end.min(side)), cells(0, (end - side).max(0))]
}

/// Live cells of a row within a non-empty range of columns.
fn count(row: &[u32], columns: Range<usize>) -> u64 {
    let (first, last) = (columns.start / 32, (columns.end - 1) / 32);
    let from = u32::MAX << (columns.start % 32);
    let to = u32::MAX >> (31 - (columns.end - 1) % 32);
    if first == last {
        return (row[first] & from & to).count_ones().into();
    }
    let between: u32 = row[first + 1..last]
        .iter()
        .map(|word| word.count_ones())
        .sum();
    u64::from((row[first] & from).count_ones() + between + (row[last] & to).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_point_lies_in_the_pixel_that_covers_its_cell(
            side in 1u32..140, x0 in -300i64..300, step in 1i64..20, across in 1u32..40, at: u32,
        ) {
            let (x0, step) = (x0 << 16, step << 16);
            let view = ReduceRegion { x0, y0: 7, step, width: 4 * across, height: 1 };
            let cell = at % side;
            let covers = |i: &u32| {
                let (from, to) = view.columns(*i);
                (from..to).any(|x| x.rem_euclid(side.into()) == i64::from(cell))
            };
            let found = view.column_at((i64::from(cell) << 16) + ReduceRegion::ONE / 2, side);
            // The first pixel, if the region shows a cell more than once.
            prop_assert_eq!(found, (0..view.width).find(covers));
        }
    }
}
