//! The instances on their engine: where rounds are issued, completions counted, and kernels
//! switched without losing a cell.

use std::collections::{HashMap, VecDeque};
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use crate::round::RoundPlan;
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::{
    Completion, DeviceId, Engine, EngineError, Kernel, LatticeId, Layout, Measure, Op, PreparedId,
    Program, Result, Slot, Slots, SlotsSpec, StreamId, Transfer,
};
use lang::tr;
use life::{Lattice, MemoryError, Size, counted_lattices, soup};
use model::KernelChoice;
use model::PicturePlan;
use model::trace::StepFacts;
use model::{DeviceChoice, Setup, Start, Streams};

mod calibrate;
mod editing;
mod issue;
mod outcome;
mod pick;
mod switching;

use calibrate::Calibration;
pub use issue::MOST_GRAPH_LAUNCHES;
use issue::{Kind, PreparedKey, UnderWay};
pub use outcome::Event;
pub use pick::{DevicePicks, PickTable, Timed, Work};
use switching::{make_streams, one_of_each_device};

/// Picture slots an instance: one being drawn, one newest, one under way.
pub const PICTURE_SLOTS: u8 = 3;

/// Slots an instance for measures: each picture slot of a kind of memory has one.
pub const MEASURE_SLOTS: u8 = PICTURE_SLOTS;

/// Rounds that may be under way at once: the next is queued while one runs, so that the device
/// never waits for the host.
const DEPTH: usize = 2;

/// Makes the engine that a choice asks for; `Auto` falls back to the CPU.
pub fn open_engine(choice: DeviceChoice) -> Result<Box<dyn Engine>> {
    let cuda = |ordinals| Ok(Box::new(CudaEngine::open(ordinals)?) as Box<dyn Engine>);
    match choice {
        DeviceChoice::Cpu => {
            let workers = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
            Ok(Box::new(CpuEngine::new(workers)))
        }
        DeviceChoice::Cuda => cuda(Ordinals::All),
        DeviceChoice::CudaOrdinal(i) => cuda(Ordinals::One(i)),
        DeviceChoice::Auto => match cuda(Ordinals::First) {
            Err(EngineError::NoCuda(why)) => {
                tracing::debug!("no CUDA: {why}");
                open_engine(DeviceChoice::Cpu)
            }
            Err(why) => {
                tracing::warn!("{why}; the CPU computes instead");
                open_engine(DeviceChoice::Cpu)
            }
            answer => answer,
        },
    }
}

/// The first generation of an instance.
pub fn start_lattice(start: &Start, size: Size, instance: usize) -> Arc<Lattice> {
    match start {
        Start::Soup { density, seed } => Arc::new(soup(size, *density, *seed, instance as u64)),
        Start::Lattices { lattices, .. } => lattices[instance % lattices.len()].clone(),
    }
}

/// The first generations of these instances, as [`Worlds::upload`] takes them.
pub fn starts(setup: &Setup, instances: Range<usize>) -> Vec<(usize, Arc<Lattice>, u64)> {
    instances
        .map(|i| {
            let lattice = start_lattice(&setup.start, setup.size, i);
            (i, lattice, setup.start.generation())
        })
        .collect()
}

/// Which rounds measure their lattices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measuring {
    /// None.
    Never,
    /// One in [`SPARSE_ROUNDS`], so that it costs next to nothing; never one that is timed.
    Sparse,
    /// Every round.
    Always,
}

/// How many rounds lie between two that measure where measuring is sparse. A power of two: the way
/// of a glider around a torus, mostly a power of two too, is then a repeat of few measures.
pub const SPARSE_ROUNDS: u32 = 16;

