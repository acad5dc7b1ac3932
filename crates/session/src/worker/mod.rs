//! The session's thread: takes requests, has the engine do what is next, and tells what came of it.
//!
//! It is the only one that touches the engine, and it never waits for a reader. What comes next is
//! decided in [`state`](crate::state); a turn of the loop polls the engine, does one piece of work
//! or sleeps until something may have happened.
//!
//! | File | What it does |
//! |---|---|
//! | `requests` | what people ask becomes requests of the state, or is done at once |
//! | `cells` | records of the log on their way to the engine, and what takes them back |
//! | `copies` | copies of all lattices on the host: where they are, who waits for one |
//! | `moving` | a move begins from a copy |
//! | `recovery` | a lost engine is replaced |
//! | `comparison` | two settings on two halves of the instances |
//! | `lab` | switches and their measured effect |
//! | `watching` | what the lattices' measures are looked at for |
//! | `saving` | a session handed over to be saved, and taken up again |
//! | `poll`, `sleep`, `reporting` | what the engine tells, how a turn sleeps, what the session says of itself |

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

mod cells;
mod comparison;
mod copies;
mod lab;
mod moving;
mod poll;
mod recovery;
mod reporting;
pub(super) mod requests;
mod saving;
mod sleep;
mod watching;

use cells::KnownCells;
use comparison::Pinned;
use copies::Copies;
pub(crate) use copies::WHOLE_SLOTS;
use lab::Lab;
use recovery::{EngineSource, Losses};
use requests::Task;
use watching::Watch;

use crate::instances::{Instances, open_engine, reopen_engine};
use crate::log::{Log, Scene};
use crate::state::{EngineFacts, Mode, Notice, State, Work, next_work};
use crate::statistics::Statistics;
use crate::{Command, Sampling};
use engine::{Engine, Result};
use lang::tr;
use model::population::Populations;
use model::trace::Trace;
use model::{Action, DeviceChoice, KernelChoice, PicturePlan, Pictures, Setup, Status};

/// How long a notice stays.
const NOTICE_TIME: Duration = Duration::from_secs(6);

/// How often the status is made anew while rounds go by.
const STATUS_INTERVAL: Duration = Duration::from_millis(15);

/// How long a request may wait for the engine before it is said that it does.
const WAITING_NOTICE_DELAY: Duration = Duration::from_millis(300);

/// How long what found no free slot waits before it is tried again.
const RETRY_INTERVAL: Duration = Duration::from_micros(200);

/// The largest lattice that is downloaded whole until who draws has said what it wants, in words.
const MAX_PICTURE_WORDS: usize = 1 << 24;

/// What the rest of the program reads of a session.
pub(super) struct Shared {
    pub(super) status: Arc<Mutex<Arc<Status>>>,
    pub(super) pictures: Pictures,
    pub(super) trace: Arc<Mutex<Trace>>,
    pub(super) populations: Arc<Mutex<Populations>>,
}

/// What a worker has from outside; tests put something else in its place.
pub(super) struct Environment {
    /// Makes the engine that a choice asks for.
    open_engine: Box<dyn Fn(DeviceChoice) -> Result<Box<dyn Engine>>>,
    /// Makes one in place of an engine that was lost.
    reopen_engine: Box<dyn Fn(DeviceChoice) -> Result<Box<dyn Engine>>>,
    /// Says what time it is.
    now: Box<dyn Fn() -> Instant>,
}

impl Environment {
    /// Makes an engine from a source.
    fn make_engine(&self, source: EngineSource) -> Result<Box<dyn Engine>> {
        match source {
            EngineSource::Open(choice) => (self.open_engine)(choice),
            EngineSource::Reopen(choice) => (self.reopen_engine)(choice),
        }
    }
}

impl Default for Environment {
    fn default() -> Environment {
        Environment {
            open_engine: Box::new(open_engine),
            reopen_engine: Box::new(reopen_engine),
            now: Box::new(Instant::now),
        }
    }
}

