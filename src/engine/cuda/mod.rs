//! The CUDA engine, on `cust` and, where that falls short, on the driver's own functions.
//!
//! [`driver`] finds the driver, [`gpu`] holds a device's context, modules and lattices,
//! [`issue`] turns ops into calls, [`graph`] captures them, [`slots`] is the page-locked memory
//! that downloads land in, [`event`] and [`runs`] tell what has come to pass. This file is the
//! engine itself: what happens on submit, prepare, replay and poll.
#![allow(unsafe_code)] // calls into the driver; each says why it holds

mod driver;
mod event;
mod gpu;
mod graph;
mod issue;
pub mod ptx;
mod runs;
mod slots;
mod timing;

use std::rc::Rc;
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use cust::context::CurrentContext;
use cust::device::Device;

use driver::cust;
use event::Event;
use gpu::{Gpu, RawStream};
use graph::Prepared;
use issue::{Home, Issuer, State};
use runs::{Mark, Runs, finished};
use slots::{CudaSlots, GroupShape};
use timing::Timer;

use crate::engine::{
    Completion, DeviceId, DeviceInfo, Engine, EngineError, EventId, LatticeId, Layout, Op,
    PreparedId, Program, Result, RunId, Slot, Slots, SlotsSpec, Startup, Step, StreamId,
};
use crate::life::Size;

/// Which CUDA devices to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordinals {
    /// The first.
    First,
    /// All of them.
    All,
    /// This one.
    One(u32),
}

/// Lattices on NVIDIA GPUs.
pub struct CudaEngine {
    // Dropped in this order: what is under way, what refers to contexts, the contexts.
    runs: Runs,
    prepared: Vec<Option<Prepared>>,
    events: Vec<(usize, Event)>,
    streams: Vec<Stream>,
    slots: Option<Arc<CudaSlots>>,
    gpus: Vec<Gpu>,
    homes: Vec<Home>,
    infos: Vec<DeviceInfo>,
    current: Option<(ThreadId, usize)>,
    epoch: u64,
    driver_ms: f64,
    idle_polls: u32,
}

struct Stream {
    gpu: usize,
    raw: RawStream,
    /// How many replays of its GPU it is ordered behind.
    replays_seen: u64,
}

// SAFETY: one thread at a time owns the engine; every entry makes its context current there, and
// driver handles are valid on every thread.
unsafe impl Send for CudaEngine {}

/// The devices that the driver sees, without using any.
pub fn list_devices() -> Result<Vec<DeviceInfo>> {
    let count = driver::initialise()?;
    (0..count)
        .map(|i| driver::describe_device(device(i, count)?))
        .collect()
}

fn device(ordinal: u32, present: u32) -> Result<Device> {
    if ordinal >= present {
        return Err(EngineError::NoSuchDevice {
            asked: ordinal,
            present,
        });
    }
    cust("cuDeviceGet", Device::get_device(ordinal))
}

impl CudaEngine {
    /// Starts the driver and makes a context on each device asked for.
    pub fn open(ordinals: Ordinals) -> Result<CudaEngine> {
        let began = Instant::now();
        let present = driver::initialise()?;
        let wanted = match ordinals {
            Ordinals::First => 0..1,
            Ordinals::All => 0..present,
            Ordinals::One(i) => i..i + 1,
        };
        let devices: Vec<Device> = wanted.map(|i| device(i, present)).collect::<Result<_>>()?;
        let infos = devices
            .iter()
            .map(|&d| driver::describe_device(d))
            .collect::<Result<_>>()?;
        let gpus = devices
            .iter()
            .map(|&d| Gpu::new(d))
            .collect::<Result<_>>()?;
        Ok(CudaEngine {
            runs: Runs::default(),
            prepared: Vec::new(),
            events: Vec::new(),
            streams: Vec::new(),
            slots: None,
            gpus,
            homes: Vec::new(),
            infos,
            current: None,
            epoch: 0,
            driver_ms: began.elapsed().as_secs_f64() * 1e3,
            idle_polls: 0,
        })
    }

    fn make_current(&mut self, gpu: usize) -> Result<()> {
        let here = (std::thread::current().id(), gpu);
        if self.current != Some(here) {
            self.gpus[gpu].make_current()?;
            self.current = Some(here);
        }
        Ok(())
    }

