//! The instances on their engine: issues rounds, turns completions into events, and changes kernels
//! and settings without losing a cell.
//!
//! All instances are at the same generation at every round boundary: [`Instances::generation`].
//! Generations are counted only once the engine has accepted what steps them. After an error that
//! may have left half of a program done ([`EngineError::loses_lattices`], or a failed call of the
//! driver) nothing is counted and the cells are unknown: [`Instances::abandon`], then
//! [`Instances::set_lattices`] with all of them.

use std::collections::{HashMap, VecDeque};
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::fastest::{Requested, RoundLength};
use crate::round::RoundPlan;
use crate::start::{self, NewCells, start_cells};
use crate::trace::StepFacts;
use crate::{DeviceChoice, KernelChoice, OwnRound, Pace, PicturePlan, Setup, Side, Start};
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::{
    Completion, Cut, DeviceId, Engine, EngineError, Kernel, Layout, Measure, PreparedId, Program,
    Result, Slot, Slots, SlotsSpec, StreamId, Transfer,
};
use lang::message;
use life::{Lattice, MemoryError, Size, counted_lattices};

mod calibrate;
mod cells;
mod compared;
mod events;
mod fastest;
mod issue;
mod own_round;
mod results;
mod settings;
mod split;
#[cfg(test)]
mod tests;

use calibrate::Calibration;
pub use cells::read_lattice;
pub use events::Event;
pub use issue::MAX_GRAPH_LAUNCHES;
#[cfg(test)]
pub use issue::limit;
use issue::{InFlight, PreparedKey, longest_round};
use own_round::OwnStreams;
pub use results::Results;
use settings::{make_streams, one_of_each_device};

/// Picture slots per instance: one being drawn, the newest, one being filled.
pub const PICTURE_SLOTS: u8 = 3;

/// Measure slots per instance: one for each picture slot.
pub const MEASURE_SLOTS: u8 = PICTURE_SLOTS;

/// Rounds in flight at once: the next is queued while one runs, so the device never waits for the
/// host.
const MAX_IN_FLIGHT: usize = 2;

/// Opens an engine on every device of a choice; `Auto` is the first GPU, or the CPU if that cannot be
/// used.
///
/// # Errors
/// A device of the choice cannot be used.
pub fn open_engine(choice: DeviceChoice) -> Result<Box<dyn Engine>> {
    let cuda = |ordinals| Ok(Box::new(CudaEngine::open(ordinals)?) as Box<dyn Engine>);
    match choice {
        DeviceChoice::Cpu | DeviceChoice::Recorded => {
            let workers = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
            Ok(Box::new(CpuEngine::new(workers)))
        }
        DeviceChoice::Cuda => cuda(Ordinals::All),
        DeviceChoice::CudaOrdinal(i) => cuda(Ordinals::One(i)),
        DeviceChoice::Auto => match cuda(Ordinals::First) {
            Err(EngineError::NoCuda(why)) => {
                tracing::debug!("{}", lang::english(why));
                open_engine(DeviceChoice::Cpu)
            }
            Err(why) => {
                tracing::warn!("{}; the CPU computes instead", lang::english(why));
                open_engine(DeviceChoice::Cpu)
            }
            answer => answer,
        },
    }
}

/// Opens an engine after a loss, on the GPUs that still work: all of them, or the first, if that was
/// the choice.
///
/// # Errors
/// No device of the choice can be used.
pub fn reopen_engine(choice: DeviceChoice) -> Result<Box<dyn Engine>> {
    let usable = match choice {
        DeviceChoice::Cuda => CudaEngine::open(Ordinals::AllUsable),
        DeviceChoice::Auto => CudaEngine::open(Ordinals::FirstUsable),
        DeviceChoice::Cpu | DeviceChoice::CudaOrdinal(_) | DeviceChoice::Recorded => {
            return open_engine(choice);
        }
    };
    match (usable, choice) {
        (Ok(engine), _) => {
            for (ordinal, why) in engine.left_out() {
                tracing::warn!("GPU {ordinal} is left out: {}", lang::english(why));
            }
            Ok(Box::new(engine))
        }
        (Err(why), DeviceChoice::Auto) => {
            tracing::debug!("no GPU is left: {}", lang::english(why));
            open_engine(DeviceChoice::Cpu)
        }
        (Err(why), _) => Err(why),
    }
}

