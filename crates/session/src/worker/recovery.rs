//! Other lattices in the place of the present ones: on another engine after a loss, of another size or number,
//! or from a file.

use super::lab::SessionWorker;
use crate::command::Notice;
use crate::copies::Copies;
use crate::engines::{Losses, first_view, resized};
use crate::instances::Sim;
use crate::saved::{OwnFile, SavedSession};
use crate::state::{Mode, MoveReason, Pacing};
use crate::{DeviceChoice, NewCells, Setup, StoredKernel};
use engine::kernels::OwnStepError;
use engine::{EngineError, Loss, Result};
use lang::{Message, english, message};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

// Handles errors. A lost engine is replaced, and its lattices are restored from the newest snapshot and
// the log; any other error is shown, and ends the session if it keeps coming.

/// How long a GPU may be at work by a kernel of the user's own before that counts as endless. (On the CPU
/// its stepper limits the time.)
const OWN_KERNEL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a recovery waits until nobody reads the old engine's host memory.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// Turns in a row that may fail before the session ends: without an end, notices would come
/// thousands of times per second.
const MAX_FAILURES: u32 = 3;

/// The loss by a kernel that takes too long.
const ENDLESS: Loss = Loss::OwnKernel(OwnStepError::TooLong);

impl SessionWorker {
    /// Errors if a kernel of the user's own seems to run without an end on a GPU.
    pub(super) fn check_own_kernel(&self) -> Result<()> {
        let hangs = |it: &Sim| it.working_time() > platform::timeout(OWN_KERNEL_TIMEOUT);
        let is_own = self.engine_name() == Some("cuda") && self.own_kernel().is_some();
        if is_own && self.sim.as_ref().is_some_and(hangs) {
            return Err(EngineError::ContextLost(ENDLESS));
        }
        Ok(())
    }

