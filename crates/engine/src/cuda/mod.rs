//! The CUDA engine. It uses `cust`, and the driver's own functions where `cust` lacks one.
//!
//! This file opens the driver and translates its results, and has all of one GPU. [`handles`] and [`memory`]
//! own the driver's handles and memory; [`calls`] are its calls as data, for several threads if a program
//! names several issuers or has several GPUs; [`functions`] loads kernels, with block timestamps added to
//! their PTX where they are wanted, and has everything that was created; [`group`] has the lattices of a
//! size, [`timing`] a device's clock and the blocks' timestamps; [`issue`] turns ops into calls; [`runs`]
//! tracks running work and reports it, issues programs, and captures them for replay.
#![allow(unsafe_code)] // driver calls; each block says why it is sound

use crate::check::Validator;
use crate::error::bail;
use crate::kernels::{Function, Launch, Parameter};
use crate::{
    Band, BufferId, BufferLocation, Completion, DeviceId, DeviceInfo, DriverFault, Engine,
    EngineError, EventId, Feature, HostMemory, LatticeId, Layout, Loss, MemoryUse, Nanos,
    Occupancy, Op, PreparedId, Program, Result, RunId, Slots, SlotsSpec, StreamId, StreamKind,
    StreamSpec, SupportKernel, nvtx,
};
use calls::{Arguments, launch};
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::sys;
use cust::sys::CUdevice_attribute_enum::*;
use cust::sys::CUresult;
use functions::Functions;
use functions::{Resources, Stream};
use group::Group;
use handles::{Event, EventPool};
use handles::{OwnedContext, RawStream};
use lang::{Message, message};
use life::Size;
use memory::{Buffer, CudaSlots, find};
use memory::{DeviceWords, HostWords, MirroredWords};
use runs::{Prepared, Runs, Submission};
use std::collections::HashMap;
use std::ffi::CStr;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use timing::Anchor;

mod calls;
mod functions;
mod group;
mod handles;
mod issue;
mod memory;
mod runs;
mod timing;

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
    prepared: HashMap<PreparedId, Prepared>,
    resources: Resources,
    left_out: Vec<(u32, EngineError)>,
}

// SAFETY: one thread at a time owns the engine; every entry makes its context current there, and
// driver handles are valid on every thread.
unsafe impl Send for CudaEngine {}

/// Lists the devices that the driver reports, without opening any.
pub fn list_devices() -> Result<Vec<DeviceInfo>> {
    let count = initialise()?;
    (0..count)
        .map(|ordinal| Ok(describe(ordinal, count)?.1))
        .collect()
}

/// The default device, or why there is none.
pub fn first_device() -> Result<DeviceInfo> {
    let (_, info) = describe(0, initialise()?)?;
    validate_device(&info).map(|()| info)
}

/// A device and its properties.
fn describe(ordinal: u32, present: u32) -> Result<(Device, DeviceInfo)> {
    if ordinal >= present {
        return Err(EngineError::no_such_device(ordinal, present));
    }
    let device = cust("cuDeviceGet", Device::get_device(ordinal)).map_err(at_start)?;
    let info = describe_device(device).map_err(at_start)?;
    Ok((device, info))
}

/// Opens a device and its primary context.
fn open_gpu(ordinal: u32, present: u32, began: Instant) -> Result<(DeviceInfo, Gpu)> {
    let (device, info) = describe(ordinal, present)?;
    validate_device(&info)?;
    let context = OwnedContext::new(device, true).map_err(at_start)?;
    let gpu = Gpu::new(device, context, began).map_err(at_start)?;
    Ok((info, gpu))
}

