//! Lattices on their engine, made from a setup: engines that are opened, the start, and the fastest plan.

use super::{
    LatticeFacts, MEASURE_SLOTS, Made, Round, Share, Sim, make_streams, shares, validate_kernel,
};
use crate::fastest::{FastestPlan, Requested, RoundLength, Work};
use crate::log::SessionParameters;
use crate::{DeviceChoice, KernelChoice, Pace, PicturePlan, Setting, Setup, Split, Start};
use engine::cpu::CpuEngine;
use engine::cuda::{CudaEngine, Ordinals};
use engine::{
    Band, Cut, Engine, EngineError, Layout, Program, Result, Slot, Slots, SlotsSpec, SplitEngine,
    StreamId, Transfer,
};
use lang::message;
use life::{Lattice, MemoryError, Size, counted_lattices};
use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// Opens an engine on every device of a choice; `Auto` is the first GPU, or the CPU if that cannot be
/// used.
///
/// # Errors
/// A device of the choice cannot be used.
pub fn open_engine(choice: DeviceChoice) -> Result<Box<dyn Engine>> {
    open(choice, false)
}

/// Opens an engine; again after a loss, on the GPUs that still work: all of them, or the first, if that was
/// the choice.
///
/// # Errors
/// No device of the choice can be used.
pub fn open(choice: DeviceChoice, is_again: bool) -> Result<Box<dyn Engine>> {
    let [all, first] = if is_again {
        [Ordinals::AllUsable, Ordinals::FirstUsable]
    } else {
        [Ordinals::All, Ordinals::First]
    };
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
            for (ordinal, why) in &engine.left_out {
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

/// An instance's lattice of a setup's start, on the host.
///
/// # Errors
/// The host has no memory for it.
pub fn start_lattice(setup: &Setup, instance: usize) -> Result<Arc<Lattice>> {
    Ok(setup.start.cells(setup.size, instance)?.lattice(setup.size))
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
        let mut engine = arranged(engine, setup)?;
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
            layout: setup.setting.kernel.layout,
            stream,
            is_set: false,
        };
        let lattices: Vec<_> = streams.iter().map(lattice).collect();
        let mut made = Made::default();
        made.of[setup.setting.switches.streams.sharing() as usize] = Some(streams);
        let mut sim = Sim {
            engine,
            size: setup.size,
            rule: setup.rule,
            lattices,
            reserved: setup.setting.kernel.layout,
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
        match sim.ensure(&[sim.all(&setup.setting, None)]) {
            Ok(_) => Ok(sim),
            Err(error) => Err((sim.engine, error)),
        }
    }

    /// All lattices, stepped with this setting.
    pub fn all(&self, setting: &Setting, picture: Option<PicturePlan>) -> Share {
        Share {
            lattices: 0..self.lattices.len(),
            setting: setting.clone(),
            picture,
        }
    }

    /// Sets every lattice to the setup's start, and the generation to the start's. If the setup
    /// leaves the kernel open, picks one and enters it there. Rounds will download this picture.
    pub fn start(&mut self, setup: &mut Setup, picture: Option<PicturePlan>) -> Result<()> {
        match setup.kernel_choice {
            KernelChoice::Auto => {
                let generations = setup.generations_per_round;
                let requested = Requested::all_but_the_kernel(&setup.setting, generations);
                self.start_fastest(setup, &requested, None, picture)?;
            }
            KernelChoice::AutoWithSubmission => {
                let requested = Requested::switches(&setup.setting);
                let plan = self.start_fastest(setup, &requested, None, picture)?;
                setup.generations_per_round = plan.rounds(Pace::FRAME).generations();
            }
            KernelChoice::Explicit | KernelChoice::FirstFitting | KernelChoice::Estimated => {
                self.ensure_at_rest(&[self.all(&setup.setting, picture)])?;
                self.set_to_start(setup)?;
            }
        }
        Ok(())
    }

    /// Sets every lattice to the setup's start, and the generation to the start's.
    pub fn set_to_start(&mut self, setup: &Setup) -> Result<()> {
        self.set_lattices(SessionParameters::of(setup).all_start_cells()?)?;
        self.set_generation(setup.start.generation());
        Ok(())
    }

    /// Loads the functions and memory of a share's rounds, so that the first takes no longer than others.
    pub fn load(&mut self, share: &Share) -> Result<()> {
        let program = self.shortest_round(share);
        self.engine.load(&program)
    }

    /// Has what these shares' rounds launch compiled in the background.
    pub fn compile_in_background(&mut self, shares: &[Share]) {
        for share in shares {
            let made = self.make_streams_of(&share.setting);
            let begun = made.and_then(|()| {
                let program = self.shortest_round(share);
                self.engine.compile_in_background(&program)
            });
            if let Err(why) = begun {
                // The next round says why.
                tracing::debug!("nothing is compiled: {}", lang::english(why));
            }
        }
    }

    /// A share's round of one generation.
    fn shortest_round(&self, share: &Share) -> Program {
        self.program(&Round {
            share: share.clone(),
            rule: self.rule,
            generations: 1,
            slot: Slot(0),
            measures: None,
        })
    }

    /// How long the engine has been at work without completing anything.
    pub fn working_time(&self) -> Duration {
        let first = self.in_flight.front().map(|first| first.issued);
        let since = first.map(|issued| self.ended.map_or(issued, |ended| ended.max(issued)));
        since.map_or(Duration::ZERO, |since| since.elapsed())
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
        self.size.bytes() * self.instances() as u64
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
}

/// Creates the streams, lattices and slots of a setup on an engine that has none.
fn allocate(
    engine: &mut dyn Engine,
    setup: &Setup,
    spec: SlotsSpec,
) -> Result<(Vec<StreamId>, Arc<dyn Slots>)> {
    validate_kernel(engine, setup.setting.kernel, setup.size)?;
    // Every start that is not made on the device, and its copy on the way there.
    let starts = match setup.start {
        Start::Soup { .. } => 0,
        Start::Lattices { .. } => 2,
    };
    let layout = (engine.name() == "cpu").then_some(setup.setting.kernel.layout);
    let copies = starts + u64::from(spec.snapshots);
    ensure_room(setup.size, setup.instances, layout, copies)?;
    let streams = make_streams(engine, setup.instances, setup.setting.switches.streams)?;
    for (device, count) in shares(setup.instances, engine.places()) {
        engine.create_lattices(device, count, setup.size)?;
    }
    engine.reserve(setup.setting.kernel.layout)?;
    Ok((streams, engine.allocate_slots(spec)?))
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
        let bits = size.bytes();
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

// Enters the fastest plan by the estimate, and the next one where that cannot be.

impl Sim {
    /// What decides which plan is the fastest, with this many `generations` to do if that is known.
    fn work(&self, generations: Option<u64>) -> Work<'_> {
        let devices = self.engine().devices();
        // Each device has bands of every lattice.
        let cut = self.engine.cut();
        let largest = self.engine.stepped_sizes(self.size).first().copied();
        Work {
            devices,
            size: largest.unwrap_or(self.size),
            instances: self.instances() * cut.map_or(1, |_| devices.len()),
            bands: cut.map_or(1, |cut| cut.per_device as usize),
            generations,
        }
    }

    /// The plans that respect what was requested, the fastest by the estimate first, for as many
    /// generations as one likes.
    pub fn plans(&self, requested: &Requested) -> Vec<FastestPlan> {
        FastestPlan::all(&self.work(None), requested)
    }

    /// The lengths of rounds of a setting that should take `target` each, from the present number of
    /// generations on.
    pub fn round_length(
        &self,
        setting: &Setting,
        target: Duration,
        generations: u32,
    ) -> RoundLength {
        let launches = setting.max_launches(self.work(None).instances_per_device());
        RoundLength::adapting(setting.kernel, launches, target, generations)
    }

    /// Enters the fastest plan that respects what was requested, with `generations` to do if that
    /// is known; then sets every lattice to the setup's start. Rounds will download this picture. The setup
    /// says afterwards what was entered.
    ///
    /// # Errors
    /// The engine cannot enter any such plan, or memory is lacking for the start.
    pub fn start_fastest(
        &mut self,
        setup: &mut Setup,
        requested: &Requested,
        generations: Option<u64>,
        picture: Option<PicturePlan>,
    ) -> Result<FastestPlan> {
        let plans = FastestPlan::all(&self.work(generations), requested);
        let none = message!("no kernel fits these lattices and options");
        let mut result = Err(EngineError::InvalidProgram(none));
        for plan in plans {
            let share = self.all(&plan.setting, picture);
            let entered = self
                .ensure_at_rest(std::slice::from_ref(&share))
                .and_then(|()| self.enter(&share));
            result = entered.map(|()| plan);
            match &result {
                Err(error) if is_of_this_plan(error) => {
                    let name = share.setting.kernel.name;
                    tracing::warn!("kernel '{name}' is not taken: {}", lang::english(error));
                    // Which lattices are in which layout is unknown, and so are their cells.
                    self.abandon()?;
                }
                Ok(_) | Err(_) => break,
            }
        }
        let plan = result?;
        setup.setting = plan.setting.clone();
        setup.kernel_choice = plan.kernel_choice;
        self.set_to_start(setup)?;
        Ok(plan)
    }
}

/// Whether another plan may do better.
fn is_of_this_plan(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::OutOfMemory { .. }
            | EngineError::DriverOutOfMemory(_)
            | EngineError::PartiallyApplied(_)
            | EngineError::Driver(_)
    )
}

// Whether lattices lie on one device each, or in bands on all devices.

/// Cells of a lattice from which on several devices step it faster than one: below, the copies of its
/// halos take longer than stepping.
const MIN_CELLS: u64 = 1 << 28;

/// How the lattices of a setup are to be cut, if they are to lie on all of so many devices.
fn cut(setup: &Setup, devices: usize) -> Option<Cut> {
    let cut = Cut::of(setup.size, devices);
    let takes_bands = || {
        let bands = Band::divide(setup.size, devices, cut);
        let mut sizes = bands.iter().map(|band| band.size());
        sizes.all(|size| size.is_ok_and(|size| setup.setting.kernel.supports(size)))
    };
    let is_split = devices > 1
        && match setup.split {
            Split::On => true,
            Split::Off => false,
            Split::Auto => {
                setup.instances < devices && setup.size.cells() >= MIN_CELLS && takes_bands()
            }
        };
    is_split.then_some(cut)
}

/// The engine, without lattices, as a setup wants lattices on its devices. One that has this cut already
/// keeps what it knows of copies between its devices.
fn arranged(
    engine: Box<dyn Engine>,
    setup: &Setup,
) -> Result<Box<dyn Engine>, (Box<dyn Engine>, EngineError)> {
    match cut(setup, engine.devices().len()) {
        wanted if wanted == engine.cut() => Ok(engine),
        Some(cut) => Ok(Box::new(SplitEngine::new(engine.unsplit(), cut)?)),
        None => Ok(engine.unsplit()),
    }
}

#[cfg(test)]
mod split_tests {
    use super::*;
    use crate::DeviceChoice;
    use engine::kernels;
    use life::Size;

    #[test]
    fn few_large_lattices_are_split() {
        const LARGE: u64 = 1 << 14;
        for (instances, side, split, devices, want) in [
            (1, LARGE, Split::Auto, 2, true),
            (2, LARGE, Split::Auto, 2, false),
            (3, LARGE, Split::Auto, 4, true),
            (1, LARGE, Split::Auto, 1, false),
            (1, LARGE, Split::Off, 2, false),
            (1, LARGE - 1, Split::Auto, 2, false),
            (9, 8, Split::On, 2, true),
            (9, 8, Split::On, 1, false), // all but one GPU are lost
        ] {
            let (size, kernel) = (Size::new(side, side).unwrap(), kernels::find("bits"));
            let setup = Setup {
                split,
                ..Setup::new(instances, size, kernel.unwrap(), DeviceChoice::Cuda)
            };
            let cut = cut(&setup, devices);
            let want = want.then(|| Cut::of(setup.size, devices));
            assert_eq!(cut, want, "{setup:?} on {devices}");
        }
    }
}
