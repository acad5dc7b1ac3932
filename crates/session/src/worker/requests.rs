//! Dispatches commands. Those that concern neither cells nor time are performed at once; the others
//! become requests of the state and are taken in order.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::SessionWorker;
use crate::Command;
use crate::instances::Instances;
use crate::persistence::OwnFile;
use crate::saved::SavedSession;
use crate::state::{Mode, Notice, Request};
use engine::kernels::KERNELS;
use engine::{Kernel, Result};
use lang::{Message, message};
use life::{Lattice, Size};
use model::actions::Requirement;
use model::{Choice, KernelChoice, Pace, PicturePlan, SessionAction, Start, Switch};

/// The worker's part of a request.
pub(super) enum Task {
    /// None: the state does everything.
    State,
    /// Starts all instances again: from the next seed, or from the present start.
    Begin {
        with_new_seed: bool,
    },
    /// Changes a kernel or a switch.
    Switch(SettingChange),
    /// Changes the pictures, for which slots are allocated again.
    View(PicturePlan),
    /// Begins or ends a comparison.
    Comparison,
    ReadCells(usize, Sender<(Arc<Lattice>, u64)>),
    Save(Sender<SavedSession>),
    Open(Box<SavedSession>),
    Replace(Box<SavedSession>, OwnFile, Message),
}

/// A kernel, or the position of a switch.
#[derive(Clone, Copy)]
pub(super) enum SettingChange {
    /// The kernel at this place in the table.
    Kernel(u8),
    NextKernel,
    PreviousKernel,
    CycleSwitch(Switch),
    SetSwitch(Switch, u8),
}

impl SessionWorker {
    /// Performs a command or queues it.
    pub(super) fn dispatch(&mut self, command: Command) {
        if self.failed.is_some() {
            return self.dispatch_after_end(command);
        }
        match command {
            Command::Act(action) => {
                let before = self.next_task;
                self.act(action);
                match self.next_task {
                    task if task != before && self.tasks.contains_key(&task) => {
                        self.actions.insert(task, action);
                    }
                    _ => self.debug_action(action),
                }
            }
            Command::PauseForLesson(pause) => {
                self.enqueue(Request::PauseForLesson(pause), Task::State);
            }
            Command::WatchPopulation(watching) => {
                self.watch_populations(watching);
                self.changed = true;
            }
            Command::WatchOverlap(watching) => {
                self.lab.watch(watching);
                self.changed = true;
            }
            Command::View(plan) => self.dispatch_view(plan),
            Command::Edit(edit, number) => {
                self.enqueue(Request::Edit(edit, number), Task::State);
            }
            Command::Grow(size, place) => {
                let instances = self.setup.instances;
                let request = Request::SetGrid {
                    size,
                    instances,
                    place,
                };
                self.enqueue(request, Task::State);
            }
            Command::ReadCells(instance, answer) => {
                self.enqueue(Request::ReadCells, Task::ReadCells(instance, answer));
            }
            Command::Save(answer) => self.enqueue(Request::Save, Task::Save(answer)),
            Command::Replace(session, file, what) => {
                self.enqueue(Request::EngineIdle, Task::Replace(session, file, what));
            }
            Command::Notify(notice) => {
                self.notify(notice);
                (self.wake)();
            }
            Command::Ready | Command::Close => {}
        }
    }

    /// Handles a command after the session has ended: only what needs no engine is done.
    fn dispatch_after_end(&mut self, command: Command) {
        match command {
            Command::ReadCells(instance, answer) => {
                self.wait_for_cells(instance, answer);
                self.answer_waiters_at_the_end();
            }
            Command::Save(answer) => {
                self.wait_for_session(answer);
                self.answer_waiters_at_the_end();
            }
            Command::Act(action) => match action.needs() {
                Requirement::Engine => {
                    self.notify(Notice::Refused(message!("the session has ended")));
                    (self.wake)();
                }
                Requirement::Nothing | Requirement::Session => self.act(action),
            },
            Command::Notify(notice) => self.notify(notice),
            Command::Replace(..) => self.refuse_to_open(),
            Command::View(_)
            | Command::PauseForLesson(_)
            | Command::WatchPopulation(_)
            | Command::WatchOverlap(_)
            | Command::Edit(..)
            | Command::Grow(..)
            | Command::Ready
            | Command::Close => {}
        }
        self.changed = true;
    }

