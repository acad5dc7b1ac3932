//! The session's thread: takes commands, issues work to the engine and publishes the results.
//!
//! No other thread touches the engine, and this one never waits for a reader.
//! [`next_task`] decides what to do next, from the state and a few facts about the engine; a turn of the loop
//! polls the engine, then does one piece of work or sleeps until something may have happened.
//!
//! The owners of its data are modules of their own, beside this one. Here is what the session does with
//! them:
//!
//! | File | What it does |
//! |---|---|
//! | this one | decides what is next and what it needs, takes commands at once or in their turn, takes the engine's events, and runs rounds op by op for the overlap |
//! | `publisher` | what other threads see: status, pictures, trace, notice, and the session as last known |
//! | `watching` | what is known of single panels: which are still or periodic, and since when |
//! | `lab` | the struct with all that the thread owns; measures rounds and launches, compares rounds before and after a change or of A and B, stops or refills settled panels; which settings are in force |
//! | `snapshots` | makes copies of all lattices, for those who wait for one, and what is saved of the session |
//! | `settings` | which setting steps which lattices; changes pace, kernel, switches, pictures and block timestamps; A and B |
//! | `status` | puts together and publishes the figures that others see |
//! | `recovery` | puts other lattices in the place of the present ones: after a loss, of another size, from a file |
//! | `cells` | applies records of the log to the lattices, and begins moves from a copy or a start |
//! | `sleep` | sleeps until something may have happened |
//!
//! Each calls only those above it, and this one all of them.

use crate::command::{Command, Notice, Wanted, refuse};
use crate::copies::{CopySlots, Snapshot};
use crate::engines::{Engines, Losses, first_view};
use crate::instances::{Event, MAX_IN_FLIGHT, Round};
use crate::log::{Author, CellChange, Content, Log, Record, SessionParameters};
use crate::population::Populations;
use crate::saved::SavedSession;
use crate::state::{Mode, Move, Pacing, State, part_of_round};
use crate::trace::{Recording, TimedRound, Trace};
use crate::{
    DEFAULT_KERNEL, DeviceChoice, KernelChoice, NOTICE_TIME, Pace, PicturePlan, Pictures, Request,
    SessionAction, Setup, Share, Status, timestamps_of_own,
};
use engine::{Result, kernels};
use lab::{Lab, SessionWorker, Trial, shown};
use lang::{message, tr};
use parking_lot::Mutex;
use publisher::{LastKnown, Publisher, SafetyCopy};
use snapshots::{RETRY_INTERVAL, SnapshotReason};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};
use watching::{Measuring, Watch};

mod cells;
mod lab;
pub(crate) mod publisher;
mod recovery;
mod settings;
mod sleep;
mod snapshots;
mod status;
mod watching;

/// Time between two publications for those who save the session while its thread hangs, at least.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(500);

/// How long a command waits for the engine before a notice says so.
const WAITING_NOTICE_DELAY: Duration = Duration::from_millis(300);

/// The part of a session that other threads read.
pub(super) struct Shared {
    pub status: Arc<Mutex<Arc<Status>>>,
    pub pictures: Pictures,
    pub trace: Arc<Mutex<Trace>>,
    pub populations: Arc<Mutex<Populations>>,
    pub last_known: LastKnown,
}

/// The thread's body: answers `ready` once, then works until [`Command::Close`] comes. Continues the
/// saved session `from`, if there is one, whose setup this is. Background tasks report through
/// `sender`, which feeds `commands`.
pub(super) fn run(
    setup: Setup,
    from: Option<SavedSession>,
    (sender, commands): (Sender<Command>, Receiver<Command>),
    wake: Box<dyn Fn()>,
    ready: Sender<Result<Shared>>,
) {
    let clock = Box::new(Instant::now);
    let worker = SessionWorker::new(setup, from, Engines::default(), clock, sender, wake);
    let mut worker = match worker {
        Ok(worker) => worker,
        Err(error) => return drop(ready.send(Err(error))),
    };
    let shared = Shared {
        status: worker.publisher.status.clone(),
        pictures: worker.publisher.pictures.clone(),
        trace: worker.publisher.trace.clone(),
        populations: worker.watch.populations.clone(),
        last_known: worker.safety_copy.shared.clone(),
    };
    if ready.send(Ok(shared)).is_err() {
        return;
    }
    drop(ready);
    loop {
        match platform::catch_panic(|| worker.run_once(&commands)) {
            Ok(true) => {}
            // It answers on, and its cells can be saved as they were last known.
            Err(it) if worker.ended.is_none() => worker.fail(message!("internal: {it}")),
            Ok(false) | Err(_) => break,
        }
    }
}

