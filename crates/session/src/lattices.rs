//! What rounds step: the lattices on their engine, the settings by which they are stepped, of a change both
//! (`Trial`), and how another engine is made in the place of one that is lost.
//!
//! The engine has no setting: each round is given one. A change asks the engine first, and takes the setting
//! afterwards; so a refused one has changed nothing.

use crate::fastest::{FastestPlan, Requested};
use crate::instances::{Sim, make_on_devices, open_engine, reopen_engine};
use crate::log::{Position, SessionParameters};
use crate::recording::{RecordedGroup, RecordedSetting, Recording, RoundWork};
use crate::setup::{Pacing, part_of_round};
use crate::{
    DeviceChoice, EngineStatus, Finding, KernelChoice, Order, OwnOrder, PicturePlan, Pictures,
    Setting, SettingStatus, Setup, Share, Side, Source, SwitchContext, Switches, TransferChoice,
    default_kernels,
};
use engine::kernels::{KERNELS, Kernel};
use engine::{Engine, EngineError, Layout, Result, Transfer, kernels};
use experiment::{Executor, Plan, Round};
use lang::Message;
use life::Size;
use platform::{Usage, usage};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Number of page-locked slots for copies of all lattices.
pub(crate) const SNAPSHOT_SLOTS: u8 = 2;

/// Largest lattice, in 32-bit words, downloaded whole before the drawing side says what it wants.
const MAX_PICTURE_WORDS: usize = 1 << 24;

/// How engines are opened; tests replace it.
pub(crate) struct Engines {
    /// On the devices of a choice.
    pub(crate) open: Box<dyn Fn(DeviceChoice) -> Result<Box<dyn Engine>>>,
    /// On those devices of a choice that still work, after a loss.
    pub(crate) reopen: Box<dyn Fn(DeviceChoice) -> Result<Box<dyn Engine>>>,
}

impl Default for Engines {
    fn default() -> Engines {
        Engines {
            open: Box::new(open_engine),
            reopen: Box::new(reopen_engine),
        }
    }
}

/// What the user chose, while the fastest setting steps the lattices.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub(crate) setting: Setting,
    pub(crate) kernel_choice: KernelChoice,
    /// The switches of the fastest setting; the user may change them.
    pub(crate) fastest: Switches,
    /// The size and the number of the lattices that `fastest` was estimated for.
    pub(crate) grid: (Size, usize),
}

/// Lattices, or the engine without lattices and why it has none.
type Made = Result<Sim, (Box<dyn Engine>, EngineError)>;

/// The lattices and their settings.
pub(crate) struct Lattices {
    /// `None` only while a lost engine is being replaced, or if the session has ended.
    pub(crate) sim: Option<Sim>,
    /// Size, number of instances, rule and start are those of the position.
    pub(crate) setup: Setup,
    /// What the maximum pace or a run to a generation took the place of.
    pub(crate) chosen: Option<Chosen>,
    /// Two settings that are compared: the setup's, and another one.
    pub(crate) trial: Option<Trial>,
    /// What the drawing side wants to see, and the last view that it asked for: only it knows of which
    /// region.
    pub(crate) view: Option<PicturePlan>,
    last_view: Option<PicturePlan>,
    engines: Engines,
    /// The devices of the present engine, and whether it took the place of a lost one: another one beside it
    /// is opened in the same way.
    pub(crate) device: DeviceChoice,
    is_reopened: bool,
    /// What was recorded on a GPU, if that is shown instead of measurements. The CPU steps the lattices
    /// as fast as it can then, whatever the settings are.
    pub(crate) recording: Option<&'static Recording>,
    pub(crate) losses: Losses,
    /// Until then, work that found no free slot is not tried again.
    pub(crate) retry_at: Option<Instant>,
}