    /// Clears the queue when the session ends; copies and saves are still answered.
    pub(super) fn end_requests(&mut self) {
        self.state.requests.clear();
        self.actions.clear();
        for (_, task) in std::mem::take(&mut self.tasks) {
            match task {
                Task::ReadCells(instance, answer) => self.wait_for_cells(instance, answer),
                Task::Save(answer) => self.wait_for_session(answer),
                Task::Replace(..) => self.refuse_to_open(),
                Task::State
                | Task::Begin { .. }
                | Task::Switch(_)
                | Task::View(_)
                | Task::Comparison
                | Task::Open(_) => {}
            }
        }
    }

    /// Says that no saved session can be opened any more.
    fn refuse_to_open(&mut self) {
        self.notify(Notice::Refused(message!(
            "nothing was opened: the session has ended; start the program again"
        )));
        (self.wake)();
    }

    pub(super) fn enqueue(&mut self, request: Request, task: Task) {
        self.next_task += 1;
        let requested = self.state.requests.len();
        self.state.enqueue(request, self.next_task);
        if self.state.requests.len() > requested {
            self.tasks.insert(self.next_task, task);
        }
        self.changed = true;
    }

    /// Queues a request before all others.
    pub(super) fn enqueue_first(&mut self, request: Request, task: Task) {
        self.next_task += 1;
        self.state.requests.push_front((request, self.next_task));
        self.tasks.insert(self.next_task, task);
    }

    /// Performs an action or queues a request for it.
    fn act(&mut self, action: SessionAction) {
        self.changed = true;
        let per_round = self.setup.generations_per_round;
        match action {
            SessionAction::TogglePause => self.enqueue(Request::TogglePause, Task::State),
            SessionAction::StepGeneration => self.enqueue(Request::Step(1), Task::State),
            SessionAction::StepRound => self.enqueue(Request::Step(per_round), Task::State),
            SessionAction::StepBack => self.enqueue(Request::StepBack(1), Task::State),
            SessionAction::StepRoundBack => {
                self.enqueue(Request::StepBack(per_round.into()), Task::State)
            }
            SessionAction::RunTo(generation) => {
                self.enqueue(Request::RunTo(generation), Task::State)
            }
            SessionAction::ResetPanel => {
                self.enqueue(Request::ResetPanel(self.selected), Task::State)
            }
            SessionAction::ResetAll => self.enqueue_begin(false),
            SessionAction::NewSeed => self.enqueue_begin(true),
            SessionAction::Undo => self.enqueue(Request::Undo, Task::State),
            SessionAction::Redo => self.enqueue(Request::Redo, Task::State),
            SessionAction::UseKernel(at) => self.enqueue_switch(SettingChange::Kernel(at)),
            SessionAction::NextKernel => self.enqueue_switch(SettingChange::NextKernel),
            SessionAction::PreviousKernel => self.enqueue_switch(SettingChange::PreviousKernel),
            SessionAction::CycleSwitch(switch) => {
                self.enqueue_switch(SettingChange::CycleSwitch(switch))
            }
            SessionAction::SetSwitch(switch, at) => {
                self.enqueue_switch(SettingChange::SetSwitch(switch, at))
            }
            SessionAction::ToggleComparison => {
                let ends = self.comparison.is_some() || self.setup.instances < 2;
                let request = if ends {
                    Request::EngineIdle
                } else {
                    Request::AllCellsOnHost
                };
                self.enqueue(request, Task::Comparison);
            }
            SessionAction::Faster => self.set_pace(self.state.pace.faster()),
            SessionAction::Slower => self.set_pace(self.state.pace.slower()),
            SessionAction::NextStopWhenStill => self.next_stop_when_still(),
            SessionAction::ToggleReseed => self.toggle_reseed(),
            SessionAction::ToggleBlockTimestamps => self.toggle_block_timestamps(),
            SessionAction::SelectNext => self.selected = (self.selected + 1) % self.setup.instances,
            SessionAction::SelectPrevious => {
                let all = self.setup.instances;
                self.selected = (self.selected + all - 1) % all;
            }
            SessionAction::Select(instance) => {
                self.selected = instance.min(self.setup.instances - 1)
            }
            // `Session::act` has done it: it knows the file.
            SessionAction::SaveSession => {}
        }
    }