/// The thread's body: answers `ready` once, then works until it is told to close. `commands` is
/// also where its own helpers report to, by way of `sender`.
pub(super) fn run(
    setup: Setup,
    (sender, commands): (Sender<Command>, Receiver<Command>),
    wake: Box<dyn Fn()>,
    ready: Sender<Result<Shared>>,
) {
    let mut worker = match SessionWorker::new(setup, Environment::default(), sender, wake) {
        Ok(worker) => worker,
        Err(error) => return drop(ready.send(Err(error))),
    };
    let shared = Shared {
        status: worker.status.clone(),
        pictures: worker.pictures.clone(),
        trace: worker.trace.clone(),
        populations: worker.watch.populations.clone(),
    };
    if ready.send(Ok(shared)).is_err() {
        return;
    }
    drop(ready);
    while worker.turn(&commands) {}
}

/// The first request of the queue, while it is not taken.
struct Waiting {
    /// Its number.
    request: u64,
    since: Instant,
    /// Whether the user was told that it waits.
    is_reported: bool,
}

struct SessionWorker {
    /// Nothing only while a lost engine is being replaced, or once the session has ended.
    instances: Option<Instances>,
    /// What the session is made from; size, number, rule and start are those of the position.
    setup: Setup,
    state: State,
    /// What a request of the state is for, by its number.
    tasks: HashMap<u64, Task>,
    /// The action that a request came from, by its number: what came of it is logged.
    actions: HashMap<u64, Action>,
    next_task: u64,
    /// The request that waits for the engine.
    waiting: Option<Waiting>,
    copies: Copies,
    known: Option<KnownCells>,
    /// The main log while two settings are compared on a scratch log.
    pinned: Option<Pinned>,
    losses: Losses,
    engine_source: EngineSource,
    view: Option<PicturePlan>,
    selected: usize,
    statistics: Statistics,
    watch: Watch,
    sampling: Sampling,
    lab: Lab,
    /// Whether the move under way was asked for by the generation that it leads to.
    reports_arrival: bool,
    notice: Option<(String, Instant)>,
    /// Why rounds have stopped though nobody asked for that, until they go on.
    halted: Option<String>,
    /// How many turns in a row have failed.
    failures: u32,
    /// Why the session has ended.
    failed: Option<String>,
    /// A session file was not taken up: it must not be written over.
    unopened: bool,
    pictures: Pictures,
    trace: Arc<Mutex<Trace>>,
    status: Arc<Mutex<Arc<Status>>>,
    status_made: Instant,
    changed: bool,
    /// Until then, what found no free slot is not tried again.
    retry_at: Option<Instant>,
    environment: Environment,
    sender: Sender<Command>,
    wake: Box<dyn Fn()>,
}

impl SessionWorker {
    fn new(
        mut setup: Setup,
        environment: Environment,
        sender: Sender<Command>,
        wake: Box<dyn Fn()>,
    ) -> Result<SessionWorker> {
        let engine_source = EngineSource::Open(setup.device);
        let engine = environment.make_engine(engine_source)?;
        let mut instances = Instances::new(engine, &setup, WHOLE_SLOTS)?;
        if setup.kernel_choice == KernelChoice::Open && setup.size.words() <= MAX_PICTURE_WORDS {
            instances.set_picture(Some(PicturePlan::BITS))?; // what pictures cost counts
        }
        instances.start(&mut setup)?;
        let pictures = Pictures::new(instances.slots().clone(), setup.instances, setup.size);
        let now = (environment.now)();
        let log = Log::new(Scene::of(&setup));
        let mut state = State::new(log, setup.generations_per_round, setup.pace, now);
        state.max_rounds = setup.rounds;
        if setup.rounds == Some(0) {
            state.mode = Mode::Paused;
        }
        let mut worker = SessionWorker {
            copies: Copies::new(setup.time.history_bytes),
            state,
            tasks: HashMap::new(),
            actions: HashMap::new(),
            next_task: 0,
            waiting: None,
            known: None,
            pinned: None,
            losses: Losses::default(),
            engine_source,
            view: None,
            selected: 0,
            statistics: Statistics::default(),
            watch: Watch::default(),
            sampling: Sampling::default(),
            lab: Lab::default(),
            reports_arrival: false,
            notice: None,
            halted: None,
            failures: 0,
            failed: None,
            unopened: false,
            pictures,
            trace: Arc::default(),
            status: Arc::new(Mutex::new(Arc::new(Status::before_start(&setup)))),
            status_made: now,
            changed: true,
            retry_at: None,
            instances: Some(instances),
            setup,
            environment,
            sender,
            wake,
        };
        // Until the drawing side says what it wants, bits, if the lattice is not enormous.
        if worker.setup.size.words() <= MAX_PICTURE_WORDS {
            worker.set_view(PicturePlan::BITS)?;
        }
        worker.settle_measuring(false);
        worker.publish_status(now);
        Ok(worker)
    }

