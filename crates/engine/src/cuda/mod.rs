//! The CUDA engine. It uses `cust`, and the driver's own functions where `cust` lacks one.
//!
//! Imports go one way, from the end of this list to its start: [`driver`] opens the driver, and owns its
//! handles and a device's clock; [`calls`] are its calls as data, for several threads if a program names
//! several issuers or has several GPUs; [`memory`] has words, buffers and host slots; [`gpu`] has a device's
//! lattices and kernels, to whose PTX block timestamps are added where they are wanted;
//! [`block_timestamps`] collects timestamps; [`issue`] has everything that was created, and turns ops into
//! calls; the engine itself issues programs, captures them for replay, and tracks and reports what runs.
#![allow(unsafe_code)] // driver calls; each block says why it is sound

mod block_timestamps;
mod calls;
mod driver;
mod gpu;
mod issue;
mod memory;

pub use driver::{driver_version, first_device, list_devices};

use crate::check::{Validator, check_buffer_size, issuers};
use crate::error::bail;
use crate::{
    Band, BlockTimestamp, BufferId, BufferLocation, Completion, DeviceId, DeviceInfo, Engine,
    EngineError, EventId, Feature, IssuerId, LatticeId, Layout, Nanos, Occupancy, Op, OrderOp,
    PreparedId, Program, Result, RunId, Slot, Slots, SlotsSpec, Span, Step, StreamId, StreamKind,
    StreamSpec, nvtx,
};
use block_timestamps::TimestampRecorder;
use calls::{Meetings, Sink, Threads, make_concurrently};
use cust::sys::{self, CUstreamCaptureMode};
use driver::{
    Event, OwnedContext, RawStream, Timer, Timing, check, host_span, into_partially_applied,
};
use gpu::{Gpu, Group};
use issue::{Resources, Stream, current};
use life::Size;
use memory::{Buffer, CudaSlots, find};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which CUDA devices to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordinals {
    /// The first device.
    First,
    /// All devices.
    All,
    /// All usable devices, to continue after one was lost.
    AllUsable,
    /// The first usable device, to continue after one was lost.
    FirstUsable,
    /// The device with this ordinal.
    One(u32),
}

/// The engine for NVIDIA GPUs.
pub struct CudaEngine {
    // Fields drop in this order: running work, then what it refers to.
    runs: Runs,
    prepared: HashMap<PreparedId, Vec<DeviceGraph>>,
    resources: Resources,
    /// The ordinals of devices that were asked for and cannot be used, if others were enough.
    pub left_out: Vec<(u32, EngineError)>,
}

// SAFETY: one thread at a time owns the engine; every entry makes its context current there, and
// driver handles are valid on every thread.
unsafe impl Send for CudaEngine {}

/// Opens a device and its primary context.
fn open_gpu(ordinal: u32, present: u32, began: Instant) -> Result<(DeviceInfo, Gpu)> {
    let (device, info) = driver::describe(ordinal, present)?;
    driver::validate_device(&info)?;
    let gpu = Gpu::new(device, OwnedContext::new(device, true)?, began)?;
    Ok((info, gpu))
}

impl CudaEngine {
    /// Initialises the driver and opens a context on each requested device.
    pub fn open(ordinals: Ordinals) -> Result<CudaEngine> {
        let began = Instant::now();
        let present = driver::initialise()?;
        let requested = match ordinals {
            Ordinals::First => 0..=0,
            Ordinals::All | Ordinals::AllUsable | Ordinals::FirstUsable => 0..=present - 1,
            Ordinals::One(i) => i..=i,
        };
        let leaves_out = matches!(ordinals, Ordinals::AllUsable | Ordinals::FirstUsable);
        let (mut infos, mut gpus) = (Vec::new(), Vec::new());
        let mut refused = Vec::new();
        for ordinal in requested {
            if ordinals == Ordinals::FirstUsable && !gpus.is_empty() {
                break;
            }
            match open_gpu(ordinal, present, began).map_err(driver::at_start) {
                Ok((info, gpu)) => {
                    infos.push(info);
                    gpus.push(gpu);
                }
                Err(error) if leaves_out => refused.push((ordinal, error)),
                Err(error) => return Err(error),
            }
        }
        if gpus.is_empty()
            && let Some((_, error)) = refused.pop()
        {
            return Err(error);
        }
        Ok(CudaEngine {
            runs: Runs::default(),
            prepared: HashMap::new(),
            resources: Resources {
                events: Vec::new(),
                streams: Vec::new(),
                buffers: Vec::new(),
                slots: Arc::default(),
                groups: Vec::new(),
                zero: began,
                gpus,
                check: Validator::new(infos),
            },
            left_out: refused,
        })
    }
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn devices(&self) -> &[DeviceInfo] {
        &self.resources.check.devices
    }

