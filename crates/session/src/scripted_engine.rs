//! A CPU engine for tests, whose calls fail as a script says and whose completions can be held back.

use crate::DeviceChoice;
use engine::cpu::CpuEngine;
use engine::kernels::{GpuCode, OwnCode, OwnStepError, OwnStepper, Ptx};
use engine::{
    Band, BufferId, BufferLocation, Completion, DeviceId, DeviceInfo, DriverFault, Engine,
    EngineError, EventId, Kernel, LatticeId, Layout, Occupancy, Op, OrderOp, PreparedId, Program,
    Result, RunId, Slots, SlotsSpec, StreamId, StreamSpec, kernels,
};
use life::{Lattice, Rule, Size, reference};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

/// How a call fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Half of a submission is done.
    Midway,
    /// The context is lost, and every later call fails.
    Lost,
    /// There is no memory; nothing was done.
    OutOfMemory,
    /// The driver refuses; nothing was done.
    Refused,
}

/// The calls that can fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// Starting or replaying a program.
    Submit,
    /// Taking what has completed.
    Poll,
    /// Preparing a program.
    Prepare,
    /// Memory, streams, slots.
    Allocate,
    /// Opening the devices.
    Open,
}

/// Which GPUs can still be opened.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Gpus {
    /// Every one.
    #[default]
    All,
    /// All but one.
    OneLost,
    /// None.
    AllLost,
}

/// What happens in every engine of a test.
#[derive(Default)]
pub(crate) struct Script {
    /// After this many more calls of this kind, one fails.
    faults: Mutex<Vec<(Call, u32, Fault)>>,
    /// These can be opened from now on. Engines that are open already go on.
    pub gpus: Mutex<Gpus>,
    /// Whether every submission ends at once, and its completions wait for [`Script::release`].
    holds_completions: bool,
    /// Whether nothing fails at present, whatever is planned.
    protected: AtomicBool,
    /// How many calls have failed, and how many of them with nothing lost.
    failed: AtomicUsize,
    refused: AtomicUsize,
    /// How many completions wait, and how many of them are handed over at the next polls.
    waiting: AtomicUsize,
    released: AtomicUsize,
    /// What was issued since [`Script::record`] was last called, if it was.
    issued: Mutex<Option<Vec<Issued>>>,
}

/// A program that an engine was given, and what its streams and slots are. An empty program is a point at
/// which the host knew that all before it was done.
#[derive(Default)]
pub(crate) struct Issued {
    /// The program.
    pub program: Program,
    /// Whether it was prepared, and replayed now.
    pub is_graph: bool,
    /// The slots of its lattices.
    pub slots: SlotsSpec,
    /// The device and the properties of every stream.
    pub streams: Arc<HashMap<StreamId, (DeviceId, StreamSpec)>>,
}

impl Script {
    /// A script whose engines hand completions over one by one, at each [`Script::release`].
    pub(crate) fn holding_completions() -> Script {
        Script {
            holds_completions: true,
            ..Script::default()
        }
    }

    /// Records what is issued from now on, and returns what was so far.
    pub(crate) fn record(&self) -> Vec<Issued> {
        let before = self.issued.lock().replace(Vec::new());
        before.unwrap_or_default()
    }

    fn note(&self, issued: impl FnOnce() -> Issued) {
        if let Some(all) = &mut *self.issued.lock() {
            all.push(issued());
        }
    }

    /// After this many more calls of this kind, one fails.
    pub(crate) fn fail(&self, call: Call, after: u32, fault: Fault) {
        self.faults.lock().push((call, after, fault));
    }

    /// Whether a call will fail.
    pub(crate) fn has_faults(&self) -> bool {
        !self.faults.lock().is_empty()
    }

    /// How many calls have failed so far.
    pub(crate) fn failed(&self) -> usize {
        self.failed.load(Relaxed)
    }

    /// How many calls have failed with nothing lost.
    pub(crate) fn refused(&self) -> usize {
        self.refused.load(Relaxed)
    }

    /// Nothing fails meanwhile.
    pub(crate) fn protected<T>(&self, work: impl FnOnce() -> T) -> T {
        self.protected.store(true, Relaxed);
        let done = work();
        self.protected.store(false, Relaxed);
        done
    }

    /// Hands over one more completion; whether there is one.
    pub(crate) fn release(&self) -> bool {
        let waits = self.waiting.load(Relaxed) > self.released.load(Relaxed);
        if waits {
            self.released.fetch_add(1, Relaxed);
        }
        waits
    }

    fn release_all(&self) {
        self.released.store(self.waiting.load(Relaxed), Relaxed);
    }

