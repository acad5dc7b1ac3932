//! Dispatches commands. Those that concern neither cells nor time are performed at once; the others
//! are taken in order.

use std::time::{Duration, Instant};

use super::SessionWorker;
use super::snapshotting::Wanted;
use crate::command::{AfterEnd, Command, Notice, When};
use crate::copies::Snapshot;
use crate::state::Mode;
use crate::{Pace, PicturePlan, SessionAction};
use engine::Result;
use lang::message;

impl SessionWorker {
    /// Performs a command or queues it.
    pub(super) fn dispatch(&mut self, command: Command) {
        if !matches!(command, Command::Ready) {
            self.publisher.is_changed = true;
        }
        if self.health.ended.is_some() {
            return self.dispatch_after_end(command);
        }
        match command {
            Command::Act(SessionAction::ResetPanel) => {
                self.state.enqueue(Command::ResetPanel(self.watch.selected));
            }
            Command::View(plan) if self.may_view_at_once(plan) => {
                if let Err(error) = self.set_view(plan) {
                    self.handle_error(error, false);
                }
            }
            command if command.needs().when == When::AtOnce => self.perform_at_once(command),
            command => self.state.enqueue(command),
        }
    }

    /// Whether pictures can be changed without new slots, and no other change of them waits.
    fn may_view_at_once(&mut self, plan: PicturePlan) -> bool {
        let mut waiting = self.state.queue.iter();
        if waiting.any(|command| matches!(command, Command::View(_))) {
            return false;
        }
        let before = self.lattices.set_view(Some(plan));
        let shares = self.lattices.shares_in_use();
        self.lattices.set_view(before);
        let sim = self.lattices.sim.as_ref();
        sim.is_some_and(|it| !it.replaces_slots(&shares))
    }

    /// Handles a command after the session has ended: only what needs no engine is done.
    fn dispatch_after_end(&mut self, command: Command) {
        match (command.needs().after_end, command) {
            (AfterEnd::Perform, command) => {
                self.perform_at_once(command);
                self.answer_waiters_at_the_end();
            }
            (AfterEnd::Refuse, _) => {
                self.notify(Notice::Refused(message!("the session has ended")));
                self.publisher.wake();
            }
            (AfterEnd::RefuseToOpen, _) => {
                self.notify(Notice::Refused(message!(
                    "nothing was opened: the session has ended; start the program again"
                )));
                self.publisher.wake();
            }
            (AfterEnd::Ignore, _) => {}
        }
    }

    /// Clears the queue when the session ends; copies and saves are still answered.
    pub(super) fn end_commands(&mut self) {
        while let Some(command) = self.state.queue.pop_front() {
            if command.needs().after_end != AfterEnd::Refuse {
                self.dispatch_after_end(command);
            }
        }
    }

    /// Performs a command that does not wait for its turn.
    fn perform_at_once(&mut self, command: Command) {
        let says = matches!(command, Command::Notify(_));
        match self.perform_command(command) {
            Ok(notice) => notice.into_iter().for_each(|notice| self.notify(notice)),
            Err(error) => self.handle_error(error, false),
        }
        if says {
            self.publisher.wake();
        }
    }

    /// Takes the first command of the queue.
    pub(super) fn take_command(&mut self) -> Result<()> {
        self.publisher.waiting = None;
        let Some(command) = self.state.queue.pop_front() else {
            return Ok(());
        };
        let mode = self.state.mode.clone();
        let done = self.perform_command(command);
        self.log_changed();
        self.publish_last_known(Duration::ZERO); // before the engine is asked to apply a record
        if self.state.mode != mode {
            if let Some(trial) = &mut self.lattices.trial {
                trial.interrupt();
            }
            self.lab.statistics.restart();
            self.health.halted = None;
        }
        self.publisher.is_changed = true;
        match done {
            Ok(notice) => notice.into_iter().for_each(|notice| self.notify(notice)),
            Err(error) => self.handle_error(error, false),
        }
        Ok(())
    }

    /// Performs a command. Returns a notice for the user, if any.
    fn perform_command(&mut self, command: Command) -> Result<Option<Notice>> {
        let now = self.now();
        Ok(match command {
            Command::Act(action) => {
                let done = self.perform_action(action, now);
                self.log_command(action);
                done?
            }
            Command::Apply(setup) => {
                let actions = setup.actions_from(&self.make_status(now));
                let again = matches!(*actions, [SessionAction::ToggleComparison]);
                let actions = actions.into_iter().map(Command::Act);
                // Each in its turn, and all of them before whatever was asked for later.
                let next = actions.chain(again.then_some(Command::Apply(setup)));
                for command in next.collect::<Vec<_>>().into_iter().rev() {
                    self.state.queue.push_front(command);
                }
                None
            }
            Command::PauseForLesson(pause) => {
                self.state.pause_for_lesson(pause, now);
                None
            }
            Command::WatchPopulation(watching) => {
                self.watch_populations(watching);
                None
            }
            Command::WatchOverlap(watching) => {
                self.lab.is_watching = watching;
                None
            }
            Command::View(plan) => {
                self.set_view(plan)?;
                None
            }
            Command::Edit(edit, number) => {
                let notice = self.state.edit(&edit, number);
                // The drawing side stops waiting for a picture with an edit that was refused.
                if let Some(Notice::Refused(_)) = notice {
                    self.state.edit_done(number);
                    self.state.wants_pictures = true;
                }
                notice
            }
            Command::ResetPanel(instance) => {
                let notice = self.state.reset_panel(instance);
                self.log_command(SessionAction::ResetPanel);
                notice
            }
            // Unless the user drew there meanwhile.
            Command::Reseed {
                instance,
                density,
                seed,
            } if self.state.may_reseed(instance) => {
                self.watch.note_reseed(instance, now);
                self.state.reseed(instance, density, seed)
            }
            Command::SetOwnRound(source, query) => {
                let done = self.set_own_round(source, query);
                self.publisher.wake(); // who asked looks for the answer
                done?
            }
            Command::SetOwnKernel(kernel) => self.use_if_available(kernel)?,
            Command::OpenPattern(instance, lattice, generation) => {
                let all = self.present_copy().map(Snapshot::lattices).transpose()?;
                all.and_then(|all| self.state.open_pattern(instance, lattice, generation, all))
            }
            Command::ReadCells(instance, query) => {
                self.wait_for_cells(instance, query);
                None
            }
            Command::Save(query) => {
                self.wait_for_copy(Wanted::Session(query));
                None
            }
            Command::Open(session) => {
                self.open(*session)?;
                None
            }
            Command::Replace(session, file, name) => {
                self.replace(*session, &file, name)?;
                None
            }
            Command::Notify(notice) => Some(notice),
            Command::Reseed { .. } | Command::Ready | Command::Close => None,
        })
    }

