//! Dispatches commands. Those that concern neither cells nor time are performed at once; the others
//! are taken in order.

use std::sync::Arc;
use std::time::Duration;

use super::SessionWorker;
use super::lattices::Lattices;
use crate::command::{AfterEnd, Command, When};
use crate::notice::Notice;
use crate::state::Mode;
use engine::kernels::KERNELS;
use engine::{Kernel, Result};
use lang::{Message, message};
use model::{InWords, Pace, PicturePlan, SessionAction, Switch};

impl SessionWorker {
    /// Performs a command or queues it.
    pub(super) fn dispatch(&mut self, command: Command) {
        if !matches!(command, Command::Ready) {
            self.publisher.mark_changed();
        }
        if self.health.ended().is_some() {
            return self.dispatch_after_end(command);
        }
        match command {
            Command::Act(SessionAction::ResetPanel) => {
                self.state.enqueue(Command::ResetPanel(self.selected));
            }
            Command::View(plan) if self.may_view_at_once(plan) => {
                if let Err(error) = self.set_view(plan) {
                    self.handle_error(error, false);
                }
            }
            command if command.when(false) == When::AtOnce => self.perform_at_once(command),
            command => self.state.enqueue(command),
        }
    }

    /// Whether pictures can be changed without new slots, and no other change of them waits.
    fn may_view_at_once(&self, plan: PicturePlan) -> bool {
        let mut waiting = self.state.commands().iter();
        !waiting.any(|command| matches!(command, Command::View(_)))
            && self
                .lattices
                .instances
                .as_ref()
                .is_some_and(|it| !it.needs_slots(Some(plan)))
    }

    /// Handles a command after the session has ended: only what needs no engine is done.
    fn dispatch_after_end(&mut self, command: Command) {
        match (command.after_end(), command) {
            (AfterEnd::Perform, Command::ReadCells(instance, query)) => {
                self.wait_for_cells(instance, query);
                self.answer_waiters_at_the_end();
            }
            (AfterEnd::Perform, Command::Save(query)) => {
                self.wait_for_session(query);
                self.answer_waiters_at_the_end();
            }
            (AfterEnd::Perform, command) => self.perform_at_once(command),
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
        for command in self.state.take_commands() {
            if command.after_end() != AfterEnd::Refuse {
                self.dispatch_after_end(command);
            }
        }
    }

    /// Performs a command that concerns neither cells nor time.
    fn perform_at_once(&mut self, command: Command) {
        match command {
            Command::Act(action) => {
                self.act_at_once(action);
                self.log_command(action);
            }
            Command::WatchPopulation(watching) => self.watch_populations(watching),
            Command::WatchOverlap(watching) => self.lab.watch(watching),
            Command::Notify(notice) => {
                self.notify(notice);
                self.publisher.wake();
            }
            _ => {}
        }
    }

    fn act_at_once(&mut self, action: SessionAction) {
        let all = self.lattices.setup().instances;
        match action {
            SessionAction::Faster => self.set_pace(self.state.pacing.pace().faster()),
            SessionAction::Slower => self.set_pace(self.state.pacing.pace().slower()),
            SessionAction::SetGenerationsPerRound(count) => self.choose_generations(count),
            SessionAction::NextStopWhenStill => self.next_stop_when_still(),
            SessionAction::ToggleReseed => self.toggle_reseed(),
            SessionAction::ToggleBlockTimestamps => self.toggle_block_timestamps(),
            SessionAction::SelectNext => self.selected = (self.selected + 1) % all,
            SessionAction::SelectPrevious => self.selected = (self.selected + all - 1) % all,
            SessionAction::Select(instance) => self.selected = instance.min(all - 1),
            // `Session::act` saves: it knows the file. The others wait in the queue.
            _ => {}
        }
    }

    /// Takes the first command of the queue.
    pub(super) fn take_command(&mut self) -> Result<()> {
        self.publisher.command_taken();
        let Some(command) = self.state.next_command() else {
            return Ok(());
        };
        let (mode, now) = (self.state.mode().clone(), self.now());
        if let Command::Reseed { instance, .. } = command {
            if !self.state.may_reseed(instance) {
                return Ok(()); // the user drew there meanwhile
            }
            self.watch.note_reseed(instance, now);
        }
        let snapshots = self.snapshots.positions();
        let notice = self.state.take(&command, &snapshots, now);
        self.log_changed();
        self.publish_last_known(Duration::ZERO); // before the engine is asked for anything
        if *self.state.mode() != mode {
            if let Some(measurement) = &mut self.lab.measurement {
                measurement.interrupt();
            }
            self.lab.statistics.restart();
            self.health.resumed();
        }
        self.publisher.mark_changed();
        // The drawing side stops waiting for a picture with an edit that was refused.
        if let (Command::Edit(_, number), Some(Notice::Refused(_))) = (&command, &notice) {
            self.edit_done(*number);
            self.state.want_pictures();
        }
        if let Some(notice) = notice {
            self.notify(notice);
        }
        if let Err(error) = self.change_setting(command) {
            self.handle_error(error, false);
        }
        Ok(())
    }

    /// The part of a taken command that the state does not do: a change of settings, or an answer.
    fn change_setting(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Act(action) => {
                let done = match action {
                    SessionAction::UseKernel(at) => self.use_kernel(at.into()),
                    SessionAction::NextKernel => self.change_kernel(1),
                    SessionAction::PreviousKernel => self.change_kernel(KERNELS.len() - 1),
                    SessionAction::CycleSwitch(switch) => self.cycle_switch(switch),
                    SessionAction::SetSwitch(switch, at) => self.choose(switch, at.into()),
                    SessionAction::ToggleComparison => self.toggle_comparison(),
                    _ => Ok(()),
                };
                self.log_command(action);
                done
            }
            Command::View(plan) => self.set_view(plan),
            Command::ReadCells(instance, query) => {
                self.wait_for_cells(instance, query);
                Ok(())
            }
            Command::Save(query) => {
                self.wait_for_session(query);
                Ok(())
            }
            Command::ResetPanel(_) => {
                self.log_command(SessionAction::ResetPanel);
                Ok(())
            }
            Command::Open(session) => self.open(*session),
            Command::Replace(session, file, what) => self.replace(*session, &file, what),
            _ => Ok(()),
        }
    }