    fn gpu_of(&self, stream: StreamId) -> Result<usize> {
        let stream = self.streams.get(stream.0 as usize);
        stream
            .map(|s| s.gpu)
            .ok_or_else(|| EngineError::BadProgram("there is no such stream".into()))
    }

    /// Binds the slots of a program's downloads, or none of them.
    fn bind(&self, downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone) -> Result<()> {
        let Some(slots) = &self.slots else {
            return match downloads.clone().next() {
                Some((lattice, slot)) => Err(EngineError::SlotBusy(lattice, slot)),
                None => Ok(()),
            };
        };
        for (bound, (lattice, slot)) in downloads.clone().enumerate() {
            if let Err(busy) = slots.bind(lattice, slot) {
                downloads
                    .take(bound)
                    .for_each(|(lattice, slot)| slots.unbind(lattice, slot));
                return Err(busy);
            }
        }
        Ok(())
    }

    /// Issues one step on its stream, eagerly or into a capture.
    fn issue(&mut self, gpu: usize, step: &Step) -> Result<()> {
        let stream = self.streams[step.stream.0 as usize].raw.raw();
        let event = |id: &EventId| {
            let known = self.events.get(id.0 as usize).map(|(_, event)| event);
            known.ok_or_else(|| EngineError::BadProgram(format!("there is no {id:?}")))
        };
        match &step.op {
            Op::Record(id) => event(id)?.record(stream),
            Op::Wait(id) => event(id)?.hold(stream),
            op => {
                let slots = self.slots.as_deref();
                let gpu = &mut self.gpus[gpu];
                Issuer {
                    gpu,
                    homes: &mut self.homes,
                    slots,
                    stream,
                }
                .issue(op)
            }
        }
    }

    /// Orders a stream behind the graphs replayed before, which run in a stream of their own.
    fn fence(&mut self, stream: StreamId) -> Result<()> {
        let stream = &mut self.streams[stream.0 as usize];
        let gpu = stream.gpu;
        let replayed = self.gpus[gpu].replays;
        if stream.replays_seen < replayed {
            if let Some(replay) = self.runs.replays.iter().rev().find(|r| r.gpu == gpu) {
                replay.end.hold(stream.raw.raw())?;
            }
            stream.replays_seen = replayed;
        }
        Ok(())
    }

    /// Which devices a program touches, and its streams there in the order of first use.
    fn streams_used(&self, program: &Program) -> Result<Vec<(usize, Vec<StreamId>)>> {
        let mut used: Vec<(usize, Vec<StreamId>)> = Vec::new();
        let mut known = vec![false; self.streams.len()];
        for step in &program.steps {
            let gpu = self.gpu_of(step.stream)?;
            if std::mem::replace(&mut known[step.stream.0 as usize], true) {
                continue;
            }
            match used.iter_mut().find(|(g, _)| *g == gpu) {
                Some((_, streams)) => streams.push(step.stream),
                None => used.push((gpu, vec![step.stream])),
            }
        }
        Ok(used)
    }

    fn submit_issued(&mut self, run: RunId, program: &Program) -> Result<()> {
        let used = self.streams_used(program)?;
        let mut last_step = vec![usize::MAX; self.streams.len()];
        for (index, step) in program.steps.iter().enumerate() {
            last_step[step.stream.0 as usize] = index;
        }
        let mut timers: Vec<Timer> = Vec::new();
        for (gpu, streams) in &used {
            self.make_current(*gpu)?;
            for &stream in streams {
                self.fence(stream)?;
            }
            if program.timed {
                let origin = self.gpus[*gpu].origin()?;
                timers.push(Timer::new(*gpu, origin));
            }
        }
        for (index, step) in program.steps.iter().enumerate() {
            let gpu = self.gpu_of(step.stream)?;
            self.make_current(gpu)?;
            let timer = timers.iter_mut().find(|timer| timer.gpu == gpu);
            let raw = self.streams[step.stream.0 as usize].raw.raw();
            if let Some(timer) = timer {
                timer.before(&mut self.gpus[gpu], step.stream, |event| event.record(raw))?;
                let began = Instant::now();
                self.issue(gpu, step)?;
                timer.host(index as u32, step.stream, began);
                let gpu = &mut self.gpus[gpu];
                timer.after(gpu, index, step.stream, |event| event.record(raw))?;
            } else {
                self.issue(gpu, step)?;
            }
            let download = match step.op {
                Op::Download { lattice, slot, .. } => Some((lattice, slot)),
                _ => None,
            };
            let last = last_step[step.stream.0 as usize] == index;
            if download.is_some() || last {
                let event = self.gpus[gpu].pool.plain()?;
                event.record(raw)?;
                let mark = Mark {
                    event,
                    run,
                    download,
                    last,
                };
                self.runs.marks[step.stream.0 as usize].push_back(mark);
            }
        }
        for timer in timers {
            let open = self.runs.open.get_mut(&run).expect("the run was opened");
            open.timings.push(timer.finish());
        }
        Ok(())
    }