    /// What time it is.
    fn now(&self) -> Instant {
        (self.environment.now)()
    }

    /// One turn of the loop; `false` when it is over.
    fn turn(&mut self, commands: &Receiver<Command>) -> bool {
        let work = self.next();
        let is_waiting = matches!(work, Work::Wait(_));
        let command = match work {
            Work::Wait(until) => self.sleep(until, commands),
            _ => sleep::poll_command(commands),
        };
        match command {
            Err(sleep::Gone) | Ok(Some(Command::Close)) => return false,
            Ok(Some(command)) => self.dispatch(command),
            Ok(None) => {}
        }
        if !is_waiting {
            self.perform_or_handle_error(work);
        }
        self.after_turn();
        true
    }

    /// Takes in what the engine has done meanwhile; what comes next.
    fn next(&mut self) -> Work {
        if let Err(error) = self.poll() {
            self.handle_error(error, true);
        }
        // The rest of a round that nobody wants any more, after a pause or a refusal in its middle.
        if let Some(instances) = &mut self.instances
            && self.state.round_left.is_none()
            && self.state.moving().is_none()
        {
            instances.cut_round();
        }
        let now = self.now();
        let work = match self.failed {
            None => next_work(&self.state, &self.engine_facts(now), now),
            Some(_) => Work::Wait(None),
        };
        // What found no free slot just now is not tried without end.
        match (work, self.retry_at.filter(|&at| now < at)) {
            (Work::Round(_) | Work::Refresh | Work::Snapshot(_), Some(at)) => Work::Wait(Some(at)),
            (work, _) => work,
        }
    }

    fn perform_or_handle_error(&mut self, work: Work) {
        match self.perform(work) {
            Ok(()) => self.failures = 0,
            Err(error) => self.handle_error(error, true),
        }
    }

    /// What goes with time, whatever was done.
    fn after_turn(&mut self) {
        let now = self.now();
        let is_over = |(_, since): &(String, Instant)| now - *since > NOTICE_TIME;
        if self.notice.take_if(|notice| is_over(notice)).is_some() {
            self.changed = true;
        }
        self.report_waiting_request(now);
        self.reseed_one(now);
        self.report_effect(now);
        self.renew_overlap();
        if self.changed && now - self.status_made >= STATUS_INTERVAL {
            self.publish_status(now);
        }
    }

    fn engine_facts(&self, now: Instant) -> EngineFacts {
        let Some(instances) = &self.instances else {
            return EngineFacts::none();
        };
        EngineFacts {
            engine_idle: instances.is_idle() && !self.copies.is_reading(),
            has_room: instances.has_room(),
            calibrating: instances.is_calibrating(),
            wants_calibration: self.wants_calibration(instances),
            pending_b_round: instances.pending_b_round(),
            has_free_slot: self.copies.free_slot().is_some(),
            copies: self.copies.positions(),
            whole: self.copies.whole(),
            known: self.known_instance(),
            copy_due: self.copies.is_due(now) && instances.pending_b_round().is_none(),
            copy_wanted: self.copies.wanted(self.state.moving().is_some()),
        }
    }

    fn perform(&mut self, work: Work) -> Result<()> {
        let now = self.now();
        match work {
            Work::Wait(_) => Ok(()),
            Work::TakeRequest => self.take_request(),
            Work::Apply => self.apply_due(),
            Work::Round(generations) => self.issue_round(generations, now),
            Work::Snapshot(why) => self.issue_copy(why, now),
            Work::Restore => self.restore(),
            Work::Arrive => {
                let notice = self.state.arrived(now);
                if std::mem::take(&mut self.reports_arrival) {
                    let generation = self.state.position.generation;
                    self.notify(Notice::Done(tr!(
                        "Back to generation {generation}",
                        generation = generation
                    )));
                }
                self.unopened = false;
                self.log_changed();
                self.statistics.restart();
                if let Some(notice) = notice {
                    self.notify(notice);
                }
                self.changed = true;
                Ok(())
            }
            Work::Refresh => {
                let issued = self.issue(0, false);
                // One that failed is not tried again: it would fail for ever.
                self.state.refresh = matches!(issued, Ok(false));
                issued.map(|_| ())
            }
            Work::Calibrate => self.calibrate(),
        }
    }

