//! The CUDA engine. It uses `cust`, and the driver's own functions where `cust` lacks one.
//!
//! [`driver`] opens the driver; [`gpu`] holds a device's [`context`], [`functions`] and lattices;
//! [`make`] creates streams, contexts and slots; [`occupancy`] computes occupancy; [`issue`],
//! [`advance`] and [`buffers`] turn ops into driver [`calls`]; [`submit`] issues the calls of a
//! program; [`threads`] issues them from several threads: one per issuer that the program names, or
//! one per GPU; [`graph`] captures them for replay;
//! [`slots`] is the host [`memory`] that downloads are copied to; [`event`], [`timing`] and
//! [`runs`] track running work; [`complete`] reports completed work; [`instrumentation`] adds block
//! timestamps to PTX and [`block_timestamps`] collects them.
#![allow(unsafe_code)] // driver calls; each block says why it is sound

mod advance;
mod block_timestamps;
mod buffers;
mod calls;
mod complete;
mod context;
mod driver;
mod event;
mod functions;
mod gpu;
mod graph;
pub mod instrumentation;
mod issue;
mod make;
mod memory;
mod occupancy;
pub mod ptx;
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

use buffers::Buffer;
use context::OwnedContext;
use driver::cust;
use event::Event;
use gpu::Gpu;
use graph::Prepared;
use runs::Runs;
use slots::CudaSlots;
use stream::RawStream;

use crate::check::{Plan, ProgramMode, Validator};
use crate::{
    BufferId, BufferLocation, Completion, DeviceId, DeviceInfo, Engine, EngineError, EventId,
    LatticeId, Layout, Occupancy, Op, PreparedId, Program, Result, RunId, Slots, SlotsSpec,
    Startup, StreamId, StreamSpec,
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
    // Fields drop in this order: running work, then what refers to contexts, then the contexts.
    runs: Runs,
    prepared: HashMap<PreparedId, Prepared>,
    /// Each with the index of its GPU.
    events: Vec<(usize, Event)>,
    streams: Vec<Stream>,
    /// By [`BufferId`]; `None` once dropped.
    buffers: Vec<Option<Buffer>>,
    slots: Option<Arc<CudaSlots>>,
    gpus: Vec<Gpu>,
    /// Validates programs and tracks the lattices' states.
    check: Validator,
    driver_ms: f64,
    /// The time at which every device's clock shows 0.
    zero: Instant,
    idle_polls: u32,
    /// Runs of empty programs, which the next poll reports.
    empty_runs: Vec<RunId>,
    left_out: Vec<(u32, EngineError)>,
}

