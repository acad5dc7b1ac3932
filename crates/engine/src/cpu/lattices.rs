//! The lattices' memory and all ops on it.

use std::mem;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::bit_rows::BitRows;
use super::kernels::{Launch, Pair, bits, cells, multistep, planar};
use super::planar_rows::PlanarRows;
use super::slots::CpuSlots;
use super::worker_pool::WorkerPool;
use super::{measure, memory, reduce};
use crate::error::invalid;
use crate::kernels::{OwnCode, no_own_code};
use crate::{
    Band, EngineError, Kernel, LatticeId, LatticeOp, Layout, Loss, Measure, MemoryUse, Result,
    RowCopy, Transfer, WordEdit,
};
use life::{Rule, Size};

/// All lattices and their host slots, shared with the workers.
pub(super) struct Lattices {
    worker_pool: WorkerPool,
    all: RwLock<Vec<Arc<Entry>>>,
    slots: RwLock<Option<Arc<CpuSlots>>>,
}

/// A lattice, and memory that queued programs need for it. That memory has its own lock, since the
/// lattice may be in use for long.
struct Entry {
    stored: Mutex<Stored>,
    spare: Mutex<Spare>,
}

/// Memory allocated for a program, until its first op takes it.
#[derive(Default)]
pub(super) struct Spare {
    /// A larger view.
    pub(super) view: Vec<u32>,
    /// The previous bits for the first measure: zeros.
    pub(super) before: Vec<u32>,
}

