//! From ops to driver calls.

use std::ops::Range;

use cust::sys;

use super::advance::{Advance, together};
use super::buffers::Buffer;
use super::calls::{Arguments, Call, Sink};
use super::gpu::Gpu;
use super::slots::CudaSlots;
use super::stamps::{StampPlace, Stamper};
use crate::kernels::{Launch, Layout};
use crate::{
    EngineError, LatticeId, Measure, Op, Result, Scope, Slot, Transfer, Viewport, WordEdit,
};
use life::Size;

/// Where a lattice's cells are, as of the last op issued for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct State {
    pub(super) layout: Layout,
    pub(super) parity: u8,
    /// Which bit buffer holds the bits; in other layouts, those of the last pack.
    pub(super) bits_parity: u8,
}

impl State {
    pub(super) const NEW: State = State {
        layout: Layout::Bits,
        parity: 0,
        bits_parity: 0,
    };
}

/// A lattice's place and state.
pub(super) struct Home {
    pub(super) gpu: usize,
    pub(super) group: usize,
    pub(super) index: usize,
    pub(super) state: State,
    /// The length of its last reduced view.
    pub(super) view_words: usize,
    /// Whether it has ever been measured.
    pub(super) measured: bool,
}

/// Lattices that lie one behind the other in one state.
#[derive(Clone, Copy)]
struct Batch {
    first: LatticeId,
    count: usize,
    /// Of the first.
    group: usize,
    index: usize,
    /// Of each.
    state: State,
    size: Size,
    view_words: usize,
}

impl Batch {
    /// Width and height of all of them, one above the other: rows are converted each by itself.
    fn sides(&self) -> (i32, i32) {
        let (width, height) = sides(self.size);
        (width, height * self.count as i32)
    }
}

/// So many words for each lattice of a batch, `pitch` words from one to the next.
struct Rows {
    at: sys::CUdeviceptr,
    words: usize,
    pitch: usize,
}

/// Issues ops of one GPU, eagerly, into a capture or for another thread: the calls are the same.
pub(super) struct Issuer<'a> {
    pub(super) gpu: &'a mut Gpu,
    pub(super) homes: &'a mut [Home],
    pub(super) buffers: &'a [Option<Buffer>],
    pub(super) slots: Option<&'a CudaSlots>,
    pub(super) stream: sys::CUstream,
    /// Which GPU it is.
    pub(super) at: usize,
    /// Where the calls go.
    pub(super) sink: &'a mut Sink,
    /// The step's index, and where its kernels' stamps go, if they are stamped.
    pub(super) stamps: Option<(u32, &'a mut Stamper)>,
}