impl CudaEngine {
    /// Initialises the driver and opens a context on each requested device.
    pub fn open(ordinals: Ordinals) -> Result<CudaEngine> {
        let began = Instant::now();
        let present = initialise()?;
        let requested = match ordinals {
            Ordinals::First => 0..=0,
            Ordinals::All | Ordinals::AllUsable | Ordinals::FirstUsable => {
                0..=present.saturating_sub(1)
            }
            Ordinals::One(i) => i..=i,
        };
        let leaves_out = matches!(ordinals, Ordinals::AllUsable | Ordinals::FirstUsable);
        let (mut infos, mut gpus) = (Vec::new(), Vec::new());
        let mut refused = Vec::new();
        for ordinal in requested {
            if ordinals == Ordinals::FirstUsable && !gpus.is_empty() {
                break;
            }
            match open_gpu(ordinal, present, began) {
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
                slots: None,
                zero: began,
                gpus,
                check: Validator::new(infos),
            },
            left_out: refused,
        })
    }

    /// The ordinals of devices that were asked for and cannot be used, if others were enough.
    pub fn left_out(&self) -> &[(u32, EngineError)] {
        &self.left_out
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
        let gpu = self.resources.gpu_at(device)?;
        let Resources { gpus, check, .. } = &mut self.resources;
        let gpu = &mut gpus[gpu];
        gpu.context.make_current()?;
        let alike = count * band.map_or(1, |band| band.per_device as usize);
        gpu.groups
            .push(Group::new(&gpu.context, count, alike, size)?);
        check.add_lattices(device, count, size, band);
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
        of.slots = None;
        of.check = Validator::new(std::mem::take(&mut of.check.devices));
        for gpu in &mut of.gpus {
            gpu.context.make_current()?;
            gpu.groups.clear();
            gpu.default_stream = None;
        }
        Ok(())
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.synchronize()?;
        let Resources { gpus, check, .. } = &mut self.resources;
        // Every device frees other layouts before one allocates.
        let mut each = gpus.iter_mut();
        let freed = each.try_for_each(|gpu| {
            gpu.context.make_current()?;
            let groups = gpu.groups.iter_mut();
            groups.for_each(|group| group.keep_only(layout));
            Ok(())
        });
        let mut each = gpus.iter_mut();
        let answer = freed.and_then(|()| {
            each.try_for_each(|gpu| {
                gpu.context.make_current()?;
                let mut groups = gpu.groups.iter_mut();
                groups.try_for_each(|group| group.reserve(layout, gpu.sm_count))
            })
        });
        // The states must match what was allocated, also after an error.
        let groups = check.lattices.groups.iter();
        let has = groups.map(|it| gpus[usize::from(it.device.0)].groups[it.on_device].has(layout));
        let allocated: Vec<bool> = has.collect();
        check.reserve(layout, &allocated);
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
        self.resources.slots = Some(slots.clone());
        Ok(slots)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        let of = &mut self.resources;
        let gpu = of.gpu_at(device)?;
        let is_default = spec.kind == StreamKind::Default;
        if let (true, Some(known)) = (is_default, of.gpus[gpu].default_stream) {
            return Ok(known);
        }
        of.make_current(gpu)?;
        of.streams.push(Stream {
            gpu,
            raw: RawStream::new(spec)?,
            replays_seen: of.gpus[gpu].replays,
        });
        let id = StreamId(of.streams.len() as u32 - 1);
        of.check.add_stream(id, device, is_default);
        if is_default {
            of.gpus[gpu].default_stream = Some(id);
        }
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
        check_feature(device, feature)
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
        self.resources.check.check_buffer_size(bytes)?;
        match place {
            BufferLocation::Pool => self.check_feature(device, Feature::MemoryPools)?,
            BufferLocation::Managed => self.check_feature(device, Feature::ManagedMemory)?,
            BufferLocation::Device | BufferLocation::Host(_) => {}
        }
        let of = &mut self.resources;
        of.make_current(gpu)?;
        let buffer = Buffer::new(gpu, &of.gpus[gpu].context, bytes, place)?;
        of.buffers.push(Some(buffer));
        of.check.add_buffer(device, bytes, place);
        Ok(BufferId(of.buffers.len() as u32 - 1))
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
        of.check.add_event(device);
        Ok(EventId(of.events.len() as u32 - 1))
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        let plan = self.resources.check.validate(program)?;
        self.resources.allocate_for(program, &plan)?;
        self.resources.bind(program.downloads())?;
        let run = Submission::issue(&mut self.resources, &mut self.runs, program, &plan)?;
        self.resources.check.states.commit();
        Ok(run)
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
        let plan = self.resources.check.validate_preparable(program)?;
        // A graph keeps the functions that it was captured with.
        self.resources.finish_compiling(&plan);
        self.resources.allocate_for(program, &plan)?;
        let prepared = Prepared::capture(&mut self.resources, program)?;
        let program = Arc::new(program.clone());
        let id = self.resources.check.add_prepared(&program, &plan);
        self.prepared.insert(id, prepared);
        Ok(id)
    }

    fn replay(&mut self, id: PreparedId) -> Result<RunId> {
        let of = &mut self.resources;
        let known = of.check.validate_replay(id)?;
        let (program, changes_cells) = (known.program.clone(), known.changes_cells);
        let run = self.prepared[&id].replay(of, &mut self.runs, &program, changes_cells)?;
        self.resources.check.commit_replay(id);
        Ok(run)
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
        let idle = self.runs.is_idle();
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

// One GPU: its context, its functions, its lattices.

/// One GPU, or another context on it. Fields drop in order: the context last.
struct Gpu {
    groups: Vec<Group>,
    pool: EventPool,
    /// Unused memory for block timestamps.
    timestamp_pool: Vec<MirroredWords>,
    /// Offset between `%globaltimer` and the events' clock, and when it was measured.
    skew: Option<(i64, Instant)>,
    /// The device's clock.
    anchor: Rc<Anchor>,
    /// For the clock's anchors, and for copies that are waited for.
    idle_stream: RawStream,
    /// The stream for graph launches.
    graph_stream: RawStream,
    /// The number of graphs launched.
    replays: u64,
    /// The default stream, once created.
    default_stream: Option<StreamId>,
    functions: Functions,
    device: Device,
    sm_count: u32,
    context: Arc<OwnedContext>,
}

impl Gpu {
    /// Uses a context of the device, which must be current. The device's clock shows 0 at `zero`.
    fn new(device: Device, context: OwnedContext, zero: Instant) -> Result<Gpu> {
        let context = Arc::new(context);
        let idle_stream = RawStream::new(StreamSpec::PLAIN)?;
        let sm_count = device.get_attribute(DeviceAttribute::MultiprocessorCount);
        Ok(Gpu {
            sm_count: cust("cuDeviceGetAttribute", sm_count)? as u32,
            groups: Vec::new(),
            pool: EventPool::default(),
            timestamp_pool: Vec::new(),
            skew: None,
            anchor: Anchor::new(idle_stream.0, zero)?.into(),
            idle_stream,
            graph_stream: RawStream::new(StreamSpec::PLAIN)?,
            replays: 0,
            default_stream: None,
            functions: Functions::new(context.clone()),
            device,
            context,
        })
    }

    /// The anchor for the times of events recorded from now on.
    fn origin(&mut self) -> Result<Rc<Anchor>> {
        self.anchor = self.anchor.renewed(self.idle_stream.0)?;
        Ok(self.anchor.clone())
    }

    /// Takes large enough memory for block timestamps from the pool, or allocates it.
    fn take_timestamp_memory(&mut self, words: usize) -> Result<MirroredWords> {
        let fits = |memory: &MirroredWords| memory.host.words >= words;
        if let Some(found) = self.timestamp_pool.iter().position(fits) {
            return Ok(self.timestamp_pool.swap_remove(found));
        }
        self.timestamp_pool.pop(); // too small; the new one replaces it
        let (words, what) = (words.next_power_of_two(), MemoryUse::BlockTimestamps);
        Ok(MirroredWords {
            device: DeviceWords::uninitialized(&self.context, words, what)?,
            host: HostWords::new(&self.context, words, HostMemory::Pinned, what)?,
        })
    }

    /// See [`MemoryOp::SetReleaseThreshold`](crate::MemoryOp::SetReleaseThreshold).
    fn set_release_threshold(&self, mut bytes: u64) -> Result<()> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: `pool` is valid for the write.
        check("cuDeviceGetDefaultMemPool", unsafe {
            sys::cuDeviceGetDefaultMemPool(&mut pool, self.device.as_raw())
        })?;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is the device's own; the attribute is a number of 64 bits.
        check("cuMemPoolSetAttribute", unsafe {
            sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut bytes).cast())
        })
    }

    /// The value of `%globaltimer` when this device's clock shows 0. Measured again after a second:
    /// a kernel reads `%globaltimer` between two events. Blocks until that kernel is done.
    fn skew(&mut self) -> Result<i64> {
        if let Some((nanos, measured)) = self.skew
            && measured.elapsed().as_secs_f64() < 1.0
        {
            return Ok(nanos);
        }
        let function = self
            .functions
            .get(Function::Support(SupportKernel::Clock), false)?;
        let memory = self.take_timestamp_memory(8)?;
        let origin = self.origin()?;
        let stream = self.idle_stream.0;
        let (before, after) = (Event::new(true)?, Event::new(true)?);
        let mut best = (i64::MAX, 0);
        for _ in 0..4 {
            // Use the shortest of four: the first may wait for the function to load, and any may
            // wait for other work on the device.
            before.record(stream)?;
            let at = memory.device.at; // 8 bytes are written, 32 allocated
            let parameters = SupportKernel::Clock.row().parameters;
            let arguments = Arguments::fill(parameters, &[(Parameter::To, at)])?;
            // SAFETY: the function takes this address, which is of the current context.
            unsafe { launch(function, Launch::over(1, 1, (1, 1)), &arguments, stream) }?;
            after.record(stream)?;
            // SAFETY: there are 8 bytes on both sides; the stream is waited for before they are read.
            check("cuMemcpyDtoHAsync", unsafe {
                sys::cuMemcpyDtoHAsync_v2(memory.host.at.cast(), at, 8, stream)
            })?;
            // SAFETY: the stream is alive.
            check("cuStreamSynchronize", unsafe {
                sys::cuStreamSynchronize(stream)
            })?;
            // SAFETY: the copy above wrote two words there.
            let shown = unsafe { memory.host.at.cast::<u64>().read_unaligned() } as i64;
            let (from, to) = (origin.nanos(&before)?, origin.nanos(&after)?);
            let middle = from + (to - from) / 2;
            best = best.min((to - from, shown.wrapping_sub(middle)));
        }
        self.timestamp_pool.push(memory);
        let (_, nanos) = best;
        self.skew = Some((nanos, Instant::now()));
        Ok(nanos)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The fields free memory of this context.
        let _ = self.context.make_current();
        self.functions.stop_compiling();
    }
}