impl Lattices {
    /// Makes a setup's lattices, with all that their first round needs, and the place of their pictures.
    ///
    /// # Errors
    /// A device of the choice cannot be used, or memory is lacking.
    pub(crate) fn new(setup: Setup, engines: Engines) -> Result<(Lattices, Pictures)> {
        let recording = (setup.device == DeviceChoice::Recorded).then(Recording::shipped);
        let make = |engine| match recording {
            None => start(engine, setup.clone()),
            Some(_) => Ok((start(engine, setup_on_cpu(setup.clone()))?.0, setup.clone())),
        };
        let (instances, setup) = make_on_devices(setup.device, &engines.open, make)?;
        // Where the CPU computes because a GPU cannot, it does so for larger lattices, too.
        let device = match (setup.device, instances.engine().name()) {
            (DeviceChoice::Auto, "cpu") => DeviceChoice::Cpu,
            (choice, _) => choice,
        };
        let pictures = Pictures::new(instances.slots().clone(), setup.instances, setup.size);
        let lattices = Lattices {
            sim: Some(instances),
            setup,
            chosen: None,
            trial: None,
            view: None,
            last_view: None,
            engines,
            device,
            is_reopened: false,
            recording,
            losses: Losses::default(),
            retry_at: None,
        };
        Ok((lattices, pictures))
    }

    /// The setting as the user chose it, also while the fastest one steps the lattices, and how its kernel
    /// was chosen.
    pub(crate) fn chosen_setting(&self) -> (Setting, KernelChoice) {
        let now = &self.setup.setting;
        let Some(Chosen {
            setting: before,
            kernel_choice,
            fastest,
            ..
        }) = &self.chosen
        else {
            return (now.clone(), self.setup.kernel_choice);
        };
        // Only what the user changed meanwhile, as far as the chosen kernel takes it.
        let fastest = fastest.fitted_to(now.kernel);
        let changed = before.switches.changed_as(fastest, now.switches);
        let changed = changed.fitted_to(before.kernel);
        let setting = Setting {
            kernel: before.kernel,
            switches: match changed.incompatibility(before.kernel) {
                None => changed,
                Some(_) => before.switches,
            },
            own_round: now.own_round.clone(),
        };
        (setting, *kernel_choice)
    }

    /// The size of the lattices and their number.
    pub(crate) fn grid(&self) -> (Size, usize) {
        (self.setup.size, self.setup.instances)
    }

    /// Whether the fastest setting is to be taken, or the chosen one back.
    pub(crate) fn is_kernel_due(&self, wants_fastest: bool) -> bool {
        match &self.chosen {
            None => wants_fastest,
            Some(chosen) => !wants_fastest || chosen.grid != self.grid(),
        }
    }

    /// The plans for the chosen switches, the fastest by the estimate first.
    pub(crate) fn plans(&self, requested: impl FnOnce(&Setting) -> Requested) -> Vec<FastestPlan> {
        let (mut setting, _) = self.chosen_setting();
        setting.switches.block = None; // it is one kernel's
        if setting.switches.transfer == TransferChoice::Cells {
            setting.switches.transfer = TransferChoice::Auto; // few kernels have cells
        }
        let instances = self.sim.as_ref();
        instances.map_or(Vec::new(), |it| it.plans(&requested(&setting)))
    }