impl SessionWorker {
    fn new(
        setup: Setup,
        from: Option<SavedSession>,
        mut engines: Engines,
        clock: Box<dyn Fn() -> Instant>,
        sender: Sender<Command>,
        wake: Box<dyn Fn()>,
    ) -> Result<SessionWorker> {
        let recording = (setup.device == DeviceChoice::Recorded).then(Recording::shipped);
        let (sim, setup) = engines.start(setup, recording.is_some())?;
        let pictures = Pictures::new(sim.slots.clone(), setup.instances, setup.size);
        let now = clock();
        let log = Log::new(SessionParameters::of(&setup));
        let mut pacing = Pacing::new(setup.pace, setup.generations_per_round, now);
        // A new setup has been made for its pace; of a saved one, the kernel is the chosen one.
        pacing.keeps_kernel = from.is_none();
        let mut worker = SessionWorker {
            snapshots: CopySlots::default(),
            waiters: Vec::new(),
            sender,
            state: State::new(log, setup.time.history_bytes, pacing, setup.rounds),
            watch: Watch::default(),
            lab: Lab::default(),
            ended: None,
            halted: None,
            failures: 0,
            safety_copy: SafetyCopy::default(),
            publisher: Publisher::new(&setup, pictures, now, wake),
            sim: Some(sim),
            setup,
            chosen: None,
            trial: None,
            view: None,
            last_view: None,
            engines,
            recording,
            losses: Losses::default(),
            retry_at: None,
            clock,
        };
        worker.lab.last_command = Some(now);
        // Until the drawing side says what it wants, bits, if the lattice is not enormous.
        if let Some(view) = first_view(&worker.setup) {
            worker.set_view(view)?;
        }
        worker.update_measuring(false);
        let default = kernels::find(DEFAULT_KERNEL);
        let is_default = worker.setup.kernel_choice == KernelChoice::FirstFitting;
        if let Some(default) = default.filter(|_| is_default) {
            worker.tell_kernel(default);
        }
        // Asked for before the first turn, so that nothing of the setup's own start comes before it.
        if let Some(saved) = from {
            worker.safety_copy.restore_pending = true;
            worker.state.queue.push_back(Command::Open(Box::new(saved)));
        }
        worker.publish_last_known(Duration::ZERO); // the first turn may hang
        worker.publish_status(now);
        Ok(worker)
    }

    /// One turn of the loop. Returns `false` when the loop ends.
    fn run_once(&mut self, commands: &Receiver<Command>) -> bool {
        let work = self.next();
        let is_waiting = matches!(work, NextTask::Wait(_));
        let command = match work {
            NextTask::Wait(until) => self.sleep(until, commands),
            _ => commands.try_recv().ok(),
        };
        match command {
            Some(Command::Close) => return false,
            Some(command) => {
                if !matches!(command, Command::Ready) {
                    self.lab.last_command = Some(self.now());
                }
                self.dispatch(command);
            }
            None => {}
        }
        if !is_waiting {
            self.perform_or_handle_error(work);
        }
        self.after_turn();
        true
    }

    /// Takes the engine's events and decides the next piece of work.
    fn next(&mut self) -> NextTask {
        if let Err(error) = self.poll().and_then(|()| self.check_own_kernel()) {
            self.handle_error(error, true);
        }
        let now = self.now();
        if self.end_trial_when_over() {
            self.notify(Notice::Effect);
        }
        self.measure_equal_settings(now);
        let work = match &self.ended {
            None => next_task(&self.state, &self.engine_facts(now), now),
            Some(_) => {
                self.end_commands();
                NextTask::Wait(None)
            }
        };
        // Work that found no free slot is tried again a little later.
        match (work, self.retry_at.filter(|&at| now < at)) {
            (NextTask::Round(_) | NextTask::Refresh | NextTask::Snapshot(_), Some(at)) => {
                NextTask::Wait(Some(at))
            }
            (work, _) => work,
        }
    }

    fn perform_or_handle_error(&mut self, work: NextTask) {
        match self.perform(work) {
            Ok(()) => self.failures = 0,
            Err(error) => self.handle_error(error, true),
        }
    }

    /// Work that depends on the time, after every turn.
    fn after_turn(&mut self) {
        let now = self.now();
        let is_old = |(_, since): &mut (Notice, Instant)| now - *since > NOTICE_TIME;
        self.publisher.is_changed |= self.publisher.notice.take_if(is_old).is_some();
        self.publisher.is_changed |= self.watch.forget_reseeds(now);
        self.state.time_move(now);
        self.report_waiting_command(now);
        self.reseed_one(now);
        self.publish_last_known(PUBLISH_INTERVAL);
        if self.publisher.due().is_some_and(|due| now >= due) {
            self.publish_status(now);
        }
    }

    fn engine_facts(&self, now: Instant) -> EngineFacts {
        let Some(sim) = &self.sim else {
            return EngineFacts::default(); // it is being replaced
        };
        let lagging = self.lagging_side();
        // Each round of a trial is alone.
        let most = self.trial.as_ref().map_or(MAX_IN_FLIGHT, |_| 1);
        EngineFacts {
            engine_idle: sim.is_idle() && !self.snapshots.is_reading(),
            has_room: sim.depth() < most && !sim.is_calibrating(),
            longest_round: self.longest_round(),
            calibrating: sim.is_calibrating(),
            wants_calibration: self.wants_calibration(),
            kernel_due: self.is_kernel_due(self.wants_fastest()),
            pending_second_round: lagging.map(|(_, generations)| generations),
            can_snapshot: self.snapshots.free_slot().is_some() && lagging.is_none(),
            has_copy: self.present_copy().is_some(),
            snapshot_due: self.snapshots.is_due(now) && lagging.is_none(),
            snapshot_wanted: self.is_copy_wanted(),
            snapshot_awaited: self.is_copy_awaited(),
        }
    }