    fn create(
        &mut self,
        device: DeviceId,
        count: usize,
        size: Size,
        band: Option<Band>,
    ) -> Result<()> {
        let of = &mut self.resources;
        let gpu = &of.gpus[of.gpu_at(device)?];
        gpu.context.make_current()?;
        of.groups.push(Group::new(&gpu.context, count, size)?);
        of.check.add_lattices(device, count, size, band);
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.synchronize()?;
        self.runs = Runs::default();
        self.prepared.clear();
        let of = &mut self.resources;
        of.events.clear();
        of.streams.clear();
        of.buffers.clear();
        of.slots = Arc::default();
        of.groups.clear();
        of.check = Validator::new(std::mem::take(&mut of.check.devices));
        Ok(())
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.synchronize()?;
        let of = &mut self.resources;
        // Every device frees other layouts before one allocates.
        of.groups.iter_mut().for_each(|it| it.keep_only(layout));
        let mut groups = of.groups.iter_mut().zip(&of.check.lattices.groups);
        let answer = groups.try_for_each(|(group, facts)| {
            let gpu = current(&mut of.gpus, facts.device)?;
            group.reserve(layout, facts.alike(), gpu.sm_count)
        });
        // The states must match what was allocated, also after an error.
        let has = of.groups.iter().map(|group| group.has(layout));
        let allocated: Vec<bool> = has.collect();
        of.check.reserve(layout, &allocated);
        answer
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.synchronize()?;
        let Resources { gpus, check, .. } = &mut self.resources;
        let groups = check.lattices.groups.iter().map(|group| {
            let context = gpus[usize::from(group.device.0)].context.clone();
            (context, group.count, group.size.words())
        });
        let slots = Arc::new(CudaSlots::allocate(spec, groups)?);
        check.set_slots(spec);
        self.resources.slots = slots.clone();
        Ok(slots)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        let of = &mut self.resources;
        let gpu = of.gpu_at(device)?;
        let is_default = spec.kind == StreamKind::Default;
        if let (true, Some(known)) = (is_default, of.check.default_stream(device)) {
            return Ok(known);
        }
        of.make_current(gpu)?;
        of.streams.push(Stream {
            gpu,
            raw: RawStream::new(spec)?,
            replays_seen: of.gpus[gpu].replays,
        });
        let id = of.check.add_stream(device, is_default);
        self.name_stream(id, &format!("stream {}", id.0));
        self.runs.markers.push(Default::default());
        Ok(id)
    }

    fn name_stream(&mut self, stream: StreamId, name: &str) {
        // SAFETY: the stream is alive.
        unsafe { nvtx::name_stream(self.resources.raw(stream).cast(), name) };
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        let of = &mut self.resources;
        let device_of = of.gpus[of.gpu_at(device)?].device;
        if of.gpus.len() > usize::from(u16::MAX) {
            bail!("too many contexts");
        }
        let context = OwnedContext::new(device_of, false)?;
        of.gpus.push(Gpu::new(device_of, context, of.zero)?);
        Ok(of.check.add_context(device))
    }

    fn check_feature(&self, device: DeviceId, feature: Feature) -> Result<()> {
        let of = &self.resources;
        let device = of.gpus[of.gpu_at(device)?].device;
        let is_other = |gpu: &Gpu| gpu.device.as_raw() != device.as_raw();
        if feature == Feature::PeerCopies && !of.gpus.iter().any(is_other) {
            return Err(EngineError::no_second_device(feature));
        }
        driver::check_feature(device, feature)
    }

