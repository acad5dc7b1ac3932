//! An engine whose n-th submission fails.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{
    BufferId, Completion, DeviceId, DeviceInfo, Engine, EngineError, EventId, LatticeId, Layout,
    Occupancy, Op, Place, PreparedId, Program, Result, RunId, Slots, SlotsSpec, Startup, StreamId,
    StreamSpec,
};

/// How a submission fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Before anything of it was done.
    Refused,
    /// With half of it done.
    Midway,
}

/// Says which submission fails next.
#[derive(Clone, Default)]
pub(super) struct Faults(Arc<Mutex<Option<(usize, Fault)>>>);

impl Faults {
    /// After so many more submissions, one fails.
    pub(super) fn fail(&self, after: usize, how: Fault) {
        *self.0.lock().unwrap() = Some((after, how));
    }

    /// How the present submission fails, if it does.
    fn now(&self) -> Option<Fault> {
        let mut next = self.0.lock().unwrap();
        match next.take()? {
            (0, how) => Some(how),
            (after, how) => {
                *next = Some((after - 1, how));
                None
            }
        }
    }
}

/// Does as the engine within, but for what [`Faults`] says.
pub(super) struct FaultyEngine {
    engine: Box<dyn Engine>,
    faults: Faults,
}

impl FaultyEngine {
    pub(super) fn new(engine: Box<dyn Engine>, faults: Faults) -> FaultyEngine {
        FaultyEngine { engine, faults }
    }
}

fn refused() -> EngineError {
    EngineError::Driver {
        call: "cuLaunchKernel",
        reason: "a test's fault".into(),
    }
}

fn midway() -> EngineError {
    EngineError::HalfDone("a test's fault".into())
}

impl Engine for FaultyEngine {
    fn submit(&mut self, program: &Program) -> Result<RunId> {
        match self.faults.now() {
            None => self.engine.submit(program),
            Some(Fault::Refused) => Err(refused()),
            Some(Fault::Midway) => {
                let mut half = program.clone();
                half.steps.truncate(program.steps.len().div_ceil(2));
                self.engine.submit(&half)?;
                Err(midway())
            }
        }
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        self.engine.prepare(program)
    }

    fn replay(&mut self, prepared: PreparedId) -> Result<RunId> {
        match self.faults.now() {
            None => self.engine.replay(prepared),
            Some(Fault::Refused) => Err(refused()),
            Some(Fault::Midway) => {
                self.engine.replay(prepared)?;
                Err(midway())
            }
        }
    }

    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn devices(&self) -> &[DeviceInfo] {
        self.engine.devices()
    }

    fn create_lattices(&mut self, device: DeviceId, count: usize, size: life::Size) -> Result<()> {
        self.engine.create_lattices(device, count, size)
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.engine.reserve(layout)
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.engine.allocate_slots(spec)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        self.engine.create_stream(device, spec)
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        self.engine.create_context(device)
    }

    fn create_buffer(&mut self, device: DeviceId, bytes: usize, place: Place) -> Result<BufferId> {
        self.engine.create_buffer(device, bytes, place)
    }

    fn access(&mut self, buffer: BufferId, look: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        self.engine.access(buffer, look)
    }

    fn drop_buffers(&mut self) -> Result<()> {
        self.engine.drop_buffers()
    }

    fn query(&mut self, event: EventId) -> Result<bool> {
        self.engine.query(event)
    }

    fn occupancy(&mut self, device: DeviceId, op: &Op) -> Result<Option<Occupancy>> {
        self.engine.occupancy(device, op)
    }

    fn create_event(&mut self, device: DeviceId) -> Result<EventId> {
        self.engine.create_event(device)
    }

    fn release(&mut self, prepared: PreparedId) {
        self.engine.release(prepared);
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        self.engine.parity(lattice)
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        self.engine.poll(completions)
    }

    fn wait(&mut self, timeout: Duration) {
        self.engine.wait(timeout);
    }

    fn synchronize(&mut self) -> Result<()> {
        self.engine.synchronize()
    }

    fn startup(&self) -> Startup {
        self.engine.startup()
    }
}
