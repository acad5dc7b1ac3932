//! Turns ops into driver calls.

use std::ops::Range;

use cust::sys;

use super::block_timestamps::{TimestampRecorder, TimestampTarget};
use super::buffers::{Address, Buffer, find};
use super::calls::{Arguments, Call, Sink, Values};
use super::gpu::Gpu;
use super::slots::CudaSlots;
use crate::check::{LatticeState, Lattices, States};
use crate::error::invalid;
use crate::kernels::Parameter::{
    self, Arrived, Before, Cells, Chance, Columns, EditCount, Edits, FirstRow, FirstWord, From,
    Generations, Height, Key, LayoutIndex, Left, Mail, OwnRows, Pitch, RuleTable, Shares, To, Top,
    Width, Words,
};
use crate::kernels::{Function, Kernel, Launch, Layout};
use crate::{
    Argument, Band, BufferLaunch, BufferOffset, LatticeId, Measure, MemoryOp, Op, ReduceRegion,
    Result, Scope, Slot, SupportKernel, Transfer, WordEdit,
};
use life::{Rule, Size, Soup};

/// Lattices that are adjacent in memory and in the same state.
#[derive(Clone, Copy)]
struct Adjacent {
    first: LatticeId,
    count: usize,
    /// The group of the first lattice, and its index there.
    group: usize,
    index: usize,
    size: Size,
    /// The state of each lattice; its view words may hold for the first lattice only.
    state: LatticeState,
}

impl Adjacent {
    /// Width and total height of the lattices stacked vertically, since rows are converted
    /// independently.
    fn sides(&self) -> (i32, i32) {
        let (width, height) = sides(self.size);
        (width, height * self.count as i32)
    }
}