/// Opens the devices of a choice by `open` and makes something on them by `make`. With `Auto`, the
/// CPU takes the place of a GPU that opens and then cannot load a kernel or allocate memory.
///
/// # Errors
/// A device of the choice cannot be used, or nothing can be made on it.
pub fn make_on_devices<T>(
    choice: DeviceChoice,
    open: impl Fn(DeviceChoice) -> Result<Box<dyn Engine>>,
    mut make: impl FnMut(Box<dyn Engine>) -> Result<T>,
) -> Result<T> {
    let engine = open(choice)?;
    let may_fall_back = choice == DeviceChoice::Auto && engine.name() != "cpu";
    match make(engine) {
        Err(why) if may_fall_back && why.is_of_device() => {
            tracing::warn!("{}; the CPU computes instead", lang::english(why));
            make(open(DeviceChoice::Cpu)?)
        }
        made => made,
    }
}

/// The cells of a setup's start, as [`Instances::set_lattices`] takes them.
///
/// # Errors
/// The host has no memory for them.
pub fn starts(setup: &Setup, instances: Range<usize>) -> Result<Vec<(usize, NewCells)>> {
    instances
        .map(|i| Ok((i, start_cells(&setup.start, setup.size, i)?)))
        .collect()
}

/// An instance's lattice of a setup's start, on the host.
///
/// # Errors
/// The host has no memory for it.
pub fn start_lattice(setup: &Setup, instance: usize) -> Result<Arc<Lattice>> {
    Ok(start::start_lattice(&setup.start, setup.size, instance)?)
}

/// Which rounds measure the lattices' population and hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measuring {
    /// None.
    Never,
    /// One round in [`SPARSE_ROUNDS`], never a timed one.
    Sparse,
    /// Every round.
    Always,
}

/// With [`Measuring::Sparse`], one round in this many measures. A power of two, as the period of a glider
/// on a torus mostly is: then few measures show the repeat.
pub const SPARSE_ROUNDS: u32 = 16;

/// N lattices on an engine, all at one generation at every round boundary.
pub struct Instances {
    engine: Box<dyn Engine>,
    /// The plan of a round, and a second one while rounds of two settings are compared: either B's,
    /// for other instances than A's, or the alternative, for the same.
    plans: Vec<RoundPlan>,
    /// Which plan is in use: the next round has it.
    in_use: Side,
    /// During a comparison of A and B, who has yet to make the second round of a pair, and its
    /// generations.
    behind: Option<(Side, u32)>,
    /// The longest rounds allowed of each plan.
    longest: [RoundLength; 2],
    /// The pictures that the drawing side requested.
    request: Option<PicturePlan>,
    /// The last request for a reduced view: only the drawing side knows of which region.
    last_view: Option<PicturePlan>,
    size: Size,
    /// Number of lattices.
    count: usize,
    /// The generation of all instances but those that are behind, as of the last submission.
    generation: u64,
    measuring: Measuring,
    /// Rounds since the last one that measured.
    rounds_since_measure: u32,
    /// The number of the last edit that was applied.
    edit_number: u64,
    slots: Arc<dyn Slots>,
    spec: SlotsSpec,
    in_flight: VecDeque<InFlight>,
    prepared: HashMap<PreparedKey, (PreparedId, Arc<[StepFacts]>)>,
    /// The programs of rounds, by slot, generations, plan and whether they measure. Cleared when a
    /// setting changes.
    programs: HashMap<(Slot, u32, Side, bool), Arc<Program>>,
    completions: Vec<Completion>,
    /// The streams of each way of sharing them, once created.
    streams: [Option<Vec<StreamId>>; 3],
    /// The round that a user wrote.
    own_round: Option<Arc<OwnRound>>,
    own_streams: OwnStreams,
    /// When the last round ended.
    ended: Option<Instant>,
    /// Whether every second timed round records block timestamps.
    block_timestamps: bool,
    /// Number of timed rounds.
    timed: u64,
    calibration: Option<Calibration>,
}

