//! What an engine has, and ops on it as driver calls.

use super::block_timestamps::{TimestampRecorder, TimestampTarget};
use super::calls::{Sink, rows_from};
use super::driver::{self, Event, RawStream, check, cust};
use super::gpu::{Arguments, Gpu, Group, Values, launch, max_edits, part};
use super::memory::{Address, Buffer, CudaSlots, find, invert};
use crate::check::{Plan, Validator};
use crate::error::{bail, invalid};
use crate::kernels::Parameter::*;
use crate::kernels::{Kernel, Launch, Layout};
use crate::{
    Argument, Band, BufferLaunch, BufferOffset, BufferOp, DeviceId, EventId, LatticeId, LatticeOp,
    LatticeState, Measure, MemoryOp, MemoryUse, Occupancy, Op, OrderOp, Program, ReduceRegion,
    Result, Scope, Slot, StreamId, SupportKernel, Transfer, WordEdit,
};
use cust::device::DeviceAttribute;
use cust::sys;
use cust::sys::CUfunction_attribute_enum::*;
use life::{Rule, Size, Soup};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// The GPUs of an engine and what was created on them.
pub(super) struct Resources {
    // Fields drop in this order: what refers to contexts, then the contexts.
    pub events: Vec<Event>,
    pub streams: Vec<Stream>,
    /// By [`BufferId`](crate::BufferId); `None` once dropped.
    pub buffers: Vec<Option<Buffer>>,
    pub slots: Arc<CudaSlots>,
    /// As the validator numbers them.
    pub groups: Vec<Group>,
    /// The time at which every device's clock shows 0.
    pub zero: Instant,
    pub gpus: Vec<Gpu>,
    /// Validates programs and tracks the lattices' states.
    pub check: Validator,
}

pub(super) struct Stream {
    pub gpu: usize,
    pub raw: RawStream,
    /// The number of replays on its GPU that it already waits for.
    pub replays_seen: u64,
}

impl Resources {
    /// Makes a GPU's context current on this thread.
    pub(super) fn make_current(&self, gpu: usize) -> Result<()> {
        self.gpus[gpu].context.make_current()
    }

    /// Waits until nothing runs on any device, even if one fails.
    pub(super) fn synchronize(&self) -> Result<()> {
        let mut answer = Ok(());
        for gpu in &self.gpus {
            let current = gpu.context.make_current();
            answer = answer.and(current.and_then(|()| driver::synchronize()));
        }
        answer
    }

    /// The driver's handle of a stream. Panics for an unknown stream.
    pub(super) fn raw(&self, stream: StreamId) -> sys::CUstream {
        self.streams[stream.0 as usize].raw.0
    }

    /// The index of a device or context in `gpus`.
    pub(super) fn gpu_at(&self, device: DeviceId) -> Result<usize> {
        self.check.check_device(device)?;
        Ok(usize::from(device.0))
    }

    /// The index of a stream's GPU. Panics for an unknown stream.
    pub(super) fn gpu_of(&self, stream: StreamId) -> usize {
        self.streams[stream.0 as usize].gpu
    }

    /// Allocates the memory and loads the functions that a program needs, before any step is
    /// issued. Neither is possible while a stream is being captured, and a failure here leaves
    /// every lattice unchanged.
    pub(super) fn allocate_for(&mut self, program: &Program, plan: &Plan) -> Result<()> {
        let facts = &mut self.check.lattices.groups;
        for (&group, &words) in &plan.views {
            let gpu = current(&mut self.gpus, facts[group].device)?;
            self.groups[group].grow_views(words, gpu.idle_stream.0)?;
            facts[group].view_capacity = words;
        }
        for &group in &plan.measures {
            current(&mut self.gpus, facts[group].device)?;
            self.groups[group].make_measures()?;
            facts[group].has_measures_memory = true;
        }
        for &(device, function) in &plan.functions {
            let functions = &mut current(&mut self.gpus, device)?.functions;
            functions.get(function, false)?;
            if program.block_timestamps && function.has_timestamps {
                functions.get(function, true)?;
            }
        }
        self.slots.allocate_for(program.downloads())
    }

    /// Waits until the functions of a program that are being compiled are loaded.
    pub(super) fn finish_compiling(&mut self, plan: &Plan) {
        for &(device, function) in &plan.functions {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.functions.finish_compiling(function);
        }
    }