struct Stream {
    gpu: usize,
    raw: RawStream,
    /// The number of replays on its GPU that it already waits for.
    replays_seen: u64,
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
        return Err(EngineError::NoSuchDevice {
            requested: ordinal,
            present,
        });
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
            events: Vec::new(),
            streams: Vec::new(),
            buffers: Vec::new(),
            slots: None,
            gpus,
            check: Validator::new(infos),
            driver_ms: began.elapsed().as_secs_f64() * 1e3,
            zero: began,
            idle_polls: 0,
            empty_runs: Vec::new(),
            left_out: refused,
        })
    }

    /// The ordinals of devices that were asked for and cannot be used, if others were enough.
    pub fn left_out(&self) -> &[(u32, EngineError)] {
        &self.left_out
    }

    /// Makes a GPU's context current on this thread. The driver is asked which one is: another
    /// engine on this thread may have made its own current, or none when it was dropped.
    fn make_current(&mut self, gpu: usize) -> Result<()> {
        if self.gpus[gpu].context.is_current() {
            return Ok(());
        }
        self.gpus[gpu].make_current()
    }

    /// The index of a device or context in `gpus`.
    fn gpu_at(&self, device: DeviceId) -> Result<usize> {
        self.check.check_device(device)?;
        Ok(usize::from(device.0))
    }

    /// The index of a stream's GPU. Panics for an unknown stream.
    fn gpu_of(&self, stream: StreamId) -> usize {
        self.streams[stream.0 as usize].gpu
    }

    /// Allocates the memory and loads the functions that a program needs, before any step is
    /// issued. Neither is possible while a stream is being captured, and a failure here leaves
    /// every lattice unchanged.
    fn allocate_for(&mut self, plan: &Plan, instrumented: bool) -> Result<()> {
        for &(group, words) in &plan.views {
            let (gpu, on_device) = self.place_of(group);
            self.make_current(gpu)?;
            self.gpus[gpu].grow_views(on_device, words)?;
            self.check.lattices.groups[group].view_capacity = words;
        }
        for &group in &plan.measures {
            let (gpu, on_device) = self.place_of(group);
            self.make_current(gpu)?;
            self.gpus[gpu].groups[on_device].make_measures()?;
            self.check.lattices.groups[group].has_measures_memory = true;
        }
        for &(device, function) in &plan.functions {
            let gpu = usize::from(device.0);
            self.make_current(gpu)?;
            self.gpus[gpu].functions.get(function, false)?;
            if instrumented && function.has_timestamps() {
                self.gpus[gpu].functions.get(function, true)?;
            }
        }
        Ok(())
    }

    /// Waits until the functions of a program that are being compiled are loaded.
    fn finish_compiling(&mut self, plan: &Plan) {
        for (device, step) in plan.of_ladder() {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.functions.finish_compiling(step);
        }
    }

    /// Allocates the host slots that a program downloads to.
    fn allocate_slots_for(&self, program: &Program) -> Result<()> {
        let slots = self.slots.as_ref();
        slots.map_or(Ok(()), |slots| slots.allocate_for(program.downloads()))
    }

    /// Frees other layouts on every device, then allocates this one.
    fn reserve_on_all(&mut self, layout: Layout) -> Result<()> {
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            let groups = self.gpus[gpu].groups.iter_mut();
            groups.for_each(|group| group.keep_only(layout));
        }
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            self.gpus[gpu].reserve(layout)?;
        }
        Ok(())
    }

    /// The GPU of a group, and the group's index there.
    fn place_of(&self, group: usize) -> (usize, usize) {
        let group = &self.check.lattices.groups[group];
        (usize::from(group.device.0), group.on_device)
    }
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn devices(&self) -> &[DeviceInfo] {
        &self.check.devices
    }

    fn create_lattices(&mut self, device: DeviceId, count: usize, size: Size) -> Result<()> {
        let gpu = self.gpu_at(device)?;
        self.make_current(gpu)?;
        self.gpus[gpu].add_group(count, size)?;
        self.check.add_lattices(device, count, size);
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.synchronize()?;
        self.runs = Runs::default();
        self.empty_runs.clear();
        self.prepared.clear();
        self.events.clear();
        self.streams.clear();
        self.buffers.clear();
        self.slots = None;
        self.check = Validator::new(std::mem::take(&mut self.check.devices));
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            self.gpus[gpu].groups.clear();
            self.gpus[gpu].default_stream = None;
        }
        Ok(())
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.synchronize()?;
        let answer = self.reserve_on_all(layout);
        // The states must match what was allocated, also after an error.
        let Validator { lattices, .. } = &self.check;
        let allocated: Vec<bool> = lattices
            .groups
            .iter()
            .map(|group| {
                let gpu = &self.gpus[usize::from(group.device.0)];
                gpu.groups[group.on_device].has(layout)
            })
            .collect();
        self.check.reserve(layout, &allocated);
        answer
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.make_slots(spec)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        self.make_stream(device, spec)
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        self.make_context(device)
    }

    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
        self.make_buffer(device, bytes, place)
    }

    fn access(&mut self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        self.synchronize()?;
        self.visit_buffer(buffer, visit)
    }

    fn drop_buffers(&mut self) -> Result<()> {
        let answer = self.synchronize();
        self.check.drop_buffers();
        self.buffers.iter_mut().for_each(|buffer| *buffer = None);
        answer
    }

    fn query(&mut self, event: EventId) -> Result<bool> {
        self.check.check_event(event)?;
        let gpu = self.events[event.0 as usize].0;
        self.make_current(gpu)?;
        self.events[event.0 as usize].1.fired()
    }

    fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>> {
        self.occupancy_of(device, op)
    }

    fn create_event(&mut self, device: DeviceId) -> Result<EventId> {
        let gpu = self.gpu_at(device)?;
        self.make_current(gpu)?;
        let event = self.gpus[gpu].pool.plain()?;
        self.events.push((gpu, event));
        self.check.add_event(device);
        Ok(EventId(self.events.len() as u32 - 1))
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        let plan = self.check.validate(program, ProgramMode::Submit)?;
        self.allocate_for(&plan, program.block_timestamps)?;
        self.allocate_slots_for(program)?;
        self.bind(program.downloads())?;
        let run = self.runs.begin();
        if program.steps.is_empty() {
            self.empty_runs.push(run);
            return Ok(run);
        }
        self.submit_issued(run, program, &plan)?;
        self.check.states.commit();
        self.idle_polls = 0;
        Ok(run)
    }

    fn compile_in_background(&mut self, program: &Program) -> Result<()> {
        let plan = self.check.validate(program, ProgramMode::Submit)?;
        for (device, step) in plan.of_ladder() {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.functions.compile_in_background(step)?;
        }
        Ok(())
    }

    fn load(&mut self, program: &Program) -> Result<()> {
        let plan = self.check.validate(program, ProgramMode::Submit)?;
        self.finish_compiling(&plan);
        self.allocate_for(&plan, program.block_timestamps)?;
        self.allocate_slots_for(program)
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        let plan = self.check.validate(program, ProgramMode::Prepare)?;
        // A graph keeps the functions that it was captured with.
        self.finish_compiling(&plan);
        self.allocate_for(&plan, false)?;
        self.allocate_slots_for(program)?;
        let prepared = self.capture_all(program)?;
        let id = self.check.add_prepared(&Arc::new(program.clone()), &plan);
        self.prepared.insert(id, prepared);
        Ok(id)
    }

    fn replay(&mut self, id: PreparedId) -> Result<RunId> {
        let changes_cells = self.check.validate_replay(id)?.changes_cells;
        let program = self.prepared.remove(&id).expect("it was validated");
        let answer = self.replay_taken(&program, changes_cells);
        self.prepared.insert(id, program);
        let run = answer?;
        self.check.commit_replay(id);
        Ok(run)
    }

    fn release(&mut self, prepared: PreparedId) {
        self.check.release(prepared);
        self.prepared.remove(&prepared);
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        self.check.parity(lattice)
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let empty = self.empty_runs.drain(..);
        completions.extend(empty.map(|run| runs::finished(run, vec![], vec![], vec![])));
        if self.runs.is_idle() {
            return Ok(());
        }
        let before = completions.len();
        for stream in 0..self.streams.len() {
            while let Some(marker) = self.runs.markers[stream].front() {
                if !marker.event.fired()? {
                    break;
                }
                let marker = self.runs.markers[stream]
                    .pop_front()
                    .expect("it was looked at");
                if let Some(download) = marker.download {
                    completions.push(self.landed(marker.run, download));
                }
                self.gpus[self.streams[stream].gpu]
                    .pool
                    .give_back_plain(marker.event);
                if marker.last {
                    self.end_part(marker.run, completions)?;
                }
            }
        }
        self.poll_replays(completions)?;
        self.idle_polls = if completions.len() > before {
            0
        } else {
            self.idle_polls + 1
        };
        Ok(())
    }

    fn wait(&mut self, timeout: Duration) {
        // The driver cannot wait for any one of several events. Poll without sleeping while work
        // completes, since a sleep costs at least 50 µs; sleep longer and longer during long
        // launches.
        let idle = self.runs.is_idle();
        match self.idle_polls.checked_sub(200) {
            None if !idle => std::thread::yield_now(),
            beyond => {
                let us = 50 * u64::from(1 + beyond.unwrap_or(0) / 200);
                let nap = if idle { 1000 } else { us.min(1000) };
                std::thread::sleep(timeout.min(Duration::from_micros(nap)));
            }
        }
    }

    fn synchronize(&mut self) -> Result<()> {
        // Wait for every device, even if one fails.
        let mut answer = Ok(());
        for gpu in 0..self.gpus.len() {
            let one = self.make_current(gpu).and_then(|()| context::synchronize());
            answer = answer.and(one);
        }
        answer
    }

    fn startup(&self) -> Startup {
        let modules_ms = self.gpus.iter().map(|gpu| gpu.functions.modules_ms).sum();
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