    fn perform(&mut self, work: NextTask) -> Result<()> {
        let now = self.now();
        match work {
            NextTask::Wait(_) => Ok(()),
            NextTask::TakeCommand => {
                self.take_command();
                Ok(())
            }
            NextTask::Apply => self.apply_due(),
            NextTask::Round(generations) => self.issue_round(generations, now),
            NextTask::Snapshot(why) => self.issue_snapshot(why, now),
            NextTask::Restore => self.restore(),
            NextTask::Arrive => {
                let notice = self.state.arrived(now);
                self.safety_copy.restore_pending = false;
                self.log_changed();
                self.lab.statistics.restart();
                if let Some(notice) = notice {
                    self.notify(notice);
                }
                self.publisher.is_changed = true;
                Ok(())
            }
            NextTask::Refresh => {
                let issued = self.refresh();
                // After an error it is not tried again: it would fail again.
                if !matches!(issued, Ok(false)) {
                    self.state.wants_pictures = false;
                }
                issued.map(|_| ())
            }
            NextTask::Calibrate => self.calibrate(),
            NextTask::FitKernel => self.fit_kernel(self.wants_fastest()),
        }
    }

    /// Issues a round.
    fn issue_round(&mut self, generations: u32, now: Instant) -> Result<()> {
        let shares = self.shares_in_use();
        if !self.ensure(&shares)? {
            return Ok(());
        }
        let is_running = matches!(self.state.mode, Mode::Running | Mode::RunningTo(_));
        let measured = self.measures_next();
        let is_exception = measured && self.watch.measuring == Measuring::Sparse;
        let may_be_timed = !is_exception && !self.is_recorded() && is_running;
        let timed = may_be_timed && self.times_next(now);
        let is_second = self.lagging_side().is_some();
        // The last one of those as which a long round is issued may be shorter, and does not count.
        let whole = part_of_round(self.state.pacing.generations(), self.longest_round());
        let share = self.next_share(shares, generations, is_running && generations == whole);
        let request = Request {
            timed,
            block_timestamps: self.lab.block_timestamps,
            measured,
            ..Request::of(generations)
        };
        if !self.issue(&share, request)? {
            return Ok(());
        }
        self.watch.rounds_since_measure = if measured {
            0
        } else {
            self.watch.rounds_since_measure + 1
        };
        self.trial.iter_mut().for_each(Trial::issued);
        let by_hand = matches!(self.state.mode, Mode::Stepping(_));
        let runs_to = matches!(self.state.mode, Mode::RunningTo(_));
        if is_second {
            // B's round: B is at A's generation.
            if self.state.mode == Mode::Running {
                self.state.pacing.keep(now);
            }
        } else {
            self.state.stepped(generations, now);
        }
        if runs_to && self.state.mode == Mode::Paused {
            let generation = self.state.position.generation;
            self.notify(Notice::Done(message!("Reached generation {generation}")));
        }
        if by_hand {
            tracing::debug!("stepped to generation {}", self.state.position.generation);
        }
        self.halted = None;
        self.safety_copy.is_current = false;
        if !self.state.is_at_work() {
            self.publisher.is_changed = true;
        }
        self.lab.sampling.issued(self.now(), timed);
        self.snapshots.is_current = false;
        Ok(())
    }

    /// Downloads pictures of all lattices as they are. Returns `false` if no slot is free for them.
    fn refresh(&mut self) -> Result<bool> {
        let shares = self.shares_in_use();
        let mut all = self.ensure(&shares)?;
        // Every share enters its layout before one's pictures are in flight, which hinder the others.
        if let Some(sim) = self.sim.as_mut().filter(|it| all && it.is_idle()) {
            shown(&shares)
                .iter()
                .try_for_each(|share| sim.enter(share))?;
        }
        for share in shown(&shares) {
            all = all && self.issue(share, Request::of(0))?;
        }
        Ok(all)
    }

    /// Issues a round. Returns `false` if no slot is free for its pictures, or if its lattices are being
    /// converted first.
    fn issue(&mut self, share: &Share, request: Request) -> Result<bool> {
        let Some(sim) = &mut self.sim else {
            return Ok(false);
        };
        let pictures = &self.publisher.pictures;
        let newest = |slot| pictures.holds_newest(slot, share.downloads());
        let request = Request {
            edits: self.state.last_edit,
            ..request
        };
        let issued = sim.issue(share, request, newest);
        if matches!(issued, Ok(false)) {
            self.retry_at = Some(self.now() + RETRY_INTERVAL);
        }
        issued
    }

    /// Shows a notice, once per command, if the first one waits for a long launch.
    fn report_waiting_command(&mut self, now: Instant) {
        let waits = !self.state.queue.is_empty() && self.state.moving().is_none();
        if !waits || self.ended.is_some() {
            self.publisher.waiting = None;
            return;
        }
        let (since, is_reported) = self.publisher.waiting.get_or_insert((now, false));
        if !*is_reported && now - *since > WAITING_NOTICE_DELAY {
            *is_reported = true;
            self.notify(Notice::Done(message!(
                "Waiting for the present launch to finish"
            )));
        }
    }
}

// Runs rounds op by op, with whose times the overlap of a round is computed.