/// N lattices on an engine.
pub struct Worlds {
    engine: Box<dyn Engine>,
    /// What rounds are made of: all instances', or A's and B's in turn.
    plans: Vec<RoundPlan>,
    /// Whose turn it is.
    turn: usize,
    /// The generations of A's last round, which B has yet to make.
    owed: u32,
    /// Generations of the round that is being issued in parts, so far.
    parts: u32,
    /// What whoever draws asked for.
    request: Option<PicturePlan>,
    size: Size,
    generations: Arc<[u64]>,
    /// Generations stepped, whatever was set anew since.
    clock: u64,
    measuring: Measuring,
    /// Rounds since the last one that measured the lattices.
    unmeasured: u32,
    /// The number of the last edit, by instance.
    edits: Arc<[u64]>,
    /// See [`Worlds::changes`].
    changes: u64,
    slots: Arc<dyn Slots>,
    spec: SlotsSpec,
    under_way: VecDeque<UnderWay>,
    prepared: HashMap<PreparedKey, (PreparedId, Arc<[StepFacts]>)>,
    /// Rounds as programs, by slot, generations, half and whether they measure: the same until
    /// something changes.
    programs: HashMap<(Slot, u32, usize, bool), Arc<Program>>,
    completions: Vec<Completion>,
    /// The streams of each way of sharing them, once made.
    streams: [Option<Vec<StreamId>>; 3],
    /// When the last round ended.
    ended: Option<Instant>,
    /// When the first part of the round that is being issued was.
    part_began: Option<Instant>,
    /// Whether every second timed round is stamped by its blocks.
    stamped: bool,
    /// How many rounds were timed.
    timed: u64,
    calibration: Option<Calibration>,
}

impl Worlds {
    /// Makes the instances of a setup on an engine, dead; [`Worlds::upload`] brings them to
    /// life. `checkpoints` is the number of whole-lattice slots.
    pub fn new(mut engine: Box<dyn Engine>, setup: &Setup, checkpoints: u8) -> Result<Worlds> {
        setup.kernel.admit(setup.size)?;
        admit_devices(&*engine, setup.kernel)?;
        ensure_host_memory(&*engine, setup, checkpoints)?;
        let devices = engine.devices().len();
        let streams = make_streams(&mut *engine, setup.instances, setup.switches.streams)?;
        for (device, count) in shares(setup.instances, devices) {
            engine.create_lattices(device, count, setup.size)?;
        }
        engine.reserve(setup.kernel.layout)?;
        let spec = SlotsSpec {
            pinned: 0,
            pageable: 0,
            picture_words: 0,
            checkpoints,
            measures: MEASURE_SLOTS,
        };
        let slots = engine.allocate_slots(spec)?;
        let devices = one_of_each_device(&streams, devices);
        let mut made = [None, None, None];
        made[setup.switches.streams.sharing() as usize] = Some(streams.clone());
        Ok(Worlds {
            engine,
            plans: vec![RoundPlan {
                instances: 0..setup.instances,
                streams,
                devices,
                kernel: setup.kernel,
                rule: setup.rule,
                picture: None,
                measures: None,
                switches: setup.switches,
            }],
            turn: 0,
            owed: 0,
            parts: 0,
            request: None,
            size: setup.size,
            generations: vec![0; setup.instances].into(),
            clock: 0,
            measuring: Measuring::Never,
            unmeasured: 0,
            edits: vec![0; setup.instances].into(),
            changes: 0,
            slots,
            spec,
            under_way: VecDeque::new(),
            prepared: HashMap::new(),
            programs: HashMap::new(),
            completions: Vec::new(),
            streams: made,
            ended: None,
            part_began: None,
            stamped: false,
            timed: 0,
            calibration: None,
        })
    }

    /// Brings every lattice to its start; the kernel of a setup that leaves it open is picked
    /// before, and entered there.
    pub fn start(&mut self, setup: &mut Setup) -> Result<()> {
        let starts = starts(setup, 0..setup.instances);
        self.upload(starts.clone())?;
        if setup.kernel_choice != KernelChoice::Open {
            return Ok(());
        }
        let generations = setup.generations_per_round;
        let known = self.known_kernel(PickTable::built_in(), generations);
        if known.is_some_and(|kernel| self.set_kernel(kernel).is_ok()) {
            setup.kernel_choice = KernelChoice::Measured;
        } else {
            let timed = self.time_kernels(generations)?;
            setup.kernel_choice = match timed.len() {
                0 | 1 => KernelChoice::Asked, // there is no other
                of => KernelChoice::Timed(of),
            };
            for one in &timed {
                tracing::debug!("{}: {:.0} rounds/s", one.kernel.name, one.rounds_per_second);
            }
            self.upload(starts)?;
        }
        setup.kernel = self.plan().kernel;
        setup.switches = self.plan().switches;
        Ok(())
    }

