//! Engines and the lattices that are made on them: at the start, of another size or number, and in the place of
//! those that a loss took.

use crate::instances::{Sim, make_on_devices, open};
use crate::log::Position;
use crate::{
    DeviceChoice, KernelChoice, Order, PicturePlan, Setting, Setup, Switches, default_kernels,
};
use engine::kernels::KERNELS;
use engine::{Engine, EngineError, Kernel, Layout, Result, kernels};
use life::Size;

/// Number of page-locked slots for copies of all lattices.
pub(crate) const SNAPSHOT_SLOTS: u8 = 2;

/// Largest lattice, in 32-bit words, downloaded whole before the drawing side says what it wants.
const MAX_PICTURE_WORDS: usize = 1 << 24;

/// Opens engines, and makes lattices on them.
pub(crate) struct Engines {
    /// How they are opened on the devices of a choice: after a loss (`true`) on those that still work. Tests
    /// replace it.
    pub open: Open,
    /// The devices of the present engine, and whether it took the place of a lost one: another one beside it
    /// is opened in the same way.
    pub device: DeviceChoice,
    is_reopened: bool,
}

type Open = Box<dyn Fn(DeviceChoice, bool) -> Result<Box<dyn Engine>>>;

impl Default for Engines {
    fn default() -> Engines {
        Engines {
            open: Box::new(open),
            device: DeviceChoice::Auto,
            is_reopened: false,
        }
    }
}

/// Lattices, or the engine without lattices and why it has none.
type Made = Result<Sim, (Box<dyn Engine>, EngineError)>;

impl Engines {
    /// Makes a setup's lattices, with all that their first round needs.
    ///
    /// # Errors
    /// A device of the choice cannot be used, or memory is lacking.
    pub(crate) fn start(&mut self, setup: Setup, is_recorded: bool) -> Result<(Sim, Setup)> {
        let make = |engine| {
            let (sim, started) = start(engine, stepped_setup(&setup, is_recorded))?;
            Ok((sim, if is_recorded { setup.clone() } else { started }))
        };
        let (sim, started) = make_on_devices(setup.device, |it| (self.open)(it, false), make)?;
        // Where the CPU computes because a GPU cannot, it does so for larger lattices, too.
        self.device = match (setup.device, sim.engine().name()) {
            (DeviceChoice::Auto, "cpu") => DeviceChoice::Cpu,
            (choice, _) => choice,
        };
        Ok((sim, started))
    }

    /// Makes the lattices of another setup, all cells dead, on a new engine of the same devices as the
    /// present one. Until they take its place both are in memory.
    ///
    /// # Errors
    /// The devices cannot be opened, or there is no memory.
    pub(crate) fn make(&self, setup: &Setup, is_recorded: bool) -> Result<Sim> {
        let engine = (self.open)(self.device, self.is_reopened)?;
        let setup = stepped_setup(setup, is_recorded);
        Sim::new(engine, &setup, SNAPSHOT_SLOTS)
    }

    /// Makes a setup's lattices, all cells dead, in the place of lost ones, on the first of these devices
    /// that can be used. `lost` says what lost them.
    ///
    /// # Errors
    /// No engine can be opened.
    pub(crate) fn make_again(
        &mut self,
        lost: EngineError,
        devices: Vec<DeviceChoice>,
        setup: &Setup,
        is_recorded: bool,
    ) -> Result<Sim> {
        self.is_reopened = true;
        make_again(lost, devices, |device| {
            self.device = device;
            self.make(setup, is_recorded)
        })
    }
}

/// Makes lattices of another size or number, all cells dead, on the contexts of `old`, whose memory is freed
/// first. If memory is lacking, as many and as large as `now`, and the error.
///
/// # Errors
/// The engine is lost.
pub(crate) fn resized(
    old: Sim,
    now: &Setup,
    mut setup: Setup,
    is_recorded: bool,
) -> Result<(Sim, Setup, Result<()>)> {
    let mut made = old.replaced(&stepped_setup(&setup, is_recorded));
    if !is_recorded {
        made = or_by_bits(made, &mut setup);
    }
    match made {
        Ok(sim) => Ok((sim, setup, Ok(()))),
        Err((_, error)) if error.loses_lattices() => Err(error),
        Err((engine, error)) => {
            let sim = Sim::on(engine, &stepped_setup(now, is_recorded), SNAPSHOT_SLOTS);
            let sim = sim.map_err(|(_, error)| error.into_lost())?;
            Ok((sim, now.clone(), Err(error)))
        }
    }
}

/// A setup with the kernel and the switches by which its lattices are stepped.
fn stepped_setup(setup: &Setup, is_recorded: bool) -> Setup {
    let setup = setup.clone();
    if !is_recorded {
        return setup;
    }
    Setup {
        setting: on_cpu(&setup.setting, setup.size),
        kernel_choice: KernelChoice::Explicit,
        ..setup
    }
}

/// A setting by which the CPU steps lattices as fast as it can, with pictures as this one says.
pub(crate) fn on_cpu(setting: &Setting, size: Size) -> Setting {
    let bits = kernels::find("bits").unwrap_or(setting.kernel);
    let switches = Switches {
        transfer: setting.switches.transfer,
        ..Switches::DEFAULT
    };
    setting
        .with_switches(switches)
        .with_kernel(kernel_for(&[size], bits))
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
pub(crate) fn kernel_for(sizes: &[Size], kernel: &'static Kernel) -> &'static Kernel {
    let takes = |kernel: &&'static Kernel| {
        let mut sizes = sizes.iter();
        sizes.all(|size| kernel.supports(*size))
    };
    let others = kernels::find("bits").into_iter().chain(KERNELS.iter());
    let mut all = std::iter::once(kernel).chain(others);
    all.find(takes).unwrap_or(kernel)
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
