//! Lattices on their engine: makes what settings need, issues rounds, and turns completions into events.
//!
//! A [`Sim`] has no setting. It knows of every lattice where its cells are (generation, layout, stream)
//! and what is allocated (streams, one layout besides the bits, host slots, graphs). These are facts about
//! the engine, true after every call, also one that failed: there is nothing to roll back. A setting that
//! the engine has no memory for leaves the lattices as bits, and the next round converts them again.
//!
//! Generations are counted only once the engine has accepted what steps them. After an error that may have
//! left half of a program done ([`EngineError::loses_lattices`], or a failed call of the driver) nothing
//! is counted and the cells are unknown: [`Sim::abandon`], then [`Sim::set_lattices`] with all of them.

use std::collections::VecDeque;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::fastest::{Requested, RoundLength};
use crate::round::{Setting, Share, shares};
use crate::start::{self, NewCells, start_cells};
use crate::{DeviceChoice, KernelChoice, Pace, PicturePlan, Setup, Start, Switches};
use calibrate::Calibration;
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::{
    Completion, Cut, Engine, EngineError, Kernel, Layout, Measure, ReduceRegion, Result, Slots,
    SlotsSpec, StreamId, Transfer,
};
use issue::{Graph, InFlight, Made, make_streams};
use lang::message;
use life::{Lattice, MemoryError, Rule, Size, counted_lattices};

mod calibrate;
mod cells;
mod events;
mod fastest;
mod issue;
mod results;
mod split;
#[cfg(test)]
mod tests;

pub use cells::read_lattice;
pub use events::{Event, RoundMeasures};
pub use issue::MAX_GRAPH_LAUNCHES;
#[cfg(test)]
pub use issue::limit;
pub use results::Results;

/// Picture slots per instance: one being drawn, the newest, one being filled.
pub const PICTURE_SLOTS: u8 = 3;

/// Measure slots per instance: one for each picture slot.
pub const MEASURE_SLOTS: u8 = PICTURE_SLOTS;

/// Rounds in flight at once: the next is queued while one runs, so the device never waits for the
/// host.
pub const MAX_IN_FLIGHT: usize = 2;

/// Opens an engine on every device of a choice; `Auto` is the first GPU, or the CPU if that cannot be
/// used.
///
/// # Errors
/// A device of the choice cannot be used.
pub fn open_engine(choice: DeviceChoice) -> Result<Box<dyn Engine>> {
    open(choice, [Ordinals::All, Ordinals::First])
}

/// Opens an engine after a loss, on the GPUs that still work: all of them, or the first, if that was
/// the choice.
///
/// # Errors
/// No device of the choice can be used.
pub fn reopen_engine(choice: DeviceChoice) -> Result<Box<dyn Engine>> {
    open(choice, [Ordinals::AllUsable, Ordinals::FirstUsable])
}