impl Issuer<'_> {
    /// Issues one op; events are the caller's.
    pub(super) fn issue(&mut self, op: &Op) -> Result<()> {
        match op {
            Op::Upload { lattice, words } => self.upload(*lattice, words),
            Op::Edit { lattice, edits } => self.edit(*lattice, edits),
            Op::Pack(lattices) => self.each_batch(lattices, false, Self::pack),
            Op::Unpack { lattices, to } => {
                self.each_batch(lattices, false, |this, batch| this.unpack(batch, *to))
            }
            Op::Advance {
                kernel,
                lattices,
                rule,
                generations,
                block,
            } => {
                let advance = Advance {
                    kernel,
                    rule: *rule,
                    generations: *generations,
                    block: *block,
                };
                let launches = together(kernel.batched, lattices.clone(), self.homes);
                let mut parts = launches.into_iter().zip(0..);
                parts.try_for_each(|(lattices, part)| {
                    let place = self.stamp_place(part);
                    self.advance_batch(advance, lattices, place)
                })
            }
            Op::Reduce { lattices, viewport } => {
                self.each_batch(lattices, false, |this, batch| this.reduce(batch, *viewport))
            }
            Op::Measure(lattices) => self.each_batch(lattices, false, Self::measure),
            Op::Download {
                lattices,
                slot,
                what,
            } => self.each_batch(lattices, *what == Transfer::View, |this, batch| {
                this.download(batch, *slot, *what)
            }),
            Op::Copy { from, to, bytes } => self.copy(*from, *to, *bytes),
            Op::Call(call) => self.launch_call(call),
            Op::Synchronize(Scope::Stream) => self.sink.give(Call::Synchronize(self.stream)),
            Op::Synchronize(Scope::Device) => self.sink.give(Call::SynchronizeContext),
            Op::Record(_) | Op::Wait(_) => Ok(()),
        }
    }

    pub(super) fn home(&self, lattice: LatticeId) -> Result<(usize, usize, State, Size)> {
        let home = self
            .homes
            .get(lattice.index())
            .filter(|home| home.gpu == self.at)
            .ok_or_else(|| no_lattice(lattice))?;
        let size = self.gpu.groups[home.group].size;
        Ok((home.group, home.index, home.state, size))
    }

    /// Does something for lattices, at once for those that lie one behind the other in one state;
    /// `of_views` if their views, too, must be of one length.
    fn each_batch(
        &mut self,
        lattices: &Range<u32>,
        of_views: bool,
        mut work: impl FnMut(&mut Self, Batch) -> Result<()>,
    ) -> Result<()> {
        let mut rest = lattices.clone();
        while !rest.is_empty() {
            let first = LatticeId(rest.start);
            let (group, index, state, size) = self.home(first)?;
            let of_first = &self.homes[first.index()];
            let view_words = of_first.view_words;
            // As one tall lattice, whose rows the kernels number by an int, or each as a layer of
            // a grid.
            let most = (i32::MAX as u32 / size.height()).min(Launch::MOST_LAYERS) as usize;
            let follows = |(i, home): &(usize, &Home)| {
                let place = (home.gpu, home.group, home.index);
                place == (self.at, group, index + i)
                    && home.state == state
                    && (!of_views || home.view_words == view_words)
            };
            let homes = self.homes[first.index()..].iter().enumerate();
            let count = homes.take(rest.len().min(most)).take_while(follows).count();
            rest.start += count as u32;
            let batch = Batch {
                first,
                count,
                group,
                index,
                state,
                size,
                view_words,
            };
            work(self, batch)?;
        }
        Ok(())
    }

    fn homes_of(&mut self, batch: Batch) -> &mut [Home] {
        &mut self.homes[batch.first.index()..][..batch.count]
    }

    fn upload(&mut self, lattice: LatticeId, words: &[u32]) -> Result<()> {
        let (group, index, _, size) = self.home(lattice)?;
        if words.len() != size.words() {
            return Err(EngineError::BadProgram(format!(
                "{} words for {size}",
                words.len()
            )));
        }
        let to = self.gpu.groups[group].bits_at(index, 0);
        // The lengths were compared, and the program holds the words until the call is made.
        self.sink.give(Call::CopyIn {
            to,
            from: words.as_ptr().cast(),
            bytes: words.len() * 4,
            stream: self.stream,
        })?;
        self.homes[lattice.index()].state = State::NEW;
        Ok(())
    }

    fn edit(&mut self, lattice: LatticeId, edits: &[WordEdit]) -> Result<()> {
        let (group, index, state, size) = self.home(lattice)?;
        WordEdit::check_all(edits, size)?;
        let group = &self.gpu.groups[group];
        let cells = group.buffer_at(state.layout, index, state.parity)?;
        let list = group.edits_at(index);
        let layout = match state.layout {
            Layout::Bits => 0,
            Layout::I32 => 1,
            Layout::Planar => 2,
        };
        // The stream keeps the copies and the launches in order, so that one list serves all.
        for edits in edits.chunks(group.most_edits()) {
            self.sink.give(Call::CopyIn {
                to: list,
                from: edits.as_ptr().cast(),
                bytes: size_of_val(edits),
                stream: self.stream,
            })?;
            let (count, width) = (edits.len() as i32, size.width() as i32);
            let arguments = Arguments::of([&list, &count, &cells, &width, &layout]);
            let shape = Launch::edit(edits.len() as u32);
            self.launch("edit", "edit_cells", shape, arguments)?;
        }
        Ok(())
    }

    fn pack(&mut self, batch: Batch) -> Result<()> {
        let Batch { state, size, .. } = batch;
        if state.layout == Layout::Bits {
            return Ok(()); // the bits are the cells
        }
        let (file, symbol) = match state.layout {
            Layout::Planar => ("pack_planar", "pack_planar"),
            Layout::I32 | Layout::Bits => ("pack", "pack_i32"),
        };
        let group = &self.gpu.groups[batch.group];
        let cells = group.buffer_at(state.layout, batch.index, state.parity)?;
        let bits = group.bits_at(batch.index, 0);
        let shape = Launch::convert(size, batch.count as u32, state.layout);
        let (width, height) = batch.sides();
        let arguments = Arguments::of([&cells, &bits, &width, &height]);
        self.launch(file, symbol, shape, arguments)?;
        let homes = self.homes_of(batch).iter_mut();
        homes.for_each(|home| home.state.bits_parity = 0);
        Ok(())
    }

    fn unpack(&mut self, batch: Batch, to: Layout) -> Result<()> {
        let bits_parity = batch.state.bits_parity;
        if to != Layout::Bits {
            let (file, symbol) = unpacked_by(to);
            let group = &self.gpu.groups[batch.group];
            let bits = group.bits_at(batch.index, bits_parity);
            let cells = group.buffer_at(to, batch.index, 0)?;
            let shape = Launch::convert(batch.size, batch.count as u32, to);
            let (width, height) = batch.sides();
            let arguments = Arguments::of([&bits, &cells, &width, &height]);
            self.launch(file, symbol, shape, arguments)?;
        }
        let state = State {
            layout: to,
            parity: if to == Layout::Bits { bits_parity } else { 0 },
            bits_parity,
        };
        let homes = self.homes_of(batch).iter_mut();
        homes.for_each(|home| home.state = state);
        Ok(())
    }

    fn reduce(&mut self, batch: Batch, viewport: Viewport) -> Result<()> {
        viewport.check()?;
        let group = &mut self.gpu.groups[batch.group];
        let bits = group.bits_at(batch.index, batch.state.bits_parity);
        let (pixels, stride) = group.view_at(batch.index, viewport.words())?;
        let (width, height) = sides(batch.size);
        let (across, down) = (viewport.width as i32, viewport.height as i32);
        let (x0, y0, step) = (viewport.x0, viewport.y0, viewport.step);
        let shape = Launch::reduce(viewport, batch.count as u32);
        let stride = stride as u64 * 4;
        let arguments = Arguments::of([
            &bits, &pixels, &width, &height, &x0, &y0, &step, &across, &down, &stride,
        ]);
        self.launch("reduce", "reduce_bits", shape, arguments)?;
        let homes = self.homes_of(batch).iter_mut();
        homes.for_each(|home| home.view_words = viewport.words());
        Ok(())
    }

    fn measure(&mut self, batch: Batch) -> Result<()> {
        let group = &mut self.gpu.groups[batch.group];
        group.reserve_measures()?;
        let bits = group.bits_at(batch.index, batch.state.bits_parity);
        let at = group.measures_at(batch.index).expect("just reserved");
        let words = batch.size.words() as u64;
        let shape = Launch::measure(batch.size, batch.count as u32);
        let arguments = Arguments::of([
            &bits,
            &at.before,
            &at.shares,
            &at.arrived,
            &at.measures,
            &words,
        ]);
        self.launch("measure", "measure_bits", shape, arguments)?;
        let homes = self.homes_of(batch).iter_mut();
        homes.for_each(|home| home.measured = true);
        Ok(())
    }

    /// What a download copies of each lattice of a batch.
    fn source(&mut self, what: Transfer, batch: Batch) -> Result<Rows> {
        let (index, state, size) = (batch.index, batch.state, batch.size);
        let group = &mut self.gpu.groups[batch.group];
        let dense = |at, words| Rows {
            at,
            words,
            pitch: words,
        };
        match what {
            Transfer::Bits => Ok(dense(group.bits_at(index, state.bits_parity), size.words())),
            Transfer::Cells if state.layout != Layout::I32 => {
                let why = format!("{:?} has no i32 cells", batch.first);
                Err(EngineError::BadProgram(why))
            }
            Transfer::Cells => {
                let cells = group.buffer_at(Layout::I32, index, state.parity)?;
                Ok(dense(cells, size.cells() as usize))
            }
            Transfer::Measure => {
                let measured = self.homes[batch.first.index()..][..batch.count].iter();
                let at = group
                    .measures_at(index)
                    .filter(|_| measured.clone().all(|home| home.measured));
                let none = || {
                    let why = format!("{:?} has not been measured", batch.first);
                    EngineError::BadProgram(why)
                };
                Ok(dense(at.ok_or_else(none)?.measures, Measure::WORDS))
            }
            Transfer::View if batch.view_words == 0 => {
                let why = format!("no view of {:?} has been made", batch.first);
                Err(EngineError::BadProgram(why))
            }
            Transfer::View => {
                let words = batch.view_words;
                let (at, pitch) = group.view_at(index, words)?;
                Ok(Rows { at, words, pitch })
            }
        }
    }

    fn download(&mut self, batch: Batch, slot: Slot, what: Transfer) -> Result<()> {
        let from = self.source(what, batch)?;
        let slots = self
            .slots
            .ok_or_else(|| EngineError::BadProgram("there are no slots".into()))?;
        let to = slots.address(batch.first, slot, from.words)?;
        let pitch = slots.pitch(batch.first, slot);
        let stream = self.stream;
        // `address` checked that the slot holds so many words, and the group's slots lie one
        // behind the other as its lattices do; they are bound to this download, so nobody else
        // touches them until the event behind the copy has fired. That holds for pageable memory
        // too, where the copy has landed by then or by the call's return.
        let words = from.words;
        let copy = if batch.count == 1 || (from.pitch == words && pitch == words) {
            Call::CopyOut {
                to: to.cast(),
                from: from.at,
                bytes: batch.count * words * 4,
                stream,
            }
        } else {
            Call::CopyRowsOut {
                to: (to.cast(), pitch * 4),
                from: (from.at, from.pitch * 4),
                row_bytes: words * 4,
                rows: batch.count,
                stream,
            }
        };
        self.sink.give(copy)
    }

    fn launch(
        &mut self,
        file: &'static str,
        symbol: &'static str,
        shape: Launch,
        arguments: Arguments,
    ) -> Result<()> {
        let function = self.gpu.function(file, symbol)?;
        self.call(function, shape, arguments)
    }

    /// Where the stamps of a part of this step go, if they are wanted.
    pub(super) fn stamp_place(&mut self, part: u32) -> Option<StampPlace> {
        let (step, stamper) = self.stamps.as_mut()?;
        stamper.take(*step, part)
    }

    /// Launches a kernel, with stamps if there is a place for those of launch `index` of `count`.
    pub(super) fn launch_stamped(
        &mut self,
        file: &'static str,
        symbol: &'static str,
        shape: Launch,
        mut arguments: Arguments,
        place: Option<StampPlace>,
        (index, count): (u32, u32),
    ) -> Result<()> {
        let Some(at) = place.and_then(|place| place.of(index, count)) else {
            return self.launch(file, symbol, shape, arguments);
        };
        let function = self.gpu.stamped_function(file, symbol)?;
        arguments.push(&at);
        self.call(function, shape, arguments)
    }

    #[inline]
    pub(super) fn call(
        &mut self,
        function: sys::CUfunction,
        shape: Launch,
        arguments: Arguments,
    ) -> Result<()> {
        self.sink.give(Call::Launch {
            function,
            shape,
            arguments,
            stream: self.stream,
        })
    }
}

/// What makes a layout other than bits from them.
pub(super) fn unpacked_by(to: Layout) -> (&'static str, &'static str) {
    match to {
        Layout::Planar => ("unpack_planar", "unpack_planar"),
        Layout::I32 | Layout::Bits => ("unpack", "unpack_i32"),
    }
}

pub(super) fn sides(size: Size) -> (i32, i32) {
    (size.width() as i32, size.height() as i32)
}

pub(super) fn no_lattice(lattice: LatticeId) -> EngineError {
    EngineError::BadProgram(format!("there is no {lattice:?} on this device"))
}