    /// The engine, for its figures.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// What rounds are made of now; A's, where there are two halves.
    pub fn plan(&self) -> &RoundPlan {
        &self.plans[0]
    }

    /// What the next round is made of.
    pub fn next_plan(&self) -> &RoundPlan {
        &self.plans[self.turn]
    }

    /// How many instances there are.
    pub fn instances(&self) -> usize {
        self.generations.len()
    }

    /// The lattices' size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Every instance's generation, as of the last round issued.
    pub fn generations(&self) -> &Arc<[u64]> {
        &self.generations
    }

    /// Generations that rounds have stepped, as of the last one issued.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Says that the lattices are where they were at this clock.
    pub fn set_clock(&mut self, clock: u64) {
        self.clock = clock;
    }

    /// Has these rounds measure their lattices from now on.
    pub fn set_measuring(&mut self, measuring: Measuring) {
        if self.measuring != measuring {
            self.measuring = measuring;
            self.forget_prepared();
            self.plan_pictures();
        }
    }

    /// The host slots.
    pub fn slots(&self) -> &Arc<dyn Slots> {
        &self.slots
    }

    /// Whether nothing is under way, nor a round that is run op by op.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty() && self.calibration.is_none()
    }

    /// Rounds (and other programs) under way.
    pub fn depth(&self) -> usize {
        self.under_way.len()
    }

    /// Sets instances to these lattices, of these generations, each in its own stream.
    pub fn upload(&mut self, starts: Vec<(usize, Arc<Lattice>, u64)>) -> Result<()> {
        let layout = self.plan().kernel.layout;
        let some = starts.len() < self.instances();
        let mut program = Program::default();
        let mut generations = self.generations.to_vec();
        for (instance, lattice, generation) in starts {
            let stream = self.plan().streams[instance];
            let id = LatticeId(instance as u32);
            let words = lattice.words().into();
            program.push(stream, Op::Upload { lattice: id, words });
            if layout != Layout::Bits {
                program.push(
                    stream,
                    Op::Unpack {
                        lattices: id.alone(),
                        to: layout,
                    },
                );
            }
            generations[instance] = generation;
        }
        self.generations = generations.into();
        self.changes += 1;
        self.forget_prepared(); // parities start anew
        self.submit(&program, Kind::Other, None)?;
        // What is set anew is in the first of two buffers: in a batch, so must be the others.
        if some { self.align_buffers() } else { Ok(()) }
    }

    /// Whether a launch of some plan steps several lattices, which must all be in the same one of
    /// two buffers.
    fn batches_in_two_buffers(&self) -> bool {
        let batches = |plan: &RoundPlan| plan.switches.streams == Streams::Batch;
        !self.plan().kernel.in_place && self.plans.iter().any(batches)
    }

    /// Brings all lattices into the same one of their two buffers, if batches need it.
    fn align_buffers(&mut self) -> Result<()> {
        let layout = self.plan().kernel.layout;
        if layout == Layout::Bits || !self.batches_in_two_buffers() {
            return Ok(());
        }
        let mut program = self.plan().pack_all();
        program.steps.extend(self.plan().relayout(layout).steps);
        self.submit(&program, Kind::Other, None)
    }

    /// Refuses a kernel that does not take these lattices, or that a device cannot run.
    pub fn admit(&self, kernel: &Kernel) -> Result<()> {
        kernel.admit(self.size)?;
        admit_devices(&*self.engine, kernel)
    }

    /// Changes the kernel between two rounds; every lattice keeps its cells.
    pub fn set_kernel(&mut self, kernel: &'static Kernel) -> Result<()> {
        self.admit(kernel)?;
        self.forget_prepared();
        let layout = kernel.layout;
        if layout != self.plan().kernel.layout {
            let pack = self.plan().pack_all();
            self.submit(&pack, Kind::Other, None)?;
            // The bits are complete before another layout's memory is given back.
            if let Err(error) = self.engine.reserve(layout) {
                // What was given back is made again: the lattices go on as they were.
                let before = self.plan().kernel.layout;
                self.engine.reserve(before)?;
                if before != Layout::Bits {
                    let unpack = self.plan().relayout(before);
                    self.submit(&unpack, Kind::Other, None)?;
                }
                return Err(error);
            }
            let unpack = self.plan().relayout(layout);
            self.submit(&unpack, Kind::Other, None)?;
        }
        // Who draws learns of the kernel a moment later, and asks for no cells that are not there.
        if let Some(request) = &mut self.request
            && request.transfer == Transfer::Cells
            && layout != Layout::I32
        {
            request.transfer = Transfer::Bits;
        }
        for plan in &mut self.plans {
            plan.kernel = kernel;
            plan.switches = plan.switches.fitted_to(kernel);
        }
        self.plan_pictures();
        Ok(())
    }

    /// Bytes that a round carries over the bus; A's, where there are two halves.
    pub fn bytes_per_round(&self) -> u64 {
        let words = self.plan().picture.map_or(0, |p| self.picture_words(p));
        words as u64 * 4 * self.plan().downloads().len() as u64
    }

    /// The words of an instance's picture.
    fn picture_words(&self, picture: PicturePlan) -> usize {
        match picture.transfer {
            Transfer::Bits => self.size.words(),
            Transfer::View => picture.viewport.words(),
            Transfer::Cells => self.size.cells() as usize,
            Transfer::Measure => Measure::WORDS,
        }
    }

    fn forget_prepared(&mut self) {
        self.programs.clear();
        for (_, (prepared, _)) in self.prepared.drain() {
            self.engine.release(prepared);
        }
    }
}