impl SessionWorker {
    /// Whether to run a round op by op: its overlap is wanted and not known. Not in the middle of a
    /// round, before a record ahead, or while stepping by hand.
    fn wants_calibration(&self) -> bool {
        let generations = self.state.pacing.generations();
        self.lab.is_watching
            && !self.is_recorded()
            && self.lab.isolated.is_none()
            && self.trial.is_none()
            && !self.state.has_records_ahead()
            && generations <= self.longest_round()
    }

    /// Begins a round that runs op by op. Nothing may be in flight.
    fn calibrate(&mut self) -> Result<()> {
        let now = self.now();
        let share = self.present();
        let request = Request {
            measured: self.watch.measuring != Measuring::Never,
            edits: self.state.last_edit,
            ..Request::of(self.state.pacing.generations())
        };
        let pictures = self.publisher.pictures.clone();
        let newest = |slot| pictures.holds_newest(slot, share.downloads());
        let is_ready = self.ensure(std::slice::from_ref(&share))?;
        let Some(sim) = &mut self.sim else {
            return Ok(());
        };
        if is_ready && sim.begin_calibration(&share, request, newest)? {
            self.lab.calibrating = Some(share);
            self.state.stepped(request.generations, now);
            self.snapshots.is_current = false;
        } else {
            self.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(())
    }
}

// What must hold before a command is taken, and in which order commands wait.

/// What must hold before a command is taken. Each variant from the second on includes those before
/// it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum When {
    /// Nothing, not even that it is its turn.
    AtOnce,
    /// It is the first in the queue.
    InTurn,
    /// No move is under way, nor a step by hand.
    NoMove,
    /// Nothing is under way on the engine.
    EngineIdle,
    /// The host has a snapshot at the present position.
    AllCellsOnHost,
}

/// What a command needs, and what comes after it.
#[derive(Clone, Copy)]
struct Needs {
    when: When,
    /// Whether it changes what is saved of a session, so that saving waits for it.
    changes_what_is_saved: bool,
    after_end: AfterEnd,
}

impl Command {
    /// What it needs.
    fn needs(&self) -> Needs {
        use AfterEnd::{Ignore, Perform, Refuse, RefuseToOpen};
        use When::{AllCellsOnHost, AtOnce, EngineIdle, InTurn, NoMove};
        let (when, changes_what_is_saved, after_end) = match self {
            Command::Act(action) => match action {
                // An ended session's last pictures can be selected, and what it reached is saved.
                SessionAction::SelectNext
                | SessionAction::SelectPrevious
                | SessionAction::Select(_)
                | SessionAction::SaveSession => (AtOnce, true, Perform),
                SessionAction::Faster
                | SessionAction::Slower
                | SessionAction::SetPace(_)
                | SessionAction::SetGenerationsPerRound(_)
                | SessionAction::NextStopWhenStill
                | SessionAction::ToggleReseed
                | SessionAction::ToggleBlockTimestamps => (AtOnce, true, Refuse),
                SessionAction::TogglePause => (InTurn, false, Refuse),
                SessionAction::StepGeneration | SessionAction::StepRound => (NoMove, false, Refuse),
                SessionAction::StepBack
                | SessionAction::StepRoundBack
                | SessionAction::RunTo(_) => (EngineIdle, false, Refuse),
                SessionAction::ResetPanel
                | SessionAction::ResetAll
                | SessionAction::NewSeed
                | SessionAction::SetInstances(_)
                | SessionAction::DoubleInstances
                | SessionAction::HalveInstances
                | SessionAction::SetSize(_)
                | SessionAction::SetRule(_)
                | SessionAction::SetDensity(_)
                | SessionAction::UseKernel(_)
                | SessionAction::AutoKernel
                | SessionAction::NextKernel
                | SessionAction::PreviousKernel
                | SessionAction::CycleSwitch(_)
                | SessionAction::SetSwitch(..)
                | SessionAction::ToggleRecorded
                | SessionAction::ToggleComparison
                | SessionAction::Undo
                | SessionAction::Redo => (EngineIdle, true, Refuse),
            },
            Command::WatchPopulation(_)
            | Command::WatchOverlap(_)
            | Command::Ready
            | Command::Close => (AtOnce, false, Ignore),
            Command::Notify(_) => (AtOnce, false, Perform),
            Command::PauseForLesson(_) => (InTurn, false, Ignore),
            Command::Save(_) => (InTurn, false, Perform),
            Command::ReadCells(..) => (NoMove, false, Perform),
            Command::Edit(..) | Command::Reseed(..) => (NoMove, true, Ignore),
            Command::View(_) => (EngineIdle, false, Ignore),
            Command::Apply(_) => (EngineIdle, true, Refuse),
            Command::Cells(..)
            | Command::SetOwnRound(..)
            | Command::SetOwnKernel(_)
            | Command::Open(_) => (EngineIdle, true, Ignore),
            Command::Replace(..) => (EngineIdle, true, RefuseToOpen),
            Command::OpenPattern(..) => (AllCellsOnHost, true, RefuseToOpen),
        };
        Needs {
            when,
            changes_what_is_saved,
            after_end,
        }
    }

    /// Whether it is a step by hand, of which few may wait: a key that is held down must not queue
    /// minutes of work.
    fn is_step(&self) -> bool {
        use SessionAction::{StepGeneration, StepRound};
        matches!(self, Command::Act(StepGeneration | StepRound))
    }
}

