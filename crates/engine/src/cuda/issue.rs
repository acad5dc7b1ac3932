//! Turns ops into driver calls.

use std::ops::Range;

use cust::sys;

use super::advance::{Advance, batches};
use super::block_timestamps::{TimestampRecorder, TimestampTarget};
use super::buffers::Buffer;
use super::calls::{Arguments, Call, Sink, Values};
use super::gpu::Gpu;
use super::slots::CudaSlots;
use crate::check::{Function, LatticeState, Lattices, States};
use crate::kernels::Parameter::{
    self, Arrived, Before, Cells, Chance, Columns, EditCount, Edits, From, Height, Key,
    LayoutIndex, Left, Pitch, Shares, To, Top, Width, Words,
};
use crate::kernels::{Launch, Layout};
use crate::{
    LatticeId, Measure, Op, ProgramError, ReduceRegion, Result, Scope, Slot, SupportKernel,
    Transfer, WordEdit,
};
use life::{Size, Soup};

/// Lattices that are adjacent in memory and in the same state.
#[derive(Clone, Copy)]
struct Batch {
    first: LatticeId,
    count: usize,
    /// The group of the first lattice, and its index there.
    group: usize,
    index: usize,
    size: Size,
    /// The state of each lattice; its view words may hold for the first lattice only.
    state: LatticeState,
}

impl Batch {
    /// Width and total height of the lattices stacked vertically, since rows are converted
    /// independently.
    fn sides(&self) -> (i32, i32) {
        let (width, height) = sides(self.size);
        (width, height * self.count as i32)
    }
}

/// Device memory with `words` words for each lattice of a batch, at a pitch in words.
struct Rows {
    at: sys::CUdeviceptr,
    words: usize,
    pitch: usize,
}

/// Issues ops of one GPU: eagerly, into a capture, or for another thread, with the same calls.
pub(super) struct Issuer<'a> {
    pub(super) gpu: &'a mut Gpu,
    pub(super) lattices: &'a Lattices,
    /// The drafted states after the steps so far.
    pub(super) states: &'a mut States,
    pub(super) buffers: &'a [Option<Buffer>],
    pub(super) slots: Option<&'a CudaSlots>,
    pub(super) stream: sys::CUstream,
    /// Where the calls are sent.
    pub(super) sink: &'a mut Sink,
    /// The step's index and the recorder of its block timestamps, if requested.
    pub(super) block_timestamps: Option<(u32, &'a mut TimestampRecorder)>,
}

