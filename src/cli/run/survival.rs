//! A run: steps instances to a generation as fast as it can, and survives the loss of a device.
//!
//! Every some seconds it copies the lattices to the host. After a loss, the devices that are left go
//! on from the newest copy, or from the start before the first one.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Engine, EngineError, Result};
use life::Lattice;
use session::fastest::{FastestPlan, RoundLength};
use session::instances::{
    Event, Results, Sim, ensure_room, make_on_devices, open_engine, reopen_engine, start_lattice,
};
use session::log::Position;
use session::losses::{Losses, make_again};
use session::{DeviceChoice, PicturePlan, Setting, Setup, Share, Start};

/// Time between two copies of the lattices, at least.
const COPY_INTERVAL: Duration = Duration::from_secs(10);

/// The time until the next copy, in times that one takes: a copy may cost 2 % of the time.
const INTERVAL_IN_COPIES: u32 = 50;

/// How many bytes per second a first copy is expected to take: so many as the host's memory takes
/// at least.
const EXPECTED_COPY_RATE: f64 = 2e9;

/// Copies that the host must have memory for where one is made: that one, and two more as a start
/// with such lattices needs them ([`Sim::new`]).
const COPIES: u64 = 3;

/// Prepares instances for so many generations: sets them to the start of the setup and enters a
/// plan. The setup says afterwards what was entered.
pub type Prepare<'a> = dyn Fn(&mut Sim, &mut Setup, u64) -> Result<Entered> + 'a;

/// How prepared instances are stepped.
pub struct Entered {
    /// The lengths of rounds.
    pub rounds: RoundLength,
    /// The plan, if one was chosen.
    pub plan: Option<FastestPlan>,
    /// What rounds download, if anything.
    pub picture: Option<PicturePlan>,
}

/// Instances on the devices that step them at present.
pub(super) struct Present {
    pub(super) instances: Sim,
    pub(super) setup: Setup,
    pub(super) entered: Entered,
    /// What rounds step.
    share: Share,
    /// When the lattices are copied next; never on the CPU, which is not lost.
    copy_at: Option<Instant>,
}

/// What a recovery came to.
pub struct Recovery {
    /// The generation that the run goes on from.
    pub generation: u64,
    /// How many generations that were stepped are stepped again.
    pub again: u64,
}

/// A run of instances over some generations.
pub struct Run<'a> {
    prepare: Box<Prepare<'a>>,
    /// What was asked for; its start is the newest copy.
    asked: Setup,
    /// The generation of the first start.
    first: u64,
    /// Generations to step.
    generations: u64,
    /// Generations stepped until the newest copy, until the end of the last
    /// [`step`](Self::step), and until the last round that was completed.
    copied: u64,
    pub(super) done: u64,
    completed: u64,
    losses: Losses,
    /// `None` once no device is left.
    present: Option<Present>,
}

