//! The CPU engine: the same streams, events, ops and kernels without a GPU.
//!
//! Streams are queues served by worker threads ([`stream`]). A lattice is a set of buffers behind a
//! lock ([`lattices`]), stepped by CPU versions of the CUDA kernels ([`kernels`]) with the help of
//! idle cores ([`worker_pool`]). Downloads fill host slots, and lessons use buffers (both in [`buffers`]).
//! Programs are validated by [`check`](crate::check), and their memory is allocated, before any
//! step is queued.

mod buffers;
mod kernels;
mod lattices;
mod planar_rows;
mod stream;
mod vector;
mod worker_pool;

use crate::check::{Plan, Validator, check_buffer_size};
use crate::{
    Band, BufferId, BufferLocation, Completion, DeviceId, DeviceInfo, Engine, EngineError, EventId,
    LatticeId, Layout, MemoryUse, Occupancy, Op, PreparedId, Program, Result, RunId, Slots,
    SlotsSpec, StreamId, StreamKind, StreamSpec,
};
use buffers::{Buffers, CpuSlots};
use lattices::Lattices;
use life::Size;
use std::fs;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use stream::StreamPool;
use worker_pool::WorkerPool;

/// The engine for machines without CUDA, and the reference for the CUDA engine.
pub struct CpuEngine {
    /// Validates programs and tracks the lattices' states. Its devices are this processor, once per
    /// context.
    check: Validator,
    pool: StreamPool,
    lattices: Arc<Lattices>,
    buffers: Arc<Buffers>,
}

impl CpuEngine {
    /// Creates an engine with this many worker threads, which is how many streams run concurrently.
    pub fn new(workers: NonZeroUsize) -> CpuEngine {
        CpuEngine::with(Some(workers), 1)
    }

    /// Creates an engine of so many devices; without workers, work is done while the caller waits for it, so
    /// that tests are quick and repeatable.
    pub fn with(workers: Option<NonZeroUsize>, devices: usize) -> CpuEngine {
        let cores = workers.unwrap_or(NonZeroUsize::MIN);
        let lattices = Arc::new(Lattices::new(WorkerPool::new(cores.get())));
        let buffers = Arc::new(Buffers::default());
        let (store, other) = (lattices.clone(), buffers.clone());
        let pool = StreamPool::new(workers, move |op, stop| match op {
            Op::Lattices(lattices, op) => store.execute(lattices.clone(), op, stop),
            Op::Buffers(op) => other.execute(op, stop),
            Op::Order(_) => Ok(()),
        });
        pool.scheduler()
            .contexts
            .resize_with(devices, Default::default);
        let device = describe(pool.workers.len().max(1));
        CpuEngine {
            check: Validator::new(vec![device; devices]),
            pool,
            lattices,
            buffers,
        }
    }

    /// Allocates the memory that a program needs, before any step is queued.
    fn allocate_for(&mut self, plan: &Plan) -> Result<()> {
        let groups = &mut self.check.lattices.groups;
        for (&group, &words) in &plan.views {
            let (lattices, what) = (groups[group].lattices(), MemoryUse::Views);
            self.lattices
                .enlarge(lattices, words, what, |results| &mut results.view)?;
            groups[group].view_capacity = words;
        }
        for &group in &plan.measures {
            let (words, what) = (groups[group].size.words(), MemoryUse::Measures);
            let lattices = groups[group].lattices();
            self.lattices
                .enlarge(lattices, words, what, |results| &mut results.before)?;
            groups[group].has_measures_memory = true;
        }
        Ok(())
    }

    /// Starts a valid program whose memory is allocated; `queue` is [`StreamPool::submit`] or
    /// [`StreamPool::replay`].
    fn start(
        &mut self,
        program: &Arc<Program>,
        queue: fn(&mut StreamPool, &Arc<Program>) -> Result<RunId>,
    ) -> Result<RunId> {
        let slots = self.lattices.slots.read().clone();
        slots.locks.bind_all(program.downloads())?;
        let run = queue(&mut self.pool, program);
        if run == Err(EngineError::NoThread) {
            slots.locks.unbind_all(program.downloads());
        }
        run
    }
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn devices(&self) -> &[DeviceInfo] {
        &self.check.devices
    }