/// Single steps that may wait: a key that is held down must not queue minutes of work.
const MAX_STEPS: usize = 4;

/// Queues a command, in the order in which they are taken. Drops a step if too many wait already; of
/// views, only the last one counts. During a move some overtake others.
fn enqueue(queue: &mut VecDeque<Command>, command: Command, is_moving: bool) {
    let steps = queue.iter().filter(|command| command.is_step());
    if command.is_step() && steps.count() >= MAX_STEPS {
        return;
    }
    let is_view = |command: &Command| matches!(command, Command::View(_));
    if is_view(&command)
        && let Some(waiting) = queue.iter_mut().find(|waiting| is_view(waiting))
    {
        *waiting = command;
        return;
    }
    let changes = |waiting: &Command| waiting.needs().changes_what_is_saved;
    let at = match command {
        // It stops the move.
        Command::Act(SessionAction::TogglePause) if is_moving => 0,
        Command::Save(_) if is_moving => queue.iter().rposition(changes).map_or(0, |last| last + 1),
        _ => queue.len(),
    };
    queue.insert(at, command);
}

impl SessionAction {
    /// Whether it needs an engine, and is refused after the session's end.
    pub fn needs_engine(self) -> bool {
        Command::Act(self).needs().after_end == AfterEnd::Refuse
    }

    /// Why a session of this status would refuse it, in the reader's language; `None` where nothing is
    /// known against it. Where requests are on their way that the status does not show yet, the session's
    /// own answer counts.
    pub fn refusal(self, status: &Status) -> Option<String> {
        let (setting, lab) = (&status.setting, &status.lab);
        let instances = status.lattices.instances;
        let one_panel = || (instances < 2).then(|| tr!("there is only one panel").into());
        match self {
            SessionAction::SelectNext | SessionAction::SelectPrevious => one_panel(),
            SessionAction::DoubleInstances | SessionAction::HalveInstances
                if lab.comparison.is_some() =>
            {
                Some(tr!("A and B are compared; key B ends that").into())
            }
            SessionAction::DoubleInstances => (instances * 2 > Setup::MAX_INSTANCES)
                .then(|| tr!("Take 1 to {most} instances", most = Setup::MAX_INSTANCES)),
            SessionAction::HalveInstances => one_panel(),
            SessionAction::ToggleComparison => {
                (instances < 2).then(|| tr!("A and B need at least two panels").into())
            }
            SessionAction::CycleSwitch(switch) => {
                switch.next(setting.switches, setting.context()).err()
            }
            SessionAction::SetSwitch(switch, at) => {
                switch.at(at, setting.switches, setting.context())?.err()
            }
            SessionAction::ToggleRecorded => {
                let is_measured = !status.engine.is_cpu() && lab.recording.is_none();
                is_measured.then(|| tr!("a GPU computes here, and is measured").into())
            }
            SessionAction::ToggleBlockTimestamps if lab.recording.is_some() => {
                Some(tr!("recorded rounds have no block timestamps").into())
            }
            SessionAction::ToggleBlockTimestamps => {
                let has_none = !status.engine.is_cpu() && !setting.kernel.block_timestamps;
                has_none.then(|| timestamps_of_own().into())
            }
            SessionAction::UseKernel(at) => {
                let (kernel, size) = (setting.kernels().nth(at.into())?, status.lattices.size);
                let mut devices = status.engine.devices.iter();
                let fits = kernel.validate_size(size);
                let fits =
                    fits.and_then(|()| devices.try_for_each(|it| kernel.validate_device(it, size)));
                fits.err().map(|error| error.to_string())
            }
            _ => None,
        }
    }
}

/// What is done with a command after the session's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AfterEnd {
    /// It needs no engine.
    Perform,
    /// A notice says that the session has ended.
    Refuse,
    /// A notice says that nothing was opened.
    RefuseToOpen,
    /// Nobody waits for it.
    Ignore,
}

// What a session does next, decided from its state and a few facts about the engine.

/// Facts about the engine and the snapshots that [`next_task`] decides by.
#[derive(Clone, Default, Debug)]
struct EngineFacts {
    /// Nothing is in flight on the engine, and nothing is being read from its slots.
    engine_idle: bool,
    /// Another round may be issued.
    has_room: bool,
    /// Maximum number of generations of a round.
    longest_round: u32,
    /// A calibration is under way: a round that runs op by op.
    calibrating: bool,
    /// A calibration is wanted and possible.
    wants_calibration: bool,
    /// The fastest kernel is to take the place of the chosen one, or the other way round.
    kernel_due: bool,
    /// Generations of a comparison's round that A has made and B has not.
    pending_second_round: Option<u32>,
    /// A slot is free for a snapshot, and all lattices are at one generation.
    can_snapshot: bool,
    /// The host has a copy of the present cells.
    has_copy: bool,
    /// A periodic snapshot is due.
    snapshot_due: bool,
    /// Somebody waits for a snapshot of the present position.
    snapshot_wanted: bool,
    /// Somebody waits for a snapshot that is not on the host yet.
    snapshot_awaited: bool,
}

