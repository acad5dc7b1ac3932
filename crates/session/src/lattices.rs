//! What rounds step: the lattices on their engine, the settings by which they are stepped, and how
//! another engine is made in the place of one that is lost.
//!
//! A setting is committed before the engine is touched: an engine in the place of one that was lost
//! meanwhile has it. If the engine refuses it, the one before is in force again.

use std::sync::Arc;
use std::time::Instant;

use crate::fastest::{FastestPlan, Requested};
use crate::instances::{Instances, make_on_devices, open_engine, reopen_engine};
use crate::ladder::recorded;
use crate::log::SessionParameters;
use crate::losses::{Losses, make_again};
use crate::next_task::part_of_round;
use crate::pacing::Pacing;
use crate::recording::{RecordedGroup, RecordedSetting, Recording, RoundWork};
use crate::snapshot_store::SNAPSHOT_SLOTS;
use crate::{
    DeviceChoice, EngineStatus, KernelChoice, Order, OwnOrder, OwnRound, Pace, PicturePlan,
    Pictures, SettingStatus, Setup, Side, SwitchContext, Switches, TimeSettings, TransferChoice,
    default_kernels,
};
use engine::kernels::{self, KERNELS, Kernel};
use engine::{Engine, EngineError, Layout, Result};
use life::Size;

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

/// How the present engine was made; another one beside it is made the same way.
#[derive(Clone, Copy)]
enum Source {
    Open(DeviceChoice),
    Reopen(DeviceChoice),
}

impl Source {
    /// The devices that were chosen.
    fn choice(self) -> DeviceChoice {
        match self {
            Source::Open(choice) | Source::Reopen(choice) => choice,
        }
    }
}

/// What a session has set on its instances besides the settings.
#[derive(Clone, Copy)]
pub(crate) struct Equipment {
    /// The number of the last edit.
    pub(crate) edit: u64,
    /// Whether timed rounds record block timestamps.
    pub(crate) block_timestamps: bool,
}

/// What the user chose, while the fastest setting steps the lattices.
#[derive(Clone, Copy)]
struct Chosen {
    kernel: &'static Kernel,
    kernel_choice: KernelChoice,
    switches: Switches,
    /// The switches of the fastest setting; the user may change them.
    fastest: Switches,
    /// The size and the number of the lattices that `fastest` was estimated for.
    grid: (Size, usize),
}

/// Instances, or the engine without lattices and why it has none.
type Made = Result<Instances, (Box<dyn Engine>, EngineError)>;