    /// Issues a round, or as much of it as one submission takes.
    fn issue_round(&mut self, generations: u32, now: Instant) -> Result<()> {
        let Some(instances) = &mut self.instances else {
            return Ok(());
        };
        let max = instances.max_at_once();
        let is_b = instances.pending_b_round().is_some();
        if generations > max {
            if instances.issue_part(max)? {
                // What B has made of its round, the instances know.
                if !is_b {
                    self.state.stepped_part(max, generations - max);
                }
                self.copies.mark_stale();
            }
            return Ok(());
        }
        let timed = !instances.is_next_an_exception()
            && self.state.round_left.is_none()
            && matches!(self.state.mode, Mode::Running | Mode::RunningTo(_))
            && self
                .sampling
                .wants(now, self.lab.wants_rounds(), self.pinned.is_some());
        if !self.issue(generations, timed)? {
            return Ok(());
        }
        let by_hand = matches!(self.state.mode, Mode::Stepping(_));
        let runs_to = matches!(self.state.mode, Mode::RunningTo(_));
        if is_b {
            self.state.stepped_b(now);
        } else {
            self.state.stepped(generations, now);
        }
        if runs_to && self.state.mode == Mode::Paused {
            let generation = self.state.position.generation;
            self.notify(Notice::Done(tr!(
                "Reached generation {generation}",
                generation = generation
            )));
        }
        if by_hand {
            tracing::debug!("stepped to generation {}", self.state.position.generation);
        }
        self.halted = None;
        self.changed |= !self.state.is_at_work();
        self.sampling.issued(self.now(), timed);
        self.copies.mark_stale();
        if let Mode::RunningTo(_) | Mode::Moving(_) = self.state.mode {
            self.state.due = now;
        }
        Ok(())
    }

    /// Issues a round of so many generations, or one that only brings pictures; `false` where no
    /// slot is free for them.
    fn issue(&mut self, generations: u32, timed: bool) -> Result<bool> {
        let Some(instances) = &mut self.instances else {
            return Ok(false);
        };
        let pictures = &self.pictures;
        let wanted = instances.next_plan().downloads();
        let newest = |slot| pictures.holds_newest(slot, wanted.clone());
        let issued = instances.issue_round(generations, timed, newest);
        if matches!(issued, Ok(false)) {
            self.retry_at = Some(self.now() + RETRY_INTERVAL);
        }
        issued
    }

    /// Says that a request waits for a long launch, once.
    fn report_waiting_request(&mut self, now: Instant) {
        let waits = self.state.requests.front().map(|(_, number)| *number);
        let waits = waits.filter(|_| self.state.moving().is_none() && self.failed.is_none());
        let Some(number) = waits else {
            self.waiting = None;
            return;
        };
        let waiting = self.waiting.take_if(|waiting| waiting.request == number);
        let mut waiting = waiting.unwrap_or(Waiting {
            request: number,
            since: now,
            is_reported: false,
        });
        if !waiting.is_reported && now - waiting.since > WAITING_NOTICE_DELAY {
            waiting.is_reported = true;
            self.notify(Notice::Done(tr!("Waiting for the launch under way").into()));
        }
        self.waiting = Some(waiting);
    }

    /// The log or the position changed: copies that are of no use any more go, and the setup is
    /// that of the position.
    fn log_changed(&mut self) {
        if let Some(position) = self.state.stale_after.take() {
            self.copies.forget_after(position);
        }
        let log = &self.state.log;
        self.copies.retain(|position| log.passes(position));
        let scene = log.scene(self.state.position.records);
        self.setup.size = scene.size;
        self.setup.instances = scene.instances;
        self.setup.rule = scene.rule;
        self.setup.start = scene.start;
        self.selected = self.selected.min(self.setup.instances - 1);
        self.watch.set_drawn(scene.drawn);
    }
}

#[cfg(test)]
mod tests;