    /// The fastest kernel by the estimate, for rounds of this many generations.
    pub(crate) fn auto_kernel(&self, generations: u32) -> Option<&'static Kernel> {
        let plans = self.plans(|it| Requested::all_but_the_kernel(it, generations));
        Some(plans.first()?.setting.kernel)
    }

    /// Sets what the log says of the lattices.
    pub(crate) fn set_parameters(&mut self, parameters: SessionParameters) {
        self.setup.size = parameters.size;
        self.setup.instances = parameters.instances;
        self.setup.rule = parameters.rule;
        self.setup.start = parameters.start;
    }

    /// The setup with these parameters, and with a kernel that accepts lattices of their size.
    pub(crate) fn setup_for(&self, parameters: &SessionParameters) -> Setup {
        let Setup {
            setting,
            kernel_choice,
            ..
        } = &self.setup;
        let kernel = self.kernel_of(setting, *kernel_choice, parameters.size);
        let mut setup = Setup {
            size: parameters.size,
            instances: parameters.instances,
            rule: parameters.rule,
            start: parameters.start.clone(),
            setting: setting.with_kernel(kernel),
            ..self.setup.clone()
        };
        setup.fit_own_round();
        setup
    }

    /// The kernel of a setting that was chosen so, or another one that takes lattices of this size.
    pub(crate) fn kernel_of(
        &self,
        setting: &Setting,
        kernel_choice: KernelChoice,
        size: Size,
    ) -> &'static Kernel {
        let instances = self.sim.as_ref();
        let stepped = instances.map(|it| it.engine().stepped_sizes(size));
        let sizes = [vec![size], stepped.unwrap_or_default()].concat();
        let takes = |it: &&Kernel| sizes.iter().all(|&size| it.supports(size));
        let by_default = match kernel_choice {
            KernelChoice::FirstFitting => default_kernels(setting.switches).find(takes),
            _ => None,
        };
        by_default.unwrap_or_else(|| kernel_for(&sizes, setting.kernel))
    }

    /// What decides which positions of the switches can be taken.
    pub(crate) fn context(&self) -> SwitchContext<'static> {
        let instances = self.sim.as_ref();
        let devices = instances.map_or(1, |it| it.engine().places());
        let stepped = self.setup.instances / if self.is_comparing() { 2 } else { 1 };
        SwitchContext {
            kernel: self.setup.setting.kernel,
            own_order: OwnOrder::of(self.setup.setting.own_round.as_deref(), stepped, devices),
        }
    }

    /// Whether what was recorded on a GPU is shown instead of measurements.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// A setup with the kernel and the switches by which its lattices are stepped.
    fn stepped_setup(&self, setup: Setup) -> Setup {
        match self.recording {
            None => setup,
            Some(_) => setup_on_cpu(setup),
        }
    }

    /// Whether A and B are compared.
    pub(crate) fn is_comparing(&self) -> bool {
        self.trial.as_ref().is_some_and(|it| it.each().is_some())
    }

    /// The setting that keys change: B's while A and B are compared.
    pub(crate) fn changed_setting(&self) -> Setting {
        match &self.trial {
            Some(trial) if trial.each().is_some() => trial.other.clone(),
            _ => self.setup.setting.clone(),
        }
    }

    /// What steps lattices that are set to this: while recorded rounds are shown, what the CPU is fastest
    /// with.
    fn stepped(&self, setting: &Setting) -> Setting {
        match self.recording {
            None => setting.clone(),
            Some(_) => on_cpu(setting, self.setup.size),
        }
    }

    /// The shares in use, if this is the present setting: of a trial by side (A and B, or before and after a
    /// change), otherwise one alone.
    pub(crate) fn shares(&self, now: &Setting, trial: Option<&Trial>) -> Vec<Share> {
        let now = self.stepped(now);
        let sim = self.sim.as_ref();
        let all = sim.map_or(self.setup.instances, Sim::instances);
        let is_comparing = trial.is_some_and(|it| it.each().is_some());
        let share = |lattices: Range<usize>, setting: Setting| Share {
            picture: self.picture(&setting, &now, is_comparing),
            lattices,
            setting,
        };
        let other = |trial: &Trial| self.stepped(&trial.other);
        match trial.map(|trial| (trial.each(), other(trial))) {
            None => vec![share(0..all, now.clone())],
            Some((None, before)) => vec![share(0..all, before), share(0..all, now.clone())],
            Some((Some(each), b)) => {
                vec![share(0..each, now.clone()), share(each..2 * each, b)]
            }
        }
    }

    /// The shares in use at present.
    pub(crate) fn shares_in_use(&self) -> Vec<Share> {
        self.shares(&self.setup.setting, self.trial.as_ref())
    }

    /// The present setting's share; A's in a comparison.
    pub(crate) fn present(&self) -> Share {
        let trial = self.trial.as_ref().filter(|it| it.each().is_some());
        self.shares(&self.setup.setting, trial).swap_remove(0)
    }

    /// What a setting's rounds download while `now` is the present one. The drawing side says what to
    /// transfer, but for A and B, and for the setting before a change, which has other switches.
    fn picture(&self, setting: &Setting, now: &Setting, is_comparing: bool) -> Option<PicturePlan> {
        let mut picture = self.view?;
        let sim = self.sim.as_ref()?;
        let is_split = sim.engine().is_split();
        let allows_cells = |it: &Setting| it.kernel.layout == Layout::I32 && !is_split;
        if picture.transfer == Transfer::Cells && !allows_cells(now) {
            picture.transfer = Transfer::Bits;
        }
        let choice = setting.switches.transfer;
        let chosen = choice.transfer(sim.all_bits(), PicturePlan::MAX_AUTO_BITS_BYTES);
        if is_comparing {
            picture.transfer = chosen;
        } else if choice != now.switches.transfer {
            // Only the drawing side knows of which region a view is.
            picture = match (chosen, self.last_view) {
                (Transfer::View, Some(view)) => view,
                (Transfer::View, None) => PicturePlan::BITS,
                (transfer, _) => PicturePlan {
                    transfer,
                    ..picture
                },
            };
        }
        // The drawing side changes its request a moment after a change of the kernel.
        if picture.transfer == Transfer::Cells && !allows_cells(setting) {
            picture.transfer = Transfer::Bits;
        }
        Some(picture)
    }

    /// Maximum number of generations of a round of every setting in use.
    pub(crate) fn longest_round(&self) -> u32 {
        let Some(sim) = &self.sim else {
            return u32::MAX;
        };
        let longest = |setting: &Setting| sim.longest_round(&self.stepped(setting));
        let now = longest(&self.setup.setting);
        let other = self.trial.as_ref().map(|it| longest(&it.other));
        other.map_or(now, |other| other.min(now))
    }

    /// The recorded rounds with a setting, of the present lattices; while two settings are
    /// compared, of as many as each has.
    pub(crate) fn recorded(
        &self,
        setting: &Setting,
        generations: u32,
    ) -> Option<(&'static RecordedGroup, &'static RecordedSetting)> {
        let group = self.recording?.group(&self.round_work(generations))?;
        Some((group, group.find(setting.kernel, setting.switches)?))
    }

    /// What a round of this many generations steps; while two settings are compared, with one of them.
    pub(crate) fn round_work(&self, generations: u32) -> RoundWork {
        let instances = self.setup.instances / if self.is_comparing() { 2 } else { 1 };
        RoundWork::of(&self.setup, instances, generations)
    }

    /// What computes, for the status.
    pub(crate) fn engine_status(&self) -> EngineStatus {
        let Some(sim) = &self.sim else {
            return EngineStatus::default();
        };
        if let Some(recording) = self.recording {
            return EngineStatus {
                name: "recorded",
                devices: vec![recording.device.clone()],
                queues: Some(recording.queues),
                ..EngineStatus::default()
            };
        }
        let engine = sim.engine();
        EngineStatus {
            name: engine.name(),
            devices: engine.devices().to_vec(),
            queues: (engine.name() == "cuda").then(platform::connections),
            cut: engine.cut(),
            clock_error_us: engine.clock_error().as_us(),
        }
    }

    /// How lattices are stepped, for the status.
    pub(crate) fn setting_status(&self, pacing: &Pacing) -> SettingStatus {
        let mut status = SettingStatus {
            switches: self.changed_setting().switches,
            chosen_kernel: self
                .chosen
                .as_ref()
                .map(|it| it.setting.kernel)
                .filter(|it| *it != self.setup.setting.kernel),
            own_order: self.context().own_order,
            pace: pacing.pace,
            ..SettingStatus::of(&self.setup)
        };
        if let Some(instances) = &self.sim {
            let present = self.present();
            status.transfer = present.picture.map_or(status.transfer, |it| it.transfer);
            status.bytes_per_round = instances.bytes_per_round(&present);
            status.generations_per_round =
                part_of_round(pacing.generations(), self.longest_round());
        }
        status
    }

    /// Takes the rung of the user's own kernel if rounds are stepped by that, and keeps only its source. The
    /// engine is lost: the one in its place has the rung. Returns the kernel.
    pub(crate) fn leave_own_kernel(&mut self) -> Option<&'static Kernel> {
        let own_kernel = self.own_kernel()?;
        self.setup.leave_own_kernel();
        Some(own_kernel)
    }

    /// The kernel of the user's own by which rounds are stepped.
    pub(crate) fn own_kernel(&self) -> Option<&'static Kernel> {
        let other = self.trial.as_ref().map(|it| it.other.kernel);
        let mut kernels = [Some(self.setup.setting.kernel), other]
            .into_iter()
            .flatten();
        kernels.find(|it| it.own.is_some() && !self.is_recorded())
    }

    /// Sets what the drawing side wants to see. Returns what it wanted before.
    pub(crate) fn set_view(&mut self, view: Option<PicturePlan>) -> Option<PicturePlan> {
        let seen = view.filter(|it| it.transfer == Transfer::View);
        self.last_view = seen.or(self.last_view);
        std::mem::replace(&mut self.view, view)
    }

    /// Uses other lattices, whose settings these are.
    pub(crate) fn take(&mut self, sim: Sim, setup: Setup) {
        self.sim = Some(sim);
        self.setup = setup;
        self.view = None;
    }

    /// Makes the lattices of another setup, all cells dead, on a new engine of the same devices as the
    /// present one. Until [`take`](Self::take) both are in memory.
    ///
    /// # Errors
    /// The devices cannot be opened, or there is no memory.
    pub(crate) fn make(&self, setup: &Setup) -> Result<Sim> {
        self.make_on(self.device, self.is_reopened, setup)
    }

    fn make_on(&self, device: DeviceChoice, is_reopened: bool, setup: &Setup) -> Result<Sim> {
        let engine = if is_reopened {
            (self.engines.reopen)(device)
        } else {
            (self.engines.open)(device)
        };
        Sim::new(engine?, &self.stepped_setup(setup.clone()), SNAPSHOT_SLOTS)
    }

    /// Makes the present settings' lattices, all cells dead, in the place of lost ones, on the first of
    /// these devices that can be used. `lost` says what lost them.
    ///
    /// # Errors
    /// No engine can be opened.
    pub(crate) fn make_again(
        &mut self,
        lost: EngineError,
        devices: Vec<DeviceChoice>,
    ) -> Result<Sim> {
        self.setup.fit_own_round(); // the number of instances may be another by now
        let make = |device| Ok((self.make_on(device, true, &self.setup)?, device));
        let (sim, device) = make_again(lost, devices, make)?;
        (self.device, self.is_reopened) = (device, true);
        if let Some(chosen) = &mut self.chosen {
            chosen.grid.1 = 0; // what was fastest on the lost device may not be here
        }
        Ok(sim)
    }

    /// Makes lattices of another size or number, all cells dead, on the contexts of `old`, whose memory
    /// is freed first. If memory is lacking, as many and as large as before, and the error.
    ///
    /// # Errors
    /// The engine is lost.
    pub(crate) fn resized(&self, old: Sim, mut setup: Setup) -> Result<(Sim, Setup, Result<()>)> {
        let mut made = old.replaced(&self.stepped_setup(setup.clone()));
        if !self.is_recorded() {
            made = or_by_bits(made, &mut setup);
        }
        match made {
            Ok(sim) => Ok((sim, setup, Ok(()))),
            Err((_, error)) if error.loses_lattices() => Err(error),
            Err((engine, error)) => {
                let stepped = self.stepped_setup(self.setup.clone());
                let sim = Sim::on(engine, &stepped, SNAPSHOT_SLOTS);
                let sim = sim.map_err(|(_, error)| error.into_lost())?;
                Ok((sim, self.setup.clone(), Err(error)))
            }
        }
    }
}