    /// The GPUs a program uses, each with its streams in the order of first use.
    pub(super) fn streams_used(&self, program: &Program) -> Vec<(usize, Vec<StreamId>)> {
        let mut used: Vec<(usize, Vec<StreamId>)> = Vec::new();
        let mut known = vec![false; self.streams.len()];
        for step in &program.steps {
            let gpu = self.gpu_of(step.stream);
            if std::mem::replace(&mut known[step.stream.0 as usize], true) {
                continue;
            }
            match used.iter_mut().find(|(g, _)| *g == gpu) {
                Some((_, streams)) => streams.push(step.stream),
                None => used.push((gpu, vec![step.stream])),
            }
        }
        used
    }
}

/// A device or context, which is made current on this thread.
pub(super) fn current(gpus: &mut [Gpu], device: DeviceId) -> Result<&mut Gpu> {
    let gpu = &mut gpus[usize::from(device.0)];
    gpu.context.make_current().map(|()| gpu)
}

/// Lattices that are adjacent in memory and in the same state.
#[derive(Clone, Copy)]
struct Run {
    first: LatticeId,
    count: usize,
    /// Their group, and the index of the first lattice there.
    group: usize,
    index: usize,
    size: Size,
    /// The state of each lattice; its view words may hold for the first lattice only.
    state: LatticeState,
}

/// Issues the steps of one GPU: eagerly, into a capture, or for another thread, with the same calls.
struct Issuer<'a> {
    resources: &'a mut Resources,
    gpu: usize,
    stream: sys::CUstream,
    /// Where the calls are sent.
    sink: &'a mut Sink,
    /// The step's index and the recorder of its block timestamps, if requested.
    block_timestamps: Option<(u32, &'a mut TimestampRecorder)>,
}

impl Resources {
    /// Issues one step of a valid program on its stream, and drafts its effect on lattices.
    pub(super) fn issue(
        &mut self,
        gpu: usize,
        step: &crate::Step,
        sink: &mut Sink,
        block_timestamps: Option<(u32, &mut TimestampRecorder)>,
    ) -> Result<()> {
        let mut issuer = Issuer {
            stream: self.raw(step.stream),
            resources: self,
            gpu,
            sink,
            block_timestamps,
        };
        match &step.op {
            Op::Lattices(lattices, op) => {
                issuer.on_lattices(lattices, op)?;
                self.check.states.apply(lattices.clone(), op);
                Ok(())
            }
            Op::Buffers(op) => issuer.on_buffers(op),
            Op::Order(op) => issuer.order(*op),
        }
    }