/// The lattices and their settings.
pub(crate) struct Lattices {
    /// `None` only while a lost engine is being replaced, or if the session has ended.
    pub(crate) instances: Option<Instances>,
    setup: Setup,
    /// What the maximum pace or a run to a generation took the place of.
    chosen: Option<Chosen>,
    /// B's switches while two settings are compared; A's are the setup's.
    b_switches: Option<Switches>,
    view: Option<PicturePlan>,
    engines: Engines,
    source: Source,
    /// What was recorded on a GPU, if that is shown instead of measurements. The CPU steps the lattices
    /// as fast as it can then, whatever the settings are.
    recording: Option<&'static Recording>,
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
            Some(_) => Ok((start(engine, on_cpu(setup.clone()))?.0, setup.clone())),
        };
        let (instances, setup) = make_on_devices(setup.device, &engines.open, make)?;
        // Where the CPU computes because a GPU cannot, it does so for larger lattices, too.
        let choice = match (setup.device, instances.engine().name()) {
            (DeviceChoice::Auto, "cpu") => DeviceChoice::Cpu,
            (choice, _) => choice,
        };
        let pictures = Pictures::new(instances.slots().clone(), setup.instances, setup.size);
        let lattices = Lattices {
            instances: Some(instances),
            setup,
            chosen: None,
            b_switches: None,
            view: None,
            engines,
            source: Source::Open(choice),
            recording,
            losses: Losses::default(),
            retry_at: None,
        };
        Ok((lattices, pictures))
    }

    /// The settings. Size, number of instances, rule and start are those of the position.
    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The settings as the user chose them, also while the fastest ones step the lattices.
    pub(crate) fn chosen_setup(&self) -> Setup {
        let mut setup = self.setup.clone();
        if let Some(chosen) = &self.chosen {
            // Only what the user changed meanwhile, as far as the chosen kernel takes it.
            let fastest = chosen.fastest.fitted_to(setup.kernel);
            let changed = chosen.switches.changed_as(fastest, setup.switches);
            let changed = changed.fitted_to(chosen.kernel);
            setup.switches = match changed.incompatibility(chosen.kernel) {
                None => changed,
                Some(_) => chosen.switches,
            };
            (setup.kernel, setup.kernel_choice) = (chosen.kernel, chosen.kernel_choice);
        }
        setup
    }

    /// Whether the fastest setting is to be taken, or the chosen one back.
    pub(crate) fn is_kernel_due(&self, wants_fastest: bool) -> bool {
        let grid = (self.setup.size, self.setup.instances);
        match &self.chosen {
            None => wants_fastest,
            Some(chosen) => !wants_fastest || chosen.grid != grid,
        }
    }

    /// The plans for the chosen switches, the fastest by the estimate first.
    fn plans(&self, requested: impl FnOnce(Switches) -> Requested) -> Vec<FastestPlan> {
        let mut switches = self.chosen_setup().switches;
        switches.block = None; // it is one kernel's
        if switches.transfer == TransferChoice::Cells {
            switches.transfer = TransferChoice::Auto; // few kernels have cells
        }
        let instances = self.instances.as_ref();
        instances.map_or(Vec::new(), |it| it.plans(&requested(switches)))
    }

    /// The fastest kernel by the estimate, for rounds of this many generations.
    pub(crate) fn auto_kernel(&self, generations: u32) -> Option<&'static Kernel> {
        let plans = self.plans(|it| Requested::all_but_the_kernel(it, generations));
        Some(plans.first()?.candidate.kernel)
    }

    /// Takes the fastest setting in the place of the chosen one. Returns the generations of its first
    /// round at the maximum pace.
    ///
    /// # Errors
    /// The engine refuses it, or is lost.
    pub(crate) fn take_fastest(&mut self) -> Result<Option<u32>> {
        let chosen = self.chosen_setup();
        let mut taken = Ok(None);
        for plan in self.plans(Requested::switches) {
            let kept = Chosen {
                kernel: chosen.kernel,
                kernel_choice: chosen.kernel_choice,
                switches: chosen.switches,
                fastest: plan.switches,
                grid: (chosen.size, chosen.instances),
            };
            let setting = (plan.candidate.kernel, plan.switches);
            let entered = self.enter(setting, KernelChoice::Estimated, Some(kept));
            let lacks_memory = entered.as_ref().is_err_and(EngineError::lacks_memory);
            taken = entered.map(|()| Some(plan.rounds(Pace::FRAME).generations()));
            if !lacks_memory {
                break;
            }
        }
        taken
    }

    /// Takes the chosen setting back.
    ///
    /// # Errors
    /// The engine refuses it, or is lost.
    pub(crate) fn take_chosen(&mut self) -> Result<()> {
        let chosen = self.chosen_setup();
        let instances = self.instances.as_ref();
        let is_valid = instances.is_none_or(|it| it.validate(chosen.kernel).is_ok());
        let is_kept = is_valid && chosen.kernel_choice != KernelChoice::FirstFitting;
        let kernel = if is_kept {
            chosen.kernel
        } else {
            self.kernel_of(&chosen, chosen.size)
        };
        let switches = chosen.switches.fitted_to(kernel);
        self.enter((kernel, switches), chosen.kernel_choice, None)
    }

    /// Forgets the setting before the fastest one, which stays.
    pub(crate) fn forget_chosen(&mut self) {
        self.chosen = None;
    }

    /// Sets the kernel and the switches, and what they take the place of.
    fn enter(
        &mut self,
        (kernel, switches): (&'static Kernel, Switches),
        kernel_choice: KernelChoice,
        chosen: Option<Chosen>,
    ) -> Result<()> {
        let is_recorded = self.is_recorded();
        self.change(
            |lattices| {
                let setup = &mut lattices.setup;
                (setup.kernel, setup.switches) = (kernel, switches);
                setup.kernel_choice = kernel_choice;
                if kernel.own.is_some() {
                    setup.own_kernel = Some(kernel);
                    setup.stored_kernel = None;
                }
                lattices.chosen = chosen;
                lattices.b_switches = lattices.b_switches.map(|it| it.fitted_to(kernel));
            },
            |instances| {
                if is_recorded {
                    return Ok(()); // the CPU goes on as before
                }
                let before = instances.own_plan();
                let (kernel_before, switches_before) = (before.kernel, before.switches);
                let entered = instances.enter(kernel, switches);
                if entered.as_ref().is_err_and(|it| !it.loses_lattices()) {
                    instances.enter(kernel_before, switches_before)?;
                }
                entered
            },
        )
    }

    /// The settings that concern time, which no engine needs.
    pub(crate) fn time_settings_mut(&mut self) -> &mut TimeSettings {
        &mut self.setup.time
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
        let kernel = self.kernel_of(&self.setup, parameters.size);
        let mut setup = Setup {
            size: parameters.size,
            instances: parameters.instances,
            rule: parameters.rule,
            start: parameters.start.clone(),
            kernel,
            switches: self.setup.switches.fitted_to(kernel),
            ..self.setup.clone()
        };
        setup.fit_own_round();
        setup
    }

    /// The kernel of a setup, or another one that takes lattices of this size.
    fn kernel_of(&self, setup: &Setup, size: Size) -> &'static Kernel {
        let instances = self.instances.as_ref();
        let stepped = instances.map(|it| it.engine().stepped_sizes(size));
        let sizes = [vec![size], stepped.unwrap_or_default()].concat();
        let takes = |it: &&Kernel| sizes.iter().all(|&size| it.supports(size));
        let by_default = match setup.kernel_choice {
            KernelChoice::FirstFitting => default_kernels(setup.switches).find(takes),
            _ => None,
        };
        by_default.unwrap_or_else(|| kernel_for(&sizes, setup.kernel))
    }

    /// What decides which positions of the switches can be taken.
    pub(crate) fn context(&self) -> SwitchContext<'static> {
        let instances = self.instances.as_ref();
        let devices = instances.map_or(1, |it| it.engine().places());
        let stepped = self.setup.instances / self.b_switches.map_or(1, |_| 2);
        SwitchContext {
            kernel: self.setup.kernel,
            own_order: OwnOrder::of(self.setup.own_round.as_deref(), stepped, devices),
        }
    }

    /// Sets the round that a user wrote.
    ///
    /// # Errors
    /// The engine lacks the memory for its streams, or is lost.
    pub(crate) fn set_own_round(&mut self, own_round: Arc<OwnRound>) -> Result<()> {
        let own_round = Some(own_round);
        self.change(
            |lattices| lattices.setup.own_round.clone_from(&own_round),
            |instances| instances.set_own_round(own_round.clone()),
        )
    }

    /// Whether what was recorded on a GPU is shown instead of measurements.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// What was recorded on a GPU, if that is shown.
    pub(crate) fn recording(&self) -> Option<&'static Recording> {
        self.recording
    }

    /// Shows what was recorded on a GPU from now on, or measures.
    ///
    /// # Errors
    /// The engine is lost, or lacks the memory for the settings.
    pub(crate) fn set_recording(&mut self, recording: Option<&'static Recording>) -> Result<()> {
        let before = std::mem::replace(&mut self.recording, recording);
        let Setup {
            kernel, switches, ..
        } = self.stepped(self.setup.clone());
        let Some(instances) = &mut self.instances else {
            return Ok(());
        };
        let set = instances
            .set_kernel(kernel)
            .and_then(|()| instances.set_switches(Side::A, switches));
        set.inspect_err(|_| self.recording = before)
    }

    /// A setup with the kernel and the switches by which its lattices are stepped.
    fn stepped(&self, setup: Setup) -> Setup {
        match self.recording {
            None => setup,
            Some(_) => on_cpu(setup),
        }
    }

    /// The switches by which lattices are stepped that are set to these.
    fn stepped_switches(&self, switches: Switches) -> Switches {
        let setup = Setup {
            switches,
            ..self.setup.clone()
        };
        self.stepped(setup).switches
    }

    /// The switches by which B's lattices are stepped, while two settings are compared.
    fn stepped_b(&self) -> Option<Switches> {
        let switches = self.b_switches?;
        Some(self.stepped_switches(switches))
    }

    /// The recorded rounds with a kernel and switches, of the present lattices; while two settings are
    /// compared, of as many as each has.
    pub(crate) fn recorded(
        &self,
        (kernel, switches): (&'static Kernel, Switches),
        generations: u32,
    ) -> Option<(&'static RecordedGroup, &'static RecordedSetting)> {
        let group = self.recording?.group(&self.round_work(generations))?;
        Some((group, group.find(kernel, switches)?))
    }

    /// What a round of this many generations steps; while two settings are compared, with one of them.
    pub(crate) fn round_work(&self, generations: u32) -> RoundWork {
        let instances = self.setup.instances / self.b_switches.map_or(1, |_| 2);
        RoundWork::of(&self.setup, instances, generations)
    }

    /// B's switches, while two settings are compared.
    pub(crate) fn b_switches(&self) -> Option<Switches> {
        self.b_switches
    }

    /// The switches that keys change: B's during a comparison.
    pub(crate) fn switches(&self) -> Switches {
        self.b_switches.unwrap_or(self.setup.switches)
    }

    /// Whose switches keys change.
    pub(crate) fn changed_side(&self) -> Side {
        match self.b_switches {
            Some(_) => Side::B,
            None => Side::A,
        }
    }

    /// What computes, for the status.
    pub(crate) fn engine_status(&self) -> EngineStatus {
        let Some(instances) = &self.instances else {
            return EngineStatus::default();
        };
        let engine = instances.engine();
        if let Some(recording) = self.recording {
            let device = recording.device.clone();
            return EngineStatus {
                name: "recorded",
                queues: Some(recording.queues),
                recorded: recorded(&device.name),
                devices: vec![device],
                cut: None,
                clock_error_us: 0.0,
                startup: engine.startup(),
            };
        }
        EngineStatus {
            name: engine.name(),
            devices: engine.devices().to_vec(),
            queues: (engine.name() == "cuda").then(platform::connections),
            recorded: engine.devices().first().and_then(|it| recorded(&it.name)),
            cut: engine.cut(),
            clock_error_us: engine.clock_error().as_us(),
            startup: engine.startup(),
        }
    }

    /// How lattices are stepped, for the status.
    pub(crate) fn setting_status(&self, pacing: &Pacing) -> SettingStatus {
        let mut status = SettingStatus {
            switches: self.switches(),
            chosen_kernel: self
                .chosen
                .map(|it| it.kernel)
                .filter(|it| *it != self.setup.kernel),
            own_order: self.context().own_order,
            pace: pacing.pace(),
            ..SettingStatus::of(&self.setup)
        };
        if let Some(instances) = &self.instances {
            let picture = instances.own_plan().picture;
            status.transfer = picture.map_or(status.transfer, |picture| picture.transfer);
            status.bytes_per_round = instances.bytes_per_round();
            status.generations_per_round =
                part_of_round(pacing.generations(), instances.longest_round());
        }
        status
    }

    /// Takes the rung of the user's own kernel if rounds are stepped by that, and keeps only its source. The
    /// engine is lost: the one in its place has the rung. Returns the kernel.
    pub(crate) fn leave_own_kernel(&mut self) -> Option<&'static Kernel> {
        let instances = self.instances.as_ref()?;
        let own_kernel = instances.own_kernel()?;
        self.setup.leave_own_kernel();
        let kernel = self.setup.kernel;
        self.b_switches = self.b_switches.map(|it| it.fitted_to(kernel));
        Some(own_kernel)
    }

    /// Sets the kernel, with the switches that it allows; one of the user's own is kept beside the rungs.
    ///
    /// # Errors
    /// The engine refuses it, or is lost.
    pub(crate) fn set_kernel(
        &mut self,
        kernel: &'static Kernel,
        kernel_choice: KernelChoice,
    ) -> Result<()> {
        let switches = self.chosen_setup().switches.fitted_to(kernel);
        self.enter((kernel, switches), kernel_choice, None)?;
        if let Some(stored) = &mut self.setup.stored_kernel {
            Arc::make_mut(stored).in_use = false;
        }
        Ok(())
    }

    /// Sets the switches that keys change.
    ///
    /// # Errors
    /// The engine refuses them, or is lost.
    pub(crate) fn set_switches(&mut self, switches: Switches) -> Result<()> {
        let side = self.changed_side();
        let stepped = self.stepped_switches(switches);
        self.change(
            |lattices| match &mut lattices.b_switches {
                Some(of_b) => *of_b = switches,
                None => lattices.setup.switches = switches,
            },
            |instances| instances.set_switches(side, stepped),
        )
    }

    /// Commits settings, then has the instances adopt them. If the engine refuses, the settings of before
    /// are in force again.
    fn change(
        &mut self,
        commit: impl FnOnce(&mut Lattices),
        adopt: impl FnOnce(&mut Instances) -> Result<()>,
    ) -> Result<()> {
        let before = (self.setup.clone(), self.chosen, self.b_switches);
        commit(self);
        let adopted = self.instances.as_mut().map_or(Ok(()), adopt);
        if adopted.as_ref().is_err_and(|error| !error.loses_lattices()) {
            (self.setup, self.chosen, self.b_switches) = before;
        }
        adopted
    }

    /// Whether switches need other slots than the present ones.
    pub(crate) fn needs_slots_for(&self, switches: Switches) -> bool {
        let instances = self.instances.as_ref();
        let switches = self.stepped_switches(switches);
        instances.is_some_and(|it| it.switches_need_slots(self.changed_side(), switches))
    }

    /// Begins a comparison, with these switches for B, or ends it.
    ///
    /// # Errors
    /// There is no memory for both, or the engine is lost.
    pub(crate) fn compare(&mut self, b_switches: Option<Switches>) -> Result<()> {
        let stepped = b_switches.map(|switches| self.stepped_switches(switches));
        let Some(instances) = &mut self.instances else {
            return Ok(());
        };
        let set = instances.compare(stepped);
        let now = b_switches.or(self.b_switches);
        self.b_switches = now.filter(|_| instances.is_comparing());
        set
    }

    /// Sets another setting whose rounds are compared with those of the present one, or none.
    ///
    /// # Errors
    /// There is no room for both, or the engine is lost.
    pub(crate) fn set_alternative(
        &mut self,
        setting: Option<(&'static Kernel, Switches)>,
    ) -> Result<()> {
        let instances = self.instances.as_mut();
        let set = instances.map(|it| it.set_alternative(setting));
        set.unwrap_or(Ok(()))
    }

    /// What the drawing side wants to see.
    pub(crate) fn view(&self) -> Option<PicturePlan> {
        self.view
    }

    /// Sets what rounds download.
    ///
    /// # Errors
    /// There is no memory for it, or the engine is lost.
    pub(crate) fn set_view(&mut self, view: PicturePlan) -> Result<()> {
        self.view = Some(view);
        let instances = self.instances.as_mut();
        let set = instances.map(|it| it.set_picture(self.view));
        set.unwrap_or(Ok(()))
    }

    /// What is downloaded as long as the drawing side has not said what it wants: bits, if the lattices
    /// are not enormous.
    pub(crate) fn first_view(&self) -> Option<PicturePlan> {
        first_view(&self.setup)
    }

    /// Uses other instances, whose settings these are.
    pub(crate) fn take(&mut self, instances: Instances, setup: Setup) {
        let of_b = self.b_switches.filter(|_| instances.is_comparing());
        self.b_switches = of_b.map(|it| it.fitted_to(setup.kernel));
        self.instances = Some(instances);
        self.setup = setup;
    }

    /// Makes the lattices of another setup, all cells dead, on a new engine of the same devices as the
    /// present one. Until [`take`](Self::take) both are in memory.
    ///
    /// # Errors
    /// The devices cannot be opened, or there is no memory.
    pub(crate) fn make(&self, setup: &Setup, equipment: Equipment) -> Result<Instances> {
        let instances = self.make_from(self.source, setup)?;
        equip(instances, equipment, None)
    }

    fn make_from(&self, source: Source, setup: &Setup) -> Result<Instances> {
        let engine = match source {
            Source::Open(choice) => (self.engines.open)(choice),
            Source::Reopen(choice) => (self.engines.reopen)(choice),
        };
        Instances::new(engine?, &self.stepped(setup.clone()), SNAPSHOT_SLOTS)
    }

    /// The devices to try after a loss, one after the other: those that still work, or the CPU.
    pub(crate) fn devices_left(&self) -> Vec<DeviceChoice> {
        self.losses.devices(self.source.choice(), true)
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
        equipment: Equipment,
    ) -> Result<Instances> {
        self.setup.fit_own_round(); // the number of instances may be another by now
        let (instances, source) = make_again(lost, devices, |choice| {
            let source = Source::Reopen(choice);
            let instances = self.make_from(source, &self.setup)?;
            Ok((equip(instances, equipment, self.stepped_b())?, source))
        })?;
        self.source = source;
        if let Some(chosen) = &mut self.chosen {
            chosen.grid.1 = 0; // what was fastest on the lost device may not be here
        }
        Ok(instances)
    }

    /// Makes lattices of another size or number, all cells dead, on the contexts of `old`, whose memory
    /// is freed first. If memory is lacking, as many and as large as before, and the error.
    ///
    /// # Errors
    /// The engine is lost.
    pub(crate) fn resized(
        &self,
        old: Instances,
        setup: Setup,
        equipment: Equipment,
    ) -> Result<(Instances, Setup, Result<()>)> {
        let mut setup = setup;
        let mut made = old.replaced(&self.stepped(setup.clone()));
        if !self.is_recorded() {
            made = or_by_bits(made, &mut setup);
        }
        let (instances, setup, done) = match made {
            Ok(instances) => (instances, setup, Ok(())),
            Err((_, error)) if error.loses_lattices() => return Err(error),
            Err((engine, error)) => {
                let stepped = self.stepped(self.setup.clone());
                let instances = Instances::on(engine, &stepped, SNAPSHOT_SLOTS);
                let instances = instances.map_err(|(_, error)| error.into_lost())?;
                (instances, self.setup.clone(), Err(error))
            }
        };
        let kernel = instances.own_plan().kernel; // another size may have another one
        let of_b = self.stepped_b().map(|it| it.fitted_to(kernel));
        let instances = equip(instances, equipment, of_b).map_err(EngineError::into_lost)?;
        Ok((instances, setup, done))
    }
}