impl<'a> Run<'a> {
    /// Opens the setup's devices and prepares its instances there. With [`DeviceChoice::Auto`], the
    /// CPU takes the place of a GPU on which that fails.
    ///
    /// # Errors
    /// A device cannot be used, or it or the host has too little memory.
    pub fn start(asked: Setup, generations: u64, prepare: Box<Prepare<'a>>) -> Result<Run<'a>> {
        let mut run = Run {
            prepare,
            first: asked.start.generation(),
            asked,
            generations,
            copied: 0,
            done: 0,
            completed: 0,
            losses: Losses::default(),
            present: None,
        };
        match run.make(run.asked.device, open_engine) {
            // As at a loss later on; but a kernel of the user's own may be the reason.
            Err(lost) if lost.loses_lattices() && run.asked.kernel.own.is_none() => {
                let why = lang::english(&lost);
                run.recover(lost)?;
                let devices = run.present().instances.engine().devices().iter();
                let names: Vec<&str> = devices.map(|device| device.name.as_str()).collect();
                tracing::warn!("{why}; {} starts instead", names.join(" + "));
            }
            made => run.present = Some(made?),
        }
        Ok(run)
    }

    /// Prepares instances with the newest copy on devices that `open` opens.
    fn make(
        &self,
        choice: DeviceChoice,
        open: impl Fn(DeviceChoice) -> Result<Box<dyn Engine>>,
    ) -> Result<Present> {
        let left = self.generations - self.copied;
        let make = |engine| {
            let mut setup = self.asked.clone();
            let mut instances = Sim::new(engine, &setup, 0)?;
            let entered = (self.prepare)(&mut instances, &mut setup, left)?;
            let share = instances.all(&Setting::of(&setup), entered.picture);
            instances.load(&share)?; // compiling a rule's kernel is not stepping
            instances.finish()?;
            let is_gpu = instances.engine().name() != "cpu";
            let bytes = instances.all_bits() as f64;
            let first_copy = interval(Duration::from_secs_f64(bytes / EXPECTED_COPY_RATE));
            Ok(Present {
                instances,
                setup,
                entered,
                share,
                copy_at: is_gpu.then(|| Instant::now() + first_copy),
            })
        };
        make_on_devices(choice, open, make)
    }

    /// Steps all generations that are left, and passes events on; once `on_event` breaks, no other
    /// round is issued. With `timed`, rounds have spans.
    ///
    /// # Errors
    /// What the engine says: see [`recover`](Self::recover).
    pub fn step(
        &mut self,
        timed: bool,
        on_event: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<()> {
        while self.done < self.generations {
            let left = self.generations - self.done;
            let present = self.present.as_mut().expect("a device is left");
            let (copy_at, completed) = (present.copy_at, &mut self.completed);
            let mut is_stopped = false;
            let mut heard = |event: Event| {
                if let Event::Round { round, .. } = &event {
                    *completed += u64::from(round.generations);
                }
                is_stopped |= on_event(event).is_break();
                if is_stopped || copy_at.is_some_and(|at| Instant::now() >= at) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let rounds = &mut present.entered.rounds;
            let (sim, share) = (&mut present.instances, &present.share);
            self.done += sim.run_rounds(share, left, rounds, timed, &mut heard)?;
            if is_stopped {
                break;
            }
            if self.done < self.generations {
                self.copy()?;
            }
        }
        Ok(())
    }

    /// Copies the lattices to the host, if there is the memory for it.
    fn copy(&mut self) -> Result<()> {
        let generation = self.generation();
        let present = self.present.as_mut().expect("a device is left");
        let began = Instant::now();
        let room = ensure_room(self.asked.size, self.asked.instances, None, COPIES);
        let copied = match room {
            Ok(()) => present.instances.copy(&present.share),
            Err(why) => Err(why.into()),
        };
        let took = began.elapsed();
        match copied {
            Ok(lattices) => {
                tracing::debug!("a copy of generation {generation} took {took:?}");
                self.asked.start = Start::Lattices {
                    lattices,
                    generation,
                };
                self.copied = self.done;
                self.losses.copied(after(self.done));
            }
            Err(lacking) if lacking.lacks_memory() => {
                tracing::debug!("no copy: {}", lang::english(lacking));
            }
            Err(lost) => return Err(lost),
        }
        present.copy_at = Some(Instant::now() + interval(took));
        Ok(())
    }

    /// Whether another device may go on after this error: not if a kernel of the user's own may be the
    /// reason.
    pub fn can_recover(&self, error: &EngineError) -> bool {
        let Present {
            instances, setup, ..
        } = self.present();
        let is_cpu = instances.engine().name() == "cpu";
        !is_cpu && error.is_of_device() && setup.kernel.own.is_none()
    }

    /// After such an error of the engine, opens the devices that are left and restores the newest copy
    /// there: those of the choice, and with [`DeviceChoice::Auto`] the CPU in the end.
    ///
    /// # Errors
    /// No device is left. Nothing can be stepped then.
    pub fn recover(&mut self, error: EngineError) -> Result<Recovery> {
        self.present = None; // a lost device is opened anew only once it is released
        let again = self.completed - self.copied;
        let position = after(self.completed);
        (self.done, self.completed) = (self.copied, self.copied);
        if !self.losses.survive(position) {
            return Err(error);
        }
        let choice = self.asked.device;
        let devices = self.losses.devices(choice, choice == DeviceChoice::Auto);
        let made = make_again(error, devices, |choice| self.make(choice, reopen_engine))?;
        self.present = Some(made);
        Ok(Recovery {
            generation: self.copied_generation(),
            again,
        })
    }

    /// The lattices as they are, to be counted and downloaded.
    ///
    /// # Errors
    /// What the engine says: see [`recover`](Self::recover).
    pub fn results(&mut self) -> Result<Results<'_>> {
        let present = self.present.as_mut().expect("a device is left");
        present.instances.results()
    }

    /// The instances, the setup with what was chosen, and how they are stepped.
    pub(super) fn present(&self) -> &Present {
        self.present.as_ref().expect("a device is left")
    }

    /// The generation of the lattices.
    pub fn generation(&self) -> u64 {
        self.first.saturating_add(self.done)
    }

    /// The generation of the newest copy.
    pub fn copied_generation(&self) -> u64 {
        self.first.saturating_add(self.copied)
    }

    /// An instance's lattice in the newest copy.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn copied_lattice(&self, instance: usize) -> Result<Arc<Lattice>> {
        start_lattice(&self.asked, instance)
    }
}

/// The time until the next copy, if one takes so long.
fn interval(copy: Duration) -> Duration {
    platform::timeout(COPY_INTERVAL).max(copy * INTERVAL_IN_COPIES)
}

/// The position after so many generations.
fn after(generations: u64) -> Position {
    Position::new(0, generations)
}