/// A setting by which the CPU steps lattices as fast as it can, with pictures as this one says.
fn on_cpu(setting: &Setting, size: Size) -> Setting {
    let bits = kernels::find("bits").unwrap_or(setting.kernel);
    let switches = Switches {
        transfer: setting.switches.transfer,
        ..Switches::DEFAULT
    };
    setting
        .with_switches(switches)
        .with_kernel(kernel_for(&[size], bits))
}

fn setup_on_cpu(setup: Setup) -> Setup {
    Setup {
        setting: on_cpu(&setup.setting, setup.size),
        kernel_choice: KernelChoice::Explicit,
        ..setup
    }
}

/// What is downloaded as long as the drawing side has not said what it wants: bits, if the lattices
/// are not enormous.
pub(crate) fn first_view(setup: &Setup) -> Option<PicturePlan> {
    (setup.size.words() <= MAX_PICTURE_WORDS).then_some(PicturePlan::BITS)
}

/// The instances; or, where there is no memory for them as cells of the default kernel, those by the
/// next rung that takes bits.
fn or_by_bits(made: Made, setup: &mut Setup) -> Made {
    let (mut engine, error) = match made {
        Ok(instances) => return Ok(instances),
        Err(failed) => failed,
    };
    let is_open = setup.kernel_choice == KernelChoice::FirstFitting && error.lacks_memory();
    let takes = |it: &&Kernel| it.layout != Layout::I32 && it.supports(setup.size);
    let next = default_kernels(setup.setting.switches).find(takes);
    let next = next.filter(|it| is_open && it.layout != setup.setting.kernel.layout);
    let Some(kernel) = next else {
        return Err((engine, error));
    };
    if let Err(error) = engine.clear() {
        return Err((engine, error));
    }
    setup.setting.kernel = kernel;
    Sim::on(engine, setup, SNAPSHOT_SLOTS)
}

