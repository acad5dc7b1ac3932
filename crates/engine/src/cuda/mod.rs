//! The CUDA engine. It uses `cust`, and the driver's own functions where `cust` lacks one.
//!
//! Imports go one way, from the end of this list to its start: [`driver`] opens the driver;
//! [`context`], [`stream`], [`event`], [`memory`] and [`slots`] own its handles and memory;
//! [`calls`] are its calls as data; [`functions`] loads kernels, with block timestamps added to their
//! PTX where they are wanted; [`group`] has the lattices of a size, [`timing`] a device's clock,
//! [`gpu`] all of a device; [`block_timestamps`] collects timestamps; [`issue`] turns ops into calls;
//! [`resources`] is everything that was created; [`runs`] tracks running work and reports it;
//! [`submit`] issues a program, from several [`threads`] if it names several issuers or has several
//! GPUs; [`graph`] captures it for replay.
#![allow(unsafe_code)] // driver calls; each block says why it is sound

mod block_timestamps;
mod buffers;
mod calls;
mod context;
mod driver;
mod event;
mod functions;
mod gpu;
mod graph;
mod group;
mod issue;
mod memory;
mod occupancy;
mod resources;
mod runs;
mod slots;
mod stream;
mod submit;
mod threads;
mod timing;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cust::device::Device;

use context::OwnedContext;
use driver::cust;
use gpu::Gpu;
use graph::Prepared;
use resources::Resources;
use runs::Runs;
use submit::Submission;

use crate::check::{ProgramMode, Validator};
use crate::{
    Band, BufferId, BufferLocation, Completion, DeviceId, DeviceInfo, Engine, EngineError, EventId,
    Feature, LatticeId, Layout, Nanos, Occupancy, Op, PreparedId, Program, Result, RunId, Slots,
    SlotsSpec, Startup, StreamId, StreamSpec,
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
    driver_ms: f64,
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
    let context = OwnedContext::primary(device).map_err(driver::at_start)?;
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
            resources: Resources::new(gpus, Validator::new(infos), began),
            driver_ms: began.elapsed().as_secs_f64() * 1e3,
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

    fn create_lattices(&mut self, device: DeviceId, count: usize, size: Size) -> Result<()> {
        self.resources.make_lattices(device, count, size, None)
    }

    fn create_bands(&mut self, count: usize, band: Band) -> Result<()> {
        let size = band.size()?;
        self.resources
            .make_lattices(band.device, count, size, Some(band))
    }

    fn clear(&mut self) -> Result<()> {
        self.synchronize()?;
        self.runs = Runs::default();
        self.prepared.clear();
        self.resources.clear()
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.synchronize()?;
        self.resources.reserve(layout)
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.synchronize()?;
        self.resources.make_slots(spec)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        let stream = self.resources.make_stream(device, spec)?;
        let streams = self.resources.streams.len();
        self.runs.markers.resize_with(streams, Default::default);
        Ok(stream)
    }

    fn name_stream(&mut self, stream: StreamId, name: &str) {
        self.resources.name_stream(stream, name);
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        self.resources.make_context(device)
    }

    fn check_feature(&self, device: DeviceId, feature: Feature) -> Result<()> {
        self.resources.check_feature(device, feature)
    }

    fn set_peer_access(
        &mut self,
        device: DeviceId,
        peer: DeviceId,
        is_allowed: bool,
    ) -> Result<bool> {
        self.synchronize()?;
        self.resources.set_peer_access(device, peer, is_allowed)
    }

    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
        self.resources.make_buffer(device, bytes, place)
    }

    fn access(&mut self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        self.synchronize()?;
        self.resources.visit_buffer(buffer, visit)
    }

    fn drop_buffers(&mut self) -> Result<()> {
        let answer = self.synchronize();
        self.resources.drop_buffers();
        answer
    }

    fn query(&mut self, event: EventId) -> Result<bool> {
        self.resources.has_fired(event)
    }

    fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>> {
        occupancy::occupancy_of(&mut self.resources, device, op)
    }

    fn create_event(&mut self, device: DeviceId) -> Result<EventId> {
        self.resources.make_event(device)
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        let Resources { check, .. } = &mut self.resources;
        let plan = check.validate(program, ProgramMode::Submit)?;
        self.resources.allocate_for(program, &plan)?;
        self.resources.bind(program.downloads())?;
        let run = Submission::issue(&mut self.resources, &mut self.runs, program, &plan)?;
        self.resources.check.states.commit();
        Ok(run)
    }

    fn compile_in_background(&mut self, program: &Program) -> Result<()> {
        let Resources { check, gpus, .. } = &mut self.resources;
        let plan = check.validate(program, ProgramMode::Submit)?;
        for (device, step) in plan.of_ladder() {
            let functions = &mut gpus[usize::from(device.0)].functions;
            functions.compile_in_background(step)?;
        }
        Ok(())
    }

    fn load(&mut self, program: &Program) -> Result<()> {
        let Resources { check, .. } = &mut self.resources;
        let plan = check.validate(program, ProgramMode::Submit)?;
        self.resources.finish_compiling(&plan);
        self.resources.allocate_for(program, &plan)
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        let Resources { check, .. } = &mut self.resources;
        let plan = check.validate(program, ProgramMode::Prepare)?;
        // A graph keeps the functions that it was captured with.
        self.resources.finish_compiling(&plan);
        self.resources.allocate_for(program, &plan)?;
        let prepared = Prepared::capture(&mut self.resources, program)?;
        let Resources { check, .. } = &mut self.resources;
        let id = check.add_prepared(&Arc::new(program.clone()), &plan);
        self.prepared.insert(id, prepared);
        Ok(id)
    }

    fn replay(&mut self, id: PreparedId) -> Result<RunId> {
        let Resources { check, .. } = &mut self.resources;
        let changes_cells = check.validate_replay(id)?.changes_cells;
        let program = &self.prepared[&id];
        let run = program.replay(&mut self.resources, &mut self.runs, changes_cells)?;
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
        let mut errors: Vec<i64> = gpus.map(|gpu| gpu.clock_error()).collect();
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

    fn startup(&self) -> Startup {
        let gpus = self.resources.gpus.iter();
        let modules_ms = gpus.map(|gpu| gpu.functions.modules_ms).sum();
        Startup {
            driver_ms: self.driver_ms,
            modules_ms,
        }
    }
}

impl Drop for CudaEngine {
    fn drop(&mut self) {
        // No copy may write to memory that is about to be freed.
        let _ = self.synchronize();
    }
}