// Opens the driver and translates its results.

/// The oldest supported CUDA version: 11.4 (driver 470) has every function this engine calls.
const OLDEST_DRIVER: (u32, u32) = (11, 4);

/// The oldest supported compute capability; the PTX targets it.
const MIN_CAPABILITY: (u32, u32) = (5, 0);

/// Result codes that concern one call only: bad arguments, a missing object, a state that forbids
/// the call. The context stays usable. Any other code, known or not, counts as the end of the
/// context, as the driver API documents for most of them: later calls might return the same code
/// forever, or lose work silently.
const SURVIVED: &[RangeInclusive<u32>] = &[
    1..=3,     // a value, memory, cuInit not called
    5..=8,     // the profiler
    34..=36,   // a stub library, a call that needs a newer driver
    100..=102, // a device that is not there
    200..=200, // an image
    202..=213, // contexts and mapped arrays
    215..=219, // limits, peers, PTX
    221..=225, // the compiler of PTX
    300..=304, // files and the operating system
    400..=402, // handles and states
    500..=500, // a name
    600..=600, // not ready
    701..=701, // too many resources for a launch
    703..=705, // texturing, peers
    708..=708, // the primary context is active
    711..=713, // peers, registered memory
    720..=720, // a cooperative launch
    800..=804, // not permitted, not supported, not ready
    900..=915, // captures, graphs, clusters
];

