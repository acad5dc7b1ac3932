//! The session's thread: takes commands, issues work to the engine and publishes the results.
//!
//! No other thread touches the engine, and this one never waits for a reader.
//! [`next_task`](crate::next_task) decides what to do next; a turn of the loop polls the engine, then does
//! one piece of work or sleeps until something may have happened.
//!
//! The owners of its data are modules of their own, beside this one. Here is what the session does with
//! them:
//!
//! | File | What it does |
//! |---|---|
//! | `commands` | dispatches commands: performs them at once or in their turn |
//! | `cells` | applies records of the log to the lattices and reverts them |
//! | `snapshotting` | makes copies of all lattices, and answers those who wait for one |
//! | `moving` | begins a move from a snapshot or a start |
//! | `recovery` | handles errors and replaces a lost engine |
//! | `comparison` | compares two settings, A and B, each on half of the instances |
//! | `settings` | changes pace, kernel, switches and pictures, and compares rounds before and after |
//! | `recorded` | shows what was recorded on a GPU in the place of measurements |
//! | `calibration` | runs rounds op by op, for the overlap |
//! | `watching` | stops or refills settled panels |
//! | `saving` | hands a session over to be saved, and continues a saved one |
//! | `poll`, `sleep`, `publishing` | takes engine events, sleeps between turns, publishes the status |

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::command::{Command, Notice};
use crate::health::{Health, internal};
use crate::instances::MAX_IN_FLIGHT;
use crate::lab::Lab;
use crate::last_known::{LastKnown, SafetyCopy};
use crate::lattices::{Engines, Lattices, first_view};
use crate::log::{Log, SessionParameters};
use crate::next_task::{EngineFacts, NextTask, next_task, part_of_round};
use crate::pacing::Pacing;
use crate::population::Populations;
use crate::saved::SavedSession;
use crate::state::{Mode, State};
use crate::timeline::Timeline;
use crate::trace::Trace;
use crate::trial::shown;
use crate::watch::{Measuring, Watch};
use crate::{DEFAULT_KERNEL, KernelChoice, Pictures, Request, Setup, Share, Side, Status};
use engine::{Result, kernels};
use lang::message;
use publishing::Publisher;
use snapshotting::SnapshotStore;

mod calibration;
mod cells;
mod commands;
mod comparison;
mod moving;
mod poll;
mod publishing;
mod recorded;
mod recovery;
mod saving;
mod settings;
mod sleep;
mod snapshotting;
mod watching;

/// Time between two publications for those who save the session while its thread hangs, at least.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(500);

/// Time until work that found no free slot is tried again.
const RETRY_INTERVAL: Duration = Duration::from_micros(200);

/// The part of a session that other threads read.
pub(super) struct Shared {
    pub(super) status: Arc<Mutex<Arc<Status>>>,
    pub(super) pictures: Pictures,
    pub(super) trace: Arc<Mutex<Trace>>,
    pub(super) populations: Arc<Mutex<Populations>>,
    pub(super) last_known: LastKnown,
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
            Err(why) if worker.health.ended.is_none() => worker.fail(internal(why)),
            Ok(false) | Err(_) => break,
        }
    }
}

struct SessionWorker {
    lattices: Lattices,
    state: State,
    snapshots: SnapshotStore,
    watch: Watch,
    lab: Lab,
    health: Health,
    safety_copy: SafetyCopy,
    publisher: Publisher,
    /// The present time.
    clock: Box<dyn Fn() -> Instant>,
}

impl SessionWorker {
    fn new(
        setup: Setup,
        from: Option<SavedSession>,
        engines: Engines,
        clock: Box<dyn Fn() -> Instant>,
        sender: Sender<Command>,
        wake: Box<dyn Fn()>,
    ) -> Result<SessionWorker> {
        let (lattices, pictures) = Lattices::new(setup, engines)?;
        let (setup, now) = (&lattices.setup, clock());
        let log = Log::new(SessionParameters::of(setup));
        let timeline = Timeline::new(log, setup.time.history_bytes);
        let mut pacing = Pacing::new(setup.pace, setup.generations_per_round, now);
        // A new setup has been made for its pace; of a saved one, the kernel is the chosen one.
        pacing.keeps_kernel = from.is_none();
        let mut worker = SessionWorker {
            snapshots: SnapshotStore::new(sender),
            state: State::new(timeline, pacing, setup.rounds),
            watch: Watch::default(),
            lab: Lab::default(),
            health: Health::default(),
            safety_copy: SafetyCopy::default(),
            publisher: Publisher::new(setup, pictures, now, wake),
            lattices,
            clock,
        };
        worker.lab.last_command = Some(now);
        // Until the drawing side says what it wants, bits, if the lattice is not enormous.
        if let Some(view) = first_view(&worker.lattices.setup) {
            worker.set_view(view)?;
        }
        worker.update_measuring(false);
        let default = kernels::find(DEFAULT_KERNEL);
        let is_default = worker.lattices.setup.kernel_choice == KernelChoice::FirstFitting;
        if let Some(default) = default.filter(|_| is_default) {
            worker.tell_kernel(default);
        }
        // Asked for before the first turn, so that nothing of the setup's own start comes before it.
        if let Some(saved) = from {
            worker.safety_copy.restore_pending = true;
            worker.state.enqueue(Command::Open(Box::new(saved)));
        }
        worker.publish_last_known(Duration::ZERO); // the first turn may hang
        worker.publish_status(now);
        Ok(worker)
    }