/// The next piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NextTask {
    /// Sleep until this time, or until something happens.
    Wait(Option<Instant>),
    /// Take the first command.
    TakeCommand,
    /// Apply the record that is due.
    Apply,
    /// Issue a round of this many generations.
    Round(u32),
    /// Copy all lattices into a host slot.
    Snapshot(SnapshotReason),
    /// Set the lattices to the cells at the start of the move's route.
    Restore,
    /// End the move: it has reached its target.
    Arrive,
    /// Download pictures without stepping.
    Refresh,
    /// Run a round op by op.
    Calibrate,
    /// Take the fastest kernel, or the chosen one back.
    FitKernel,
}

/// Decides the next piece of work.
fn next_task(state: &State, facts: &EngineFacts, now: Instant) -> NextTask {
    if facts.calibrating {
        return NextTask::Wait(None);
    }
    // A move's cells are set first: until then the cells may be lost.
    if let Some(moving) = state.moving()
        && !moving.begun
    {
        if let Some(Command::Act(SessionAction::TogglePause)) = state.queue.front() {
            return NextTask::TakeCommand;
        }
        return only_if(facts.engine_idle, NextTask::Restore);
    }
    if let Some(generations) = facts.pending_second_round {
        return b_round(state, generations, facts, now);
    }
    if let Some(record) = state.due_record() {
        return apply_due(state, record, facts);
    }
    if facts.snapshot_wanted && facts.can_snapshot {
        return NextTask::Snapshot(SnapshotReason::Wanted);
    }
    let first = state.queue.front().map(|command| command.needs().when);
    if first.is_some_and(|when| when <= When::InTurn) {
        return NextTask::TakeCommand;
    }
    match &state.mode {
        Mode::Moving(moving) => return go_on_moving(state, moving, facts),
        Mode::Stepping(left) => return round(state, (*left).into(), facts),
        Mode::Paused | Mode::Running | Mode::RunningTo(_) => {}
    }
    if facts.kernel_due {
        return only_if(facts.engine_idle, NextTask::FitKernel);
    }
    // Until the snapshot is on the host, rounds go on, but later commands wait: one that is made again after
    // a loss would have their cells.
    if let Some(when) = first.filter(|_| !facts.snapshot_awaited) {
        return match when {
            When::AtOnce | When::InTurn | When::NoMove => NextTask::TakeCommand,
            When::AllCellsOnHost if !facts.has_copy => copy_at_rest(facts),
            When::EngineIdle | When::AllCellsOnHost => {
                only_if(facts.engine_idle, NextTask::TakeCommand)
            }
        };
    }
    if facts.wants_calibration && state.mode == Mode::Running {
        return only_if(facts.engine_idle, NextTask::Calibrate);
    }
    if facts.snapshot_due && facts.can_snapshot {
        return NextTask::Snapshot(SnapshotReason::Periodic);
    }
    match &state.mode {
        Mode::Running if now >= state.pacing.due => {
            let wanted = state.pacing.left();
            round(state, wanted.into(), facts)
        }
        Mode::Running if state.wants_pictures && facts.has_room => NextTask::Refresh,
        Mode::Running => NextTask::Wait(Some(state.pacing.due)),
        Mode::RunningTo(run_to) => {
            let left = run_to.generation.saturating_sub(state.position.generation);
            round(state, left.min(run_to.chunk.into()), facts)
        }
        Mode::Paused | Mode::Stepping(_) | Mode::Moving(_) => {
            only_if(state.wants_pictures && facts.has_room, NextTask::Refresh)
        }
    }
}

/// A piece of work if that can be now, or else nothing.
fn only_if(can_be: bool, work: NextTask) -> NextTask {
    if can_be { work } else { NextTask::Wait(None) }
}

/// Copies all lattices once nothing is in flight.
fn copy_at_rest(facts: &EngineFacts) -> NextTask {
    only_if(
        facts.engine_idle && facts.can_snapshot,
        NextTask::Snapshot(SnapshotReason::Wanted),
    )
}

/// A round of at most `wanted` generations, up to the next record.
fn round(state: &State, wanted: u64, facts: &EngineFacts) -> NextTask {
    let next = state.log.generations_to_next(state.position);
    let wanted = wanted.min(next.unwrap_or(u64::MAX));
    let wanted = wanted.min(u32::MAX.into()) as u32;
    only_if(
        facts.has_room,
        NextTask::Round(part_of_round(wanted, facts.longest_round)),
    )
}

/// B's round after A's: at the pace while both run, at once if something waits.
fn b_round(state: &State, generations: u32, facts: &EngineFacts, now: Instant) -> NextTask {
    let at_once = state.mode != Mode::Running || !state.queue.is_empty();
    if !at_once && now < state.pacing.due {
        NextTask::Wait(Some(state.pacing.due))
    } else {
        only_if(facts.has_room, NextTask::Round(generations))
    }
}

/// The work that a due record needs before it is applied, or its application.
fn apply_due(state: &State, record: &Record, facts: &EngineFacts) -> NextTask {
    // An edit can be undone: a snapshot is made before it.
    if state.begins_edit(record) && !state.is_at_hand(state.position) {
        return only_if(
            facts.can_snapshot,
            NextTask::Snapshot(SnapshotReason::Landmark),
        );
    }
    let needs_cells = match &record.content {
        Content::Cells { cells, .. } => match cells {
            CellChange::Edit(change) if change.reads_cells() => true,
            _ => return NextTask::Apply,
        },
        Content::Start(_) | Content::Rule(_) => false,
        Content::Grid { .. } | Content::Compare => true,
    };
    if needs_cells && !facts.has_copy {
        copy_at_rest(facts)
    } else {
        only_if(facts.engine_idle, NextTask::Apply)
    }
}