    /// Sets a switch to its next possible position.
    fn cycle_switch(&mut self, switch: Switch) -> Result<()> {
        let (switches, kernel) = (self.lattices.switches(), self.lattices.setup().kernel);
        match switch.next(switches, kernel) {
            Ok(choice) => self.set_switch(switch, choice),
            Err(_) => {
                let why = move || switch.next(switches, kernel).err().unwrap_or_default();
                self.notify(Notice::Refused(Message::new(why)));
                Ok(())
            }
        }
    }

    /// Sets a switch to this position, if that is possible.
    fn choose(&mut self, switch: Switch, at: usize) -> Result<()> {
        let (switches, kernel) = (self.lattices.switches(), self.lattices.setup().kernel);
        let choice = move || switch.choices(switches, kernel).into_iter().nth(at);
        match choice() {
            Some(choice) if choice.unavailable.is_none() => self.set_switch(switch, choice),
            Some(_) => {
                let why = move || choice().and_then(|it| it.unavailable).unwrap_or_default();
                self.notify(Notice::Refused(Message::new(why)));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Logs the state after an action, for `LIFESTREAMS_LOG=debug`.
    fn log_command(&self, action: SessionAction) {
        let state = if self.is_running() {
            "running"
        } else {
            "paused"
        };
        let generation = self.state.position().generation;
        let (kernel, selected) = (self.lattices.setup().kernel.name, self.selected);
        tracing::debug!(
            "{action:?}: {state} at generation {generation}, kernel {kernel}, instance {selected} selected"
        );
    }

    fn set_pace(&mut self, pace: Pace) {
        let now = self.now();
        self.state.pacing.set_pace(pace, now);
        self.lab.statistics.restart();
        self.notify(Notice::Done(match pace {
            Pace::PerSecond(_) => message!("Speed: at most {pace}", pace = pace),
            Pace::Unthrottled => message!("Speed: unthrottled"),
            Pace::Maximum => {
                message!("Speed: maximum, as many generations per round as fit in a frame")
            }
        }));
    }

    /// Sets how many generations a round has; at the maximum pace, once that ends.
    fn choose_generations(&mut self, count: u32) {
        let count = count.max(1);
        if !self.state.pacing.choose(count) {
            self.notify(Notice::Done(message!(
                "{count} generations per round, once the speed is not the maximum",
                count = count
            )));
            return;
        }
        self.lab.changed();
        self.lab.statistics.restart();
        self.notify(Notice::Done(message!(
            "{count} generations per round",
            count = count
        )));
    }

    /// At the maximum pace, fits the generations per round to the time that a round took: as many
    /// as fit in a frame. Not while settings are compared by the time of their rounds.
    pub(super) fn fit_rounds(&mut self, generations: u32, took: Duration) {
        let Some(instances) = &self.lattices.instances else {
            return;
        };
        let is_compared = instances.is_comparing() || self.lab.measurement.is_some();
        let pacing = &self.state.pacing;
        if pacing.pace() != Pace::Maximum || *self.state.mode() != Mode::Running || is_compared {
            return;
        }
        let mut rounds = instances.round_length(Pace::FRAME, pacing.generations());
        rounds.learn(generations, took);
        self.state.pacing.fit(rounds.generations());
    }

    /// Selects the kernel `ahead` places on in the table, skipping unavailable kernels.
    fn change_kernel(&mut self, ahead: usize) -> Result<()> {
        let Some(instances) = &self.lattices.instances else {
            return Ok(());
        };
        let mut at = self.lattices.setup().kernel.index();
        let kernel: &'static Kernel = loop {
            at = (at + ahead) % KERNELS.len();
            if instances.validate(&KERNELS[at]).is_ok() {
                break &KERNELS[at];
            }
        };
        if kernel.name == self.lattices.setup().kernel.name {
            self.notify(Notice::Refused(message!(
                "No other kernel can step these lattices"
            )));
            return Ok(());
        }
        self.set_kernel(kernel)
    }

    /// Selects the kernel at this place in the table, if it is available.
    fn use_kernel(&mut self, at: usize) -> Result<()> {
        let (Some(instances), Some(kernel)) = (&self.lattices.instances, KERNELS.get(at)) else {
            return Ok(());
        };
        if let Err(why) = instances.validate(kernel) {
            self.notify(Notice::Refused(Message::new(|| why.in_words())));
            return Ok(());
        }
        self.set_kernel(kernel)
    }

    fn set_kernel(&mut self, kernel: &'static Kernel) -> Result<()> {
        self.drop_measurement()?;
        let (before, requested) = (self.lattices.setup().kernel, self.lattices.setup().switches);
        self.lattices.set_kernel(kernel)?;
        self.notify(Notice::Done(match requested.incompatibility(kernel) {
            None => message!("kernel {}: {}", kernel.name, lang::text(kernel.title)),
            Some(why) => {
                let now = self.lattices.setup().switches;
                let (streams, transfer) = (now.streams, now.transfer);
                message!(
                    "{why}; changed to streams {streams}, transfer {transfer}",
                    why = why,
                    streams = streams,
                    transfer = transfer
                )
            }
        }));
        self.lab.changed();
        if self.comparison.is_none() && before.name != kernel.name {
            let what = message!(
                "kernel {kernel} instead of {before}",
                kernel = kernel.name,
                before = before.name
            );
            self.measure_change(what, before, requested)?;
        }
        self.lab.statistics.restart();
        // Other pictures may be possible with this kernel.
        self.lattices
            .view()
            .map_or(Ok(()), |view| self.set_view(view))
    }

    pub(super) fn set_view(&mut self, view: PicturePlan) -> Result<()> {
        let Some(instances) = &self.lattices.instances else {
            return Ok(());
        };
        let is_other = instances.own_plan().picture != Some(view);
        if is_other {
            self.lab.changed();
        }
        let frees = instances.needs_slots(Some(view));
        self.change_slots(frees, |lattices| lattices.set_view(view))?;
        if is_other {
            self.state.want_pictures();
        }
        self.publisher.mark_changed();
        Ok(())
    }

    /// Makes a change that may allocate other slots, and uses those afterwards, even if the change
    /// itself failed after the allocation. `frees` says that it is known to free the present ones.
    pub(super) fn change_slots(
        &mut self,
        frees: bool,
        change: impl FnOnce(&mut Lattices) -> Result<()>,
    ) -> Result<()> {
        let slots = |lattices: &Lattices| lattices.instances.as_ref().map(|it| it.slots().clone());
        // A weak reference: the slots must not be kept alive.
        let Some(before) = slots(&self.lattices).map(|slots| Arc::downgrade(&slots)) else {
            return Ok(());
        };
        if frees {
            self.save_from_slots();
        }
        // Copies in slots may be gone from now on.
        self.safety_copy.mark_stale();
        self.publish_last_known(Duration::ZERO);
        let changed = change(&mut self.lattices);
        if let Some(slots) = slots(&self.lattices)
            && !std::ptr::addr_eq(before.as_ptr(), Arc::as_ptr(&slots))
        {
            self.publisher.pictures().replace_slots(slots);
            self.snapshots.clear_slots();
            self.state.want_pictures();
        }
        changed
    }

    /// Some snapshots are only in the slots, which are about to be freed: keeps those elsewhere.
    pub(super) fn save_from_slots(&mut self) {
        if let Some(instances) = &self.lattices.instances {
            self.snapshots
                .save_from_slots(instances, self.state.log().bytes());
        }
    }

    /// Number of edits, undos, redos and copies in the queue.
    pub(super) fn waiting_edits(&self) -> usize {
        let all = self.state.commands().iter();
        all.filter(|command| command.is_edit()).count()
    }

    /// Whether rounds follow one another, or will after a move.
    pub(super) fn is_running(&self) -> bool {
        self.health.ended().is_none() && self.state.is_running()
    }

    /// Pauses at once.
    pub(super) fn pause(&mut self) {
        self.state.pause();
        self.lab.statistics.restart();
    }
}
