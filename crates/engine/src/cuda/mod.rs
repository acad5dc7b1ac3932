//! The CUDA engine. It uses `cust`, and the driver's own functions where `cust` lacks one.
//!
//! Imports go one way, from the end of this list to its start: [`driver`] opens the driver, and owns its
//! handles and a device's clock; [`calls`] are its calls as data, for several threads if a program names
//! several issuers or has several GPUs; [`memory`] has words, buffers and host slots; [`gpu`] has a device's
//! lattices and kernels, to whose PTX block timestamps are added where they are wanted;
//! [`block_timestamps`] collects timestamps; [`issue`] has everything that was created, and turns ops into
//! calls; [`runs`] tracks running work and reports it, issues programs, and captures them for replay.
#![allow(unsafe_code)] // driver calls; each block says why it is sound

mod block_timestamps;
mod calls;
mod driver;
mod gpu;
mod issue;
mod memory;
mod runs;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cust::device::Device;
use cust::sys;

pub use driver::driver_version;
use driver::{OwnedContext, RawStream};
use driver::{check, cust};
use gpu::{Gpu, Group};
use issue::{Resources, Stream};
use memory::{Buffer, CudaSlots, find};
use runs::{Prepared, Runs, Submission};

use crate::check::Validator;
use crate::error::bail;
use crate::{
    Band, BufferId, BufferLocation, Completion, DeviceId, DeviceInfo, Engine, EngineError, EventId,
    Feature, LatticeId, Layout, Nanos, Occupancy, Op, PreparedId, Program, Result, RunId, Slots,
    SlotsSpec, StreamId, StreamKind, StreamSpec, nvtx,
};
use life::Size;

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
    let count = driver::initialise()?;
    (0..count)
        .map(|ordinal| Ok(describe(ordinal, count)?.1))
        .collect()
}

/// The default device, or why there is none.
pub fn first_device() -> Result<DeviceInfo> {
    let (_, info) = describe(0, driver::initialise()?)?;
    driver::validate_device(&info).map(|()| info)
}

/// A device and its properties.
fn describe(ordinal: u32, present: u32) -> Result<(Device, DeviceInfo)> {
    if ordinal >= present {
        return Err(EngineError::no_such_device(ordinal, present));
    }
    let device = cust("cuDeviceGet", Device::get_device(ordinal)).map_err(driver::at_start)?;
    let info = driver::describe_device(device).map_err(driver::at_start)?;
    Ok((device, info))
}

/// Opens a device and its primary context.
fn open_gpu(ordinal: u32, present: u32, began: Instant) -> Result<(DeviceInfo, Gpu)> {
    let (device, info) = describe(ordinal, present)?;
    driver::validate_device(&info)?;
    let context = OwnedContext::new(device, true).map_err(driver::at_start)?;
    let gpu = Gpu::new(device, context, began).map_err(driver::at_start)?;
    Ok((info, gpu))
}

impl CudaEngine {
    /// Initialises the driver and opens a context on each requested device.
    pub fn open(ordinals: Ordinals) -> Result<CudaEngine> {
        let began = Instant::now();
        let present = driver::initialise()?;
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
        Submission::issue(&mut self.resources, &mut self.runs, program)
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