/// Makes a setup's lattices on an engine, with all that their first round needs.
fn start(engine: Box<dyn Engine>, mut setup: Setup) -> Result<(Sim, Setup)> {
    let made = Sim::on(engine, &setup, SNAPSHOT_SLOTS);
    let mut sim = or_by_bits(made, &mut setup).map_err(|(_, error)| error)?;
    let picture = first_view(&setup); // what pictures cost counts
    sim.start(&mut setup, picture)?;
    let share = sim.all(&setup.setting, picture);
    sim.load(&share)?;
    if setup.setting.switches.order == Order::Own && sim.engine().places() > 1 {
        tracing::warn!("a round of your own runs on one device; rounds are breadth-first");
        setup.setting.switches.order = Order::Breadth;
    }
    Ok((sim, setup))
}

/// The present kernel, or another one if it does not accept lattices of all these sizes.
fn kernel_for(sizes: &[Size], kernel: &'static Kernel) -> &'static Kernel {
    let takes = |kernel: &&'static Kernel| {
        let mut sizes = sizes.iter();
        sizes.all(|size| kernel.supports(*size))
    };
    let others = kernels::find("bits").into_iter().chain(KERNELS.iter());
    let mut all = std::iter::once(kernel).chain(others);
    all.find(takes).unwrap_or(kernel)
}