impl Instances {
    /// Creates the instances of a setup on an engine, with all cells dead, at generation 0;
    /// [`Instances::start`] or [`Instances::set_lattices`] sets their cells. `whole_slots` is the
    /// number of host slots for copies of whole lattices.
    ///
    /// # Errors
    /// The kernel does not accept the size or a device, or memory is lacking.
    pub fn new(engine: Box<dyn Engine>, setup: &Setup, whole_slots: u8) -> Result<Instances> {
        Instances::on(engine, setup, whole_slots).map_err(|(_, error)| error)
    }

    /// The same, but with the engine's memory freed first: instances of another size or number in the
    /// place of these, on the same contexts.
    ///
    /// # Errors
    /// The error, with the engine, which has no lattices then, unless the error says that it is lost.
    pub fn replaced(mut self, setup: &Setup) -> Result<Instances, (Box<dyn Engine>, EngineError)> {
        let whole_slots = self.spec.snapshots;
        if let Err(error) = self.engine.clear() {
            return Err((self.engine, error.into_lost()));
        }
        // What was allocated before the error would stay beside the lattices that come after it.
        Instances::on(self.engine, setup, whole_slots).map_err(|(mut engine, error)| {
            let error = engine
                .clear()
                .map_or_else(EngineError::into_lost, |()| error);
            (engine, error)
        })
    }