    /// Handles an error. `while_working` says that the next piece of work would fail in the same way.
    pub(super) fn handle_error(&mut self, error: EngineError, while_working: bool) {
        self.publisher.is_changed = true;
        if self.ended.is_some() {
            return;
        }
        // What has arrived is read even if the session ends, and may be from after the last loss.
        self.save_from_slots();
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
                    self.failures += 1;
                    self.halted = Some(why.clone());
                    if self.failures > MAX_FAILURES {
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

    /// Ends the session. Who waits for cells is answered with the newest ones on the host, and the commands that
    /// wait follow in the next turn.
    pub(super) fn fail(&mut self, why: Message) {
        tracing::error!("{}", english(&why));
        self.ended = Some(why);
        self.state.pause_now();
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
        let position = self.state.position;
        let own_kernel = self.own_kernel();
        if own_kernel.is_some() {
            self.setup.leave_own_kernel();
        } else if !self.losses.survive(position) {
            let count = self.losses.in_a_row;
            return self.fail(message!(
                "The engine was lost {count} times in a row, the last time because: {why}",
                why = lost.reason()
            ));
        }
        self.lab.changed();
        self.state.lost_cells();
        let is_on_gpu = self.engine_name() == Some("cuda");
        let is_stuck = is_on_gpu && lost == EngineError::ContextLost(ENDLESS);
        self.release_instances(is_stuck);
        let devices = if is_stuck {
            vec![DeviceChoice::Cpu]
        } else {
            self.losses.devices(self.engines.device, true)
        };
        self.setup.fit_own_round(); // the number of instances may be another by now
        let (setup, is_recorded) = (self.setup.clone(), self.is_recorded());
        let engines = &mut self.engines;
        let instances = match engines.make_again(lost.clone(), devices, &setup, is_recorded) {
            Ok(instances) => instances,
            Err(error) => {
                return self.fail(message!(
                    "The engine was lost ({why}) and could not be replaced: {error}",
                    why = lost.reason()
                ));
            }
        };
        if let Some(chosen) = &mut self.chosen {
            chosen.grid.1 = 0; // what was fastest on the lost device may not be here
        }
        self.take_instances(instances, setup);
        let (why, generation) = (lost.reason(), position.generation);
        let place = if self.engine_name() == Some("cpu") {
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
        let Some(old) = self.sim.take() else {
            return Ok(());
        };
        self.state.cells_known = false;
        self.forget_slots();
        self.publisher.pictures.clear();
        let is_recorded = self.is_recorded();
        let (instances, setup, done) = resized(old, &self.setup, setup, is_recorded)?;
        self.take_instances(instances, setup);
        done?;
        let set = self.sim.as_mut().map(|it| it.set_lattices(cells));
        set.unwrap_or(Ok(()))
    }

    /// Replaces the instances, if there are any, and everything that refers to their slots.
    fn take_instances(&mut self, instances: Sim, setup: Setup) {
        self.forget_slots();
        let (slots, pictures) = (instances.slots.clone(), &self.publisher.pictures);
        let is_other_grid = pictures.replace(slots, setup.instances, setup.size);
        let view = self.view.take();
        (self.sim, self.setup) = (Some(instances), setup);
        self.lab.changed();
        self.forget_effect();
        self.trial = self.trial_by(self.setup.setting.kernel);
        self.update_measuring(true);
        self.state.wants_pictures = true;
        // A view of other lattices is void; the drawing side requests another one.
        let view = view.filter(|_| !is_other_grid);
        if let Some(view) = view.or(first_view(&self.setup))
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
        self.forget_slots();
        let Some(old) = self.sim.take() else {
            return;
        };
        if is_stuck {
            let old = ManuallyDrop::new(old); // never dropped if no thread starts
            let drop_it = move || drop(ManuallyDrop::into_inner(old));
            let _ = std::thread::Builder::new().spawn(drop_it);
            return;
        }
        let slots = Arc::downgrade(&old.slots);
        drop(old);
        let until = Instant::now() + RELEASE_TIMEOUT;
        while slots.strong_count() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

// Continues a saved session.

impl SessionWorker {
    /// Continues a saved session, whose setup this worker has. Nothing may be in flight. If that
    /// fails, the session ends and the file stays as it is.
    pub(super) fn open(&mut self, saved: SavedSession) -> Result<()> {
        match self.load_saved(saved) {
            // After a loss, the recovery restores the lattices.
            Err(error) if !error.loses_lattices() => {
                self.fail(message!("The saved session cannot be continued: {error}"));
                Ok(())
            }
            taken => taken,
        }
    }

    /// Replaces this session by a saved one, on the same devices, and leaves its file; `name` is
    /// that of the saved one's file. Nothing may be in flight. A kernel of the user's own runs if this
    /// session has it already; otherwise it stays text.
    ///
    /// # Errors
    /// Its instances cannot be made; everything is as it was then.
    pub(super) fn replace(
        &mut self,
        saved: SavedSession,
        file: &OwnFile,
        name: String,
    ) -> Result<()> {
        self.publish_last_known(Duration::ZERO); // before a device is opened
        let Setup {
            device,
            split,
            rounds,
            own_kernel,
            ..
        } = self.setup;
        let mut setup = Setup {
            device,
            split,
            rounds,
            ..saved.setup.clone()
        };
        let is_same = |stored: &StoredKernel| {
            let own = own_kernel.and_then(|kernel| kernel.own.as_ref());
            own.is_some_and(|own| *own.source == *stored.source)
        };
        let is_here = setup.stored_kernel.as_deref().is_none_or(is_same);
        if let Some(kernel) = own_kernel.filter(|_| is_here) {
            setup.take_own_kernel(kernel);
        }
        let left = setup.stored_kernel.as_ref().filter(|it| it.in_use);
        let left = left.map(|it| it.rung);
        let is_recorded = self.is_recorded();
        let instances = self.engines.make(&setup, is_recorded)?;
        // What is published meanwhile is neither session.
        self.safety_copy.restore_pending = true;
        self.trial = None; // of the lattices before
        let (pace, generations) = (setup.pace, setup.generations_per_round);
        self.chosen = None;
        self.take_instances(instances, setup);
        file.leave();
        self.fit_block_timestamps();
        self.state.pacing = Pacing::new(pace, generations, self.now());
        self.notify(Notice::Done(message!("Opened the session {}", name)));
        self.open(saved)?;
        if let Some(rung) = left {
            self.notify(Notice::Done(message!(
                "The kernel of your own in this file is not compiled here; {rung} takes its place",
                rung = rung.file
            )));
        }
        Ok(())
    }

    fn load_saved(&mut self, saved: SavedSession) -> Result<()> {
        self.watch.selected = saved.selected.min(self.setup.instances - 1);
        for notice in saved.notices {
            self.notify(Notice::Done(notice));
        }
        // Breadth-first, if the order is the user's own and the saved round is no longer right.
        if self.setup.fit_own_round() {
            self.own_round_left(self.setup.instances);
        }
        let limited = self.setup.rounds.is_some(); // a requested number of rounds is run
        let runs = (saved.running || limited) && self.setup.rounds != Some(0);
        let mode = if runs { Mode::Running } else { Mode::Paused };
        self.safety_copy.clear();
        self.lab.statistics.restart();
        self.forget_slots();
        self.losses = Losses::default(); // of other positions
        let (log, target) = (saved.timeline.log, saved.timeline.position);
        let budget = self.setup.time.history_bytes;
        (self.state.log, self.state.position) = (log, target);
        self.state.copies = Copies::new(budget);
        for copy in saved.timeline.copies {
            self.state.add_copy(copy);
        }
        self.state.cells_known = false;
        self.lab.b_switches = saved.b_switches;
        self.state.pacing.left = None;
        self.state.begin_move(target, MoveReason::Opening, mode);
        self.log_changed();
        self.publisher.is_changed = true;
        Ok(())
    }

    /// Says that breadth-first took the place of the user's own round.
    pub(super) fn own_round_left(&mut self, instances: usize) {
        self.notify(Notice::Done(message!(
            "The round of your own is not right for {instances} instances; back to breadth-first"
        )));
    }
}