/// Converts a driver result; `call` names the function in the error.
fn check(call: &'static str, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(failed(call, code as u32))
    }
}

/// Converts a result of `cust`.
fn cust<T>(call: &'static str, answer: Result<T, CudaError>) -> Result<T> {
    answer.map_err(|error| failed(call, error as u32))
}

#[cold]
fn failed(call: &'static str, code: u32) -> EngineError {
    let fault = fault(call, result_code(code));
    if fault.code == 2 {
        EngineError::DriverOutOfMemory(call)
    } else if SURVIVED.iter().any(|codes| codes.contains(&fault.code)) {
        EngineError::Driver(fault)
    } else {
        EngineError::ContextLost(Loss::Driver(fault))
    }
}

fn fault(call: &'static str, code: u32) -> DriverFault {
    DriverFault {
        call,
        code,
        text: cuda_loader::error_text_of(code),
    }
}

/// Converts an error during start-up, when there are no lattices to lose and no memory is allocated.
fn at_start(error: EngineError) -> EngineError {
    match error {
        EngineError::ContextLost(Loss::Driver(why)) => EngineError::UnusableGpu(message!(
            "the GPU cannot be used: {why}; check nvidia-smi, or use --device cpu"
        )),
        EngineError::DriverOutOfMemory(call) => EngineError::UnusableGpu(message!(
            "the GPU has no memory left to start ({call}): other programs hold it; close those that nvidia-smi lists, or use --device cpu"
        )),
        other => other,
    }
}