    /// [`Instances::new`], which gives the engine back with an error.
    pub fn on(
        engine: Box<dyn Engine>,
        setup: &Setup,
        whole_slots: u8,
    ) -> Result<Instances, (Box<dyn Engine>, EngineError)> {
        let mut engine = split::arranged(engine, setup)?;
        let spec = SlotsSpec {
            pinned: 0,
            pageable: 0,
            picture_words: 0,
            snapshots: whole_slots,
            measures: MEASURE_SLOTS,
        };
        let (streams, slots) = match allocate(&mut *engine, setup, spec) {
            Ok(allocated) => allocated,
            Err(error) => return Err((engine, error)),
        };
        let devices = one_of_each_device(&streams, engine.places());
        let mut made = [None, None, None];
        made[setup.switches.streams.sharing() as usize] = Some(streams.clone());
        let mut instances = Instances {
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
                own: None,
            }],
            in_use: Side::A,
            behind: None,
            longest: [longest_round(setup.kernel, setup.size, setup.instances); 2],
            request: None,
            last_view: None,
            size: setup.size,
            count: setup.instances,
            generation: 0,
            measuring: Measuring::Never,
            rounds_since_measure: 0,
            edit_number: 0,
            slots,
            spec,
            in_flight: VecDeque::new(),
            prepared: HashMap::new(),
            programs: HashMap::new(),
            completions: Vec::new(),
            streams: made,
            own_round: setup.own_round.clone(),
            own_streams: OwnStreams::default(),
            ended: None,
            block_timestamps: false,
            timed: 0,
            calibration: None,
        };
        match instances.plan_own_round() {
            Ok(()) => Ok(instances),
            Err(error) => Err((instances.engine, error)),
        }
    }

    /// Sets every lattice to the setup's start, and the generation to the start's. If the setup
    /// leaves the kernel open, picks one and enters it there.
    pub fn start(&mut self, setup: &mut Setup) -> Result<()> {
        match setup.kernel_choice {
            KernelChoice::Auto => {
                let generations = setup.generations_per_round;
                let requested = Requested::all_but_the_kernel(setup.switches, generations);
                self.start_fastest(setup, &requested, None)?;
            }
            KernelChoice::AutoWithSubmission => {
                let requested = Requested::switches(setup.switches);
                let plan = self.start_fastest(setup, &requested, None)?;
                setup.generations_per_round = plan.rounds(Pace::FRAME).generations();
            }
            KernelChoice::Explicit | KernelChoice::FirstFitting | KernelChoice::Estimated => {
                self.set_lattices(starts(setup, 0..setup.instances)?)?;
                self.set_generation(setup.start.generation());
            }
        }
        Ok(())
    }

    /// The engine, for its facts and figures.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The plan in use: the next round has it.
    pub fn plan(&self) -> &RoundPlan {
        &self.plans[self.in_use as usize]
    }

    /// The instances' own plan, whether it is in use or not; A's during a comparison.
    pub fn own_plan(&self) -> &RoundPlan {
        &self.plans[0]
    }

    /// The kernel of the user's own that a plan has, if one has.
    pub fn own_kernel(&self) -> Option<&'static Kernel> {
        let mut kernels = self.plans.iter().map(|plan| plan.kernel);
        kernels.find(|kernel| kernel.own.is_some())
    }

    /// The plan that steps an instance, or the one in use if none does.
    #[cfg(test)]
    pub fn plan_of(&self, instance: usize) -> &RoundPlan {
        let mut plans = self.sides_in_turn().map(|side| &self.plans[side as usize]);
        plans
            .find(|plan| plan.instances.contains(&instance))
            .unwrap_or(self.plan())
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.count
    }

    /// The size of every lattice.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The generation of the instances, as of the last round issued. In a comparison it is that of
    /// A or B, whichever went first and may be a round ahead. A round that is calibrated is counted
    /// once all its launches are issued.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Sets the generation of all lattices. A round that was issued by A or B alone is forgotten.
    pub fn set_generation(&mut self, generation: u64) {
        self.generation = generation;
        self.forget_round();
    }

    /// The host slots.
    pub fn slots(&self) -> &Arc<dyn Slots> {
        &self.slots
    }

    /// Whether nothing is in flight and no calibration is under way.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.calibration.is_none()
    }

    /// How long the engine has been at work without completing anything.
    pub fn working_time(&self) -> Duration {
        let first = self.in_flight.front().map(|first| first.issued);
        let since = first.map(|issued| self.ended.map_or(issued, |ended| ended.max(issued)));
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Number of rounds and other programs in flight.
    pub fn depth(&self) -> usize {
        self.in_flight.len()
    }

    /// Bytes that a round transfers to the host; in a comparison, a round of A.
    pub fn bytes_per_round(&self) -> u64 {
        let plan = self.own_plan();
        let words = plan.picture.map_or(0, |p| self.picture_words(p));
        // Each band of a lattice counts in all pixels of a view.
        let bands = |cut: Cut| self.engine.devices().len() * cut.per_device as usize;
        let parts = match plan.picture.map(|picture| picture.transfer) {
            Some(Transfer::View) => self.engine.cut().map_or(1, bands),
            _ => 1,
        };
        (words * parts * 4 * plan.downloads().len()) as u64
    }

    /// Bytes of all lattices at 1 bit per cell.
    pub fn all_bits(&self) -> u64 {
        4 * self.size.words() as u64 * self.instances() as u64
    }

    /// Gives up what is under way, after a submission that failed midway: waits until nothing
    /// runs, and forgets what was in flight (its events never come), prepared programs and a
    /// round that was issued by A or B alone. The cells are unknown then, until
    /// [`Instances::set_lattices`] has set all of them; so is the generation.
    ///
    /// # Errors
    /// The engine is lost.
    pub fn abandon(&mut self) -> Result<()> {
        self.forget_prepared();
        self.forget_round();
        self.calibration = None;
        self.ended = None;
        self.in_flight.clear();
        self.engine.synchronize()?;
        self.engine
            .poll(&mut self.completions)
            .map_err(EngineError::into_lost)?;
        self.completions.clear();
        // A change of kernels that failed may have left another layout's memory.
        self.engine.reserve(self.plan().kernel.layout)
    }

    /// Forgets a round issued by A or B alone: the next round is A's, and both are at the same
    /// generation.
    fn forget_round(&mut self) {
        self.behind = None;
        if self.is_comparing() {
            self.in_use = Side::A;
        }
    }

    /// The size of an instance's picture in 32-bit words.
    fn picture_words(&self, picture: PicturePlan) -> usize {
        match picture.transfer {
            Transfer::Bits => self.size.words(),
            Transfer::Rows { count, .. } => self.size.words_per_row() * count as usize,
            Transfer::View => self.engine.view_words(picture.region),
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

/// Creates the streams, lattices and slots of a setup on an engine that has none.
fn allocate(
    engine: &mut dyn Engine,
    setup: &Setup,
    spec: SlotsSpec,
) -> Result<(Vec<StreamId>, Arc<dyn Slots>)> {
    validate_kernel(engine, setup.kernel, setup.size)?;
    ensure_host_memory(engine, setup, spec.snapshots)?;
    let streams = make_streams(engine, setup.instances, setup.switches.streams)?;
    for (device, count) in shares(setup.instances, engine.places()) {
        engine.create_lattices(device, count, setup.size)?;
    }
    engine.reserve(setup.kernel.layout)?;
    Ok((streams, engine.allocate_slots(spec)?))
}

/// Checks that a kernel steps lattices of this size, whole ones and those of the devices, and that
/// every device can run it.
///
/// # Errors
/// The reason if not.
pub fn validate_kernel(engine: &dyn Engine, kernel: &Kernel, size: Size) -> Result<()> {
    // Lattices in bands become whole where one device is left, or another program opens them.
    kernel.validate_size(size)?;
    engine.stepped_sizes(size).into_iter().try_for_each(|size| {
        kernel.validate_size(size)?;
        let mut devices = engine.devices().iter();
        devices.try_for_each(|device| kernel.validate_device(device, size))
    })
}

/// Checks that the host has memory for a setup before any is allocated: for every start that is not
/// made on the device and its copy on the way there, the slots and, on the CPU engine, the lattices.
/// Without the check, the system would kill the process without a message.
fn ensure_host_memory(engine: &dyn Engine, setup: &Setup, whole_slots: u8) -> Result<()> {
    let layout = (engine.name() == "cpu").then_some(setup.kernel.layout);
    let copies = match setup.start {
        Start::Soup { .. } => 0,
        Start::Lattices { .. } => 2,
    };
    Ok(ensure_room(
        setup.size,
        setup.instances,
        layout,
        copies + u64::from(whole_slots),
    )?)
}

/// Checks that the host has memory for this many lattices of this size: `copies` of the bits of each,
/// and those that the CPU steps in `layout`; with `None`, the lattices are on a GPU or the engine is
/// not known yet.
///
/// # Errors
/// What was needed, what is free, and what fits.
pub fn ensure_room(
    size: Size,
    instances: usize,
    layout: Option<Layout>,
    copies: u64,
) -> Result<(), MemoryError> {
    let bytes = |size: Size| {
        let bits = size.words() as u64 * 4;
        let cells = match layout {
            Some(Layout::I32) => 2 * bits + 8 * size.cells(),
            Some(Layout::Bits) => 2 * bits,
            Some(Layout::Planar) => 2 * bits + 8 * Layout::Planar.words(size) as u64,
            None => 0,
        };
        let one = cells + copies * bits;
        one.saturating_mul(instances as u64)
    };
    life::memory::ensure(size, bytes, || {
        message!(
            "{} of {} with their starts",
            counted_lattices(instances),
            size
        )
    })
}

/// The devices and the number of instances of each: consecutive instances share a device.
fn shares(instances: usize, devices: usize) -> impl Iterator<Item = (DeviceId, usize)> {
    let share = move |device: usize| device * instances / devices;
    (0..devices)
        .map(move |device| (DeviceId(device as u16), share(device + 1) - share(device)))
        .filter(|(_, count)| *count > 0)
}
