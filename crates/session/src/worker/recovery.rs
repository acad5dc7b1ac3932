//! Handles errors. A lost engine is replaced, and its lattices are restored from the newest snapshot and
//! the log; any other error is shown, and ends the session if it keeps coming.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{SNAPSHOT_SLOTS, SessionWorker};
use crate::log::{Position, SessionParameters};
use crate::notice::Notice;
use engine::kernels::{self, KERNELS, Kernel};
use engine::{EngineError, Loss, Result};
use lang::{Message, message};
use life::Size;
use model::{DeviceChoice, InWords, Setup, words};
use simulation::NewCells;
use simulation::instances::Instances;

/// Turns in a row that may fail before the session ends: without an end, notices would come
/// thousands of times per second.
const MAX_FAILURES: u32 = 3;

/// How long a recovery waits until nobody reads the old engine's host memory.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// How the session's engine was made; another one in its place is made the same way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EngineSource {
    /// On every device that the choice asks for.
    Open(DeviceChoice),
    /// After a loss, on the devices of the choice that still work.
    Reopen(DeviceChoice),
}

impl EngineSource {
    /// The devices that were chosen.
    fn choice(self) -> DeviceChoice {
        match self {
            EngineSource::Open(choice) | EngineSource::Reopen(choice) => choice,
        }
    }
}

impl SessionWorker {
    /// Handles an error. `while_working` says that the next piece of work would fail in the same way.
    pub(super) fn handle_error(&mut self, error: EngineError, while_working: bool) {
        self.publisher.mark_changed();
        if self.failed.is_some() {
            return;
        }
        match error {
            EngineError::ContextLost(_) | EngineError::PartiallyApplied(_) => self.recover(error),
            EngineError::InvalidProgram(_) | EngineError::Driver(_) => {
                self.fail(Message::new(|| error.in_words()));
            }
            could_not => {
                let why = Message::new(|| could_not.in_words());
                if while_working {
                    self.failures += 1;
                    if self.failures > MAX_FAILURES {
                        return self.fail(why);
                    }
                    if self.state.cells_known() {
                        self.state.halt();
                    }
                    self.halted = Some(why.clone());
                }
                self.notify(Notice::Warning(why));
            }
        }
    }

    /// Ends the session. Waiting commands are answered with the newest cells on the host.
    pub(super) fn fail(&mut self, why: Message) {
        tracing::error!("{why}");
        self.failed = Some(why);
        self.state.pause();
        self.end_commands();
        self.answer_waiters_at_the_end();
        self.publisher.mark_changed();
        self.publisher.wake();
    }

    /// Forgets past losses once the host has a copy from after them.
    pub(super) fn snapshot_stored(&mut self, position: Position) {
        self.losses.copied(position);
    }

    /// Replaces a lost engine and begins a move that restores the lattices and returns to the
    /// position of the loss. Ends the session if no engine can be opened.
    fn recover(&mut self, lost: EngineError) {
        let why = Message::new(|| words::reason(&lost));
        let position = self.state.position();
        if !self.losses.survive(position) {
            return self.fail(message!(
                "The engine was lost {count} times in a row, the last time because: {why}",
                count = self.losses.in_a_row(),
                why = why
            ));
        }
        self.lab.changed();
        self.forget_known();
        self.state.lost_cells();
        self.release_instances();
        let mut made = Err(lost);
        for choice in self.losses.devices(self.engine_source.choice(), true) {
            let source = EngineSource::Reopen(choice);
            made = self.make_instances_from(source, &self.setup);
            match &made {
                Ok(_) => {
                    self.engine_source = source;
                    break;
                }
                Err(error) => tracing::warn!("{}", error.in_words()),
            }
        }
        let instances = match made {
            Ok(instances) => instances,
            Err(error) => {
                return self.fail(message!(
                    "The engine was lost ({why}) and could not be replaced: {error}",
                    why = why,
                    error = Message::new(|| error.in_words())
                ));
            }
        };
        let place = match instances.engine().name() {
            "cpu" => message!("on the CPU"),
            _ => message!("on the GPU"),
        };
        let setup = self.setup.clone();
        self.take_instances(instances, setup);
        let generation = position.generation;
        self.notify(Notice::Warning(message!(
            "The engine was lost ({why}); the session continues from generation {generation} {place}",
            why = why,
            generation = generation,
            place = place
        )));
    }

    /// Makes instances for a setup, all cells dead, on a new engine of the same devices as the
    /// present one. Until [`take_instances`](Self::take_instances) both are in memory.
    ///
    /// # Errors
    /// The devices cannot be opened, or there is no memory.
    pub(super) fn make_instances(&self, setup: &Setup) -> Result<Instances> {
        self.make_instances_from(self.engine_source, setup)
    }

    fn make_instances_from(&self, source: EngineSource, setup: &Setup) -> Result<Instances> {
        let engine = self.environment.make_engine(source)?;
        let instances = Instances::new(engine, setup, SNAPSHOT_SLOTS)?;
        self.equipped(instances)
    }