    /// How this call fails, if it does.
    fn fault(&self, call: Call) -> Option<Fault> {
        if self.protected.load(Relaxed) {
            return None;
        }
        let mut faults = self.faults.lock();
        let mut now = None;
        faults.retain_mut(|(of, after, fault)| {
            if *of != call || now.is_some() {
                return true;
            }
            match after.checked_sub(1) {
                Some(less) => *after = less,
                None => now = Some(*fault),
            }
            now.is_none()
        });
        if now.is_some() {
            self.failed.fetch_add(1, Relaxed);
            let nothing_lost = matches!(now, Some(Fault::OutOfMemory | Fault::Refused));
            self.refused.fetch_add(nothing_lost.into(), Relaxed);
        }
        now
    }

    /// Makes an engine that does as this says, as `open` would. There are three GPUs; after a loss, `cuda`
    /// takes those that are left.
    pub(crate) fn open(
        self: &Arc<Script>,
        choice: DeviceChoice,
        is_again: bool,
    ) -> Result<Box<dyn Engine>> {
        let devices = match (choice, *self.gpus.lock()) {
            (DeviceChoice::Cuda, Gpus::All) => 3,
            (DeviceChoice::Cuda, Gpus::OneLost) if is_again => 2,
            (DeviceChoice::Cpu, _) | (_, Gpus::All) => 1,
            _ => 0,
        };
        if self.fault(Call::Open).is_some() || devices == 0 {
            return Err(EngineError::UnusableGpu(fault().to_string().into()));
        }
        self.waiting.store(0, Relaxed);
        self.released.store(0, Relaxed);
        self.note(Issued::default);
        Ok(Box::new(ScriptedEngine {
            engine: CpuEngine::with(None, devices),
            script: self.clone(),
            completions: VecDeque::new(),
            prepared: HashMap::new(),
            slots: SlotsSpec::default(),
            streams: Arc::default(),
            lost: false,
        }))
    }
}

struct ScriptedEngine {
    engine: CpuEngine,
    script: Arc<Script>,
    completions: VecDeque<Completion>,
    prepared: HashMap<PreparedId, Program>,
    slots: SlotsSpec,
    streams: Arc<HashMap<StreamId, (DeviceId, StreamSpec)>>,
    lost: bool,
}

/// What the driver would say.
fn fault() -> DriverFault {
    DriverFault {
        call: "cuLaunchKernel",
        code: 719,
        text: Some("a test's fault".into()),
    }
}

fn error(kind: Fault) -> EngineError {
    match kind {
        Fault::Midway => EngineError::PartiallyApplied(EngineError::Driver(fault()).reason()),
        Fault::Lost => EngineError::lost(fault().to_string().into()),
        Fault::OutOfMemory => EngineError::DriverOutOfMemory("cuMemAlloc"),
        Fault::Refused => EngineError::Driver(fault()),
    }
}

impl ScriptedEngine {
    fn check(&mut self, call: Call) -> Result<()> {
        if self.lost {
            return Err(error(Fault::Lost));
        }
        let Some(fault) = self.script.fault(call) else {
            return Ok(());
        };
        self.lost = fault == Fault::Lost;
        Err(error(fault))
    }

    fn note(&self, program: &Program, is_graph: bool) {
        self.script.note(|| Issued {
            program: program.clone(),
            is_graph,
            slots: self.slots,
            streams: self.streams.clone(),
        });
    }

    /// Does everything that was submitted, and holds its completions back if the script says so; nobody asks
    /// for that of a join.
    fn hold_completions(&mut self, is_join: bool) -> Result<()> {
        self.engine.synchronize()?;
        if !self.script.holds_completions {
            return Ok(());
        }
        let mut done = Vec::new();
        self.engine.poll(&mut done)?;
        if !is_join {
            self.completions.extend(done);
        }
        self.script.waiting.store(self.completions.len(), Relaxed);
        Ok(())
    }
}

