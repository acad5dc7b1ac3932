//! Applies records of the log to the lattices, restores them, and replaces a lost engine.
//!
//! A change of few cells is uploaded as the words that it touches, in the lattice's stream, so rounds
//! do not wait for it. Before a person's change a copy is made, to which undo leads.

use super::SessionWorker;
use crate::command::Notice;
use crate::copies::Snapshot;
use crate::instances::Sim;
use crate::lattices::first_view;
use crate::log::{CellChange, CellWrite, Content, Position, Record, SessionParameters, Source};
use crate::state::MoveReason;
use crate::{DeviceChoice, KernelChoice, NewCells, Setting, Setup};
use engine::kernels::OwnStepError;
use engine::{EngineError, Loss, Result};
use lang::{Message, english, message};
use life::{Lattice, MemoryError, Rule, counted_lattices};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl SessionWorker {
    /// Applies the due record. If it cannot be applied, takes it off the log.
    pub(super) fn apply_due(&mut self) -> Result<()> {
        let Some(record) = self.state.log.record(self.state.position.records).cloned() else {
            return Ok(());
        };
        let here = self.state.position;
        if self.state.begins_edit(&record) {
            self.state.copies.edited_at(here);
        }
        let applied = match &record.content {
            Content::Cells { instance, cells } => self.apply_cells(*instance, cells),
            Content::Start(_) => self.apply_start(),
            Content::Rule(rule) => {
                self.set_rule(*rule);
                self.lab.statistics.restart();
                if self.state.moving().is_none() {
                    self.notify(Notice::Done(message!("Rule {rule}")));
                }
                Ok(())
            }
            Content::Grid { .. } => self.apply_grid(),
            Content::Compare => self.apply_comparison(),
        };
        match applied {
            Ok(()) => {
                self.record_applied(&record);
                Ok(())
            }
            // It stays on the log and is applied after the recovery.
            Err(lost) if lost.loses_lattices() => Err(lost),
            // It was applied before, so it stays; the move ends here.
            Err(why)
                if self
                    .state
                    .moving()
                    .is_some_and(|it| it.purpose != MoveReason::Redo) =>
            {
                if !self.state.cells_known {
                    self.state.lost_cells();
                }
                Err(why)
            }
            Err(why) => {
                self.state.cannot_apply();
                if !self.state.cells_known {
                    self.state.lost_cells();
                }
                self.log_changed();
                // The drawing side stops waiting for a picture with the edit.
                self.state.edit_done(record.number);
                self.notify(Notice::Warning(Message::of(why)));
                self.publisher.is_changed = true;
                Ok(())
            }
        }
    }

    /// Sets the rule by which the lattices are stepped.
    pub(super) fn set_rule(&mut self, rule: Rule) {
        let shares = self.lattices.shares_in_use();
        if let Some(sim) = &mut self.lattices.sim {
            sim.set_rule(rule, &shares);
        }
    }

    fn record_applied(&mut self, record: &Record) {
        self.state.applied();
        self.log_changed();
        let parameters = self.state.parameters();
        let touched = match &record.content {
            Content::Cells { instance, .. } => parameters.instances_of(*instance),
            _ => (0..parameters.instances).collect(),
        };
        if let Some(instances) = &mut self.lattices.sim {
            instances.set_generation(self.state.position.generation);
        }
        self.state.edit_done(record.number);
        for &instance in &touched {
            match &record.content {
                Content::Cells {
                    cells: CellChange::Edit(_),
                    ..
                } => self.watch.changed(instance..instance + 1),
                _ => self.watch.replaced(instance..instance + 1),
            }
        }
        self.snapshots.is_stale = true;
        self.publisher.is_changed = true;
    }

    fn apply_cells(&mut self, instance: usize, cells: &CellChange) -> Result<()> {
        let parameters = self.state.parameters();
        let instances = parameters.instances_of(instance);
        let reads = matches!(cells, CellChange::Edit(change) if change.reads_cells());
        let copy = self.present_copy().filter(|_| reads);
        let before = copy.and_then(|copy| copy.lattice(instances[0]));
        let write = cells.write(&parameters, instances[0], before.as_ref())?;
        match (write, &mut self.lattices.sim) {
            (Some(CellWrite::Words(words)), Some(sim)) => sim.edit(&instances, &words.into()),
            (Some(CellWrite::Whole(cells)), Some(sim)) => {
                let all = instances.iter().map(|&i| (i, cells.clone()));
                sim.set_lattices(all.collect())
            }
            _ => Ok(()),
        }
    }

    /// Sets every lattice to the start of the due record.
    fn apply_start(&mut self) -> Result<()> {
        let after = self.state.log.parameters(self.state.position.records + 1);
        let all = (0..after.instances).map(|i| Ok((i, after.start_cells(i)?)));
        let all = all.collect::<Result<Vec<_>, MemoryError>>()?;
        self.lab.statistics.restart();
        match &mut self.lattices.sim {
            Some(instances) => instances.set_lattices(all),
            None => Ok(()),
        }
    }

    /// Changes the size of the lattices or their number.
    fn apply_grid(&mut self) -> Result<()> {
        let before = self.state.parameters();
        let after = self.state.log.parameters(self.state.position.records + 1);
        let Some(lattices) = self.present_copy().map(Snapshot::lattices).transpose()? else {
            return Ok(());
        };
        let all = resized(lattices, &before, &after)?;
        let setup = self.lattices.setup_for(&after);
        let Setting {
            kernel, switches, ..
        } = self.lattices.setup.setting;
        let leaves_own_round = switches.order != setup.setting.switches.order;
        self.replace_lattices(setup, all.into_iter().enumerate().collect())?;
        self.state.cells_known = true;
        if self.state.moving().is_none() {
            self.notify(Notice::Done(if after.size != before.size {
                message!(
                    "The lattices are {size} now; Ctrl+Z brings those of {before} back",
                    size = after.size,
                    before = before.size
                )
            } else {
                message!(
                    "{count} now; Ctrl+Z goes back to {before}",
                    count = counted_lattices(after.instances),
                    before = before.instances
                )
            }));
            self.tell_kernel(kernel);
        }
        if self.lattices.setup.kernel_choice == KernelChoice::Estimated {
            self.state.keep_kernel(false); // another one may be the fastest now
        }
        if leaves_own_round {
            self.own_round_left(after.instances);
        }
        Ok(())
    }
}