    fn enqueue_begin(&mut self, with_new_seed: bool) {
        // The start is set when the request is taken: earlier ones may change it.
        let start = self.setup.start.clone();
        self.enqueue(Request::Begin(start), Task::Begin { with_new_seed });
    }

    fn enqueue_switch(&mut self, setting: SettingChange) {
        self.enqueue(Request::EngineIdle, Task::Switch(setting));
    }

    fn dispatch_view(&mut self, plan: PicturePlan) {
        let needs_slots = |it: &Instances| it.needs_slots(Some(plan));
        let waiting = self.tasks.values_mut().find_map(|task| match task {
            Task::View(plan) => Some(plan),
            _ => None,
        });
        if let Some(waiting) = waiting {
            *waiting = plan; // the last one counts
        } else if self.instances.as_ref().is_none_or(needs_slots) {
            self.enqueue(Request::EngineIdle, Task::View(plan));
        } else if let Err(error) = self.set_view(plan) {
            self.handle_error(error, false);
        }
    }

    /// Takes the first request.
    pub(super) fn take_request(&mut self) -> Result<()> {
        let Some((mut request, number)) = self.state.requests.pop_front() else {
            return Ok(());
        };
        let task = self.tasks.remove(&number).unwrap_or(Task::State);
        if let (Request::Begin(start), Task::Begin { with_new_seed }) = (&mut request, &task) {
            *start = self.next_start(*with_new_seed);
        }
        if let Request::SetGrid { size, .. } = &mut request {
            // The lattices may have grown since the request.
            let now = self.setup.size;
            let width = size.width().max(now.width());
            let height = size.height().max(now.height());
            *size = Size::new(width.into(), height.into()).unwrap_or(now);
        }
        let is_wish =
            matches!(request, Request::Reseed { instance, .. } if !self.may_reseed(instance));
        if is_wish {
            return Ok(()); // the user drew there meanwhile
        }
        let is_run_to = matches!(request, Request::RunTo(_));
        let (mode, now) = (self.state.mode.clone(), self.now());
        if let Request::Reseed { instance, .. } = request {
            self.watch.note_reseed(instance, now);
        }
        let snapshots = self.snapshots.positions();
        let notice = self.state.take(request, &snapshots, now);
        self.log_changed();
        self.publish_last_known(Duration::ZERO); // before the engine is asked for anything
        if self.state.mode != mode {
            if let Some(measurement) = &mut self.lab.measurement {
                measurement.interrupt();
            }
            self.announces_arrival = is_run_to && self.state.moving().is_some();
            self.statistics.restart();
            self.halted = None;
        }
        self.changed = true;
        if let Some(notice) = notice {
            self.notify(notice);
        }
        let done = match task {
            Task::State | Task::Begin { .. } => Ok(()),
            Task::Switch(setting) => self.switch(setting),
            Task::View(plan) => self.set_view(plan),
            Task::Comparison => self.toggle_comparison(),
            Task::ReadCells(instance, answer) => {
                self.wait_for_cells(instance, answer);
                Ok(())
            }
            Task::Save(answer) => {
                self.wait_for_session(answer);
                Ok(())
            }
            Task::Open(session) => self.open(*session),
            Task::Replace(session, file, what) => self.replace(*session, &file, what),
        };
        if let Err(error) = done {
            self.handle_error(error, false);
        }
        if let Some(action) = self.actions.remove(&number) {
            self.debug_action(action);
        }
        Ok(())
    }

    /// The start that `Begin` sets.
    fn next_start(&self, with_new_seed: bool) -> Start {
        match (&self.setup.start, with_new_seed) {
            (Start::Soup { density, seed }, true) => Start::Soup {
                density: *density,
                seed: seed.wrapping_add(1),
            },
            (Start::Lattices { .. }, true) => Start::Soup {
                density: 0.3,
                seed: 1,
            },
            (start, false) => start.clone(),
        }
    }