impl Issuer<'_> {
    /// Issues one op of a valid program and drafts its effect on lattices. The caller handles
    /// [`Op::Record`] and [`Op::Wait`].
    pub(super) fn issue(&mut self, op: &Op) -> Result<()> {
        self.give(op)?;
        self.states.apply(op);
        Ok(())
    }

    fn give(&mut self, op: &Op) -> Result<()> {
        match op {
            Op::Upload { lattice, words } => self.upload(*lattice, words),
            Op::Soup { lattice, soup } => self.soup(*lattice, *soup),
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
                let launches = batches(kernel, lattices.clone(), self.lattices, self.gpu.sm_count);
                let mut parts = launches.into_iter().zip(0..);
                parts.try_for_each(|(lattices, part)| {
                    let place = self.timestamp_target(part);
                    self.advance_batch(advance, lattices, place)
                })
            }
            Op::Reduce { lattices, region } => {
                self.each_batch(lattices, false, |this, batch| this.reduce(batch, *region))
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
            Op::LaunchOnBuffers(call) => self.launch_call(call),
            Op::Synchronize(Scope::Stream) => self.sink.give(Call::Synchronize(self.stream)),
            Op::Synchronize(Scope::Device) => self.sink.give(Call::SynchronizeContext),
            Op::Record(_) | Op::Wait(_) => Ok(()),
        }
    }

    /// A lattice's group on its device, its index there, its state and its size.
    pub(super) fn place(&self, lattice: LatticeId) -> (usize, usize, LatticeState, Size) {
        let group = &self.lattices.groups[self.lattices.group_of(lattice)];
        let index = (lattice.0 - group.first.0) as usize;
        (group.on_device, index, self.states.get(lattice), group.size)
    }

    /// Calls `work` for batches of lattices that are adjacent and in one state. With `of_views`,
    /// their views must also have the same length.
    fn each_batch(
        &mut self,
        lattices: &Range<u32>,
        of_views: bool,
        mut work: impl FnMut(&mut Self, Batch) -> Result<()>,
    ) -> Result<()> {
        let mut rest = lattices.clone();
        while !rest.is_empty() {
            let first = LatticeId(rest.start);
            let (group, index, state, size) = self.place(first);
            let of_first = self.lattices.group_of(first);
            // A batch is one tall lattice, whose rows the kernels count in an int, or one grid
            // layer per lattice.
            let max = (i32::MAX as u32 / size.height()).min(Launch::MAX_GRID_Z) as usize;
            let follows = |&lattice: &LatticeId| {
                let other = self.states.get(lattice);
                self.lattices.group_of(lattice) == of_first
                    && other.has_buffers_of(state)
                    && (!of_views || other.view_words == state.view_words)
            };
            let candidates = rest.clone().map(LatticeId).take(max);
            let count = candidates.take_while(follows).count();
            rest.start += count as u32;
            let batch = Batch {
                first,
                count,
                group,
                index,
                size,
                state,
            };
            work(self, batch)?;
        }
        Ok(())
    }

    fn upload(&mut self, lattice: LatticeId, words: &[u32]) -> Result<()> {
        let (group, index, ..) = self.place(lattice);
        let to = self.gpu.groups[group].bits_at(index, 0);
        // The lengths were validated, and the program keeps the words alive until the call is made.
        self.sink.give(Call::CopyIn {
            to,
            from: words.as_ptr().cast(),
            bytes: words.len() * 4,
            stream: self.stream,
        })
    }

    fn soup(&mut self, lattice: LatticeId, soup: Soup) -> Result<()> {
        let (group, index, _, size) = self.place(lattice);
        let bits = self.gpu.groups[group].bits_at(index, 0);
        let (width, height) = sides(size);
        let (chance, key) = (soup.chance(), soup.key());
        let values: &Values = &[
            (To, &bits),
            (Width, &width),
            (Height, &height),
            (Chance, &chance),
            (Key, &key),
        ];
        self.launch_support(SupportKernel::Soup, Launch::soup(size), values)
    }

    fn edit(&mut self, lattice: LatticeId, edits: &[WordEdit]) -> Result<()> {
        let (group, index, state, size) = self.place(lattice);
        let group = &self.gpu.groups[group];
        let cells = group.buffer_at(state.layout, index, state.parity)?;
        let list = group.edits_at(index);
        let (width, layout) = (size.width() as i32, state.layout.index());
        // Copies and launches of a stream run in order, so one list serves all chunks.
        for edits in edits.chunks(group.max_edits()) {
            self.sink.give(Call::CopyIn {
                to: list,
                from: edits.as_ptr().cast(),
                bytes: size_of_val(edits),
                stream: self.stream,
            })?;
            let count = edits.len() as i32;
            let values: &Values = &[
                (Edits, &list),
                (EditCount, &count),
                (Cells, &cells),
                (Width, &width),
                (LayoutIndex, &layout),
            ];
            let shape = Launch::edit(edits.len() as u32);
            self.launch_support(SupportKernel::Edit, shape, values)?;
        }
        Ok(())
    }

    fn pack(&mut self, batch: Batch) -> Result<()> {
        let state = batch.state;
        let Some(kernel) = SupportKernel::pack(state.layout) else {
            return Ok(()); // the bits are the cells
        };
        let group = &self.gpu.groups[batch.group];
        let cells = group.buffer_at(state.layout, batch.index, state.parity)?;
        let bits = group.bits_at(batch.index, 0);
        self.convert(kernel, batch, state.layout, cells, bits)
    }

    fn unpack(&mut self, batch: Batch, to: Layout) -> Result<()> {
        let Some(kernel) = SupportKernel::unpack(to) else {
            return Ok(()); // the bits are there
        };
        let group = &self.gpu.groups[batch.group];
        let bits = group.bits_at(batch.index, batch.state.bits_parity);
        let cells = group.buffer_at(to, batch.index, 0)?;
        self.convert(kernel, batch, to, bits, cells)
    }

    /// Converts a batch between bits and a layout.
    fn convert(
        &mut self,
        kernel: SupportKernel,
        batch: Batch,
        layout: Layout,
        from: sys::CUdeviceptr,
        to: sys::CUdeviceptr,
    ) -> Result<()> {
        let shape = Launch::convert(batch.size, batch.count as u32, layout);
        let (width, height) = batch.sides();
        let values: &Values = &[(From, &from), (To, &to), (Width, &width), (Height, &height)];
        self.launch_support(kernel, shape, values)
    }

    fn reduce(&mut self, batch: Batch, region: ReduceRegion) -> Result<()> {
        let group = &self.gpu.groups[batch.group];
        let bits = group.bits_at(batch.index, batch.state.bits_parity);
        let (pixels, stride) = group.view_at(batch.index)?;
        let (width, height) = sides(batch.size);
        let (across, down) = (region.width as i32, region.height as i32);
        let (x0, y0, step) = (region.x0, region.y0, region.step);
        let shape = Launch::reduce(region, batch.count as u32);
        let stride = stride as u64 * 4;
        let values: &Values = &[
            (From, &bits),
            (To, &pixels),
            (Width, &width),
            (Height, &height),
            (Left, &x0),
            (Top, &y0),
            (Parameter::Step, &step),
            (Columns, &across),
            (Parameter::Rows, &down),
            (Pitch, &stride),
        ];
        self.launch_support(SupportKernel::Reduce, shape, values)
    }

    fn measure(&mut self, batch: Batch) -> Result<()> {
        let group = &self.gpu.groups[batch.group];
        let bits = group.bits_at(batch.index, batch.state.bits_parity);
        let at = group.measures_at(batch.index)?;
        let words = batch.size.words() as u64;
        let shape = Launch::measure(batch.size, batch.count as u32);
        let values: &Values = &[
            (From, &bits),
            (Before, &at.before),
            (Shares, &at.shares),
            (Arrived, &at.arrived),
            (To, &at.measures),
            (Words, &words),
        ];
        self.launch_support(SupportKernel::Measure, shape, values)
    }

    /// The memory that a download copies from each lattice of a batch.
    fn source(&self, what: Transfer, batch: Batch) -> Result<Rows> {
        let (index, state, size) = (batch.index, batch.state, batch.size);
        let group = &self.gpu.groups[batch.group];
        let dense = |at, words| Rows {
            at,
            words,
            pitch: words,
        };
        match what {
            Transfer::Bits => Ok(dense(group.bits_at(index, state.bits_parity), size.words())),
            Transfer::Rows { first, count } => {
                let per_row = size.words_per_row();
                let bits = group.bits_at(index, state.bits_parity);
                Ok(Rows {
                    at: bits + 4 * (per_row * first as usize) as u64,
                    words: per_row * count as usize,
                    pitch: size.words(),
                })
            }
            Transfer::Cells => {
                let cells = group.buffer_at(Layout::I32, index, state.parity)?;
                Ok(dense(cells, size.cells() as usize))
            }
            Transfer::Measure => {
                let at = group.measures_at(index)?;
                Ok(dense(at.measures, Measure::WORDS))
            }
            Transfer::View => {
                let words = state.view_words as usize;
                let (at, pitch) = group.view_at(index)?;
                Ok(Rows { at, words, pitch })
            }
        }
    }

    fn download(&mut self, batch: Batch, slot: Slot, what: Transfer) -> Result<()> {
        let from = self.source(what, batch)?;
        let slots = self.slots.ok_or(ProgramError::NoSlot(batch.first, slot))?;
        let to = slots
            .address(batch.first, slot)
            .ok_or(ProgramError::NoSlot(batch.first, slot))?;
        let pitch = slots.pitch(batch.first, slot);
        let stream = self.stream;
        // The program is valid, so the slot is large enough and the group's slots are adjacent like
        // its lattices. The slots are bound to this download, so nobody else uses them until the
        // event after the copy has fired. This holds for pageable memory too, where the copy is
        // complete by then or by the call's return.
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

    fn launch_support(
        &mut self,
        kernel: SupportKernel,
        shape: Launch,
        values: &Values,
    ) -> Result<()> {
        let arguments = Arguments::fill(kernel.row().parameters, values)?;
        self.launch(Function::Support(kernel), shape, arguments, None)
    }

    /// The target of the block timestamps of a part of this step, if requested.
    pub(super) fn timestamp_target(&mut self, part: u32) -> Option<TimestampTarget> {
        let (step, recorder) = self.block_timestamps.as_mut()?;
        recorder.take(*step, part)
    }

    /// Launches a function: the one that writes block timestamps to `records`, if that is given.
    pub(super) fn launch(
        &mut self,
        function: Function,
        shape: Launch,
        mut arguments: Arguments,
        records: Option<sys::CUdeviceptr>,
    ) -> Result<()> {
        if let Some(records) = records {
            arguments.push(&records);
        }
        let function = self.gpu.functions.get(function, records.is_some())?;
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

pub(super) fn sides(size: Size) -> (i32, i32) {
    (size.width() as i32, size.height() as i32)
}