    fn create(
        &mut self,
        device: DeviceId,
        count: usize,
        size: Size,
        band: Option<Band>,
    ) -> Result<()> {
        self.check.check_device(device)?;
        self.lattices.create(count, size, band)?;
        self.check.add_lattices(device, count, size, band);
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.pool.synchronize()?;
        let workers = NonZeroUsize::new(self.pool.workers.len()).unwrap_or(NonZeroUsize::MIN);
        *self = CpuEngine::with(Some(workers), self.check.devices.len());
        Ok(())
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.pool.synchronize()?;
        let answer = self.lattices.reserve(layout);
        let groups = self.check.lattices.groups.iter();
        let allocated = groups.map(|group| {
            let mut all = group.lattices();
            all.all(|lattice| self.lattices.has(lattice, layout))
        });
        let allocated: Vec<bool> = allocated.collect();
        self.check.reserve(layout, &allocated);
        answer
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.pool.synchronize()?;
        let groups = self.check.lattices.groups.iter();
        let words = groups.flat_map(|group| vec![group.size.words(); group.count]);
        let slots = Arc::new(CpuSlots::new(spec, &words.collect::<Vec<_>>())?);
        self.check.set_slots(spec);
        *self.lattices.slots.write() = slots.clone();
        Ok(slots)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        self.check.check_device(device)?;
        let is_default = spec.kind == StreamKind::Default;
        if let (true, Some(known)) = (is_default, self.check.default_stream(device)) {
            return Ok(known);
        }
        self.pool.scheduler().create_stream(device, spec);
        Ok(self.check.add_stream(device, is_default))
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        self.check.check_device(device)?;
        self.pool.scheduler().contexts.push(Default::default());
        Ok(self.check.add_context(device))
    }

    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
        self.check.check_device(device)?;
        check_buffer_size(bytes)?;
        self.buffers.create(bytes, place)?;
        Ok(self.check.add_buffer(device, bytes, place))
    }

    fn access(&mut self, buffer: BufferId, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        self.pool.synchronize()?;
        self.buffers.access(buffer, visit)
    }

    fn drop_buffers(&mut self) -> Result<()> {
        self.pool.synchronize()?;
        self.buffers.clear();
        self.check.drop_buffers();
        Ok(())
    }

    fn query(&mut self, event: EventId) -> Result<bool> {
        self.check.device_of(event)?;
        self.pool.scheduler().query(event)
    }

    fn occupancy(&mut self, _device: DeviceId, _op: &Op) -> Result<Option<Occupancy>> {
        Ok(None)
    }

    fn create_event(&mut self, device: DeviceId) -> Result<EventId> {
        self.check.check_device(device)?;
        self.pool.scheduler().create_event();
        Ok(self.check.add_event(device))
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        self.pool.scheduler().check_fault()?;
        let plan = self.check.validate(program)?;
        self.allocate_for(&plan)?;
        let run = self.start(&Arc::new(program.clone()), StreamPool::submit)?;
        self.check.states.commit();
        Ok(run)
    }

    fn load(&mut self, program: &Program) -> Result<()> {
        self.pool.scheduler().check_fault()?;
        let plan = self.check.validate(program)?;
        self.allocate_for(&plan)
    }

    fn compile_in_background(&mut self, _: &Program) -> Result<()> {
        Ok(()) // nothing is compiled here
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        self.pool.scheduler().check_fault()?;
        let plan = self.check.validate_preparable(program)?;
        self.allocate_for(&plan)?;
        Ok(self.check.add_prepared(program, &plan))
    }

    fn replay(&mut self, id: PreparedId) -> Result<RunId> {
        self.pool.scheduler().check_fault()?;
        let program = self.check.validate_replay(id)?.program.clone();
        let run = self.start(&program, StreamPool::replay)?;
        self.check.commit_replay(id);
        Ok(run)
    }

    fn release(&mut self, prepared: PreparedId) {
        self.check.release(prepared);
    }

    fn unsplit(self: Box<Self>) -> Box<dyn Engine> {
        self
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        self.check.parity(lattice)
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        self.pool.poll(completions)
    }

    fn wait(&mut self, timeout: Duration) {
        self.pool.wait(timeout);
    }

    fn synchronize(&mut self) -> Result<()> {
        self.pool.synchronize()
    }
}

/// Size of the last-level cache in bytes, if the system reports it.
fn last_cache() -> Option<u64> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let size = |cache: fs::DirEntry| {
        let text = fs::read_to_string(cache.path().join("size")).ok()?;
        let kib: u64 = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kib << 10)
    };
    caches.flatten().filter_map(size).max()
}

/// Describes this processor.
fn describe(workers: usize) -> DeviceInfo {
    static MODEL_AND_CACHE: LazyLock<(Option<String>, Option<u64>)> = LazyLock::new(|| {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("model name"));
        let model = line.and_then(|line| line.split_once(':'));
        let model = model.map(|(_, name)| name.trim().to_string());
        (model, last_cache())
    });
    let (model, cache) = MODEL_AND_CACHE.clone();
    let threads = if workers == 1 { "thread" } else { "threads" };
    DeviceInfo {
        name: model.unwrap_or_else(|| "CPU".into()),
        driver: format!("{workers} {threads}, {}", vector::instruction_set()),
        capability: None,
        sm_count: workers as u32,
        memory: life::memory::total(),
        cache,
        bandwidth: None,
        copy_engines: 0,
        kernel_time_limit: false,
        pci_bus_id: None,
    }
}