    fn set_peer_access(
        &mut self,
        device: DeviceId,
        peer: DeviceId,
        is_allowed: bool,
    ) -> Result<bool> {
        self.synchronize()?;
        let of = &self.resources;
        let (own, peer) = (of.gpu_at(device)?, of.gpu_at(peer)?);
        let (own, peer) = (&of.gpus[own], &of.gpus[peer]);
        let mut can = 0;
        // SAFETY: `can` is valid for the write.
        check("cuDeviceCanAccessPeer", unsafe {
            sys::cuDeviceCanAccessPeer(&mut can, own.device.as_raw(), peer.device.as_raw())
        })?;
        if can == 0 {
            return Ok(false);
        }
        own.context.set_peer_access(&peer.context, is_allowed)
    }

    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
        let gpu = self.resources.gpu_at(device)?;
        check_buffer_size(bytes)?;
        match place {
            BufferLocation::Pool => self.check_feature(device, Feature::MemoryPools)?,
            BufferLocation::Managed => self.check_feature(device, Feature::ManagedMemory)?,
            BufferLocation::Device | BufferLocation::Host(_) => {}
        }
        let of = &mut self.resources;
        of.make_current(gpu)?;
        let buffer = Buffer::new(gpu, &of.gpus[gpu].context, bytes, place)?;
        of.buffers.push(Some(buffer));
        Ok(of.check.add_buffer(device, bytes, place))
    }

    fn access(&mut self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        self.synchronize()?;
        let buffer = find(&self.resources.buffers, buffer)?;
        buffer.context.make_current()?;
        buffer.visit(visit)
    }

    fn drop_buffers(&mut self) -> Result<()> {
        let answer = self.synchronize();
        let of = &mut self.resources;
        of.check.drop_buffers();
        for buffer in of.buffers.iter().flatten().filter(|it| it.is_pooled()) {
            // The pools of devices keep nothing; what one keeps is only a loss of memory.
            let _ = of.gpus[buffer.gpu].set_release_threshold(0);
        }
        of.buffers.fill_with(|| None);
        answer
    }

    fn query(&mut self, event: EventId) -> Result<bool> {
        let of = &self.resources;
        of.make_current(usize::from(of.check.device_of(event)?.0))?;
        of.events[event.0 as usize].fired()
    }

    fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>> {
        self.resources.occupancy(device, op)
    }

    fn create_event(&mut self, device: DeviceId) -> Result<EventId> {
        let of = &mut self.resources;
        let gpu = of.gpu_at(device)?;
        of.make_current(gpu)?;
        let event = of.gpus[gpu].pool.plain()?;
        of.events.push(event);
        Ok(of.check.add_event(device))
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        let (resources, runs) = (&mut self.resources, &mut self.runs);
        let plan = resources.check.validate(program)?;
        resources.allocate_for(program, &plan)?;
        resources.slots.locks.bind_all(program.downloads())?;
        let number = runs.number();
        if program.steps.is_empty() {
            runs.add(number, Run::default());
            return Ok(number);
        }
        let used = resources.streams_used(program);
        let open = used.iter().map(|(_, streams)| streams.len()).sum();
        let mut last_step = vec![usize::MAX; resources.streams.len()];
        for (index, step) in program.steps.iter().enumerate() {
            last_step[step.stream.0 as usize] = index;
        }
        let device = |(gpu, _): &(usize, _)| resources.gpus[*gpu].device.as_raw();
        let threads = Threads::of(program, used.iter().map(device).collect());
        let mut submission = Submission {
            resources,
            runs,
            program,
            number,
            run: Run {
                open,
                ..Run::default()
            },
            used,
            last_step,
            threads,
        };
        let issued = submission.issue_all();
        let run = submission.run;
        let changes_cells = plan.changes_cells;
        runs.add_or_discard(number, run, issued, program, resources, changes_cells)?;
        resources.check.states.commit();
        Ok(number)
    }

    fn compile_in_background(&mut self, program: &Program) -> Result<()> {
        let Resources { check, gpus, .. } = &mut self.resources;
        let plan = check.validate(program)?;
        for (device, function) in plan.functions {
            let functions = &mut gpus[usize::from(device.0)].functions;
            functions.compile_in_background(function)?;
        }
        Ok(())
    }

    fn load(&mut self, program: &Program) -> Result<()> {
        let plan = self.resources.check.validate(program)?;
        self.resources.finish_compiling(&plan);
        self.resources.allocate_for(program, &plan)
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        let of = &mut self.resources;
        let plan = of.check.validate_preparable(program)?;
        // A graph keeps the functions that it was captured with.
        of.finish_compiling(&plan);
        of.allocate_for(program, &plan)?;
        // The lattices' states change only in a draft.
        of.check.states.begin();
        let used = of.streams_used(program).into_iter();
        let graphs = used.map(|(gpu, streams)| DeviceGraph::capture(of, gpu, &streams, program));
        let graphs = graphs.collect::<Result<_>>()?;
        let id = of.check.add_prepared(program, &plan);
        self.prepared.insert(id, graphs);
        Ok(id)
    }

    fn replay(&mut self, id: PreparedId) -> Result<RunId> {
        let (of, runs) = (&mut self.resources, &mut self.runs);
        let known = of.check.validate_replay(id)?;
        let (program, changes_cells) = (known.program.clone(), known.changes_cells);
        of.slots.locks.bind_all(program.downloads())?;
        let (number, graphs) = (runs.number(), &self.prepared[&id]);
        let mut run = Run {
            open: graphs.len(),
            ..Run::default()
        };
        let mut each = graphs.iter();
        let issued = each.try_for_each(|graph| graph.launch(number, &mut run, of, runs));
        runs.add_or_discard(number, run, issued, &program, of, changes_cells)?;
        of.check.commit_replay(id);
        Ok(number)
    }

    fn release(&mut self, prepared: PreparedId) {
        self.resources.check.release(prepared);
        self.prepared.remove(&prepared);
    }

    fn unsplit(self: Box<Self>) -> Box<dyn Engine> {
        self
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        self.resources.check.parity(lattice)
    }

    fn clock_error(&self) -> Nanos {
        let gpus = self.resources.gpus.iter();
        let mut errors: Vec<i64> = gpus.map(|gpu| gpu.anchor.error()).collect();
        errors.sort_unstable();
        match errors[..] {
            [.., second, worst] => Nanos(second + worst),
            _ => Nanos(0),
        }
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        self.runs.poll(&mut self.resources, completions)
    }

    fn wait(&mut self, timeout: Duration) {
        // The driver cannot wait for any one of several events. Poll without sleeping while work
        // completes, since a sleep costs at least 50 µs; sleep longer and longer during long
        // launches.
        let idle = self.runs.open.is_empty();
        match self.runs.idle_polls.checked_sub(200) {
            None if !idle => std::thread::yield_now(),
            beyond => {
                let us = 50 * u64::from(1 + beyond.unwrap_or(0) / 200);
                let nap = if idle { 1000 } else { us.min(1000) };
                std::thread::sleep(timeout.min(Duration::from_micros(nap)));
            }
        }
    }

    fn synchronize(&mut self) -> Result<()> {
        self.resources.synchronize()
    }
}