fn admit_devices(engine: &dyn Engine, kernel: &Kernel) -> Result<()> {
    let mut devices = engine.devices().iter();
    devices.try_for_each(|device| kernel.admit_device(device))
}

/// Refuses a setup that this machine's memory cannot hold before any of it is taken: on the CPU
/// the lattices themselves, and in any case every start, its copy on the way to the device, and
/// the slots. What is missed here ends the process without a word.
fn ensure_host_memory(engine: &dyn Engine, setup: &Setup, checkpoints: u8) -> Result<()> {
    let layout = (engine.name() == "cpu").then_some(setup.kernel.layout);
    Ok(ensure_room(
        setup.size,
        setup.instances,
        layout,
        checkpoints,
    )?)
}

/// Refuses so many lattices of this size that the host's memory cannot hold, in this layout if the
/// CPU steps them: before anything is known of the engine, without one.
///
/// # Errors
/// What was needed, what is free, and what fits.
pub fn ensure_room(
    size: Size,
    instances: usize,
    layout: Option<Layout>,
    checkpoints: u8,
) -> Result<(), MemoryError> {
    let bytes = |size: Size| {
        let bits = size.words() as u64 * 4;
        let cells = match layout {
            Some(Layout::I32) => 2 * bits + 8 * size.cells(),
            Some(Layout::Bits) => 2 * bits,
            Some(Layout::Planar) => 4 * bits,
            None => 0,
        };
        let one = cells + (2 + u64::from(checkpoints)) * bits;
        one.saturating_mul(instances as u64)
    };
    life::memory::ensure(size, bytes, || {
        tr!(
            "{} of {} with their starts",
            counted_lattices(instances),
            size
        )
    })
}

/// Which devices step how many instances: contiguous shares, so that a device's lattices lie side
/// by side.
fn shares(instances: usize, devices: usize) -> impl Iterator<Item = (DeviceId, usize)> {
    let share = move |device: usize| device * instances / devices;
    (0..devices)
        .map(move |device| (DeviceId(device as u16), share(device + 1) - share(device)))
        .filter(|(_, count)| *count > 0)
}

/// A lattice out of a host slot.
pub fn read_lattice(slots: &dyn Slots, instance: usize, slot: Slot, size: Size) -> Result<Lattice> {
    let mut lattice = None;
    let id = LatticeId(instance as u32);
    slots.read(id, slot, &mut |words| {
        lattice = Some(Lattice::try_copy(size, &words[..size.words()]));
    });
    Ok(lattice.ok_or(EngineError::SlotBusy(id, slot))??)
}