/// Opens an engine; the ordinals say what all GPUs are, and which one is the first.
fn open(choice: DeviceChoice, [all, first]: [Ordinals; 2]) -> Result<Box<dyn Engine>> {
    let is_again = matches!(first, Ordinals::FirstUsable);
    let ordinals = match choice {
        DeviceChoice::Cpu | DeviceChoice::Recorded => {
            let workers = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
            return Ok(Box::new(CpuEngine::new(workers)));
        }
        DeviceChoice::Cuda => all,
        DeviceChoice::CudaOrdinal(i) => Ordinals::One(i),
        DeviceChoice::Auto => first,
    };
    match CudaEngine::open(ordinals) {
        Err(why) if choice == DeviceChoice::Auto => {
            if is_again || matches!(why, EngineError::NoCuda(_)) {
                tracing::debug!("no GPU can be used: {}", lang::english(why));
            } else {
                tracing::warn!("{}; the CPU computes instead", lang::english(why));
            }
            open_engine(DeviceChoice::Cpu)
        }
        Err(why) => Err(why),
        Ok(engine) => {
            for (ordinal, why) in engine.left_out() {
                tracing::warn!("GPU {ordinal} is left out: {}", lang::english(why));
            }
            Ok(Box::new(engine))
        }
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

/// The cells of a setup's start, as [`Sim::set_lattices`] takes them.
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

/// Where a lattice is, once all issued work is done.
#[derive(Clone, Copy)]
struct LatticeFacts {
    generation: u64,
    layout: Layout,
    /// The stream of the last work on it. All earlier work on it comes before that.
    stream: StreamId,
    /// Whether it has cells: not before the first ones are set, nor after [`Sim::abandon`].
    is_set: bool,
}

/// Lattices on an engine. See the module.
pub struct Sim {
    engine: Box<dyn Engine>,
    size: Size,
    rule: Rule,
    lattices: Vec<LatticeFacts>,
    /// The layout that memory is allocated for besides [`Layout::Bits`].
    reserved: Layout,
    made: Made,
    slots: Arc<dyn Slots>,
    spec: SlotsSpec,
    /// The latest used last.
    graphs: Vec<Graph>,
    /// The view that was last reduced, and of which lattice alone.
    viewed: Option<(ReduceRegion, Option<usize>)>,
    in_flight: VecDeque<InFlight>,
    completions: Vec<Completion>,
    /// The longest rounds allowed of a kernel and switches.
    longest: Vec<(&'static Kernel, Switches, RoundLength)>,
    /// When the last round ended.
    ended: Option<Instant>,
    /// Number of timed rounds.
    timed: u64,
    calibration: Option<Calibration>,
}

impl Sim {
    /// Creates the lattices of a setup on an engine, without cells, at generation 0; [`Sim::start`] or
    /// [`Sim::set_lattices`] sets them. `whole_slots` is the number of host slots for copies of whole
    /// lattices.
    ///
    /// # Errors
    /// The kernel does not accept the size or a device, or memory is lacking.
    pub fn new(engine: Box<dyn Engine>, setup: &Setup, whole_slots: u8) -> Result<Sim> {
        Sim::on(engine, setup, whole_slots).map_err(|(_, error)| error)
    }

    /// The same, but with the engine's memory freed first: lattices of another size or number in the
    /// place of these, on the same contexts.
    ///
    /// # Errors
    /// The error, with the engine, which has no lattices then, unless the error says that it is lost.
    pub fn replaced(mut self, setup: &Setup) -> Result<Sim, (Box<dyn Engine>, EngineError)> {
        let whole_slots = self.spec.snapshots;
        if let Err(error) = self.engine.clear() {
            return Err((self.engine, error.into_lost()));
        }
        // What was allocated before the error would stay beside the lattices that come after it.
        Sim::on(self.engine, setup, whole_slots).map_err(|(mut engine, error)| {
            let error = engine
                .clear()
                .map_or_else(EngineError::into_lost, |()| error);
            (engine, error)
        })
    }

    /// [`Sim::new`], which gives the engine back with an error.
    pub fn on(
        engine: Box<dyn Engine>,
        setup: &Setup,
        whole_slots: u8,
    ) -> Result<Sim, (Box<dyn Engine>, EngineError)> {
        let mut engine = split::arranged(engine, setup)?;
        let spec = SlotsSpec {
            snapshots: whole_slots,
            measures: MEASURE_SLOTS,
            ..SlotsSpec::default()
        };
        let (streams, slots) = match allocate(&mut *engine, setup, spec) {
            Ok(allocated) => allocated,
            Err(error) => return Err((engine, error)),
        };
        let lattice = |&stream: &StreamId| LatticeFacts {
            generation: 0,
            layout: setup.kernel.layout,
            stream,
            is_set: false,
        };
        let lattices: Vec<_> = streams.iter().map(lattice).collect();
        let mut made = Made::default();
        made.of[setup.switches.streams.sharing() as usize] = Some(streams);
        let mut sim = Sim {
            engine,
            size: setup.size,
            rule: setup.rule,
            lattices,
            reserved: setup.kernel.layout,
            made,
            slots,
            spec,
            graphs: Vec::new(),
            viewed: None,
            in_flight: VecDeque::new(),
            completions: Vec::new(),
            longest: Vec::new(),
            ended: None,
            timed: 0,
            calibration: None,
        };
        match sim.ensure(&[sim.all(&Setting::of(setup), None)]) {
            Ok(_) => Ok(sim),
            Err(error) => Err((sim.engine, error)),
        }
    }

    /// All lattices, stepped with this setting.
    pub fn all(&self, setting: &Setting, picture: Option<PicturePlan>) -> Share {
        setting.share(0..self.lattices.len(), picture)
    }

    /// Sets every lattice to the setup's start, and the generation to the start's. If the setup
    /// leaves the kernel open, picks one and enters it there. Rounds will download this picture.
    pub fn start(&mut self, setup: &mut Setup, picture: Option<PicturePlan>) -> Result<()> {
        match setup.kernel_choice {
            KernelChoice::Auto => {
                let generations = setup.generations_per_round;
                let requested = Requested::all_but_the_kernel(&Setting::of(setup), generations);
                self.start_fastest(setup, &requested, None, picture)?;
            }
            KernelChoice::AutoWithSubmission => {
                let requested = Requested::switches(&Setting::of(setup));
                let plan = self.start_fastest(setup, &requested, None, picture)?;
                setup.generations_per_round = plan.rounds(Pace::FRAME).generations();
            }
            KernelChoice::Explicit | KernelChoice::FirstFitting | KernelChoice::Estimated => {
                self.ensure_at_rest(&[self.all(&Setting::of(setup), picture)])?;
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

    /// Number of lattices.
    pub fn instances(&self) -> usize {
        self.lattices.len()
    }

    /// The size of every lattice.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The rule of every lattice.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The generation of a lattice, as of the last program issued.
    pub fn generation(&self, lattice: usize) -> u64 {
        self.lattices[lattice].generation
    }

    /// Sets the generation of all lattices.
    pub fn set_generation(&mut self, generation: u64) {
        let lattices = self.lattices.iter_mut();
        lattices.for_each(|it| it.generation = generation);
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

    /// Bytes that a share's round transfers to the host.
    pub fn bytes_per_round(&self, share: &Share) -> u64 {
        let words = share.picture.map_or(0, |p| self.picture_words(p));
        // Each band of a lattice counts in all pixels of a view.
        let bands = |cut: Cut| self.engine.devices().len() * cut.per_device as usize;
        let parts = match share.picture.map(|picture| picture.transfer) {
            Some(Transfer::View) => self.engine.cut().map_or(1, bands),
            _ => 1,
        };
        (words * parts * 4 * share.downloads().len()) as u64
    }

    /// Bytes of all lattices at 1 bit per cell.
    pub fn all_bits(&self) -> u64 {
        4 * self.size.words() as u64 * self.instances() as u64
    }

    /// Gives up what is under way, after a submission that failed midway: waits until nothing runs, and
    /// forgets what was in flight (its events never come). The lattices have no cells then, until
    /// [`Sim::set_lattices`] has set all of them.
    ///
    /// # Errors
    /// The engine is lost.
    pub fn abandon(&mut self) -> Result<()> {
        self.release_graphs(|_| false);
        self.calibration = None;
        self.ended = None;
        self.in_flight.clear();
        self.lattices.iter_mut().for_each(|it| it.is_set = false);
        self.engine.synchronize()?;
        self.engine
            .poll(&mut self.completions)
            .map_err(EngineError::into_lost)?;
        self.completions.clear();
        Ok(())
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
}

/// Creates the streams, lattices and slots of a setup on an engine that has none.
fn allocate(
    engine: &mut dyn Engine,
    setup: &Setup,
    spec: SlotsSpec,
) -> Result<(Vec<StreamId>, Arc<dyn Slots>)> {
    validate_kernel(engine, setup.kernel, setup.size)?;
    // Every start that is not made on the device, and its copy on the way there.
    let starts = match setup.start {
        Start::Soup { .. } => 0,
        Start::Lattices { .. } => 2,
    };
    let layout = (engine.name() == "cpu").then_some(setup.kernel.layout);
    let copies = starts + u64::from(spec.snapshots);
    ensure_room(setup.size, setup.instances, layout, copies)?;
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

/// Checks that the host has memory for this many lattices of this size before any is allocated, since the
/// system would kill the process without a message: `copies` of the bits of each,
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