impl Drop for CudaEngine {
    fn drop(&mut self) {
        // No copy may write to memory that is about to be freed.
        let _ = self.synchronize();
    }
}

// Runs: programs are issued eagerly, or captured once and replayed as CUDA graphs, one launch by the host
// instead of hundreds; running work is tracked until its end is reported.

/// An event that marks progress of a run.
struct Marker {
    event: Event,
    run: RunId,
    /// The download that is complete when the event has fired.
    download: Option<(Range<u32>, Slot)>,
    /// Whether the run has no later work in this stream.
    last: bool,
}

/// A running run.
#[derive(Default)]
struct Run {
    /// The number of streams and graphs that are not done.
    open: usize,
    timings: Vec<Timing>,
    /// The time that the host spent in calls.
    host: Vec<Span>,
    /// Its timestamp recorders, by GPU.
    recorders: Vec<(usize, TimestampRecorder)>,
    /// Whether any of its work may have reached the driver.
    begun: bool,
}

/// A download in a graph, and the event that each replay records after it, so that the picture is
/// available before the whole round is done. (On an H200 such a node has no measurable cost. Right
/// after a launch the event counts as not fired.)
struct GraphDownload {
    lattices: Range<u32>,
    slot: Slot,
    event: Event,
}

/// A replayed graph that is running.
struct Replay {
    run: RunId,
    gpu: usize,
    end: Event,
    downloads: Arc<[GraphDownload]>,
    /// Which downloads have been reported.
    landed: Vec<bool>,
    /// Whether its spans will be read.
    timed: bool,
}

/// All running work.
#[derive(Default)]
struct Runs {
    open: HashMap<RunId, Run>,
    markers: Vec<VecDeque<Marker>>, // by stream
    replays: VecDeque<Replay>,
    next: u64,
    /// Runs of empty programs, which the next poll reports.
    empty: Vec<RunId>,
    /// Polls since something completed or was issued.
    idle_polls: u32,
}

impl Runs {
    /// The number of a new run.
    fn number(&mut self) -> RunId {
        self.next += 1;
        RunId(self.next - 1)
    }

    /// Adds a run whose work has been issued.
    fn add(&mut self, number: RunId, mut run: Run) {
        if run.open == 0 {
            run.open = 1;
            self.empty.push(number);
        }
        self.open.insert(number, run);
        self.idle_polls = 0;
    }