/// Adapts lattices from the parameters `before` to `after`: enlarges or reduces them about their
/// middle, and gives added instances their start.
fn resized(
    lattices: Vec<Arc<Lattice>>,
    before: &SessionParameters,
    after: &SessionParameters,
) -> Result<Vec<NewCells>, EngineError> {
    let mut all: Vec<NewCells> = Vec::with_capacity(after.instances);
    for lattice in lattices.into_iter().take(after.instances) {
        all.push(if before.size == after.size {
            lattice.into()
        } else {
            Arc::new(lattice.resized(after.size)?).into()
        });
    }
    for instance in all.len()..after.instances {
        all.push(after.start_cells(instance)?);
    }
    Ok(all)
}

// Begins moves: sets the lattices to the cells at the start of a route.

impl SessionWorker {
    /// Sets the lattices to the cells at the start of the route to the move's target. Nothing may be in
    /// flight.
    pub(super) fn restore(&mut self) -> Result<()> {
        let Some(target) = self.state.moving().map(|moving| moving.target) else {
            return Ok(());
        };
        let Some(route) = self.state.route(target) else {
            return self.handle_unreachable_target();
        };
        let before = self.state.position;
        let from = match route.source {
            Source::Here => before,
            Source::Start(position) | Source::Snapshot(position) => position,
        };
        if route.source != Source::Here && !self.restore_from(route.source, from)? {
            return Ok(());
        }
        self.state.restored(from);
        self.log_changed();
        if let Some(instances) = &mut self.lattices.sim {
            instances.set_generation(from.generation);
        }
        // Cell ages, populations and cycle detection begin again.
        if route.source != Source::Here {
            self.watch.moved(self.lattices.setup.instances);
        }
        self.snapshots.is_stale = true;
        self.lab.statistics.restart();
        self.publisher.is_changed = true;
        Ok(())
    }

    /// Sets the lattices from a snapshot or a start. Returns `false` if the snapshot could not be read.
    fn restore_from(&mut self, source: Source, from: Position) -> Result<bool> {
        let parameters = self.state.log.parameters(from.records);
        let instances = 0..parameters.instances;
        let all: Vec<(usize, NewCells)> = match source {
            Source::Snapshot(position) => {
                let copy = self.state.copies.get(position);
                let Some(copy) = copy else {
                    // It was under way, and could not be read: another, or a start, is tried instead.
                    self.state.copies.retain(|at| at != position);
                    return Ok(false);
                };
                let lattices = copy.lattices()?;
                instances
                    .zip(lattices.into_iter().map(NewCells::from))
                    .collect()
            }
            _ => {
                let cells = |i| Ok((i, parameters.start_cells(i)?));
                instances.map(cells).collect::<Result<_>>()?
            }
        };
        self.state.cells_known = false;
        let setup = self.lattices.setup_for(&parameters);
        let grid = |it: &Sim| (it.size(), it.instances());
        let Some(present) = self.lattices.sim.as_ref().map(grid) else {
            return Ok(false);
        };
        if present == (parameters.size, parameters.instances) {
            self.set_rule(parameters.rule);
            let sim = self.lattices.sim.as_mut();
            sim.map_or(Ok(()), |it| it.set_lattices(all))?;
            return Ok(true);
        }
        self.replace_lattices(setup, all)?;
        Ok(true)
    }

    /// Handles a move whose target no route reaches: goes as near as possible, or ends the session.
    fn handle_unreachable_target(&mut self) -> Result<()> {
        match self.state.handle_unreachable_target() {
            Some(notice) => self.notify(notice),
            None => self.fail(message!("no snapshot of the lattices is left")),
        }
        self.log_changed();
        Ok(())
    }
}

// Handles errors. A lost engine is replaced, and its lattices are restored from the newest snapshot and
// the log; any other error is shown, and ends the session if it keeps coming.

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
        self.state.pause_now();
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
        let position = self.state.position;
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
        self.snapshots.save_from_slots(&old, &mut self.state);
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
        self.snapshots.save_from_slots(&old, &mut self.state);
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

// Whether a session works: what stopped its rounds, and what ended it.

/// Turns in a row that may fail before the session ends: without an end, notices would come
/// thousands of times per second.
const MAX_FAILURES: u32 = 3;

/// What has gone wrong, if anything.
#[derive(Default)]
pub(crate) struct Health {
    /// Why the session has ended.
    pub(crate) ended: Option<Message>,
    /// The error that stopped the rounds, until they resume.
    pub(crate) halted: Option<Message>,
    /// Number of turns in a row that have failed.
    pub(crate) failures: u32,
}

impl Health {
    /// Notes a turn whose work failed. Returns whether there were too many in a row.
    pub(crate) fn turn_failed(&mut self, why: &Message) -> bool {
        self.failures += 1;
        self.halted = Some(why.clone());
        self.failures > MAX_FAILURES
    }
}