/// One lattice's buffers.
struct Stored {
    size: Size,
    /// The rows that it has, if it is no whole torus.
    band: Option<Band>,
    layout: Layout,
    bits: Pair<BitRows>,
    /// Present if [`Layout::I32`] is reserved.
    cells: Option<Pair<Vec<i32>>>,
    /// Present if [`Layout::Planar`] is reserved.
    planar: Option<Pair<PlanarRows>>,
    /// The bytes of the last reduction.
    view: Vec<u32>,
    /// The last measure and the bits it measured; empty before the first.
    measured: (Measure, Vec<u32>),
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
        let what = MemoryUse::Lattices(count, Layout::Bits);
        memory::ensure(
            (2 * BitRows::bytes(size)).saturating_mul(count as u64),
            what,
        )?;
        let stored = |_| {
            let bits = Pair::of(|| BitRows::new(size, what))?;
            let layout = Layout::Bits;
            let stored = Stored {
                size,
                band,
                layout,
                bits,
                cells: None,
                planar: None,
                view: Vec::new(),
                measured: Default::default(),
            };
            Ok(Arc::new(Entry {
                stored: Mutex::new(stored),
                spare: Mutex::default(),
            }))
        };
        let new: Vec<_> = (0..count).map(stored).collect::<Result<_>>()?;
        self.all
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(new);
        Ok(())
    }

    /// Allocates a layout for all lattices and frees the others. Nothing may be running.
    pub(super) fn reserve(&self, layout: Layout) -> Result<()> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = all.iter().map(|one| one.stored()).collect();
        all.iter_mut().for_each(|stored| stored.keep_only(layout));
        let mut without: Vec<_> = all.into_iter().filter(|one| one.lacks(layout)).collect();
        let count = without.len();
        let what = MemoryUse::Lattices(count, layout);
        let bytes_of = |one: &Stored| match layout {
            Layout::Bits => 0,
            Layout::I32 => 8 * one.size.cells(),
            Layout::Planar => 2 * PlanarRows::bytes(one.size),
        };
        let bytes = without.iter().map(|one| bytes_of(one));
        memory::ensure(bytes.fold(0, u64::saturating_add), what)?;
        fn allocate<B>(
            without: &mut [MutexGuard<Stored>],
            make: impl Fn(Size) -> Result<B>,
            set: fn(&mut Stored, Pair<B>),
        ) -> Result<()> {
            let pairs = without.iter().map(|one| Pair::of(|| make(one.size)));
            let pairs: Vec<_> = pairs.collect::<Result<_>>()?;
            let each = without.iter_mut().zip(pairs);
            each.for_each(|(stored, pair)| set(stored, pair));
            Ok(())
        }
        match layout {
            Layout::Bits => Ok(()),
            Layout::I32 => {
                let cells = |size: Size| memory::zeroed(size.cells() as usize, what);
                allocate(&mut without, cells, |stored, pair| {
                    stored.cells = Some(pair)
                })
            }
            Layout::Planar => {
                let rows = |size| PlanarRows::new(size, what);
                allocate(&mut without, rows, |stored, pair| {
                    stored.planar = Some(pair)
                })
            }
        }
    }

    /// Whether a layout is allocated, or cannot be used for the lattice's size.
    pub(super) fn has(&self, lattice: LatticeId, layout: Layout) -> bool {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        !all[lattice.index()].stored().lacks(layout)
    }

    /// Allocates memory that each of these lattices' next op takes. Does not wait.
    pub(super) fn make_spare(
        &self,
        lattices: impl Iterator<Item = LatticeId> + Clone,
        words: usize,
        what: MemoryUse,
        set: fn(&mut Spare, Vec<u32>),
    ) -> Result<()> {
        let bytes = memory::bytes_of::<u32>(words);
        memory::ensure(bytes.saturating_mul(lattices.clone().count() as u64), what)?;
        for lattice in lattices {
            let zeroed = memory::zeroed(words, what)?;
            set(&mut self.entry(lattice).spare(), zeroed);
        }
        Ok(())
    }

    fn entry(&self, lattice: LatticeId) -> Arc<Entry> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all[lattice.index()].clone()
    }

    /// Sets the slots for all downloads from now on.
    pub(super) fn set_slots(&self, slots: Arc<CpuSlots>) {
        *self.slots.write().unwrap_or_else(PoisonError::into_inner) = Some(slots);
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
            LatticeOp::CopyRows { from, rows, .. } => self.entry(*from).stored().copy_out(*rows)?,
            _ => Vec::new(),
        };
        let entry = self.entry(lattice);
        let mut stored = entry.stored();
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
            LatticeOp::Edit(edits) => return stored.edit(edits),
            LatticeOp::Pack => return stored.pack(),
            LatticeOp::Unpack(to) => return stored.unpack(*to),
            LatticeOp::Advance {
                kernel,
                rule,
                generations,
                ..
            } => return stored.advance(kernel, *rule, *generations, stop, &self.worker_pool),
            LatticeOp::Reduce(region) => {
                let spare = &mut entry.spare().view;
                if spare.capacity() > stored.view.capacity() {
                    stored.view = mem::take(spare);
                }
                let Stored {
                    bits, view, band, ..
                } = &mut *stored;
                match *band {
                    None => reduce::reduce(&bits.now, *region, view),
                    Some(band) => reduce::count_in_band(&bits.now, band, *region, view),
                }
            }
            LatticeOp::Measure => {
                if stored.measured.1.is_empty() {
                    stored.measured.1 = mem::take(&mut entry.spare().before);
                }
                let Stored {
                    bits,
                    measured,
                    band,
                    ..
                } = &mut *stored;
                measured.0 = measure::measure(&bits.now, *band, &mut measured.1);
            }
            LatticeOp::CopyRows { rows, .. } => return stored.copy_in(*rows, &copied),
            LatticeOp::Download { slot, what } => {
                let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
                let slots = slots.clone();
                let slots = slots.ok_or_else(|| invalid(format!("{lattice:?} has no {slot:?}")))?;
                let mut done = Ok(());
                slots.land(lattice, *slot, |words| done = stored.download(*what, words));
                return done;
            }
        }
        Ok(())
    }
}