    /// Forgets a run that could not be issued to its end, once what was issued is through.
    fn abandon(&mut self, run: RunId, downloads: impl Iterator<Item = (LatticeId, Slot)>) {
        let _ = self.synchronize();
        self.runs.open.remove(&run);
        self.runs
            .marks
            .iter_mut()
            .for_each(|marks| marks.retain(|mark| mark.run != run));
        if let Some(slots) = &self.slots {
            downloads.for_each(|(lattice, slot)| slots.unbind(lattice, slot));
        }
    }

    fn end_part(&mut self, run: RunId, completions: &mut Vec<Completion>) -> Result<()> {
        let Some(ended) = self.runs.close_part(run) else {
            return Ok(());
        };
        let (mut spans, mut host) = (Vec::new(), Vec::new());
        for timing in ended.timings {
            timing.spans(&mut spans)?;
            host.extend_from_slice(&timing.host);
            if timing.pooled {
                let events = Rc::into_inner(timing.events).into_iter().flatten();
                let pool = &mut self.gpus[timing.gpu].pool;
                events.for_each(|event| pool.give_back_timing(event));
            }
        }
        completions.push(finished(run, spans, host));
        Ok(())
    }

    /// Reports the downloads of replayed graphs one by one, and the graphs that have ended.
    fn poll_replays(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let mut replays = std::mem::take(&mut self.runs.replays);
        let mut ended = 0;
        for replay in &mut replays {
            let over = replay.end.fired()?;
            ended += usize::from(over);
            for (landing, landed) in replay.downloads.iter().zip(&mut replay.landed) {
                if !*landed && (over || landing.event.fired()?) {
                    *landed = true;
                    let download = (landing.lattice, landing.slot);
                    completions.push(self.landed(replay.run, download));
                }
            }
            if !over {
                break; // the ones behind it wait for it
            }
        }
        for replay in replays.drain(..ended) {
            self.gpus[replay.gpu].pool.give_back_plain(replay.end);
            self.end_part(replay.run, completions)?;
        }
        self.runs.replays = replays;
        Ok(())
    }

    fn landed(&self, run: RunId, (lattice, slot): (LatticeId, Slot)) -> Completion {
        if let Some(slots) = &self.slots {
            slots.unbind(lattice, slot);
        }
        Completion::Downloaded { run, lattice, slot }
    }
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn devices(&self) -> &[DeviceInfo] {
        &self.infos
    }