/// A setup that the CPU steps as fast as it can, with pictures as its switches say.
fn on_cpu(setup: Setup) -> Setup {
    let bits = kernels::find("bits").unwrap_or(setup.kernel);
    let kernel = kernel_for(&[setup.size], bits);
    let switches = Switches {
        transfer: setup.switches.transfer,
        ..Switches::DEFAULT
    };
    Setup {
        kernel,
        kernel_choice: KernelChoice::Explicit,
        switches: switches.fitted_to(kernel),
        ..setup
    }
}

/// Instances with what the session has set.
fn equip(
    mut instances: Instances,
    equipment: Equipment,
    b_switches: Option<Switches>,
) -> Result<Instances> {
    instances.set_edit_number(equipment.edit);
    instances.set_block_timestamps(equipment.block_timestamps);
    if b_switches.is_some() {
        instances.compare(b_switches)?;
    }
    Ok(instances)
}

fn first_view(setup: &Setup) -> Option<PicturePlan> {
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
    let next = default_kernels(setup.switches).find(takes);
    let next = next.filter(|it| is_open && it.layout != setup.kernel.layout);
    let Some(kernel) = next else {
        return Err((engine, error));
    };
    if let Err(error) = engine.clear() {
        return Err((engine, error));
    }
    setup.kernel = kernel;
    Instances::on(engine, setup, SNAPSHOT_SLOTS)
}

/// Makes a setup's instances on an engine, with all that their first round needs.
fn start(engine: Box<dyn Engine>, mut setup: Setup) -> Result<(Instances, Setup)> {
    let made = Instances::on(engine, &setup, SNAPSHOT_SLOTS);
    let mut instances = or_by_bits(made, &mut setup).map_err(|(_, error)| error)?;
    let picture = first_view(&setup);
    if setup.kernel_choice == KernelChoice::Auto {
        instances.set_picture(picture)?; // what pictures cost counts
    }
    instances.start(&mut setup)?;
    instances.set_picture(picture)?;
    instances.load()?;
    if setup.switches.order == Order::Own && instances.engine().places() > 1 {
        tracing::warn!("a round of your own runs on one device; rounds are breadth-first");
        setup.switches.order = Order::Breadth;
    }
    Ok((instances, setup))
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