/// Converts an error during work that changes cells: an unknown part of the lattices was stepped,
/// so all must be restored.
fn into_partially_applied(error: EngineError) -> EngineError {
    match error {
        EngineError::OutOfMemory { .. }
        | EngineError::DriverOutOfMemory(_)
        | EngineError::Driver(_) => EngineError::PartiallyApplied(error.reason()),
        other => other, // the context is lost, or the driver was not called
    }
}

/// Errors for a device that is too old for the kernels.
fn validate_device(device: &DeviceInfo) -> Result<()> {
    match device.capability {
        Some(has) if has < MIN_CAPABILITY => Err(EngineError::UnusableGpu(message!(
            "{device} has compute capability {}.{}, and {}.{} or newer is needed; use --device cpu",
            has.0,
            has.1,
            MIN_CAPABILITY.0,
            MIN_CAPABILITY.1,
            device = device.name
        ))),
        _ => Ok(()),
    }
}

/// Errors if a device or the driver lacks a feature of one device.
fn check_feature(device: Device, feature: Feature) -> Result<()> {
    let attribute = match feature {
        Feature::MemoryPools => CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        Feature::ManagedMemory => CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
        Feature::PeerCopies | Feature::Bands => return Ok(()),
    };
    let mut has = 0;
    // SAFETY: `has` is valid for the write.
    check("cuDeviceGetAttribute", unsafe {
        sys::cuDeviceGetAttribute(&mut has, attribute, device.as_raw())
    })?;
    match has {
        0 => Err(EngineError::Unsupported(message!(
            "this device does not support {feature}"
        ))),
        _ => Ok(()),
    }
}

/// The driver's original code, if the enum has no name for it.
fn result_code(code: u32) -> u32 {
    match (code, cuda_loader::last_unknown_code()) {
        (999, known) if known != 0 => known,
        _ => code,
    }
}

/// Opens and initialises the driver and returns the number of devices.
fn initialise() -> Result<u32> {
    let no = |why| Err(EngineError::NoCuda(why));
    let file = match cuda_loader::open() {
        Ok(file) => file,
        Err(why) => {
            return no(message!(
                "no NVIDIA driver is installed here ({why}): install it for CUDA, or use --device cpu"
            ));
        }
    };
    // Not through `cust`, whose error type lacks some codes.
    // SAFETY: no precondition.
    let answer = result_code(unsafe { sys::cuInit(0) } as u32);
    if answer != 0 {
        let remedy = match answer {
            34 => message!(
                "{file} is the stub of a CUDA toolkit; install the driver, take the stub's folder out of LD_LIBRARY_PATH, or use --device cpu"
            ),
            100 => no_gpu(),
            802 => message!("the GPU is not ready; check nvidia-smi, or use --device cpu"),
            803 => message!(
                "the driver's library and its kernel module differ; reboot or reinstall the driver, or use --device cpu"
            ),
            804 => message!(
                "this driver or GPU does not support the forward-compatible library {file}; update the driver, take the library's folder out of LD_LIBRARY_PATH, or use --device cpu"
            ),
            999 => message!(
                "{file} gives no reason; load the kernel module with 'sudo nvidia-modprobe -u', reboot, or use --device cpu"
            ),
            _ => message!("check nvidia-smi, or use --device cpu"),
        };
        return no(message!(
            "the NVIDIA driver does not start: {reason}; {remedy}",
            reason = fault("cuInit", answer).reason()
        ));
    }
    match driver_version() {
        (0, 0) => {
            return no(message!(
                "the NVIDIA driver does not say which CUDA it supports; reinstall it, or use --device cpu"
            ));
        }
        version @ (major, minor) if version < OLDEST_DRIVER => {
            return no(message!(
                "the NVIDIA driver is too old: it supports CUDA {major}.{minor}, and 11.4 (driver 470) is needed; update it, or use --device cpu"
            ));
        }
        _ => {}
    }
    match cust("cuDeviceGetCount", Device::num_devices()).map_err(at_start)? {
        0 => no(no_gpu()),
        count => Ok(count),
    }
}

