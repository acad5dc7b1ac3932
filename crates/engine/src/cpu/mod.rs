//! The CPU engine: the same streams, events, ops and kernels with no GPU.
//!
//! A stream is a queue, served by a pool of threads ([`stream`]); a lattice is buffers behind a
//! lock ([`lattices`]), stepped by twins of the CUDA kernels ([`kernels`]), with the help of idle
//! cores ([`crew`]); host slots are memory
//! that a download fills ([`slots`]); lessons have other memory ([`buffers`]). What a program asks is checked against the state that will
//! be ([`issue`]) before any of it is queued, so a refused program leaves no trace.

mod bit_rows;
mod buffers;
mod crew;
mod issue;
mod kernels;
mod lattices;
pub mod limit;
mod measure;
pub mod memory;
mod planar_rows;
mod reduce;
mod slots;
mod stream;
mod vector;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::{
    BufferId, Completion, DeviceId, DeviceInfo, Engine, EngineError, EventId, LatticeId, Layout,
    Occupancy, Op, Place, PreparedId, Program, Result, RunId, Slots, SlotsSpec, Startup, Step,
    StreamId, StreamSpec,
};
use buffers::Buffers;
use crew::Crew;
use issue::{Account, Log, Phase};
use lattices::Lattices;
use life::Size;
use slots::CpuSlots;
use stream::Pool;

/// The engine for machines without CUDA, and the one that the others are held against.
pub struct CpuEngine {
    /// This processor, once for each context.
    devices: Vec<DeviceInfo>,
    startup: Startup,
    pool: Pool,
    lattices: Arc<Lattices>,
    buffers: Arc<Buffers>,
    accounts: Vec<Account>,
    slots: Option<Arc<CpuSlots>>,
    prepared: HashMap<PreparedId, Prepared>,
    next_prepared: u32,
}

struct Prepared {
    program: Arc<Program>,
    /// The lattices that it is about, as they must be.
    before: Vec<(usize, Phase)>,
    slots: Option<Arc<CpuSlots>>,
}

impl CpuEngine {
    /// An engine whose streams are served by so many threads: as many streams run at once.
    pub fn new(workers: NonZeroUsize) -> CpuEngine {
        let started = Instant::now();
        let lattices = Arc::new(Lattices::new(Crew::new(workers.get())));
        let buffers = Arc::new(Buffers::default());
        let (store, other) = (lattices.clone(), buffers.clone());
        let pool = Pool::new(workers, move |op, stop| match op {
            Op::Copy { .. } | Op::Call(_) => other.execute(op, stop),
            _ => store.execute(op, stop),
        });
        CpuEngine {
            devices: vec![describe(pool.workers())],
            startup: Startup {
                driver_ms: started.elapsed().as_secs_f64() * 1e3,
                modules_ms: 0.0,
            },
            pool,
            lattices,
            buffers,
            accounts: Vec::new(),
            slots: None,
            prepared: HashMap::new(),
            next_prepared: 0,
        }
    }

    fn known(&self, device: DeviceId) -> Result<()> {
        match self.devices.get(device.0 as usize) {
            Some(_) => Ok(()),
            None => Err(EngineError::BadProgram(format!("no {device:?}"))),
        }
    }

    /// Enters a program into the accounts if it can be.
    fn issue(&mut self, program: &Program) -> Result<Log> {
        self.pool.sound()?;
        self.pool.check(program)?;
        issue::issuers_apart(program)?;
        for Step { stream, op, .. } in &program.steps {
            let context = |stream| self.pool.context(stream);
            self.buffers.check(*stream, op, context)?;
        }
        issue::issue(program, &mut self.accounts, self.slots.as_deref())
    }

    /// Starts a program; `queue` is [`Pool::submit`] or [`Pool::replay`].
    fn start(
        &mut self,
        program: &Arc<Program>,
        queue: fn(&mut Pool, &Arc<Program>) -> Result<RunId>,
    ) -> Result<RunId> {
        let log = self.issue(program)?;
        if let Err(busy) = self.bind_slots(program) {
            issue::undo(&mut self.accounts, log);
            return Err(busy);
        }
        let run = queue(&mut self.pool, program);
        if let (Err(EngineError::NoThread), Some(slots)) = (&run, &self.slots) {
            program
                .downloads()
                .for_each(|(lattice, slot)| slots.release(lattice, slot));
        }
        if let Err(EngineError::NoThread) = run {
            issue::undo(&mut self.accounts, log);
        }
        run
    }

