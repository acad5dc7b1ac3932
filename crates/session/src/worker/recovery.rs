//! Handles errors. A lost engine is replaced, and its lattices are restored from the newest snapshot and
//! the log; any other error is shown, and ends the session if it keeps coming.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SessionWorker;
use crate::command::Notice;
use crate::instances::Sim;
use crate::lattices::first_view;
use crate::state::Mode;
use crate::{DeviceChoice, NewCells, Setup};
use engine::kernels::OwnStepError;
use engine::{EngineError, Loss, Result};
use lang::{Message, english, message};

/// How long a GPU may be at work by a kernel of the user's own before that counts as endless. (On the CPU
/// its stepper limits the time.)
const OWN_KERNEL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a recovery waits until nobody reads the old engine's host memory.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// The loss by a kernel that takes too long.
const ENDLESS: Loss = Loss::OwnKernel(OwnStepError::TooLong);

impl SessionWorker {
    /// Errors if a kernel of the user's own seems to run without an end on a GPU.
    pub(super) fn check_own_kernel(&self) -> Result<()> {
        let instances = self.lattices.sim.as_ref();
        let hangs = |it: &Sim| {
            it.engine().name() == "cuda"
                && self.lattices.own_kernel().is_some()
                && it.working_time() > platform::timeout(OWN_KERNEL_TIMEOUT)
        };
        if instances.is_some_and(hangs) {
            return Err(EngineError::ContextLost(ENDLESS));
        }
        Ok(())
    }

    /// Handles an error. `while_working` says that the next piece of work would fail in the same way.
    pub(super) fn handle_error(&mut self, error: EngineError, while_working: bool) {
        self.publisher.is_changed = true;
        if self.health.ended.is_some() {
            return;
        }
        match error {
            EngineError::ContextLost(_)
            | EngineError::PartiallyApplied(_)
            | EngineError::OwnCodeRefused(_) => self.recover(error),
            EngineError::InvalidProgram(_) | EngineError::Driver(_) => {
                self.fail(Message::of(error));
            }
            could_not => {
                let why = Message::of(could_not);
                if while_working {
                    if self.health.turn_failed(&why) {
                        return self.fail(why);
                    }
                    if self.state.cells_known {
                        self.state.halt();
                    }
                }
                self.notify(Notice::Warning(why));
            }
        }
    }

    /// Ends the session. Waiting commands are answered with the newest cells on the host.
    pub(super) fn fail(&mut self, why: Message) {
        tracing::error!("{}", english(&why));
        self.health.ended = Some(why);
        self.state.mode = Mode::Paused;
        self.end_commands();
        self.answer_waiters_at_the_end();
        self.publisher.is_changed = true;
        self.publisher.wake();
    }

    /// Replaces a lost engine and begins a move that restores the lattices and returns to the
    /// position of the loss. Ends the session if no engine can be opened.
    ///
    /// A kernel of the user's own is taken to be the reason if rounds are stepped by it: its rung takes its
    /// place, so that this loss is no sign of another one. A GPU on which it runs without an end is given up
    /// for the CPU.
    fn recover(&mut self, lost: EngineError) {
        let position = self.state.position();
        let own_kernel = self.lattices.leave_own_kernel();
        if own_kernel.is_none() && !self.lattices.losses.survive(position) {
            let count = self.lattices.losses.in_a_row;
            return self.fail(message!(
                "The engine was lost {count} times in a row, the last time because: {why}",
                why = lost.reason()
            ));
        }
        self.lab.changed();
        self.state.lost_cells();
        let instances = self.lattices.sim.as_ref();
        let is_on_gpu = instances.is_some_and(|it| it.engine().name() == "cuda");
        let is_stuck = is_on_gpu && lost == EngineError::ContextLost(ENDLESS);
        self.release_instances(is_stuck);
        let devices = if is_stuck {
            vec![DeviceChoice::Cpu]
        } else {
            self.lattices.losses.devices(self.lattices.device, true)
        };
        let failed = lost.clone();
        let instances = match self.lattices.make_again(failed, devices) {
            Ok(instances) => instances,
            Err(error) => {
                return self.fail(message!(
                    "The engine was lost ({why}) and could not be replaced: {error}",
                    why = lost.reason()
                ));
            }
        };
        let is_on_cpu = instances.engine().name() == "cpu";
        let setup = self.lattices.setup.clone();
        self.take_instances(instances, setup);
        let (why, generation) = (lost.reason(), position.generation);
        let place = if is_on_cpu {
            message!("on the CPU")
        } else {
            message!("on the GPU")
        };
        self.notify(Notice::Warning(match own_kernel {
            None => message!(
                "The engine was lost ({why}); the session continues from generation {generation} {place}"
            ),
            Some(kernel) => message!(
                "Your kernel failed ({why}); {rung} takes its place, and the session continues from generation {generation} {place}",
                rung = kernel.file
            ),
        }));
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
        let Some(old) = self.lattices.sim.take() else {
            return Ok(());
        };
        self.state.cells_known = false;
        self.snapshots
            .save_from_slots(&old, &mut self.state.timeline);
        self.forget_slots();
        self.publisher.pictures.clear();
        let (instances, setup, done) = self.lattices.resized(old, setup)?;
        self.take_instances(instances, setup);
        done?;
        let set = self.lattices.sim.as_mut().map(|it| it.set_lattices(cells));
        set.unwrap_or(Ok(()))
    }

    /// Replaces the instances, if there are any, and everything that refers to their slots.
    pub(super) fn take_instances(&mut self, instances: Sim, setup: Setup) {
        self.save_from_slots();
        self.forget_slots();
        let (slots, pictures) = (instances.slots().clone(), &self.publisher.pictures);
        let is_other_grid = pictures.replace(slots, setup.instances, setup.size);
        let view = self.lattices.view;
        self.lattices.take(instances, setup);
        self.lab.changed();
        self.forget_effect();
        self.lattices.trial = self.trial_by(self.lattices.setup.setting.kernel);
        self.update_measuring(true);
        self.state.wants_pictures = true;
        // A view of other lattices is void; the drawing side requests another one.
        let view = view.filter(|_| !is_other_grid);
        if let Some(view) = view.or(first_view(&self.lattices.setup))
            && let Err(error) = self.set_view(view)
        {
            tracing::warn!("{}", english(error));
        }
    }

    /// Drops the old engine with its context and host memory: while any of it is alive, opening the
    /// device would return the lost context. Readers of a picture keep the host memory for some
    /// milliseconds. An engine that is stuck would never be dropped: a thread is left to it.
    fn release_instances(&mut self, is_stuck: bool) {
        self.publisher.pictures.clear();
        let Some(old) = self.lattices.sim.take() else {
            self.forget_slots();
            return;
        };
        self.snapshots
            .save_from_slots(&old, &mut self.state.timeline);
        self.forget_slots();
        if is_stuck {
            let old = ManuallyDrop::new(old); // never dropped if no thread starts
            let drop_it = move || drop(ManuallyDrop::into_inner(old));
            let _ = std::thread::Builder::new().spawn(drop_it);
            return;
        }
        let slots = Arc::downgrade(old.slots());
        drop(old);
        let until = Instant::now() + RELEASE_TIMEOUT;
        while slots.strong_count() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