impl Entry {
    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stored {
    /// Frees all layouts except this one and [`Layout::Bits`].
    fn keep_only(&mut self, layout: Layout) {
        if layout != Layout::I32 {
            self.cells = None;
        }
        if layout != Layout::Planar {
            self.planar = None;
        }
        if self.layout != layout {
            self.layout = Layout::Bits;
        }
    }

    /// Whether a layout supports the lattice's size but is not reserved.
    fn lacks(&self, layout: Layout) -> bool {
        match layout {
            Layout::Bits => false,
            Layout::I32 => self.cells.is_none(),
            Layout::Planar => self.planar.is_none() && layout.supports(self.size),
        }
    }

    fn pack(&mut self) -> Result<()> {
        let width = self.size.width() as usize;
        match self.layout {
            Layout::Bits => {}
            Layout::I32 => {
                let cells = &reserved(self.cells.as_ref(), Layout::I32)?.now;
                let pack = |cells: &[i32]| {
                    cells
                        .iter()
                        .rev()
                        .fold(0, |word, &cell| word << 1 | (cell as u32 & 1))
                };
                let pack_row = |y: usize, row: &mut [u32]| {
                    let cells = cells[y * width..][..width].chunks(32);
                    row.iter_mut()
                        .zip(cells)
                        .for_each(|(word, cells)| *word = pack(cells));
                };
                self.bits.now.fill(pack_row);
            }
            Layout::Planar => {
                let cells = &reserved(self.planar.as_ref(), Layout::Planar)?.now;
                let bits = &mut self.bits.now;
                cells.store(|y, words| bits.write(y, words));
            }
        }
        Ok(())
    }

    fn edit(&mut self, edits: &[WordEdit]) -> Result<()> {
        let width = self.size.width() as usize;
        let per_row = self.size.words_per_row();
        let place = |edit: &WordEdit| {
            let word = edit.word as usize;
            (word / per_row, word % per_row)
        };
        match self.layout {
            Layout::Bits => {
                for edit in edits {
                    let (y, x) = place(edit);
                    self.bits.now.change(y, x, |word| edit.apply(word));
                }
            }
            Layout::I32 => {
                let cells = &mut reserved(self.cells.as_mut(), Layout::I32)?.now;
                for edit in edits {
                    let (y, x) = place(edit);
                    let word = &mut cells[y * width + 32 * x..];
                    edit.cells()
                        .for_each(|(bit, alive)| word[bit as usize] = alive.into());
                }
            }
            Layout::Planar => {
                let planar = reserved(self.planar.as_mut(), Layout::Planar)?;
                for edit in edits {
                    let (y, x) = place(edit);
                    edit.cells().for_each(|(bit, alive)| {
                        planar.now.set(32 * x + bit as usize, y, alive);
                    });
                }
            }
        }
        Ok(())
    }

    fn unpack(&mut self, to: Layout) -> Result<()> {
        let width = self.size.width() as usize;
        match to {
            Layout::Bits => {}
            Layout::I32 => {
                let cells = reserved(self.cells.as_mut(), Layout::I32)?;
                for (y, cells) in cells.now.chunks_exact_mut(width).enumerate() {
                    for (cells, word) in cells.chunks_mut(32).zip(self.bits.now.row(y)) {
                        cells
                            .iter_mut()
                            .zip(0..)
                            .for_each(|(cell, bit)| *cell = (word >> bit & 1) as i32);
                    }
                }
            }
            Layout::Planar => {
                let cells = reserved(self.planar.as_mut(), Layout::Planar)?;
                cells.now.load(|y| self.bits.now.row(y));
            }
        }
        self.layout = to;
        Ok(())
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
        match kernel.name {
            "global" | "sync-global" => {
                let cells = reserved(self.cells.as_mut(), Layout::I32)?;
                launch.each_generation(cells, |from, to| cells::step(size, rule, from, to));
            }
            "shared" => {
                let cells = reserved(self.cells.as_mut(), Layout::I32)?;
                launch.each_generation(cells, |from, to| {
                    cells::step_in_tiles(size, rule, from, to);
                });
            }
            "sync-shared" => {
                let cells = reserved(self.cells.as_mut(), Layout::I32)?;
                cells::run_in_bytes(&launch, &mut cells.now);
            }
            "bits" => {
                launch.each_generation(&mut self.bits, |from, to| bits::step(rule, from, to));
            }
            // On a CPU, a lattice that a GPU keeps in registers stays in the cache anyway.
            "planar" | "resident" | "cooperative" => {
                planar::run(&launch, reserved(self.planar.as_mut(), Layout::Planar)?);
            }
            "multistep" | "deep" => {
                multistep::run(&launch, reserved(self.planar.as_mut(), Layout::Planar)?);
            }
            name => return Err(invalid(format!("kernel {name} has no CPU version"))),
        }
        Ok(())
    }

    /// Advances by a kernel of a user's own, which takes bits. An error of it loses the lattices.
    fn advance_by(&mut self, own: &OwnCode, rule: Rule, generations: u32) -> Result<()> {
        let Some(stepper) = &own.cpu else {
            return Err(no_own_code(false));
        };
        let (layout, what) = (self.layout, MemoryUse::Lattices(1, Layout::Bits));
        let mut words = memory::zeroed(self.size.words(), what)?;
        // In another layout, the bits of the last pack stay as they are.
        let keeps_bits = layout != Layout::Bits;
        if keeps_bits {
            self.bits.flip();
        }
        self.pack()?;
        self.bits.now.store(0, &mut words);
        let stepped = stepper.step(&mut words, self.size, rule, generations);
        stepped.map_err(|error| EngineError::ContextLost(Loss::OwnKernel(error)))?;
        self.bits.now.load(&words);
        self.unpack(layout)?;
        if keeps_bits {
            self.bits.flip();
        }
        Ok(())
    }

    /// Rows of the cells in the working layout, one behind the other.
    fn copy_out(&self, rows: RowCopy) -> Result<Vec<u32>> {
        let mut copied = Vec::new();
        for y in (rows.from as usize..).take(rows.count as usize) {
            match self.layout {
                Layout::Bits => copied.extend_from_slice(self.bits.now.row(y)),
                Layout::I32 => {
                    let width = self.size.width() as usize;
                    let cells = &reserved(self.cells.as_ref(), Layout::I32)?.now;
                    copied.extend(cells[y * width..][..width].iter().map(|&cell| cell as u32));
                }
                Layout::Planar => {
                    let planar = &reserved(self.planar.as_ref(), Layout::Planar)?.now;
                    copied.extend(planar.words_of(y));
                }
            }
        }
        Ok(copied)
    }

    /// Replaces rows by those that [`Stored::copy_out`] returned.
    fn copy_in(&mut self, rows: RowCopy, copied: &[u32]) -> Result<()> {
        let words = copied.chunks_exact(copied.len() / rows.count as usize);
        for (y, words) in (rows.to as usize..).zip(words) {
            match self.layout {
                Layout::Bits => self.bits.now.write(y, words),
                Layout::I32 => {
                    let width = self.size.width() as usize;
                    let cells = &mut reserved(self.cells.as_mut(), Layout::I32)?.now;
                    let row = cells[y * width..][..width].iter_mut();
                    row.zip(words).for_each(|(to, from)| *to = *from as i32);
                }
                Layout::Planar => {
                    let planar = &mut reserved(self.planar.as_mut(), Layout::Planar)?.now;
                    planar.set_words(y, words);
                }
            }
        }
        Ok(())
    }

    fn download(&self, what: Transfer, words: &mut [u32]) -> Result<()> {
        match what {
            Transfer::Bits => self.bits.now.store(0, &mut words[..self.size.words()]),
            Transfer::Rows { first, count } => {
                let words = &mut words[..self.size.words_per_row() * count as usize];
                self.bits.now.store(first as usize, words);
            }
            Transfer::Cells => {
                let cells = &reserved(self.cells.as_ref(), Layout::I32)?.now;
                words
                    .iter_mut()
                    .zip(cells)
                    .for_each(|(to, from)| *to = *from as u32);
            }
            Transfer::Measure => {
                words[..Measure::WORDS].copy_from_slice(&self.measured.0.to_words());
            }
            Transfer::View => words
                .iter_mut()
                .zip(&self.view)
                .for_each(|(to, from)| *to = *from),
        }
        Ok(())
    }
}

/// A layout's buffers. Errors if the layout is not reserved.
fn reserved<T>(buffers: Option<T>, layout: Layout) -> Result<T> {
    let what = MemoryUse::Lattices(1, layout);
    buffers.ok_or_else(|| invalid(format!("there is no memory for {what:?}")))
}