    /// Makes a stream wait for earlier graph replays, which run in a stream of their own.
    fn fence(&self, stream: StreamId, resources: &mut Resources) -> Result<()> {
        let stream = &mut resources.streams[stream.0 as usize];
        let gpu = stream.gpu;
        let replayed = resources.gpus[gpu].replays;
        if stream.replays_seen < replayed {
            if let Some(replay) = self.replays.iter().rev().find(|r| r.gpu == gpu) {
                replay.end.make_stream_wait(stream.raw.0)?;
            }
            stream.replays_seen = replayed;
        }
        Ok(())
    }

    /// Adds a run that was issued. Discards one that was issued in part, and returns its error, which may
    /// have changed cells.
    fn add_or_discard(
        &mut self,
        number: RunId,
        run: Run,
        issued: Result<()>,
        program: &Program,
        resources: &Resources,
        changes_cells: bool,
    ) -> Result<()> {
        let Err(error) = issued else {
            self.add(number, run);
            return Ok(());
        };
        // Waits for issued work: no timestamp may be written to freed memory.
        let _ = resources.synchronize();
        let markers = self.markers.iter_mut();
        markers.for_each(|markers| markers.retain(|marker| marker.run != number));
        self.replays.retain(|replay| replay.run != number);
        resources.slots.locks.unbind_all(program.downloads());
        Err(if run.begun && changes_cells {
            into_partially_applied(error)
        } else {
            error
        })
    }

    /// Appends what has completed.
    fn poll(&mut self, resources: &mut Resources, completions: &mut Vec<Completion>) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let before = completions.len();
        for run in std::mem::take(&mut self.empty) {
            self.end_part(run, resources, completions)?;
        }
        for stream in 0..self.markers.len() {
            while let Some(marker) = self.markers[stream].front() {
                if !marker.event.fired()? {
                    break;
                }
                let marker = self.markers[stream].pop_front().expect("it was looked at");
                if let Some(download) = marker.download {
                    completions.push(landed(marker.run, download, resources));
                }
                let gpu = resources.streams[stream].gpu;
                resources.gpus[gpu].pool.plain.push(marker.event);
                if marker.last {
                    self.end_part(marker.run, resources, completions)?;
                }
            }
        }
        self.poll_replays(resources, completions)?;
        self.idle_polls = if completions.len() > before {
            0
        } else {
            self.idle_polls + 1
        };
        Ok(())
    }

    /// Ends one stream's or graph's part of a run, and reports the run if that was the last part.
    fn end_part(
        &mut self,
        run: RunId,
        resources: &mut Resources,
        completions: &mut Vec<Completion>,
    ) -> Result<()> {
        let Some(running) = self.open.get_mut(&run) else {
            return Ok(());
        };
        running.open -= 1;
        if running.open > 0 {
            return Ok(());
        }
        let ended = std::mem::take(running);
        self.open.remove(&run);
        let mut spans = Vec::new();
        for timing in ended.timings {
            timing.spans(&mut spans)?;
            if timing.pooled {
                let timer = Rc::into_inner(timing.timer).unwrap_or_default();
                resources.gpus[timing.gpu].pool.timing.extend(timer.events);
            }
        }
        let mut block_timestamps = Vec::new();
        for (gpu, recorder) in ended.recorders {
            let (of_gpu, memory) = recorder.block_timestamps();
            let before: u32 = resources.check.devices[..gpu]
                .iter()
                .map(|info| info.sm_count)
                .sum();
            block_timestamps.extend(of_gpu.into_iter().map(|timestamp| BlockTimestamp {
                sm: before + timestamp.sm,
                ..timestamp
            }));
            resources.gpus[gpu].timestamp_pool.push(memory);
        }
        let mut host = ended.host;
        spans.sort_by_key(|span| span.step);
        host.sort_by_key(|span| span.start);
        block_timestamps.sort_by_key(|timestamp| (timestamp.step, timestamp.start));
        completions.push(Completion::Finished {
            run,
            spans,
            host,
            block_timestamps,
        });
        Ok(())
    }

    /// Reports downloads of replayed graphs as they complete, and finished graphs.
    fn poll_replays(
        &mut self,
        resources: &mut Resources,
        completions: &mut Vec<Completion>,
    ) -> Result<()> {
        while let Some(replay) = self.replays.front_mut() {
            let over = replay.end.fired()?;
            for (landing, is_reported) in replay.downloads.iter().zip(&mut replay.landed) {
                // A timed graph's downloads are reported only when the graph is done and its spans
                // can be read.
                if !*is_reported && (over || (!replay.timed && landing.event.fired()?)) {
                    *is_reported = true;
                    let download = (landing.lattices.clone(), landing.slot);
                    completions.push(landed(replay.run, download, resources));
                }
            }
            if !over {
                break; // later replays wait for this one
            }
            let replay = self.replays.pop_front().expect("it was looked at");
            resources.gpus[replay.gpu].pool.plain.push(replay.end);
            self.end_part(replay.run, resources, completions)?;
        }
        Ok(())
    }
}