    fn perform_action(&mut self, action: SessionAction, now: Instant) -> Result<Option<Notice>> {
        let state = &mut self.state;
        let per_round = state.pacing.generations();
        Ok(match action {
            SessionAction::TogglePause => state.toggle_pause(now),
            SessionAction::StepGeneration => {
                state.step(1);
                None
            }
            SessionAction::StepRound => {
                state.step(per_round);
                None
            }
            SessionAction::StepBack => state.step_back(1),
            SessionAction::StepRoundBack => state.step_back(per_round.into()),
            SessionAction::RunTo(generation) => state.run_to(generation),
            SessionAction::ResetAll => state.reset_all(),
            SessionAction::NewSeed => state.new_seed(None),
            SessionAction::SetDensity(thousandths) => state.new_seed(Some(thousandths)),
            SessionAction::Undo => state.undo(),
            SessionAction::Redo => state.redo(),
            SessionAction::SetInstances(count) => state.set_instances(|_| count.into()),
            SessionAction::DoubleInstances => state.set_instances(|now| 2 * now),
            SessionAction::HalveInstances => state.set_instances(|now| now / 2),
            SessionAction::SetSize(size) => state.set_size(size),
            SessionAction::SetRule(rule) => state.set_rule(rule),
            SessionAction::Faster => Some(self.set_pace(Pace::faster)),
            SessionAction::Slower => Some(self.set_pace(Pace::slower)),
            SessionAction::SetPace(at) => {
                let pace = Pace::ALL.get(usize::from(at)).copied();
                pace.map(|pace| self.set_pace(|_| pace))
            }
            SessionAction::SetGenerationsPerRound(count) => Some(self.choose_generations(count)),
            SessionAction::NextStopWhenStill => Some(self.next_stop_when_still()),
            SessionAction::ToggleReseed => Some(self.toggle_reseed()),
            SessionAction::ToggleBlockTimestamps => self.toggle_block_timestamps(),
            SessionAction::ToggleRecorded => self.toggle_recorded()?,
            SessionAction::SelectNext | SessionAction::SelectPrevious
                if self.lattices.setup.instances < 2 =>
            {
                Some(Notice::Refused(message!("there is only one panel")))
            }
            SessionAction::SelectNext => self.select(|selected, all| (selected + 1) % all),
            SessionAction::SelectPrevious => {
                self.select(|selected, all| (selected + all - 1) % all)
            }
            SessionAction::Select(instance) => self.select(|_, all| instance.min(all - 1)),
            SessionAction::UseKernel(at) => self.use_kernel(at)?,
            SessionAction::NextKernel => self.change_kernel(true)?,
            SessionAction::PreviousKernel => self.change_kernel(false)?,
            SessionAction::CycleSwitch(switch) => self.cycle_switch(switch)?,
            SessionAction::SetSwitch(switch, at) => self.choose(switch, at.into())?,
            SessionAction::ToggleComparison => self.toggle_comparison()?,
            // `Session::act` saves: it knows the file. The panel is chosen when it is queued.
            SessionAction::SaveSession | SessionAction::ResetPanel => None,
        })
    }

    /// Selects another instance, found from the present one and the number of all.
    fn select(&mut self, other: impl FnOnce(usize, usize) -> usize) -> Option<Notice> {
        self.watch.selected = other(self.watch.selected, self.lattices.setup.instances);
        None
    }

    /// Logs the state after an action, for `LIFESTREAMS_LOG=debug`.
    fn log_command(&self, action: SessionAction) {
        let state = if self.is_running() {
            "running"
        } else {
            "paused"
        };
        let generation = self.state.position().generation;
        let (kernel, selected) = (self.lattices.setup.kernel.name, self.watch.selected);
        tracing::debug!(
            "{action:?}: {state} at generation {generation}, kernel {kernel}, instance {selected} selected"
        );
    }

    /// Number of edits, undos, redos and copies in the queue.
    pub(super) fn waiting_edits(&self) -> usize {
        let all = self.state.queue.iter();
        all.filter(|command| command.is_edit()).count()
    }

    /// Whether rounds follow one another, or will after a move.
    pub(super) fn is_running(&self) -> bool {
        self.health.ended.is_none() && self.state.is_running()
    }

    /// Pauses at once.
    pub(super) fn pause(&mut self) {
        self.state.mode = Mode::Paused;
        self.lab.statistics.restart();
    }
}