// Two settings whose rounds are compared while the session runs: before and after a change, A and B, or,
// once per session, equal ones, whose difference widens what is found of others.
// The present setting is the session's; a trial knows the other one. It decides whose round is next, and
// an [`Executor`] what the times of their rounds say. Every round is a round of the session: the lattices
// advance and are drawn.

/// What is compared.
pub(crate) enum Subject {
    /// All lattices before (A) and after (B) a change.
    Change(Message),
    /// A's lattices, so many, with the present setting, and as many of B's with the other; an odd one is
    /// not stepped.
    Halves(usize),
    /// All lattices with one setting.
    EqualSettings,
}

/// A comparison of rounds, under way or finished.
pub(crate) struct Trial {
    pub(crate) subject: Subject,
    /// The setting before the change, or B's.
    pub(crate) other: Setting,
    /// Of A's rounds and of B's.
    pub(crate) executor: Executor,
    /// Whether the round that is being issued is compared, and of A and B the pair.
    pub(crate) is_compared: bool,
    /// What the system had given when the round that is being issued was prepared.
    used: Usage,
}

impl Trial {
    /// Nothing is measured yet. `number` is that of the trial in its session; `spread` is the factor by
    /// which rounds of equal settings differ.
    pub(crate) fn new(subject: Subject, other: Setting, number: u64, spread: f64) -> Trial {
        Trial {
            subject,
            other,
            executor: Executor::new(2, number, Plan::Live(spread)),
            is_compared: false,
            used: Usage::default(),
        }
    }

    /// How many lattices A and B have each, if those are compared.
    pub(crate) fn each(&self) -> Option<usize> {
        match self.subject {
            Subject::Halves(each) => Some(each),
            Subject::Change(_) | Subject::EqualSettings => None,
        }
    }

    /// Whose a round is, by its lattices, while A and B are compared.
    pub(crate) fn half_of(&self, lattices: &Range<usize>) -> Option<Side> {
        let each = self.each()?;
        Some(if lattices.start < each {
            Side::A
        } else {
            Side::B
        })
    }

    /// Which one of A and B is behind the other, and the generations by which it is.
    pub(crate) fn behind(&self, sim: &Sim) -> Option<(Side, u32)> {
        let each = self.each()?;
        let [a, b] = [sim.generation(0), sim.generation(each)];
        let side = if a < b { Side::A } else { Side::B };
        (a != b).then(|| (side, a.abs_diff(b) as u32))
    }