    /// Instances with what the session has set besides its setup.
    fn equipped(&self, mut instances: Instances) -> Result<Instances> {
        instances.set_edit_number(self.state.last_edit());
        instances.set_block_timestamps(self.lab.block_timestamps());
        if let Some(comparison) = &self.comparison {
            instances.compare(Some(comparison.b_switches))?;
        }
        Ok(instances)
    }

    /// Replaces the lattices by those of another setup, of another size or number, on the same
    /// contexts, and sets their cells. The old ones' memory is freed first. Nothing may be in flight.
    ///
    /// # Errors
    /// Memory is lacking: the lattices are as many and as large as before, but their cells are lost.
    /// Or the engine is lost.
    pub(super) fn replace_lattices(
        &mut self,
        setup: Setup,
        cells: Vec<(usize, NewCells)>,
    ) -> Result<()> {
        let Some(old) = self.instances.take() else {
            return Ok(());
        };
        self.forget_known();
        self.state.cells_unknown();
        self.snapshots
            .save_from_slots(&old, self.state.log().bytes());
        self.snapshots.clear_slots();
        self.publisher.pictures().clear();
        let lost = |error: EngineError| EngineError::ContextLost(Loss::Error(Box::new(error)));
        let (instances, setup, done) = match old.replaced(&setup) {
            Ok(instances) => (instances, setup, Ok(())),
            Err((engine, error)) => {
                let before = self.setup.clone();
                let instances = Instances::on(engine, &before, SNAPSHOT_SLOTS);
                (
                    instances.map_err(|(_, error)| lost(error))?,
                    before,
                    Err(error),
                )
            }
        };
        let instances = self.equipped(instances).map_err(lost)?;
        self.take_instances(instances, setup);
        done?;
        let set = self.instances.as_mut().map(|it| it.set_lattices(cells));
        set.unwrap_or(Ok(()))
    }

    /// The setup with these parameters, and with a kernel that accepts lattices of their size.
    pub(super) fn setup_for(&self, parameters: &SessionParameters) -> Setup {
        let kernel = kernel_for(parameters.size, self.setup.kernel);
        Setup {
            size: parameters.size,
            instances: parameters.instances,
            rule: parameters.rule,
            start: parameters.start.clone(),
            kernel,
            switches: self.setup.switches.fitted_to(kernel),
            ..self.setup.clone()
        }
    }

    /// Replaces the instances, if there are any, and everything that refers to their slots.
    pub(super) fn take_instances(&mut self, instances: Instances, setup: Setup) {
        let is_other_grid = (setup.size, setup.instances)
            != (
                self.publisher.pictures().size(),
                self.publisher.pictures().instances(),
            );
        self.setup = setup;
        if let Some(old) = &self.instances {
            self.snapshots
                .save_from_slots(old, self.state.log().bytes());
        }
        self.snapshots.clear_slots();
        if is_other_grid {
            self.publisher.pictures().replace_grid(
                instances.slots().clone(),
                self.setup.instances,
                self.setup.size,
            );
        } else {
            self.publisher
                .pictures()
                .replace_slots(instances.slots().clone());
        }
        self.instances = Some(instances);
        self.statistics.restart();
        self.lab.changed();
        self.lab.measurement = None;
        self.forget_effect();
        if self.comparison.is_some() {
            self.measure_a_and_b();
        }
        self.update_measuring(true);
        self.state.want_pictures();
        if let Some(view) = self.view {
            // A view of other lattices is void; the drawing side requests another one.
            let view = if is_other_grid { None } else { Some(view) };
            let plan = view.or((self.setup.size.words() <= super::MAX_PICTURE_WORDS)
                .then_some(model::PicturePlan::BITS));
            if let Some(plan) = plan
                && let Err(error) = self.set_view(plan)
            {
                tracing::warn!("{}", error.in_words());
            }
        }
    }

    /// Drops the old engine with its context and host memory: while any of it is alive, opening the
    /// device would return the lost context. Readers of a picture keep the host memory for some
    /// milliseconds.
    fn release_instances(&mut self) {
        self.publisher.pictures().clear();
        let Some(old) = self.instances.take() else {
            self.snapshots.clear_slots();
            return;
        };
        self.snapshots
            .save_from_slots(&old, self.state.log().bytes());
        self.snapshots.clear_slots();
        let slots = Arc::downgrade(old.slots());
        drop(old);
        let until = Instant::now() + RELEASE_TIMEOUT;
        while slots.strong_count() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The present kernel, or another one if it does not accept lattices of this size.
fn kernel_for(size: Size, kernel: &'static Kernel) -> &'static Kernel {
    let takes = |kernel: &&'static Kernel| kernel.validate_size(size).is_ok();
    let others = kernels::find("bits").into_iter().chain(KERNELS.iter());
    let mut all = std::iter::once(kernel).chain(others);
    all.find(takes).unwrap_or(kernel)
}