fn go_on_moving(state: &State, moving: &Move, facts: &EngineFacts) -> NextTask {
    let here = state.position;
    if here >= moving.target {
        return NextTask::Arrive;
    }
    if moving.waypoint == Some(here.generation) && here.records == moving.target.records {
        return only_if(
            facts.can_snapshot,
            NextTask::Snapshot(SnapshotReason::Landmark),
        );
    }
    let end = if here.records == moving.target.records {
        moving.target.generation
    } else {
        u64::MAX
    };
    let waypoint = moving.waypoint.filter(|&at| at > here.generation);
    let end = waypoint.map_or(end, |at| end.min(at));
    let left = end - here.generation;
    round(state, left.min(moving.chunk.into()), facts)
}

#[cfg(test)]
mod tests;

// Dispatches commands. Those that concern neither cells nor time are performed at once; the others
// are taken in order.

impl SessionWorker {
    /// Performs a command or queues it.
    fn dispatch(&mut self, command: Command) {
        if !matches!(command, Command::Ready) {
            self.publisher.is_changed = true;
        }
        if self.ended.is_some() {
            return self.dispatch_after_end(command);
        }
        match command {
            Command::View(plan) if self.may_view_at_once(plan) => {
                if let Err(error) = self.set_view(plan) {
                    self.handle_error(error, false);
                }
            }
            command if command.needs().when == When::AtOnce => self.perform_at_once(command),
            mut command => {
                if let Command::Act(action @ SessionAction::ResetPanel) = command {
                    self.log_command(action);
                    command = Command::Cells(self.watch.selected, CellChange::Start);
                }
                let is_moving = self.state.moving().is_some();
                enqueue(&mut self.state.queue, command, is_moving);
            }
        }
    }

    /// Whether pictures can be changed without new slots, and no other change of them waits.
    fn may_view_at_once(&mut self, plan: PicturePlan) -> bool {
        let mut waiting = self.state.queue.iter();
        if waiting.any(|command| matches!(command, Command::View(_))) {
            return false;
        }
        let before = self.swap_view(Some(plan));
        let shares = self.shares_in_use();
        self.swap_view(before);
        let sim = self.sim.as_ref();
        sim.is_some_and(|it| !it.replaces_slots(&shares))
    }

    /// Handles a command after the session has ended: only what needs no engine is done.
    fn dispatch_after_end(&mut self, command: Command) {
        let why = match command.needs().after_end {
            AfterEnd::Perform => {
                self.perform_at_once(command);
                return self.answer_waiters_at_the_end();
            }
            AfterEnd::Refuse => message!("the session has ended"),
            AfterEnd::RefuseToOpen => {
                message!("nothing was opened: the session has ended; start the program again")
            }
            AfterEnd::Ignore => return,
        };
        self.notify(Notice::Refused(why));
        self.publisher.wake();
    }

    /// Clears the queue when the session ends; copies and saves are still answered.
    fn end_commands(&mut self) {
        while let Some(command) = self.state.queue.pop_front() {
            if command.needs().after_end != AfterEnd::Refuse {
                self.dispatch_after_end(command);
            }
        }
    }

    /// Performs a command that does not wait for its turn.
    fn perform_at_once(&mut self, command: Command) {
        let says = matches!(command, Command::Notify(_));
        let done = self.perform_command(command);
        self.tell(done);
        if says {
            self.publisher.wake();
        }
    }

    /// Tells what came of a command.
    fn tell(&mut self, done: Result<Option<Notice>>) {
        match done {
            Ok(notice) => notice.into_iter().for_each(|notice| self.notify(notice)),
            Err(error) => self.handle_error(error, false),
        }
    }