    /// The present time.
    fn now(&self) -> Instant {
        (self.clock)()
    }

    /// One turn of the loop. Returns `false` when the loop ends.
    fn run_once(&mut self, commands: &Receiver<Command>) -> bool {
        let work = self.next();
        let is_waiting = matches!(work, NextTask::Wait(_));
        let command = match work {
            NextTask::Wait(until) => self.sleep(until, commands),
            _ => sleep::poll_command(commands),
        };
        match command {
            Err(sleep::Gone) | Ok(Some(Command::Close)) => return false,
            Ok(Some(command)) => {
                if !matches!(command, Command::Ready) {
                    self.lab.last_command = Some(self.now());
                }
                self.dispatch(command);
            }
            Ok(None) => {}
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
        self.end_trial_when_over();
        self.measure_equal_settings(now);
        let work = match &self.health.ended {
            None => next_task(&self.state, &self.engine_facts(now), now),
            Some(_) => NextTask::Wait(None),
        };
        // Work that found no free slot is tried again a little later.
        match (work, self.lattices.retry_at.filter(|&at| now < at)) {
            (NextTask::Round(_) | NextTask::Refresh | NextTask::Snapshot(_), Some(at)) => {
                NextTask::Wait(Some(at))
            }
            (work, _) => work,
        }
    }

    fn perform_or_handle_error(&mut self, work: NextTask) {
        match self.perform(work) {
            Ok(()) => self.health.failures = 0,
            Err(error) => self.handle_error(error, true),
        }
    }

    /// Work that depends on the time, after every turn.
    fn after_turn(&mut self) {
        let now = self.now();
        self.publisher.forget_old_notice(now);
        if self.watch.forget_reseeds(now) {
            self.publisher.is_changed = true;
        }
        self.state.time_move(now);
        self.report_waiting_command(now);
        self.reseed_one(now);
        self.publish_last_known(PUBLISH_INTERVAL);
        if self.publisher.due().is_some_and(|due| now >= due) {
            self.publish_status(now);
        }
    }

    fn engine_facts(&self, now: Instant) -> EngineFacts {
        let Some(sim) = &self.lattices.sim else {
            return EngineFacts::default(); // it is being replaced
        };
        let lagging = self.lagging_side();
        // Each round of a trial is timed alone.
        let max_in_flight = match self.lattices.trial {
            Some(_) => 1,
            None => MAX_IN_FLIGHT,
        };
        EngineFacts {
            engine_idle: sim.is_idle() && !self.snapshots.is_reading(),
            has_room: sim.depth() < max_in_flight && !sim.is_calibrating(),
            longest_round: self.lattices.longest_round(),
            calibrating: sim.is_calibrating(),
            wants_calibration: self.wants_calibration(),
            kernel_due: self.lattices.is_kernel_due(self.wants_fastest()),
            pending_second_round: lagging.map(|(_, generations)| generations),
            can_snapshot: self.snapshots.free_slot().is_some() && lagging.is_none(),
            has_copy: self.present_copy().is_some(),
            snapshot_due: self.snapshots.is_due(now) && lagging.is_none(),
            snapshot_wanted: self.snapshots.is_wanted(self.state.moving().is_some()),
        }
    }

    /// Which one of A and B has generations to make that the other has, and how many.
    fn lagging_side(&self) -> Option<(Side, u32)> {
        let sim = self.lattices.sim.as_ref()?;
        self.lattices.trial.as_ref()?.behind(sim)
    }

    fn perform(&mut self, work: NextTask) -> Result<()> {
        let now = self.now();
        match work {
            NextTask::Wait(_) => Ok(()),
            NextTask::TakeCommand => self.take_command(),
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
        let shares = self.lattices.shares_in_use();
        if !self.is_ready_for(&shares)? {
            return Ok(());
        }
        let is_running = matches!(self.state.mode, Mode::Running | Mode::RunningTo(_));
        let measured = self.measures_next();
        let is_exception = measured && self.watch.measuring == Measuring::Sparse;
        let may_be_timed = !is_exception && !self.lattices.is_recorded() && is_running;
        let soon = self.lab.statistics.stepping_rate().is_none();
        let sampling = &mut self.lab.sampling;
        let wanted = || sampling.wants(now, soon, self.lattices.is_comparing());
        let timed = may_be_timed
            && match &self.lattices.trial {
                Some(trial) if trial.is_under_way() => !trial.executor.is_counting(),
                _ => wanted(),
            };
        let is_second = self.lagging_side().is_some();
        let side = self.next_side(generations, is_running);
        let share = &shares[side.map_or(0, |side| side as usize)];
        let request = Request {
            timed,
            block_timestamps: self.lab.block_timestamps,
            measured,
            ..Request::of(generations)
        };
        if !self.issue(share, request)? {
            return Ok(());
        }
        self.watch.rounds_since_measure = if measured {
            0
        } else {
            self.watch.rounds_since_measure + 1
        };
        if let Some(trial) = &mut self.lattices.trial {
            trial.issued();
        }
        let by_hand = matches!(self.state.mode, Mode::Stepping(_));
        let runs_to = matches!(self.state.mode, Mode::RunningTo(_));
        if is_second {
            self.state.stepped_second(now);
        } else {
            self.state.stepped(generations, now);
        }
        if runs_to && self.state.mode == Mode::Paused {
            let generation = self.state.position().generation;
            self.notify(Notice::Done(message!("Reached generation {generation}")));
        }
        if by_hand {
            tracing::debug!("stepped to generation {}", self.state.position().generation);
        }
        self.health.halted = None;
        self.safety_copy.is_current = false;
        if !self.state.is_at_work() {
            self.publisher.is_changed = true;
        }
        self.lab.sampling.issued(self.now(), timed);
        self.snapshots.is_stale = true;
        Ok(())
    }

    /// Decides whose round of so many generations is next in a trial.
    fn next_side(&mut self, generations: u32, is_running: bool) -> Option<Side> {
        // The last one of those as which a long round is issued may be shorter, and does not count.
        let of_all = self.state.pacing.generations();
        let is_whole = generations == part_of_round(of_all, self.lattices.longest_round());
        let is_recorded = self.lattices.is_recorded();
        let now = self.lattices.setting();
        let (sim, trial) = (self.lattices.sim.as_ref()?, self.lattices.trial.as_mut()?);
        // Between A and B with one setting there is only noise.
        let is_of_equals = trial.each().is_some() && trial.other == now;
        let counts = is_running && is_whole && !is_of_equals && !is_recorded;
        Some(trial.next(sim, generations, counts))
    }

    /// Makes what rounds of these shares need, if nothing hinders; otherwise it is tried again.
    fn is_ready_for(&mut self, shares: &[Share]) -> Result<bool> {
        let is_ready = self.ensure(shares)?;
        if !is_ready {
            self.lattices.retry_at = Some(self.now() + RETRY_INTERVAL);
        }
        Ok(is_ready)
    }

    /// Downloads pictures of all lattices as they are. Returns `false` if no slot is free for them.
    fn refresh(&mut self) -> Result<bool> {
        let shares = self.lattices.shares_in_use();
        let mut all = self.is_ready_for(&shares)?;
        for share in shown(&shares) {
            all = all && self.issue(share, Request::of(0))?;
        }
        Ok(all)
    }

    /// Issues a round. Returns `false` if no slot is free for its pictures, or if its lattices are being
    /// converted first.
    fn issue(&mut self, share: &Share, request: Request) -> Result<bool> {
        let Some(sim) = &mut self.lattices.sim else {
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
            self.lattices.retry_at = Some(self.now() + RETRY_INTERVAL);
        }
        issued
    }

    /// Shows a notice, once per command, if the first one waits for a long launch.
    fn report_waiting_command(&mut self, now: Instant) {
        let waits = !self.state.queue.is_empty() && self.state.moving().is_none();
        let waits = waits && self.health.ended.is_none();
        if self.publisher.waits_long(waits, now) {
            self.notify(Notice::Done(message!(
                "Waiting for the present launch to finish"
            )));
        }
    }

    /// Follows a change of the log or the position: drops void snapshots and updates the setup.
    fn log_changed(&mut self) {
        self.safety_copy.is_current = false;
        self.state.timeline.drop_void();
        let log = self.state.log();
        let parameters = log.parameters(self.state.position().records);
        let (drawn, compares) = (parameters.drawn.clone(), parameters.compares);
        self.lattices.set_parameters(parameters);
        self.follow_comparison(compares);
        self.watch.selected = self.watch.selected.min(self.lattices.setup.instances - 1);
        // A move may begin where there were fewer instances than at its end.
        if self.state.moving().is_none() {
            self.snapshots.forget_missing(self.lattices.setup.instances);
        }
        self.watch.drawn = drawn;
    }
}

#[cfg(test)]
mod tests;