    /// Decides whose round of so many generations is next. `counts` says that it is one of many alike.
    pub(crate) fn next(&mut self, sim: &Sim, generations: u32, counts: bool) -> Side {
        let behind = self.behind(sim);
        if behind.is_none() {
            self.is_compared = counts && self.is_under_way();
            if self.is_compared {
                self.executor.compare_rounds_of(generations);
            }
        }
        self.used = usage();
        let turn = Side::ALL[self.executor.next_subject()];
        match (behind, self.each()) {
            (Some((second, _)), _) => {
                self.is_compared &= second == turn;
                second
            }
            _ if self.is_compared => turn,
            (None, Some(_)) => Side::A,
            (None, None) => Side::B, // the present setting
        }
    }

    /// Notes that the round is in flight.
    pub(crate) fn issued(&mut self) {
        if self.is_compared {
            self.executor.issued();
        } else {
            self.interrupt();
        }
    }

    /// Leaves out a round: the block that it would belong to does not count.
    pub(crate) fn interrupt(&mut self) {
        self.executor.interrupt();
        self.is_compared = false;
    }

    /// Takes the round in flight. Returns whether it was one with the setting before a change.
    pub(crate) fn round(&mut self, took: Duration, now: Instant) -> bool {
        let used = usage();
        let round = Round {
            time: took.as_secs_f64() * 1e6,
            lasted: took,
            cpu: used.cpu - self.used.cpu,
            is_preempted: used.is_preempted_since(self.used),
        };
        let subject = self.executor.record(round, now);
        subject == Some(Side::A as usize) && matches!(self.subject, Subject::Change(_))
    }

    /// Whether rounds are still compared.
    pub(crate) fn is_under_way(&self) -> bool {
        !self.executor.is_done()
    }

    /// Times of a round in microseconds, before and after or A's and B's; what they say, once they do; where they
    /// come from, and what else the machine did meanwhile.
    pub(crate) fn measured(&self) -> ([Option<f64>; 2], Option<Finding>, Source) {
        let (times, source) = (self.executor.times(), self.executor.load);
        (
            [0, 1].map(|side| times.map(|times| times[side])),
            self.executor.finding,
            Source::MeasuredHere(source),
        )
    }
}

/// Of the shares of a round, those that cover each lattice once: A's and B's, or the share of the present
/// setting.
pub(crate) fn shown(shares: &[Share]) -> &[Share] {
    match shares {
        [before, now] if before.lattices == now.lattices => &shares[1..],
        _ => shares,
    }
}

// Losses of an engine, and which devices go on after one: of a session, and of a run.

/// Losses in a row that are survived.
const MAX_LOSSES: u32 = 3;

/// Losses since the host last had a copy from after one.
#[derive(Default)]
pub struct Losses {
    pub(crate) in_a_row: u32,
    /// The furthest position at a loss.
    at: Option<Position>,
}

impl Losses {
    /// Counts a loss at a position. Returns `false` if there were too many in a row.
    pub fn survive(&mut self, position: Position) -> bool {
        self.in_a_row += 1;
        self.at = self.at.max(Some(position));
        self.in_a_row <= MAX_LOSSES
    }

    /// Forgets them if the host now has a copy from after the furthest one.
    pub fn copied(&mut self, position: Position) {
        if self.at.is_some_and(|at| position > at) {
            *self = Losses::default();
        }
    }

    /// The devices to try after a loss, one after the other. If the CPU `may_take_over`, a device
    /// that is lost again at once is not tried a second time.
    pub fn devices(&self, choice: DeviceChoice, may_take_over: bool) -> Vec<DeviceChoice> {
        match (may_take_over, self.in_a_row) {
            (false, _) => vec![choice],
            (true, 0 | 1) => vec![choice, DeviceChoice::Cpu],
            (true, _) => vec![DeviceChoice::Cpu],
        }
    }
}

/// What `make` gives on the first of these devices that can be used, in the place of what was lost.
///
/// # Errors
/// No device can be used: that of the last one, or what lost it.
pub fn make_again<T>(
    lost: EngineError,
    devices: Vec<DeviceChoice>,
    mut make: impl FnMut(DeviceChoice) -> Result<T>,
) -> Result<T> {
    let mut made = Err(lost);
    for choice in devices {
        made = make(choice);
        match &made {
            Ok(_) => break,
            Err(error) => tracing::warn!("{choice} does not go on: {}", lang::english(error)),
        }
    }
    made
}