    /// Takes the first command of the queue.
    fn take_command(&mut self) {
        self.publisher.waiting = None;
        let Some(command) = self.state.queue.pop_front() else {
            return;
        };
        let mode = self.state.mode.clone();
        let done = self.perform_command(command);
        self.log_changed();
        self.publish_last_known(Duration::ZERO); // before the engine is asked to apply a record
        if self.state.mode != mode {
            self.trial.iter_mut().for_each(Trial::interrupt);
            self.lab.statistics.restart();
            self.halted = None;
        }
        self.publisher.is_changed = true;
        self.tell(done);
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
                self.watch.shown = watching;
                self.update_measuring(false);
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
            Command::Cells(instance, cells) => self.state.change_cells(instance, cells),
            // Unless the user drew there meanwhile.
            Command::Reseed(instance, soup) if self.state.may_reseed(instance) => {
                self.watch.note_reseed(instance, now);
                self.state.reseed(instance, soup)
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
            Command::Reseed(..) | Command::Ready | Command::Close => None,
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
            SessionAction::ResetAll => {
                let start = state.parameters().start;
                state.change(Author::Person, Content::Start(start))
            }
            SessionAction::NewSeed => state.new_seed(None),
            SessionAction::SetDensity(thousandths) => state.new_seed(Some(thousandths)),
            SessionAction::Undo => state.undo(),
            SessionAction::Redo => state.redo(),
            SessionAction::SetInstances(count) => state.set_instances(|_| count.into()),
            SessionAction::DoubleInstances => state.set_instances(|now| 2 * now),
            SessionAction::HalveInstances => state.set_instances(|now| now / 2),
            SessionAction::SetSize(size) => state.set_size(size),
            SessionAction::SetRule(rule) if rule == state.parameters().rule => {
                refuse(message!("The rule is {rule} already"))
            }
            SessionAction::SetRule(rule) => state.change(Author::Person, Content::Rule(rule)),
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
                if self.setup.instances < 2 =>
            {
                refuse(message!("there is only one panel"))
            }
            SessionAction::SelectNext => self.select(|selected, all| (selected + 1) % all),
            SessionAction::SelectPrevious => {
                self.select(|selected, all| (selected + all - 1) % all)
            }
            SessionAction::Select(instance) => self.select(|_, all| instance.min(all - 1)),
            SessionAction::UseKernel(at) => self.use_kernel(at)?,
            SessionAction::AutoKernel => self.use_auto_kernel()?,
            SessionAction::NextKernel => self.change_kernel(true)?,
            SessionAction::PreviousKernel => self.change_kernel(false)?,
            SessionAction::CycleSwitch(switch) => {
                self.set_switch(switch, |now, context| Some(switch.next(now, context)))?
            }
            SessionAction::SetSwitch(switch, at) => {
                self.set_switch(switch, |now, context| switch.at(at, now, context))?
            }
            SessionAction::ToggleComparison => self.toggle_comparison()?,
            // `Session::act` saves: it knows the file. The panel is chosen when it is queued.
            SessionAction::SaveSession | SessionAction::ResetPanel => None,
        })
    }

    /// Selects another instance, found from the present one and the number of all.
    fn select(&mut self, other: impl FnOnce(usize, usize) -> usize) -> Option<Notice> {
        self.watch.selected = other(self.watch.selected, self.setup.instances);
        None
    }

    /// Logs the state after an action, for `LIFESTREAMS_LOG=debug`.
    fn log_command(&self, action: SessionAction) {
        let state = if self.is_running() {
            "running"
        } else {
            "paused"
        };
        let generation = self.state.position.generation;
        let (kernel, selected) = (self.setup.setting.kernel.name, self.watch.selected);
        tracing::debug!(
            "{action:?}: {state} at generation {generation}, kernel {kernel}, instance {selected} selected"
        );
    }
}

// Takes the engine's events: pictures, rounds, measures, snapshots.

impl SessionWorker {
    /// Takes all completed events and handles them.
    fn poll(&mut self) -> Result<()> {
        let (now, mut events) = (self.now(), Vec::new());
        let Some(sim) = self.sim.as_mut().filter(|_| self.ended.is_none()) else {
            return Ok(());
        };
        let polled = sim.poll(|event| events.push(event));
        let is_news = |event: &Event| !matches!(event, Event::Snapshot { .. });
        let has_news = events.iter().any(is_news);
        let mut found = Vec::new();
        for event in events {
            match event {
                Event::Pictures {
                    instances,
                    generation,
                    edits,
                    picture,
                    slot,
                } => {
                    let pictures = &self.publisher.pictures;
                    pictures.publish(instances, (generation, edits), picture, slot);
                }
                Event::Round { round, timed, took } => self.take_round(&round, timed, took, now),
                Event::Calibrated(alone) => {
                    // None if the setting has changed meanwhile.
                    let is_of_present = self.lab.calibrating.take() == Some(self.present());
                    self.lab.isolated = is_of_present.then(|| alone.into());
                }
                Event::Measured(measures) => found.push(measures),
                Event::Snapshot { index } => {
                    self.read_landed(index);
                }
            }
        }
        let taken = self.take_read();
        self.take_measures(found, now);
        if has_news {
            self.publisher.is_changed = true;
            self.publisher.wake();
        }
        polled.and(taken)
    }

    /// Takes the figures of a complete round.
    fn take_round(
        &mut self,
        round: &Round,
        timed: Option<TimedRound>,
        took: Duration,
        now: Instant,
    ) {
        let generations = round.generations;
        self.fit_rounds(generations, took);
        self.state.copies.round(generations, took);
        let has_graphs = self.setup.setting.switches.graphs;
        // A graph is made for each length of a round.
        let max = if has_graphs { 1 } else { self.longest_round() };
        self.state.fit_chunk(took, max);
        // Before the trace is locked, which the interface reads.
        let timed = timed.map(TimedRound::in_order);
        let Some(timed) = self.count_round(round, timed, took, now) else {
            return;
        };
        let (publisher, lab) = (&self.publisher, &mut self.lab);
        let plain = timed.block_timestamps.is_empty();
        if let (true, Some((kernel, rate))) = (plain, timed.stepping()) {
            lab.statistics.stepping(kernel, rate);
        }
        if let Some(length) = timed.median_launch() {
            let us = length.as_us() / f64::from(round.launches().max(1));
            lab.launch(us, plain);
            if plain {
                lab.statistics.launch(us);
            }
        }
        // While blocks are shown, rounds without timestamps only measure their cost.
        if !lab.block_timestamps || !plain {
            publisher.trace.lock().add(timed);
        }
    }
}