/// The completion of a download, whose slots may be read from now on.
fn landed(run: RunId, (lattices, slot): (Range<u32>, Slot), resources: &Resources) -> Completion {
    let each = lattices.clone().map(|lattice| (LatticeId(lattice), slot));
    resources.slots.locks.unbind_all(each);
    Completion::Downloaded {
        run,
        lattices,
        slot,
    }
}

/// A program while it is being issued.
struct Submission<'a> {
    resources: &'a mut Resources,
    runs: &'a mut Runs,
    program: &'a Program,
    number: RunId,
    run: Run,
    /// The GPUs it uses, each with its streams in the order of first use.
    used: Vec<(usize, Vec<StreamId>)>,
    /// The index of each stream's last step.
    last_step: Vec<usize>,
    /// The threads that issue it. With several, the ends of its streams are marked after all of them
    /// are done.
    threads: Threads,
}

impl Submission<'_> {
    fn issue_all(&mut self) -> Result<()> {
        let program = self.program;
        let issuers = match self.threads {
            Threads::PerIssuer => issuers(program),
            Threads::Own | Threads::PerGpu => vec![program.steps[0].issuer],
        };
        for (gpu, streams) in &self.used {
            self.resources.make_current(*gpu)?;
            for &stream in streams {
                self.runs.fence(stream, self.resources)?;
            }
            if program.timed {
                let origin = self.resources.gpus[*gpu].origin()?;
                let timing = |&issuer| Timing {
                    gpu: *gpu,
                    issuer,
                    origin: origin.clone(),
                    timer: Rc::default(),
                    pooled: true,
                };
                self.run.timings.extend(issuers.iter().map(timing));
            }
            if program.block_timestamps {
                let Resources { gpus, check, .. } = &mut *self.resources;
                let of_gpu = &mut gpus[*gpu];
                let recorder = TimestampRecorder::plan(program, streams, &check.lattices, of_gpu)?;
                if let Some(recorder) = recorder {
                    for &stream in streams {
                        recorder.clear(stream, self.resources.raw(stream))?;
                    }
                    self.run.recorders.push((*gpu, recorder));
                }
            }
        }
        // The steps now repeat in a new draft the changes from validation.
        self.resources.check.states.begin();
        if self.threads != Threads::Own {
            return self.issue_from_threads();
        }
        self.run.begun = true;
        let mut sink = Sink::Now;
        (0..program.steps.len()).try_for_each(|index| self.issue_step(index, &mut sink))
    }

    /// Turns the steps into a list of calls for each thread, and has the threads make them.
    fn issue_from_threads(&mut self) -> Result<()> {
        /// The calls of one thread.
        struct Part {
            /// The GPU whose context is current after the calls so far.
            gpu: usize,
            sink: Sink,
        }
        let program = self.program;
        let is_per_gpu = self.threads == Threads::PerGpu;
        // By the number of the issuer or of the GPU.
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        let part_of = |step: &Step, gpu| {
            if is_per_gpu {
                gpu
            } else {
                usize::from(step.issuer.0)
            }
        };
        for step in &program.steps {
            let gpu = self.resources.gpu_of(step.stream);
            if let Entry::Vacant(place) = parts.entry(part_of(step, gpu)) {
                let mut sink = Sink::Later(Vec::new());
                sink.set_current(self.resources.gpus[gpu].context.raw)?;
                sink.meet();
                place.insert(Part { gpu, sink });
            }
        }
        let mut meetings = Meetings::default();
        for (index, step) in program.steps.iter().enumerate() {
            let gpu = self.resources.gpu_of(step.stream);
            let at = part_of(step, gpu);
            if let (true, Op::Order(op)) = (is_per_gpu, &step.op)
                && meetings.must_meet(at, op)
            {
                parts.values_mut().for_each(|part| part.sink.meet());
            }
            let part = parts.get_mut(&at).expect("made above");
            if std::mem::replace(&mut part.gpu, gpu) != gpu {
                let context = self.resources.gpus[gpu].context.raw;
                part.sink.set_current(context)?;
            }
            self.issue_step(index, &mut part.sink)?;
        }
        let lists = parts.into_values().map(|part| match part.sink {
            Sink::Later(entries) => entries,
            Sink::Now => unreachable!("every sink was made as Later"),
        });
        self.run.begun = true;
        let spans = make_concurrently(&lists.collect::<Vec<_>>(), self.resources.zero)?;
        self.run
            .host
            .extend(spans.into_iter().filter(|_| program.timed));
        let ends: Vec<_> = std::mem::take(&mut self.used);
        for (gpu, streams) in ends {
            self.resources.make_current(gpu)?;
            for stream in streams {
                self.fetch_timestamps(gpu, stream)?;
                self.record_marker(stream, &mut Sink::Now, None, true)?;
            }
        }
        Ok(())
    }

    /// Issues a step with its timing events, block timestamps and end markers.
    fn issue_step(&mut self, index: usize, sink: &mut Sink) -> Result<()> {
        let step = &self.program.steps[index];
        let (stream, at) = (step.stream, index as u32);
        let gpu = self.resources.gpu_of(stream);
        self.resources.make_current(gpu)?;
        let raw = self.resources.raw(stream);
        let mut recorders = self.run.recorders.iter_mut();
        let block_timestamps = recorders.find(|(of, _)| *of == gpu);
        let block_timestamps = block_timestamps.map(|(_, recorder)| (at, recorder));
        let mut timings = self.run.timings.iter_mut();
        let timing = timings.find(|timing| timing.gpu == gpu && timing.issuer == step.issuer);
        let mut timer = timing.and_then(|timing| Rc::get_mut(&mut timing.timer));
        // While the host waits, there is no device work to time.
        let on_device = !matches!(step.op, Op::Order(OrderOp::Synchronize(_)));
        match &mut timer {
            Some(timer) if on_device => {
                let pool = &mut self.resources.gpus[gpu].pool;
                timer.before(pool, stream, |event| sink.record(event.0, raw))?;
            }
            Some(timer) => timer.latest = None,
            None => {}
        }
        let is_measured = timer.is_some() || nvtx::is_attached();
        let begun = is_measured.then(|| sink.begin(step.op.label()));
        self.resources.issue(gpu, step, sink, block_timestamps)?;
        let span = begun.and_then(|begun| sink.end(at, stream, begun, self.resources.zero));
        if let Some(timer) = timer {
            self.run.host.extend(span);
            if on_device {
                let pool = &mut self.resources.gpus[gpu].pool;
                timer.after(pool, index, stream, |event| sink.record(event.0, raw))?;
            }
        }
        let download = step.op.downloaded();
        let last = self.threads == Threads::Own && self.last_step[stream.0 as usize] == index;
        if last {
            self.fetch_timestamps(gpu, stream)?;
        }
        if download.is_some() || last {
            self.record_marker(stream, sink, download, last)?;
        }
        Ok(())
    }

    /// Records an event at this point of a stream, for polling.
    fn record_marker(
        &mut self,
        stream: StreamId,
        sink: &mut Sink,
        download: Option<(Range<u32>, Slot)>,
        last: bool,
    ) -> Result<()> {
        let gpu = self.resources.gpu_of(stream);
        let event = self.resources.gpus[gpu].pool.plain()?;
        sink.record(event.0, self.resources.raw(stream))?;
        self.runs.markers[stream.0 as usize].push_back(Marker {
            event,
            run: self.number,
            download,
            last,
        });
        Ok(())
    }

    /// Copies the block timestamps of a stream's kernels to the host.
    fn fetch_timestamps(&self, gpu: usize, stream: StreamId) -> Result<()> {
        let mut recorders = self.run.recorders.iter();
        let Some((_, recorder)) = recorders.find(|(of, _)| *of == gpu) else {
            return Ok(());
        };
        recorder.fetch(stream, self.resources.raw(stream))
    }
}