    /// Changes the kernel or a switch. Nothing may be in flight.
    fn switch(&mut self, setting: SettingChange) -> Result<()> {
        match setting {
            SettingChange::Kernel(at) => self.use_kernel(at.into()),
            SettingChange::NextKernel => self.change_kernel(1),
            SettingChange::PreviousKernel => self.change_kernel(KERNELS.len() - 1),
            SettingChange::CycleSwitch(switch) => {
                match switch.next(self.current_switches(), self.setup.kernel) {
                    Ok(choice) => self.set_switch(switch, choice),
                    Err(_) => {
                        let (switches, kernel) = (self.current_switches(), self.setup.kernel);
                        let why = || switch.next(switches, kernel).err().unwrap_or_default();
                        self.notify(Notice::Refused(Message::new(why)));
                        Ok(())
                    }
                }
            }
            SettingChange::SetSwitch(switch, at) => {
                let (switches, kernel) = (self.current_switches(), self.setup.kernel);
                let choices = move || switch.choices(switches, kernel).into_iter();
                let unavailable = move || {
                    let choice = choices().nth(at.into());
                    choice
                        .and_then(|choice| choice.unavailable)
                        .unwrap_or_default()
                };
                match choices().nth(at.into()) {
                    Some(Choice {
                        unavailable: Some(_),
                        ..
                    }) => {
                        self.notify(Notice::Refused(Message::new(unavailable)));
                        Ok(())
                    }
                    Some(choice) => self.set_switch(switch, choice),
                    None => Ok(()),
                }
            }
        }
    }

    /// Logs the state after an action, for `LIFESTREAMS_LOG=debug`.
    fn debug_action(&self, action: SessionAction) {
        let state = if self.is_running() {
            "running"
        } else {
            "paused"
        };
        let generation = self.state.position.generation;
        let (kernel, selected) = (self.setup.kernel.name, self.selected);
        tracing::debug!(
            "{action:?}: {state} at generation {generation}, kernel {kernel}, instance {selected} selected"
        );
    }

    fn set_pace(&mut self, pace: Pace) {
        self.state.pace = pace;
        if pace == Pace::Maximum {
            self.before_maximum
                .get_or_insert(self.setup.generations_per_round);
        } else if let Some(before) = self.before_maximum.take() {
            self.set_generations_per_round(before);
        }
        self.state.next_round_at = self.now();
        self.statistics.restart();
        self.notify(Notice::Done(match pace {
            Pace::PerSecond(_) => message!("Speed: at most {pace}", pace = pace),
            Pace::Unthrottled => message!("Speed: unthrottled"),
            Pace::Maximum => {
                message!("Speed: maximum, as many generations per round as fit in a frame")
            }
        }));
    }

    /// The generations per round that somebody chose.
    pub(super) fn chosen_generations_per_round(&self) -> u32 {
        self.before_maximum
            .unwrap_or(self.setup.generations_per_round)
    }

    fn set_generations_per_round(&mut self, generations: u32) {
        self.setup.generations_per_round = generations;
        self.state.generations_per_round = generations;
    }

    /// At the maximum pace, fits the generations per round to the time that a round took: as many
    /// as fit in a frame. Not while settings are compared by the time of their rounds.
    pub(super) fn fit_rounds(&mut self, generations: u32, took: Duration) {
        let Some(instances) = &self.instances else {
            return;
        };
        let is_compared = instances.is_comparing() || self.lab.measurement.is_some();
        if self.state.pace != Pace::Maximum || self.state.mode != Mode::Running || is_compared {
            return;
        }
        let mut rounds = instances.round_length(Pace::FRAME, self.setup.generations_per_round);
        rounds.learn(generations, took);
        self.set_generations_per_round(rounds.generations());
    }