    fn create_lattices(&mut self, device: DeviceId, count: usize, size: Size) -> Result<()> {
        let gpu = usize::from(device.0);
        self.make_current(gpu)?;
        self.gpus[gpu].add_group(count, size)?;
        let group = self.gpus[gpu].groups.len() - 1;
        let homes = (0..count).map(|index| Home {
            gpu,
            group,
            index,
            state: State::NEW,
            view_words: 0,
        });
        self.homes.extend(homes);
        Ok(())
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.synchronize()?;
        self.epoch += 1;
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            self.gpus[gpu]
                .groups
                .iter_mut()
                .try_for_each(|group| group.reserve(layout))?;
        }
        Ok(())
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.synchronize()?;
        self.epoch += 1;
        let mut shapes: Vec<GroupShape> = Vec::new();
        let mut seen = None;
        for home in &self.homes {
            if seen != Some((home.gpu, home.group)) {
                seen = Some((home.gpu, home.group));
                let gpu = &self.gpus[home.gpu];
                let group = &gpu.groups[home.group];
                let context = gpu.context.clone();
                shapes.push(GroupShape {
                    context,
                    count: group.count,
                    words: group.size.words(),
                });
            }
        }
        self.slots = None; // gives page-locked memory back first, unless somebody still reads it
        let slots = Arc::new(CudaSlots::allocate(spec, &shapes)?);
        self.current = None;
        self.slots = Some(slots.clone());
        Ok(slots)
    }

    fn create_stream(&mut self, device: DeviceId) -> Result<StreamId> {
        let gpu = usize::from(device.0);
        self.make_current(gpu)?;
        let replays_seen = self.gpus[gpu].replays;
        self.streams.push(Stream {
            gpu,
            raw: RawStream::new()?,
            replays_seen,
        });
        self.runs.marks.push(Default::default());
        Ok(StreamId(self.streams.len() as u32 - 1))
    }

    fn create_event(&mut self, device: DeviceId) -> Result<EventId> {
        let gpu = usize::from(device.0);
        self.make_current(gpu)?;
        let event = self.gpus[gpu].pool.plain()?;
        self.events.push((gpu, event));
        Ok(EventId(self.events.len() as u32 - 1))
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        let downloads = program.steps.iter().filter_map(|step| match step.op {
            Op::Download { lattice, slot, .. } => Some((lattice, slot)),
            _ => None,
        });
        let parts = {
            let mut streams: Vec<_> = program.steps.iter().map(|step| step.stream).collect();
            streams.sort_unstable();
            streams.dedup();
            streams.len()
        };
        self.bind(downloads.clone())?;
        let run = self.runs.begin();
        let open = runs::Run {
            open: parts,
            timings: Vec::new(),
        };
        self.runs.open.insert(run, open);
        if let Err(error) = self.submit_issued(run, program) {
            self.abandon(run, downloads);
            return Err(error);
        }
        self.idle_polls = 0;
        Ok(run)
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        let program = self.capture_all(program)?;
        self.prepared.push(Some(program));
        Ok(PreparedId(self.prepared.len() as u32 - 1))
    }

    fn replay(&mut self, prepared: PreparedId) -> Result<RunId> {
        let gone = || EngineError::BadProgram(format!("{prepared:?} was released"));
        let slot = self
            .prepared
            .get_mut(prepared.0 as usize)
            .ok_or_else(gone)?;
        let program = slot.take().ok_or_else(gone)?;
        let answer = self.replay_taken(&program);
        self.prepared[prepared.0 as usize] = Some(program);
        answer
    }

    fn release(&mut self, prepared: PreparedId) {
        if let Some(slot) = self.prepared.get_mut(prepared.0 as usize) {
            *slot = None;
        }
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        let state = self.homes.get(lattice.index()).map(|home| home.state);
        state.map_or(0, |state| state.parity | state.bits_parity << 1)
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        if self.runs.is_idle() {
            return Ok(());
        }
        let before = completions.len();
        for stream in 0..self.streams.len() {
            while let Some(mark) = self.runs.marks[stream].front() {
                if !mark.event.fired()? {
                    break;
                }
                let mark = self.runs.marks[stream]
                    .pop_front()
                    .expect("it was looked at");
                if let Some(download) = mark.download {
                    completions.push(self.landed(mark.run, download));
                }
                self.gpus[self.streams[stream].gpu]
                    .pool
                    .give_back_plain(mark.event);
                if mark.last {
                    self.end_part(mark.run, completions)?;
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
        // The driver has no wait for any of many events: look again soon, and sooner while
        // things are happening, since a sleep costs 50 µs and more.
        if !self.runs.is_idle() && self.idle_polls < 200 {
            std::thread::yield_now();
        } else {
            std::thread::sleep(timeout.min(Duration::from_micros(if self.runs.is_idle() {
                1000
            } else {
                50
            })));
        }
    }

    fn synchronize(&mut self) -> Result<()> {
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            cust("cuCtxSynchronize", CurrentContext::synchronize())?;
        }
        Ok(())
    }

    fn startup(&self) -> Startup {
        let modules_ms = self.gpus.iter().map(|gpu| gpu.modules_ms).sum();
        Startup {
            driver_ms: self.driver_ms,
            modules_ms,
        }
    }
}

impl Drop for CudaEngine {
    fn drop(&mut self) {
        // No copy may land in memory that has been given back.
        let _ = self.synchronize();
    }
}