fn no_gpu() -> Message {
    message!(
        "no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"
    )
}

/// The newest CUDA version that the driver supports, major and minor; 0.0 if it does not say.
pub fn driver_version() -> (u32, u32) {
    let mut version = 0;
    // SAFETY: `version` is valid for the write; on failure it stays 0.
    unsafe { sys::cuDriverGetVersion(&mut version) };
    let version = version as u32;
    (version / 1000, version % 1000 / 10)
}

/// The name and properties of a device.
fn describe_device(device: Device) -> Result<DeviceInfo> {
    let attribute = |which| cust("cuDeviceGetAttribute", device.get_attribute(which));
    let major = attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    let minor = attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    let known = |which| {
        let value = attribute(which).ok()?;
        u64::try_from(value).ok().filter(|&value| value > 0)
    };
    let (newest, sub) = driver_version();
    // In kHz and bits; each cycle of the clock transfers twice.
    let bandwidth = known(DeviceAttribute::MemoryClockRate)
        .zip(known(DeviceAttribute::GlobalMemoryBusWidth))
        .map(|(clock, width)| 2 * 1000 * clock * (width / 8));
    Ok(DeviceInfo {
        name: cust("cuDeviceGetName", device.name())?,
        driver: format!("CUDA {newest}.{sub}, sm_{major}{minor}"),
        capability: Some((major as u32, minor as u32)),
        sm_count: attribute(DeviceAttribute::MultiprocessorCount)? as u32,
        memory: device.total_memory().ok().map(|bytes| bytes as u64),
        cache: known(DeviceAttribute::L2CacheSize),
        bandwidth,
        copy_engines: attribute(DeviceAttribute::AsyncEngineCount)? as u32,
        kernel_time_limit: attribute(DeviceAttribute::KernelExecTimeout)? != 0,
        pci_bus_id: pci_bus_id(device),
    })
}

fn pci_bus_id(device: Device) -> Option<String> {
    let mut text = [0u8; 32];
    // SAFETY: the buffer has 32 bytes, as passed.
    let code = unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device.as_raw()) };
    let text = CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy();
    (code == CUresult::CUDA_SUCCESS && !text.is_empty()).then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_says_nothing_of_one_call_ends_the_context() {
        for code in [
            4, 46, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 806,
            999, 1234,
        ] {
            let error = failed("cuEventQuery", code);
            assert!(
                matches!(error, EngineError::ContextLost(_)),
                "{code}: {error}"
            );
        }
        for code in [1, 101, 209, 218, 301, 400, 401, 500, 701, 801, 900] {
            let error = failed("cuLaunchKernel", code);
            assert!(matches!(error, EngineError::Driver(_)), "{code}: {error}");
        }
        let error = failed("cuMemAlloc", 2);
        assert_eq!(error, EngineError::DriverOutOfMemory("cuMemAlloc"));
    }

    #[test]
    fn what_is_wrong_at_the_start_is_not_said_of_lattices() {
        let lost = || failed("cuDeviceGetName", 719);
        let why = fault("cuDeviceGetName", 719).to_string();
        assert!(
            why.starts_with("cuDeviceGetName: ") && why.contains("CUDA error 719"),
            "{why}"
        );
        let said = format!("the engine is lost ({why}); every lattice must be restored");
        assert_eq!(lost().to_string(), said);
        let said = format!("the GPU cannot be used: {why}; check nvidia-smi, or use --device cpu");
        assert_eq!(at_start(lost()).to_string(), said);
    }
}