    /// Selects the kernel `ahead` places on in the table, skipping unavailable kernels.
    fn change_kernel(&mut self, ahead: usize) -> Result<()> {
        let Some(instances) = &mut self.instances else {
            return Ok(());
        };
        let mut at = self.setup.kernel.index();
        let kernel: &'static Kernel = loop {
            at = (at + ahead) % KERNELS.len();
            if instances.validate(&KERNELS[at]).is_ok() {
                break &KERNELS[at];
            }
        };
        if kernel.name == self.setup.kernel.name {
            self.notify(Notice::Refused(message!(
                "No other kernel can step these lattices"
            )));
            return Ok(());
        }
        self.set_kernel(kernel)
    }

    /// Selects the kernel at this place in the table, if it is available.
    fn use_kernel(&mut self, at: usize) -> Result<()> {
        let (Some(instances), Some(kernel)) = (&self.instances, KERNELS.get(at)) else {
            return Ok(());
        };
        if let Err(why) = instances.validate(kernel) {
            self.notify(Notice::Refused(Message::new(|| why.to_string())));
            return Ok(());
        }
        self.set_kernel(kernel)
    }

    fn set_kernel(&mut self, kernel: &'static Kernel) -> Result<()> {
        self.drop_measurement()?;
        let (before, requested) = (self.setup.kernel, self.setup.switches);
        let Some(instances) = &mut self.instances else {
            return Ok(());
        };
        instances.set_kernel(kernel)?;
        self.setup.kernel = kernel;
        self.setup.kernel_choice = KernelChoice::Explicit;
        self.setup.switches = requested.fitted_to(kernel);
        self.notify(Notice::Done(match requested.incompatibility(kernel) {
            None => message!("kernel {}: {}", kernel.name, lang::text(kernel.title)),
            Some(why) => {
                let now = self.setup.switches;
                let (streams, transfer) = (now.streams, now.transfer);
                message!(
                    "{why}; changed to streams {streams}, transfer {transfer}",
                    why = why,
                    streams = streams,
                    transfer = transfer
                )
            }
        }));
        if let Some(comparison) = &mut self.comparison {
            comparison.b_switches = comparison.b_switches.fitted_to(kernel);
        }
        self.lab.changed();
        if self.comparison.is_none() && before.name != kernel.name {
            let what = message!(
                "kernel {kernel} instead of {before}",
                kernel = kernel.name,
                before = before.name
            );
            self.measure_change(what, before, requested)?;
        }
        self.statistics.restart();
        // Other pictures may be possible with this kernel.
        self.view.map_or(Ok(()), |view| self.set_view(view))
    }

    pub(super) fn set_view(&mut self, view: PicturePlan) -> Result<()> {
        self.view = Some(view);
        let plan = Some(view);
        let Some(instances) = &mut self.instances else {
            return Ok(());
        };
        let before = instances.own_plan().picture;
        if before != plan {
            self.lab.changed();
        }
        if instances.needs_slots(plan) {
            // Some snapshots are only in the slots that are about to be freed.
            self.snapshots
                .save_from_slots(instances, self.state.log.bytes());
        }
        self.change_slots(|instances| instances.set_picture(plan))?;
        self.state.refresh |= before != plan;
        self.changed = true;
        Ok(())
    }

    /// Makes a change that may allocate other slots, and uses those afterwards, even if the change
    /// itself failed after the allocation.
    pub(super) fn change_slots<T>(
        &mut self,
        change: impl FnOnce(&mut Instances) -> Result<T>,
    ) -> Result<Option<T>> {
        // Copies in slots may be gone from now on.
        self.unpublished = true;
        self.publish_last_known(Duration::ZERO);
        let Some(instances) = &mut self.instances else {
            return Ok(None);
        };
        // A weak reference: the slots must not be kept alive.
        let before = Arc::downgrade(instances.slots());
        let changed = change(instances);
        if !std::ptr::addr_eq(before.as_ptr(), Arc::as_ptr(instances.slots())) {
            self.pictures.replace_slots(instances.slots().clone());
            self.snapshots.clear_slots();
            self.state.refresh = true;
        }
        changed.map(Some)
    }

    /// Queues a request to refill an instance with a soup.
    pub(super) fn request_reseed(&mut self, instance: usize, density: f64, seed: u64) {
        let request = Request::Reseed {
            instance,
            density,
            seed,
        };
        self.enqueue(request, Task::State);
    }

    /// Number of edits, undos, redos and copies in the queue.
    pub(super) fn waiting_edits(&self) -> usize {
        let requests = self.state.requests.iter();
        let edits = requests.filter(|(request, _)| {
            matches!(
                request,
                Request::Edit(..) | Request::Undo | Request::Redo | Request::ReadCells
            )
        });
        edits.count()
    }

    /// Whether rounds follow one another, or will after a move.
    pub(super) fn is_running(&self) -> bool {
        self.failed.is_none() && self.state.is_running()
    }

    /// Pauses at once.
    pub(super) fn pause(&mut self) {
        self.state.mode = Mode::Paused;
        self.statistics.restart();
    }
}