/// Device memory with `words` words for each lattice of a run, at a pitch in words.
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
    /// [`Op::Record`], [`Op::Wait`] and [`Op::CopyRows`], which may be about another GPU.
    pub(super) fn issue(&mut self, op: &Op) -> Result<()> {
        match op {
            Op::Upload { lattice, words } => self.upload(*lattice, words),
            Op::Soup { lattice, soup } => self.soup(*lattice, *soup),
            Op::Edit { lattice, edits } => self.edit(*lattice, edits),
            Op::Pack(lattices) => self.each_run(lattices, false, Self::pack),
            Op::Unpack { lattices, to } => {
                self.each_run(lattices, false, |this, run| this.unpack(run, *to))
            }
            Op::Advance {
                kernel,
                lattices,
                rule,
                generations,
                block,
            } => self.advance(kernel, lattices.clone(), *rule, *generations, *block),
            Op::Reduce { lattices, region } => {
                self.each_run(lattices, false, |this, run| this.reduce(run, *region))
            }
            Op::Measure(lattices) => self.each_run(lattices, false, Self::measure),
            Op::Download {
                lattices,
                slot,
                what,
            } => self.each_run(lattices, *what == Transfer::View, |this, run| {
                this.download(run, *slot, *what)
            }),
            Op::Copy { from, to, bytes } => self.copy(*from, *to, *bytes),
            Op::LaunchOnBuffers(call) => self.launch_on_buffers(call),
            Op::HostFunction(function, buffer) => {
                let (function, words) = find(self.buffers, *buffer)?.on_host(*function)?;
                self.sink.push(Call::HostFunction {
                    function,
                    words,
                    stream: self.stream,
                })
            }
            Op::Memory(op) => self.manage(*op),
            Op::Synchronize(Scope::Stream) => self.sink.push(Call::Synchronize(self.stream)),
            Op::Synchronize(Scope::Device) => self.sink.push(Call::SynchronizeContext),
            Op::CopyRows { .. } | Op::Record(_) | Op::Wait(_) => Ok(()),
        }?;
        self.states.apply(op);
        Ok(())
    }

    /// A lattice's group on its device, its index there, its state and its size.
    fn place(&self, lattice: LatticeId) -> (usize, usize, LatticeState, Size) {
        let group = &self.lattices.groups[self.lattices.group_of(lattice)];
        let index = (lattice.0 - group.first.0) as usize;
        (group.on_device, index, self.states.get(lattice), group.size)
    }

    /// Calls `work` for runs of lattices that are adjacent and in one state. With `of_views`,
    /// their views must also have the same length.
    fn each_run(
        &mut self,
        lattices: &Range<u32>,
        of_views: bool,
        mut work: impl FnMut(&mut Self, Adjacent) -> Result<()>,
    ) -> Result<()> {
        let mut rest = lattices.clone();
        while !rest.is_empty() {
            let first = LatticeId(rest.start);
            let (group, index, state, size) = self.place(first);
            let of_first = self.lattices.group_of(first);
            // A run is one tall lattice, whose rows the kernels count in an int, or one grid
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
            let run = Adjacent {
                first,
                count,
                group,
                index,
                size,
                state,
            };
            work(self, run)?;
        }
        Ok(())
    }

    /// Advances lattices: adjacent ones in one launch if the kernel is batched and they are all in
    /// the same buffer.
    fn advance(
        &mut self,
        kernel: &'static Kernel,
        lattices: Range<u32>,
        rule: Rule,
        generations: u32,
        block: (u32, u32),
    ) -> Result<()> {
        let sm_count = self.gpu.sm_count;
        let batches = self.lattices.batches(kernel, lattices, sm_count);
        for (lattices, part) in batches.into_iter().zip(0..) {
            let target = self.timestamp_target(part);
            let (count, first) = (lattices.len() as u32, LatticeId(lattices.start));
            let group = &self.lattices.groups[self.lattices.group_of(first)];
            let size = group.size;
            let state = self.states.get(first);
            let differs = |lattice| !self.states.get(lattice).has_buffers_of(state);
            if lattices.clone().map(LatticeId).any(differs) {
                let shape = kernel.launch(size, block, group.batch(1, count), sm_count);
                for (lattice, index) in lattices.zip(0..) {
                    let target = target.map(|target| target.share(index, count));
                    self.step(kernel, LatticeId(lattice), rule, generations, shape, target)?;
                }
            } else {
                let shape = kernel.launch(size, block, group.batch(count, count), sm_count);
                self.step(kernel, first, rule, generations, shape, target)?;
            }
        }
        Ok(())
    }

    /// Launches a kernel on the lattices from `lattice` on until all generations are done.
    fn step(
        &mut self,
        kernel: &'static Kernel,
        lattice: LatticeId,
        rule: Rule,
        generations: u32,
        shape: Launch,
        target: Option<TimestampTarget>,
    ) -> Result<()> {
        let (group, index, state, size) = self.place(lattice);
        let group = &self.gpu.groups[group];
        let buffer = |parity| group.buffer_at(kernel.layout, index, parity);
        let buffers = [buffer(0)?, buffer(1)?];
        let mail = if kernel.parameters.contains(&Mail) {
            group.halo_mailbox(index)?
        } else {
            0 // nobody takes it
        };
        let function = kernel.function(shape.entry, rule);
        let plain = self.gpu.functions.get(function, false)?;
        let instrumented = match target {
            Some(_) => self.gpu.functions.get(function, true)?,
            None => plain,
        };
        let (width, height) = sides(size);
        let table = rule.table();
        let launches = kernel.launches(generations);
        let mut parity = state.parity;
        for index in 0..launches {
            let [from, to] = [parity, parity ^ 1].map(|parity| buffers[usize::from(parity)]);
            let max = kernel.iteration.generations_per_launch();
            let stepped = max.min(generations - index * max);
            let values: &Values = &[
                (From, &from),
                (To, &to),
                (Cells, &from),
                (Mail, &mail),
                (Width, &width),
                (Height, &height),
                (RuleTable, &table),
                (Generations, &stepped),
            ];
            let mut arguments = Arguments::fill(kernel.parameters, values)?;
            match target.and_then(|target| target.of(index, launches)) {
                None => self.launch(plain, shape, arguments)?,
                Some(records) => {
                    arguments.push(&records);
                    self.launch(instrumented, shape, arguments)?;
                }
            }
            parity ^= u8::from(kernel.swaps_buffers(stepped));
        }
        Ok(())
    }

    fn upload(&mut self, lattice: LatticeId, words: &[u32]) -> Result<()> {
        let (group, index, ..) = self.place(lattice);
        let to = self.gpu.groups[group].bits_at(index, 0);
        // The lengths were validated, and the program keeps the words alive until the call is made.
        self.sink.push(Call::CopyIn {
            to,
            from: words.as_ptr().cast(),
            bytes: words.len() * 4,
            stream: self.stream,
        })
    }

    fn soup(&mut self, lattice: LatticeId, soup: Soup) -> Result<()> {
        let (group, index, state, size) = self.place(lattice);
        let bits = self.gpu.groups[group].bits_at(index, 0);
        let (width, height) = sides(size);
        // A row's generator is seeded from the key and the row's number on the torus.
        let first_row = state.band.map_or(0, Band::first_of_halo);
        let (chance, key) = (soup.chance(), soup.key().wrapping_add_signed(first_row));
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
            self.sink.push(Call::CopyIn {
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

    fn pack(&mut self, run: Adjacent) -> Result<()> {
        let state = run.state;
        let Some(kernel) = SupportKernel::pack(state.layout) else {
            return Ok(()); // the bits are the cells
        };
        let group = &self.gpu.groups[run.group];
        let cells = group.buffer_at(state.layout, run.index, state.parity)?;
        let bits = group.bits_at(run.index, 0);
        self.convert(kernel, run, state.layout, cells, bits)
    }

    fn unpack(&mut self, run: Adjacent, to: Layout) -> Result<()> {
        let Some(kernel) = SupportKernel::unpack(to) else {
            return Ok(()); // the bits are there
        };
        let group = &self.gpu.groups[run.group];
        let bits = group.bits_at(run.index, run.state.bits_parity);
        let cells = group.buffer_at(to, run.index, 0)?;
        self.convert(kernel, run, to, bits, cells)
    }

    /// Converts a run between bits and a layout.
    fn convert(
        &mut self,
        kernel: SupportKernel,
        run: Adjacent,
        layout: Layout,
        from: sys::CUdeviceptr,
        to: sys::CUdeviceptr,
    ) -> Result<()> {
        let shape = Launch::convert(run.size, run.count as u32, layout);
        let (width, height) = run.sides();
        let values: &Values = &[(From, &from), (To, &to), (Width, &width), (Height, &height)];
        self.launch_support(kernel, shape, values)
    }

    fn reduce(&mut self, run: Adjacent, region: ReduceRegion) -> Result<()> {
        if let Some(band) = run.state.band {
            let mut indices = run.index..run.index + run.count;
            return indices.try_for_each(|index| self.count(run, index, band, region));
        }
        let group = &self.gpu.groups[run.group];
        let bits = group.bits_at(run.index, run.state.bits_parity);
        let (pixels, stride) = group.view_at(run.index)?;
        let (width, height) = sides(run.size);
        let (across, down) = (region.width as i32, region.height as i32);
        let (x0, y0, step) = (region.x0, region.y0, region.step);
        let shape = Launch::reduce(region, run.count as u32);
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

    /// Counts the live cells that the own rows of one band of a run have in each pixel.
    fn count(
        &mut self,
        run: Adjacent,
        index: usize,
        band: Band,
        region: ReduceRegion,
    ) -> Result<()> {
        let group = &self.gpu.groups[run.group];
        let bits = group.bits_at(index, run.state.bits_parity) + own_offset(band);
        let (counts, _) = group.view_at(index)?;
        let (width, height) = sides(band.torus);
        let (first_row, rows) = (band.first as i32, band.rows as i32);
        let (across, down) = (region.width as i32, region.height as i32);
        let (x0, y0, step) = (region.x0, region.y0, region.step);
        let values: &Values = &[
            (From, &bits),
            (To, &counts),
            (Width, &width),
            (Height, &height),
            (FirstRow, &first_row),
            (OwnRows, &rows),
            (Left, &x0),
            (Top, &y0),
            (Parameter::Step, &step),
            (Columns, &across),
            (Parameter::Rows, &down),
        ];
        self.launch_support(SupportKernel::Count, Launch::reduce(region, 1), values)
    }

    fn measure(&mut self, run: Adjacent) -> Result<()> {
        match run.state.band {
            None => self.measure_part(run, run.index, run.count, 0, run.size, 0),
            Some(band) => {
                let mut indices = run.index..run.index + run.count;
                let first = (band.first as usize * run.size.words_per_row()) as u64;
                let (offset, size) = (own_offset(band), band.own_size());
                indices.try_for_each(|index| self.measure_part(run, index, 1, offset, size, first))
            }
        }
    }

    /// Measures a part of each of `count` lattices of a run: of `size`, `offset` bytes behind the
    /// lattice's start, with `first_word` as the index of its first word.
    fn measure_part(
        &mut self,
        run: Adjacent,
        index: usize,
        count: usize,
        offset: u64,
        size: Size,
        first_word: u64,
    ) -> Result<()> {
        let group = &self.gpu.groups[run.group];
        let bits = group.bits_at(index, run.state.bits_parity) + offset;
        let at = group.measures_at(index)?;
        let words = size.words() as u64;
        let shape = Launch::measure(size, count as u32);
        let values: &Values = &[
            (From, &bits),
            (Before, &at.before),
            (Shares, &at.shares),
            (Arrived, &at.arrived),
            (To, &at.measures),
            (Words, &words),
            (FirstWord, &first_word),
        ];
        self.launch_support(SupportKernel::Measure, shape, values)
    }

    /// The memory that a download copies from each lattice of a run.
    fn source(&self, what: Transfer, run: Adjacent) -> Result<Rows> {
        let (index, state, size) = (run.index, run.state, run.size);
        let group = &self.gpu.groups[run.group];
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

    fn download(&mut self, run: Adjacent, slot: Slot, what: Transfer) -> Result<()> {
        let from = self.source(what, run)?;
        let slots = self
            .slots
            .ok_or_else(|| invalid(format!("{:?} has no {slot:?}", run.first)))?;
        let to = slots
            .address(run.first, slot)
            .ok_or_else(|| invalid(format!("{:?} has no {slot:?}", run.first)))?;
        let pitch = slots.pitch(run.first, slot);
        let stream = self.stream;
        // The program is valid, so the slot is large enough and the group's slots are adjacent like
        // its lattices. The slots are bound to this download, so nobody else uses them until the
        // event after the copy has fired. This holds for pageable memory too, where the copy is
        // complete by then or by the call's return.
        let words = from.words;
        let copy = if run.count == 1 || (from.pitch == words && pitch == words) {
            Call::CopyOut {
                to: to.cast(),
                from: from.at,
                bytes: run.count * words * 4,
                stream,
            }
        } else {
            Call::CopyRowsOut {
                to: (to.cast(), pitch * 4),
                from: (from.at, from.pitch * 4),
                row_bytes: words * 4,
                rows: run.count,
                stream,
            }
        };
        self.sink.push(copy)
    }

    fn launch_support(
        &mut self,
        kernel: SupportKernel,
        shape: Launch,
        values: &Values,
    ) -> Result<()> {
        let arguments = Arguments::fill(kernel.row().parameters, values)?;
        let function = self.gpu.functions.get(Function::Support(kernel), false)?;
        self.launch(function, shape, arguments)
    }

    fn copy(&mut self, from: BufferOffset, to: BufferOffset, bytes: usize) -> Result<()> {
        let stream = self.stream;
        let source = find(self.buffers, from.buffer)?;
        let target = find(self.buffers, to.buffer)?;
        let call = match (source.address(from)?, target.address(to)?) {
            (Address::Host(from), Address::Device(to)) => Call::CopyIn {
                to,
                from,
                bytes,
                stream,
            },
            (Address::Device(from), Address::Host(to)) => Call::CopyOut {
                to,
                from,
                bytes,
                stream,
            },
            (Address::Device(from), Address::Device(to)) if source.gpu != target.gpu => {
                Call::CopyPeer {
                    to: (to, target.context.raw()),
                    from: (from, source.context.raw()),
                    bytes,
                    stream,
                }
            }
            (Address::Device(from), Address::Device(to)) => Call::CopyWithin {
                to,
                from,
                bytes,
                stream,
            },
            (Address::Host(_), Address::Host(_)) => {
                return Err(invalid("a device cannot copy from host to host"));
            }
        };
        self.sink.push(call)
    }

    /// Manages the memory of a buffer. The calls are made at once: only one thread issues such a program.
    fn manage(&mut self, op: MemoryOp) -> Result<()> {
        match op {
            MemoryOp::Allocate(buffer) => find(self.buffers, buffer)?.allocate(self.stream),
            MemoryOp::Free(buffer) => find(self.buffers, buffer)?.free(self.stream),
            MemoryOp::SetReleaseThreshold(bytes) => self.gpu.set_release_threshold(bytes),
            MemoryOp::Advise(buffer, advice) => {
                find(self.buffers, buffer)?.advise(advice, self.gpu.device)
            }
            MemoryOp::Prefetch(buffer, to) => {
                find(self.buffers, buffer)?.prefetch(to, self.gpu.device, self.stream)
            }
        }
    }

    fn launch_on_buffers(&mut self, launch: &BufferLaunch) -> Result<()> {
        let mut arguments = Arguments::default();
        for argument in &launch.arguments {
            match *argument {
                Argument::Buffer(region) => {
                    let buffer = find(self.buffers, region.buffer)?;
                    let Address::Device(at) = buffer.address(region)? else {
                        return Err(invalid(format!("{:?} is not on the device", region.buffer)));
                    };
                    arguments.push(&at);
                }
                Argument::I32(number) => arguments.push(&number),
                Argument::U32(number) => arguments.push(&number),
                Argument::U64(number) => arguments.push(&number),
                Argument::F32(number) => arguments.push(&number),
            }
        }
        let records = self.timestamp_target(0).and_then(|target| target.of(0, 1));
        if let Some(records) = records {
            arguments.push(&records);
        }
        let function = Function::Buffer(launch.kernel);
        let function = self.gpu.functions.get(function, records.is_some())?;
        self.launch(function, launch.shape(), arguments)
    }

    /// The target of the block timestamps of a part of this step, if requested.
    fn timestamp_target(&mut self, part: u32) -> Option<TimestampTarget> {
        let (step, recorder) = self.block_timestamps.as_mut()?;
        recorder.take(*step, part)
    }

    #[inline]
    fn launch(
        &mut self,
        function: sys::CUfunction,
        shape: Launch,
        arguments: Arguments,
    ) -> Result<()> {
        self.sink.push(Call::Launch {
            function,
            shape,
            arguments,
            stream: self.stream,
        })
    }
}

/// Bytes of a band's bits before its own rows.
fn own_offset(band: Band) -> u64 {
    4 * (band.halo as usize * band.torus.words_per_row()) as u64
}

fn sides(size: Size) -> (i32, i32) {
    (size.width() as i32, size.height() as i32)
}