/// One device's graph of a program that is captured for replay.
struct DeviceGraph {
    gpu: usize,
    graph: Graph,
    downloads: Arc<[GraphDownload]>,
    timer: Rc<Timer>,
}

/// An instantiated graph.
struct Graph(sys::CUgraphExec);

impl Graph {
    /// Captures what `issue` issues to `origin` and to streams that wait for it.
    fn capture(origin: sys::CUstream, issue: impl FnOnce() -> Result<()>) -> Result<Graph> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive; the capture is ended below.
        check("cuStreamBeginCapture", unsafe {
            sys::cuStreamBeginCapture_v2(origin, mode)
        })?;
        let issued = issue();
        let mut graph = std::ptr::null_mut();
        // SAFETY: `graph` is valid for the write. After a failed issue it may come back null.
        let ended = check("cuStreamEndCapture", unsafe {
            sys::cuStreamEndCapture(origin, &mut graph)
        });
        let instantiated = issued.and(ended).and_then(|()| {
            let mut exec = std::ptr::null_mut();
            // SAFETY: the graph is complete, `exec` is valid for the write.
            let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
            check("cuGraphInstantiateWithFlags", code).map(|()| Graph(exec))
        });
        if !graph.is_null() {
            // SAFETY: destroyed once; an instantiated graph does not need it.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        let graph = instantiated?;
        // Prepares the first replay. Old drivers lack this call; their first replay is slower.
        // SAFETY: graph and stream are alive.
        unsafe { sys::cuGraphUpload(graph.0, origin) };
        Ok(graph)
    }