    /// The occupancy of an op's kernel. If the op has several lattices, the size of the first one
    /// counts.
    pub(super) fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>> {
        let gpu = self.gpu_at(device)?;
        let sm_count = self.gpus[gpu].sm_count;
        let (shape, function) = match op {
            Op::Buffers(BufferOp::Launch(call)) => (call.shape, call.kernel.function()),
            Op::Lattices(lattices, op) => {
                let first = LatticeId(lattices.start);
                let group = self.check.lattices.find(first);
                let group = group.filter(|group| group.device == device);
                let group =
                    group.ok_or_else(|| invalid!("{first:?} is not on the stream's device"))?;
                let (size, count) = (group.size, lattices.len() as u32);
                let state = self.check.states.committed[first.index()];
                match op {
                    LatticeOp::Advance { kernel, block, .. } => {
                        kernel.validate_size(size)?;
                        kernel.validate_block(*block)?;
                        let count = count.min(kernel.max_batch(size, group.alike(), sm_count));
                        let batch = group.batch(count, count);
                        let shape = kernel.launch(size, *block, batch, sm_count);
                        (shape, kernel.function(shape.entry, Rule::LIFE))
                    }
                    LatticeOp::Pack => {
                        let Some(kernel) = SupportKernel::pack(state.layout) else {
                            return Ok(None);
                        };
                        let shape = Launch::convert(size, count, state.layout);
                        (shape, kernel.function())
                    }
                    LatticeOp::Reduce(region) => {
                        let is_band = state.band.is_some();
                        let count = if is_band { 1 } else { count };
                        let shape = Launch::reduce(region.width, region.height, count);
                        (shape, SupportKernel::reduce(is_band).function())
                    }
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        self.make_current(gpu)?;
        let function = self.gpus[gpu].functions.get(function, false)?;
        let (blocks, block_threads) = shape.counts();
        let mut blocks_per_sm = 0;
        // SAFETY: the function is of the current context; the number is valid for the write.
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks_per_sm,
                function,
                block_threads as i32,
                shape.shared_bytes as usize,
            )
        })?;
        let of_function = |which| {
            let mut value = 0;
            // SAFETY: as above.
            check("cuFuncGetAttribute", unsafe {
                sys::cuFuncGetAttribute(&mut value, which, function)
            })
            .map(|()| value as u32)
        };
        let max_threads = DeviceAttribute::MaxThreadsPerMultiprocessor;
        let max_threads = self.gpus[gpu].device.get_attribute(max_threads);
        Ok(Some(Occupancy {
            blocks,
            blocks_per_sm: blocks_per_sm as u32,
            sm_count,
            block_threads,
            max_threads_per_sm: cust("cuDeviceGetAttribute", max_threads)? as u32,
            registers: of_function(CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: of_function(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?
                + shape.shared_bytes as u32,
            local_bytes: of_function(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        }))
    }
}

impl Issuer<'_> {
    fn order(&mut self, op: OrderOp) -> Result<()> {
        let stream = self.stream;
        let event = |id: EventId| self.resources.events[id.0 as usize].0;
        match op {
            OrderOp::Record(id) => self.sink.record(event(id), stream),
            OrderOp::Wait(id) => {
                let event = event(id);
                // SAFETY: event and stream are alive until nothing runs.
                unsafe {
                    self.sink.call("cuStreamWaitEvent", move || {
                        sys::cuStreamWaitEvent(stream, event, 0)
                    })
                }
            }
            // SAFETY: the stream is alive until nothing runs.
            OrderOp::Synchronize(Scope::Stream) => unsafe {
                self.sink.call("cuStreamSynchronize", move || {
                    sys::cuStreamSynchronize(stream)
                })
            },
            // SAFETY: there are no handles and no addresses.
            OrderOp::Synchronize(Scope::Device) => unsafe { self.sink.push(driver::synchronize) },
        }
    }

    fn on_lattices(&mut self, lattices: &Range<u32>, op: &LatticeOp) -> Result<()> {
        if let LatticeOp::Advance {
            kernel,
            rule,
            generations,
            block,
        } = *op
        {
            return self.advance(kernel, lattices.clone(), rule, generations, block);
        }
        let mut rest = lattices.clone();
        while !rest.is_empty() {
            let run = self.run(&rest, op);
            rest.start += run.count as u32;
            match op {
                LatticeOp::Upload(words) => self.upload(run, words),
                LatticeOp::Soup(soup) => self.soup(run, *soup),
                LatticeOp::Edit(edits) => self.edit(run, edits),
                LatticeOp::Pack => self.pack(run),
                LatticeOp::Unpack(to) => self.unpack(run, *to),
                LatticeOp::Reduce(region) => self.reduce(run, *region),
                LatticeOp::Measure => self.measure(run),
                LatticeOp::Download { slot, what } => self.download(run, *slot, *what),
                LatticeOp::CopyRows { from, rows, .. } => {
                    let source = self.rows_at(self.place(*from), rows.from)?;
                    let target = self.rows_at(run, rows.to)?;
                    let row_bytes = run.state.layout.row_bytes(run.size);
                    self.copy_on_devices(source, target, row_bytes * rows.count as usize)
                }
                LatticeOp::Advance { .. } => Ok(()), // issued above
            }?;
        }
        Ok(())
    }

    /// One lattice.
    fn place(&self, lattice: LatticeId) -> Run {
        let check = &self.resources.check;
        let group = check.lattices.group_of(lattice);
        let facts = &check.lattices.groups[group];
        Run {
            first: lattice,
            count: 1,
            group,
            index: (lattice.0 - facts.first.0) as usize,
            size: facts.size,
            state: check.states.get(lattice),
        }
    }

    /// The first lattices that an op can be issued for at once.
    fn run(&self, lattices: &Range<u32>, op: &LatticeOp) -> Run {
        use LatticeOp::{CopyRows, Download, Edit, Measure, Reduce, Soup, Upload};
        let mut run = self.place(LatticeId(lattices.start));
        let state = run.state;
        // A run is one tall lattice, whose rows the kernels count in an int, or one grid layer per
        // lattice.
        let max = match op {
            Upload(_) | Soup(_) | Edit(_) | CopyRows { .. } => 1,
            Reduce(_) | Measure if state.band.is_some() => 1,
            _ => (i32::MAX as u32 / run.size.height).min(Launch::MAX_GRID_Z),
        };
        let of_views = matches!(
            op,
            Download {
                what: Transfer::View,
                ..
            }
        );
        let check = &self.resources.check;
        let follows = |&lattice: &LatticeId| {
            let other = check.states.get(lattice);
            check.lattices.group_of(lattice) == run.group
                && other.has_buffers_of(state)
                && (!of_views || other.view_words == state.view_words)
        };
        let candidates = lattices.clone().map(LatticeId).take(max as usize);
        run.count = candidates.take_while(follows).count();
        run
    }

    fn group(&self, run: Run) -> &Group {
        &self.resources.groups[run.group]
    }

    /// The address of the first lattice's bits.
    fn bits(&self, run: Run) -> sys::CUdeviceptr {
        self.group(run).bits_at(run.index, run.state.bits_parity)
    }

    /// The address of its cells.
    fn cells(
        &self,
        Run {
            group,
            index,
            state,
            ..
        }: Run,
    ) -> Result<sys::CUdeviceptr> {
        self.resources.groups[group].buffer_at(state.layout, index, state.parity)
    }

    /// The address of a row of its cells, in its context.
    fn rows_at(&self, run: Run, row: u32) -> Result<(sys::CUdeviceptr, sys::CUcontext)> {
        let offset = run.state.layout.row_bytes(run.size) * row as usize;
        let context = self.group(run).context().raw;
        Ok((self.cells(run)? + offset as u64, context))
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
        let sm_count = self.resources.gpus[self.gpu].sm_count;
        let all = &self.resources.check.lattices;
        for (lattices, part) in all.batches(kernel, lattices, sm_count).into_iter().zip(0..) {
            let target = self.timestamp_target(part);
            let (count, first) = (lattices.len() as u32, LatticeId(lattices.start));
            let check = &self.resources.check;
            let group = *check.lattices.of(first);
            let launch = |launched| {
                let batch = group.batch(launched, count);
                kernel.launch(group.size, block, batch, sm_count)
            };
            let state = check.states.get(first);
            let differs = |lattice| !check.states.get(lattice).has_buffers_of(state);
            if lattices.clone().map(LatticeId).any(differs) {
                for (lattice, index) in lattices.zip(0..) {
                    let target = target.map(|target| target.share(index, count));
                    let lattice = LatticeId(lattice);
                    self.step(kernel, lattice, rule, generations, launch(1), target)?;
                }
            } else {
                self.step(kernel, first, rule, generations, launch(count), target)?;
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
        let run = self.place(lattice);
        let group = self.group(run);
        let buffer = |parity| group.buffer_at(kernel.layout, run.index, parity);
        let buffers = [buffer(0)?, buffer(1)?];
        let mail = if kernel.parameters.contains(&Mail) {
            part(&group.mail, run.index, MemoryUse::Mail)?.0
        } else {
            0 // nobody takes it
        };
        let function = kernel.function(shape.entry, rule);
        let functions = &mut self.resources.gpus[self.gpu].functions;
        let plain = functions.get(function, false)?;
        let instrumented = match target {
            Some(_) => functions.get(function, true)?,
            None => plain,
        };
        let (width, height) = sides(run.size);
        let launches = kernel.launches(generations);
        let mut parity = run.state.parity;
        for index in 0..launches {
            let [from, to] = [parity, parity ^ 1].map(|parity| buffers[usize::from(parity)]);
            let max = kernel.iteration.generations_per_launch();
            let stepped = max.min(generations - index * max);
            let values: &Values = &[
                (From, from),
                (To, to),
                (Cells, from),
                (Mail, mail),
                (Width, width),
                (Height, height),
                (RuleTable, rule.table().into()),
                (Generations, stepped.into()),
            ];
            let mut arguments = Arguments::fill(kernel.parameters, values)?;
            match target.and_then(|target| target.of(index, launches)) {
                None => self.launch(plain, shape, arguments)?,
                Some(records) => {
                    arguments.push(records);
                    self.launch(instrumented, shape, arguments)?;
                }
            }
            parity ^= u8::from(kernel.swaps_buffers(stepped));
        }
        Ok(())
    }

    fn upload(&mut self, run: Run, words: &[u32]) -> Result<()> {
        // The lengths were validated, and the program keeps the words alive until the call is made.
        let to = self.group(run).bits_at(run.index, 0);
        self.copy_in(to, words.as_ptr().cast(), words.len() * 4)
    }

    fn soup(&mut self, run: Run, soup: Soup) -> Result<()> {
        let bits = self.group(run).bits_at(run.index, 0);
        let (width, height) = sides(run.size);
        // A row's generator is seeded from the key and the row's number on the torus.
        let first_row = run.state.band.map_or(0, Band::first_of_halo);
        let values: &Values = &[
            (To, bits),
            (Width, width),
            (Height, height),
            (Chance, soup.chance().into()),
            (Key, soup.key().wrapping_add_signed(first_row)),
        ];
        // A thread per row, in small blocks, so that few rows spread over many SMs.
        const THREADS: u32 = 64;
        let shape = Launch::in_row(run.size.height.div_ceil(THREADS), THREADS);
        self.launch_support(SupportKernel::SOUP, shape, values)
    }

    fn edit(&mut self, run: Run, edits: &[WordEdit]) -> Result<()> {
        let cells = self.cells(run)?;
        let list = self.group(run).edits_at(run.index);
        // Copies and launches of a stream run in order, so one list serves all chunks.
        for edits in edits.chunks(max_edits(run.size)) {
            self.copy_in(list, edits.as_ptr().cast(), size_of_val(edits))?;
            let values: &Values = &[
                (Edits, list),
                (EditCount, edits.len() as u64),
                (Cells, cells),
                (Width, run.size.width.into()),
                (LayoutIndex, run.state.layout as u64),
            ];
            // A row of threads per edit, one per cell of its word.
            let block = Launch::SUPPORT_BLOCK;
            let shape = Launch::over(block.0, edits.len() as u32, block);
            self.launch_support(SupportKernel::EDIT, shape, values)?;
        }
        Ok(())
    }

    fn pack(&mut self, run: Run) -> Result<()> {
        let layout = run.state.layout;
        let Some(kernel) = SupportKernel::pack(layout) else {
            return Ok(()); // the bits are the cells
        };
        let bits = self.group(run).bits_at(run.index, 0);
        self.convert(kernel, run, layout, self.cells(run)?, bits)
    }

    fn unpack(&mut self, run: Run, to: Layout) -> Result<()> {
        let Some(kernel) = SupportKernel::unpack(to) else {
            return Ok(()); // the bits are there
        };
        let cells = self.group(run).buffer_at(to, run.index, 0)?;
        self.convert(kernel, run, to, self.bits(run), cells)
    }

    /// Converts a run between bits and a layout, as one tall lattice: rows are converted independently.
    fn convert(
        &mut self,
        kernel: SupportKernel,
        run: Run,
        layout: Layout,
        from: sys::CUdeviceptr,
        to: sys::CUdeviceptr,
    ) -> Result<()> {
        let shape = Launch::convert(run.size, run.count as u32, layout);
        let (width, height) = sides(run.size);
        let height = height * run.count as u64;
        let values: &Values = &[(From, from), (To, to), (Width, width), (Height, height)];
        self.launch_support(kernel, shape, values)
    }

    /// Reduces lattices to bytes, or counts the live cells that the own rows of a band have in each pixel.
    fn reduce(&mut self, run: Run, region: ReduceRegion) -> Result<()> {
        let (torus, offset, first_row, rows) = match run.state.band {
            None => (run.size, 0, 0, 0),
            Some(band) => (
                band.torus,
                own_offset(band),
                band.first.into(),
                band.rows.into(),
            ),
        };
        let bits = self.bits(run) + offset;
        let (pixels, stride) = part(&self.group(run).view, run.index, MemoryUse::Views)?;
        let (width, height) = sides(torus);
        let values: &Values = &[
            (From, bits),
            (To, pixels),
            (Width, width),
            (Height, height),
            (FirstRow, first_row),
            (OwnRows, rows),
            (Left, region.x0 as u64),
            (Top, region.y0 as u64),
            (Step, region.step as u64),
            (Columns, region.width.into()),
            (Rows, region.height.into()),
            (Pitch, stride as u64 * 4),
        ];
        let kernel = SupportKernel::reduce(run.state.band.is_some());
        let shape = Launch::reduce(region.width, region.height, run.count as u32);
        self.launch_support(kernel, shape, values)
    }

    /// Measures lattices, or the own rows of a band.
    fn measure(&mut self, run: Run) -> Result<()> {
        let (offset, size, first_word) = match run.state.band {
            None => (0, run.size, 0),
            Some(band) => {
                let first = band.first as usize * run.size.words_per_row();
                (own_offset(band), band.own_size(), first as u64)
            }
        };
        let bits = self.bits(run) + offset;
        let [shares, measures, before, arrived] = self.group(run).measures_at(run.index)?;
        let shape = Launch::measure(size, run.count as u32);
        let values: &Values = &[
            (From, bits),
            (Before, before),
            (Shares, shares),
            (Arrived, arrived),
            (To, measures),
            (Words, size.words() as u64),
            (FirstWord, first_word),
        ];
        self.launch_support(SupportKernel::MEASURE, shape, values)
    }

    fn download(&mut self, run: Run, slot: Slot, what: Transfer) -> Result<()> {
        let Run {
            index, state, size, ..
        } = run;
        let (group, bits) = (self.group(run), self.bits(run));
        // The address of the first lattice's part, its words, and the words from one lattice to the next.
        let (at, words, pitch) = match what {
            Transfer::Bits => (bits, size.words(), size.words()),
            Transfer::Rows { first, count } => {
                let per_row = size.words_per_row();
                let at = bits + 4 * (per_row * first as usize) as u64;
                (at, per_row * count as usize, size.words())
            }
            Transfer::Cells => {
                let words = size.cells() as usize;
                (self.cells(run)?, words, words)
            }
            Transfer::Measure => {
                let [_, at, ..] = group.measures_at(index)?;
                (at, Measure::WORDS, Measure::WORDS)
            }
            Transfer::View => {
                let (at, pitch) = part(&group.view, index, MemoryUse::Views)?;
                (at, state.view_words as usize, pitch)
            }
        };
        let place = self.resources.slots.place(run.first, slot);
        let (to, slot_pitch) = place.ok_or_else(|| invalid!("{:?} has no {slot:?}", run.first))?;
        // The program is valid, so the slot is large enough and the group's slots are adjacent like
        // its lattices. The slots are bound to this download, so nobody else uses them until the
        // event after the copy has fired. This holds for pageable memory too, where the copy is
        // complete by then or by the call's return.
        if run.count == 1 || (pitch == words && slot_pitch == words) {
            return self.copy_out(to.cast(), at, run.count * words * 4);
        }
        let stream = self.stream;
        let rows = sys::CUDA_MEMCPY2D {
            dstHost: to.cast(),
            dstPitch: slot_pitch * 4,
            ..rows_from(at, pitch * 4, words * 4, run.count)
        };
        // SAFETY: as above, both sides have that many rows.
        unsafe {
            self.sink.call("cuMemcpy2DAsync", move || {
                sys::cuMemcpy2DAsync_v2(&rows, stream)
            })
        }
    }

    fn launch_support(
        &mut self,
        kernel: SupportKernel,
        shape: Launch,
        values: &Values,
    ) -> Result<()> {
        let arguments = Arguments::fill(kernel.parameters, values)?;
        let functions = &mut self.resources.gpus[self.gpu].functions;
        let function = functions.get(kernel.function(), false)?;
        self.launch(function, shape, arguments)
    }

    fn on_buffers(&mut self, op: &BufferOp) -> Result<()> {
        let buffers = &self.resources.buffers;
        let gpu = &self.resources.gpus[self.gpu];
        match op {
            BufferOp::Copy { from, to, bytes } => self.copy(*from, *to, *bytes),
            BufferOp::Launch(launch) => self.launch_on_buffers(launch),
            BufferOp::HostFunction(buffer) => {
                let words = find(buffers, *buffer)?.on_host()?;
                let stream = self.stream;
                // SAFETY: the function takes these words, which live until nothing runs.
                unsafe {
                    self.sink.call("cuLaunchHostFunc", move || {
                        sys::cuLaunchHostFunc(stream, Some(invert), words)
                    })
                }
            }
            // These calls are made at once: only one thread issues such a program.
            BufferOp::Memory(op) => match *op {
                MemoryOp::Allocate(buffer) => find(buffers, buffer)?.allocate(self.stream),
                MemoryOp::Free(buffer) => find(buffers, buffer)?.free(self.stream),
                MemoryOp::SetReleaseThreshold(bytes) => gpu.set_release_threshold(bytes),
                MemoryOp::AdviseReadMostly(buffer) => find(buffers, buffer)?.advise(gpu.device),
                MemoryOp::Prefetch(buffer, to) => {
                    find(buffers, buffer)?.prefetch(to, gpu.device, self.stream)
                }
            },
        }
    }

    fn copy(&mut self, from: BufferOffset, to: BufferOffset, bytes: usize) -> Result<()> {
        let source = find(&self.resources.buffers, from.buffer)?;
        let target = find(&self.resources.buffers, to.buffer)?;
        match (source.address(from)?, target.address(to)?) {
            (Address::Host(from), Address::Device(to)) => self.copy_in(to, from, bytes),
            (Address::Device(from), Address::Host(to)) => self.copy_out(to, from, bytes),
            (Address::Device(from), Address::Device(to)) => {
                let (from, to) = ((from, source.context.raw), (to, target.context.raw));
                self.copy_on_devices(from, to, bytes)
            }
            (Address::Host(_), Address::Host(_)) => {
                Err(invalid!("a device cannot copy from host to host"))
            }
        }
    }

    /// Copies from the host to the device. The program is valid, so both sides have so many bytes.
    fn copy_in(&mut self, to: sys::CUdeviceptr, from: *const c_void, bytes: usize) -> Result<()> {
        let stream = self.stream;
        // SAFETY: as above.
        unsafe {
            self.sink.call("cuMemcpyHtoDAsync", move || {
                sys::cuMemcpyHtoDAsync_v2(to, from, bytes, stream)
            })
        }
    }

    /// Copies from the device to the host, likewise.
    fn copy_out(&mut self, to: *mut c_void, from: sys::CUdeviceptr, bytes: usize) -> Result<()> {
        let stream = self.stream;
        // SAFETY: as above.
        unsafe {
            self.sink.call("cuMemcpyDtoHAsync", move || {
                sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream)
            })
        }
    }

    /// Copies between two addresses, each with its context, likewise.
    fn copy_on_devices(
        &mut self,
        (from, of): (sys::CUdeviceptr, sys::CUcontext),
        (to, into): (sys::CUdeviceptr, sys::CUcontext),
        bytes: usize,
    ) -> Result<()> {
        let stream = self.stream;
        // SAFETY: as above.
        unsafe {
            if of == into {
                self.sink.call("cuMemcpyDtoDAsync", move || {
                    sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream)
                })
            } else {
                self.sink.call("cuMemcpyPeerAsync", move || {
                    sys::cuMemcpyPeerAsync(to, into, from, of, bytes, stream)
                })
            }
        }
    }

    fn launch_on_buffers(&mut self, launch: &BufferLaunch) -> Result<()> {
        let mut arguments = Arguments::default();
        for argument in &launch.arguments {
            arguments.push(match *argument {
                Argument::Buffer(region) => {
                    let buffer = find(&self.resources.buffers, region.buffer)?;
                    let Address::Device(at) = buffer.address(region)? else {
                        bail!("{:?} is not on the device", region.buffer);
                    };
                    at
                }
                Argument::I32(number) => (number as u32).into(),
                Argument::U32(number) => number.into(),
                Argument::U64(number) => number,
                Argument::F32(number) => number.to_bits().into(),
            });
        }
        let records = self.timestamp_target(0).and_then(|target| target.of(0, 1));
        if let Some(records) = records {
            arguments.push(records);
        }
        let functions = &mut self.resources.gpus[self.gpu].functions;
        let function = functions.get(launch.kernel.function(), records.is_some())?;
        self.launch(function, launch.shape, arguments)
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
        let stream = self.stream;
        // SAFETY: the addresses are of memory that the program needs, and the function is of the
        // stream's context; a test compares the tables of kernels with the parameters in the PTX.
        unsafe {
            self.sink
                .push(move || launch(function, shape, &arguments, stream))
        }
    }
}

/// Bytes of a band's bits before its own rows.
fn own_offset(band: Band) -> u64 {
    4 * (band.halo as usize * band.torus.words_per_row()) as u64
}

fn sides(size: Size) -> (u64, u64) {
    (size.width.into(), size.height.into())
}