impl Engine for ScriptedEngine {
    fn submit(&mut self, program: &Program) -> Result<RunId> {
        match self.check(Call::Submit) {
            Ok(()) => {}
            Err(error @ EngineError::PartiallyApplied(_)) => {
                let mut half = program.clone();
                half.steps.truncate(program.steps.len().div_ceil(2));
                self.engine.submit(&half)?;
                self.engine.synchronize()?;
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        let run = self.engine.submit(program)?;
        self.note(program, false);
        // Nobody asks for the completion of a join; a round with nothing to step or to copy may wait, too.
        let joins = |op: &Op| matches!(op, Op::Order(OrderOp::Record(_) | OrderOp::Wait(_)));
        self.hold_completions(program.steps.iter().all(|step| joins(&step.op)))?;
        Ok(run)
    }

    fn load(&mut self, program: &Program) -> Result<()> {
        self.engine.load(program)
    }

    fn compile_in_background(&mut self, program: &Program) -> Result<()> {
        self.engine.compile_in_background(program)
    }

    fn prepare(&mut self, program: &Program) -> Result<PreparedId> {
        self.check(Call::Prepare)?;
        let prepared = self.engine.prepare(program)?;
        self.prepared.insert(prepared, program.clone());
        Ok(prepared)
    }

    fn replay(&mut self, prepared: PreparedId) -> Result<RunId> {
        match self.check(Call::Submit) {
            Ok(()) => {}
            Err(error @ EngineError::PartiallyApplied(_)) => {
                self.engine.replay(prepared)?;
                self.engine.synchronize()?;
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        let run = self.engine.replay(prepared)?;
        self.note(&self.prepared[&prepared], true);
        self.hold_completions(false)?;
        Ok(run)
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        self.check(Call::Poll)?;
        if !self.script.holds_completions {
            return self.engine.poll(completions);
        }
        let released = self.script.released.swap(0, Relaxed);
        let now = released.min(self.completions.len());
        completions.extend(self.completions.drain(..now));
        self.script.waiting.store(self.completions.len(), Relaxed);
        if self.completions.is_empty() {
            self.script.note(Issued::default);
        }
        Ok(())
    }

    fn create(
        &mut self,
        device: DeviceId,
        count: usize,
        size: life::Size,
        band: Option<Band>,
    ) -> Result<()> {
        self.check(Call::Allocate)?;
        self.engine.create(device, count, size, band)
    }

    fn clear(&mut self) -> Result<()> {
        self.check(Call::Submit)?;
        self.completions.clear();
        self.script.waiting.store(0, Relaxed);
        self.engine.clear()
    }

    fn reserve(&mut self, layout: Layout) -> Result<()> {
        self.check(Call::Allocate)?;
        self.engine.reserve(layout)
    }

    fn allocate_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.check(Call::Allocate)?;
        let slots = self.engine.allocate_slots(spec)?;
        self.slots = spec;
        Ok(slots)
    }

    fn create_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        self.check(Call::Allocate)?;
        let stream = self.engine.create_stream(device, spec)?;
        Arc::make_mut(&mut self.streams).insert(stream, (device, spec));
        Ok(stream)
    }

    fn synchronize(&mut self) -> Result<()> {
        if self.lost {
            return Err(error(Fault::Lost));
        }
        self.engine.synchronize()?;
        self.script.note(Issued::default);
        self.script.release_all();
        Ok(())
    }

    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn devices(&self) -> &[DeviceInfo] {
        self.engine.devices()
    }

    fn create_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        self.engine.create_context(device)
    }

    fn create_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
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

    fn unsplit(self: Box<Self>) -> Box<dyn Engine> {
        self
    }

    fn parity(&self, lattice: LatticeId) -> u8 {
        self.engine.parity(lattice)
    }

    fn wait(&mut self, timeout: Duration) {
        if !self.script.holds_completions {
            return self.engine.wait(timeout);
        }
        self.script.release_all();
    }
}

// A kernel of a user's own for tests: it steps as the reference does, and fails when a test says so.

/// See the module. It has code for the CPU, and for a GPU that of its rung.
pub(crate) struct ReferenceKernel {
    /// The kernel.
    pub kernel: &'static Kernel,
    failure: Arc<Mutex<Option<OwnStepError>>>,
}

impl ReferenceKernel {
    /// In the place of the rung of this name.
    pub(crate) fn new(rung: &str) -> ReferenceKernel {
        let failure = Arc::new(Mutex::new(None));
        let stepper = ReferenceStepper {
            failure: failure.clone(),
        };
        let kernel = own_kernel(rung, Some(Box::new(stepper)));
        ReferenceKernel { kernel, failure }
    }

    /// Fails at the next step, or no longer.
    pub(crate) fn fail(&self, error: Option<OwnStepError>) {
        *self.failure.lock() = error;
    }
}

/// A kernel of a user's own in the place of the rung of this name: with this code for the CPU, and for a
/// GPU with that of the rung.
pub(crate) fn own_kernel(rung: &str, cpu: Option<Box<dyn OwnStepper>>) -> &'static Kernel {
    let rung = kernels::find(rung).unwrap();
    let ptx = Ptx::find(rung.file).unwrap();
    let code = OwnCode {
        rung,
        source: format!("// from: {}\n{}", rung.file, ptx.source),
        rules: None,
        gpu: Some(GpuCode::Ptx(ptx.only(rung.entries[0]))),
        cpu,
    };
    Kernel::own(code, rung.block())
}

#[derive(Debug)]
struct ReferenceStepper {
    failure: Arc<Mutex<Option<OwnStepError>>>,
}

impl OwnStepper for ReferenceStepper {
    fn step(
        &self,
        words: &mut [u32],
        size: Size,
        rule: Rule,
        generations: u32,
    ) -> Result<(), OwnStepError> {
        if let Some(error) = self.failure.lock().take() {
            return Err(error);
        }
        let lattice = Lattice::from_words(size, words.to_vec());
        let later = reference::run(&lattice, rule, generations.into());
        words.copy_from_slice(later.words());
        Ok(())
    }
}