    fn launch(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: graph and stream are alive, and so are the addresses in the graph: the validator
        // rejects a replay after memory was replaced.
        check("cuGraphLaunch", unsafe {
            sys::cuGraphLaunch(self.0, stream)
        })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: destroyed once; the driver keeps what still runs.
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

impl DeviceGraph {
    /// Captures one device's steps of a program.
    fn capture(
        resources: &mut Resources,
        gpu: usize,
        streams: &[StreamId],
        program: &Program,
    ) -> Result<DeviceGraph> {
        resources.make_current(gpu)?;
        let origin = resources.gpus[gpu].graph_stream.0;
        let fork = Event::new(false)?;
        let joins: Vec<Event> = streams
            .iter()
            .map(|_| Event::new(false))
            .collect::<Result<_>>()?;
        let mut timer = Timer::default();
        let mut downloads = Vec::new();
        let graph = Graph::capture(origin, || {
            fork.record(origin)?;
            for stream in streams {
                fork.make_stream_wait(resources.raw(*stream))?;
            }
            for (index, step) in program.steps.iter().enumerate() {
                if resources.gpu_of(step.stream) != gpu {
                    continue;
                }
                let raw = resources.raw(step.stream);
                let record = |event: &Event| event.record_external(raw);
                if program.timed {
                    timer.before(&mut resources.gpus[gpu].pool, step.stream, record)?;
                }
                resources.issue(gpu, step, &mut Sink::Now, None)?;
                if program.timed {
                    timer.after(&mut resources.gpus[gpu].pool, index, step.stream, record)?;
                }
                if let Some((lattices, slot)) = step.op.downloaded() {
                    let event = resources.gpus[gpu].pool.plain()?;
                    event.record_external(raw)?;
                    downloads.push(GraphDownload {
                        lattices,
                        slot,
                        event,
                    });
                }
            }
            for (stream, join) in streams.iter().zip(&joins) {
                join.record(resources.raw(*stream))?;
                join.make_stream_wait(origin)?;
            }
            Ok(())
        })?;
        // Not returned to the pool: an event last recorded in a capture cannot be queried, even if
        // the next record is a graph node.
        drop((fork, joins));
        Ok(DeviceGraph {
            gpu,
            graph,
            downloads: downloads.into(),
            timer: timer.into(),
        })
    }

    /// Launches the graph.
    fn launch(
        &self,
        number: RunId,
        run: &mut Run,
        resources: &mut Resources,
        runs: &mut Runs,
    ) -> Result<()> {
        resources.make_current(self.gpu)?;
        let raw = resources.gpus[self.gpu].graph_stream.0;
        for (stream, markers) in resources.streams.iter().zip(&runs.markers) {
            if let (true, Some(marker)) = (stream.gpu == self.gpu, markers.back()) {
                marker.event.make_stream_wait(raw)?;
            }
        }
        let gpu = &mut resources.gpus[self.gpu];
        let first = self.timer.steps.first();
        let origin = first.map(|_| gpu.origin()).transpose()?;
        let began = Instant::now();
        run.begun = true;
        self.graph.launch(raw)?;
        let stream = first.map_or(StreamId(0), |(_, stream, _)| *stream);
        let call = host_span(Span::WHOLE, stream, began, resources.zero);
        let end = gpu.pool.plain()?;
        end.record(raw)?;
        gpu.replays += 1;
        let downloads = self.downloads.clone();
        let landed = vec![false; downloads.len()];
        runs.replays.push_back(Replay {
            run: number,
            gpu: self.gpu,
            end,
            downloads,
            landed,
            timed: origin.is_some(),
        });
        if let Some(origin) = origin {
            run.host.push(call);
            run.timings.push(Timing {
                gpu: self.gpu,
                issuer: IssuerId(0),
                origin,
                timer: self.timer.clone(),
                pooled: false,
            });
        }
        Ok(())
    }
}