    /// Binds the slots of every download, or none.
    fn bind_slots(&self, program: &Program) -> Result<()> {
        let Some(slots) = &self.slots else {
            return Ok(());
        };
        for (bound, (lattice, slot)) in program.downloads().enumerate() {
            if let Err(busy) = slots.bind(lattice, slot) {
                program
                    .downloads()
                    .take(bound)
                    .for_each(|(lattice, slot)| slots.release(lattice, slot));
                return Err(busy);
            }
        }
        Ok(())
    }
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn devices(&self) -> &[DeviceInfo] {
        &self.devices
    }

    fn create_lattices(&mut self, device: DeviceId, count: usize, size: Size) -> Result<()> {
        self.known(device)?;
        self.lattices.create(count, size)?;
        self.accounts.extend((0..count).map(|_| Account::new(size)));
        Ok(())
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.pool.synchronize()?;
        self.lattices.reserve(layout)?;
        self.accounts
            .iter_mut()
            .for_each(|account| account.reserve(layout));
        Ok(())
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.pool.synchronize()?;
        let words: Vec<_> = self
            .accounts
            .iter()
            .map(|account| account.size.words())
            .collect();
        let slots = Arc::new(CpuSlots::new(spec, &words)?);
        self.lattices.set_slots(slots.clone());
        self.slots = Some(slots.clone());
        Ok(slots)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        self.known(device)?;
        Ok(self.pool.create_stream(device, spec))
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        self.known(device)?;
        self.devices.push(self.devices[device.0 as usize].clone());
        self.pool.create_context();
        Ok(DeviceId(self.devices.len() as u16 - 1))
    }

    fn create_buffer(&mut self, device: DeviceId, bytes: usize, place: Place) -> Result<BufferId> {
        self.known(device)?;
        self.buffers.create(device, bytes, place)
    }

    fn access(&mut self, buffer: BufferId, look: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        self.pool.synchronize()?;
        self.buffers.access(buffer, look)
    }

    fn drop_buffers(&mut self) -> Result<()> {
        self.pool.synchronize()?;
        self.buffers.clear();
        Ok(())
    }

    fn query(&mut self, event: EventId) -> Result<bool> {
        self.pool.query(event)
    }

    fn occupancy(&mut self, _device: DeviceId, _op: &Op) -> Result<Option<Occupancy>> {
        Ok(None)
    }

    fn create_event(&mut self, device: DeviceId) -> Result<EventId> {
        self.known(device)?;
        Ok(self.pool.create_event())
    }

    fn submit(&mut self, program: &Program) -> Result<RunId> {
        self.start(&Arc::new(program.clone()), Pool::submit)
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        let log = self.issue(program)?;
        let possible = issue::preparable(program, |stream| self.pool.is_default(stream));
        let mut about: Vec<usize> = log.iter().map(|&(at, _)| at).collect();
        issue::undo(&mut self.accounts, log);
        possible?;
        about.sort_unstable();
        about.dedup();
        let before = about
            .into_iter()
            .map(|at| (at, self.accounts[at].phase))
            .collect();
        let id = PreparedId(self.next_prepared);
        self.next_prepared += 1;
        let program = Arc::new(program.clone());
        self.prepared.insert(
            id,
            Prepared {
                program,
                before,
                slots: self.slots.clone(),
            },
        );
        Ok(id)
    }

    fn replay(&mut self, prepared: PreparedId) -> Result<RunId> {
        let refuse = |why: String| Err(EngineError::BadProgram(why));
        let Some(ready) = self.prepared.get(&prepared) else {
            return refuse(format!("no {prepared:?}"));
        };
        let same = |(a, b): (&Arc<CpuSlots>, &Arc<CpuSlots>)| Arc::ptr_eq(a, b);
        if !ready
            .slots
            .as_ref()
            .zip(self.slots.as_ref())
            .is_none_or(same)
        {
            return refuse(format!("{prepared:?} is for slots that were replaced"));
        }
        for &(at, phase) in &ready.before {
            let now = self.accounts[at].phase;
            if now != phase {
                return refuse(format!(
                    "{prepared:?} is for {phase:?} of lattice {at}, not {now:?}"
                ));
            }
        }
        self.start(&ready.program.clone(), Pool::replay)
    }

    fn release(&mut self, prepared: PreparedId) {
        self.prepared.remove(&prepared);
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        self.accounts[lattice.index()].phase.parity()
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

    fn startup(&self) -> Startup {
        self.startup
    }
}

/// This processor, as people know it.
fn describe(workers: usize) -> DeviceInfo {
    let model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_string())
    });
    let threads = if workers == 1 { "thread" } else { "threads" };
    DeviceInfo {
        name: model.unwrap_or_else(|| "CPU".into()),
        driver: format!("{workers} {threads}, {}", kernels::bits::instruction_set()),
        capability: None,
        units: workers as u32,
        memory: life::memory::total(),
        cache: memory::last_cache(),
        copy_engines: 0,
        kernel_time_limit: false,
        pci_bus_id: None,
    }
}
