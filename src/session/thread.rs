//! The engine's thread: hears what people ask, issues rounds at their pace, tells what came of
//! them.
//!
//! It is the only one that touches the engine, and it never waits for a reader. A turn of its
//! loop polls, issues what is due, and sleeps until something may have happened.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::statistics::Statistics;
use super::trace::Trace;
use super::worlds::{Event, Worlds, open_engine, read_lattice, start_lattice};
use super::{Action, Command, DeviceChoice, Pace, Pictures, Setup, Start, Status, ViewRequest};
use crate::engine::kernels::KERNELS;
use crate::engine::{EngineError, Kernel, Result, Slot, Transfer, Viewport};
use crate::life::Lattice;
use crate::session::round::PicturePlan;

/// One round in so many is timed by events.
const TIMED_ONE_IN: u32 = 32;

/// How old the last checkpoint may get while something changes.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// How long a notice stays.
const NOTICE_FOR: Duration = Duration::from_secs(6);

/// How often the status is made anew while rounds go by.
const STATUS_EVERY: Duration = Duration::from_millis(15);

/// What the rest of the program reads of a session.
pub(super) struct Shared {
    pub(super) status: Arc<Mutex<Arc<Status>>>,
    pub(super) pictures: Pictures,
    pub(super) trace: Arc<Mutex<Trace>>,
}

/// The thread's body: answers `ready` once, then works until it is told to close.
pub(super) fn run(
    setup: Setup,
    commands: Receiver<Command>,
    wake: Box<dyn Fn()>,
    ready: Sender<Result<Shared>>,
) {
    let mut pilot = match Pilot::new(setup, wake) {
        Ok(pilot) => pilot,
        Err(error) => return drop(ready.send(Err(error))),
    };
    let shared = Shared {
        status: pilot.status.clone(),
        pictures: pilot.pictures.clone(),
        trace: pilot.trace.clone(),
    };
    if ready.send(Ok(shared)).is_err() {
        return;
    }
    drop(ready);
    while pilot.turn(&commands) {}
}

/// The latest complete copy of every lattice on the host.
#[derive(Default)]
struct Checkpoints {
    under_way: bool,
    next: u8,
    latest: Option<(Slot, Arc<[u64]>)>,
    made: Option<Instant>,
    /// Whether cells changed since the last one was issued.
    stale: bool,
}

struct Pilot {
    worlds: Option<Worlds>,
    setup: Setup,
    running: bool,
    pace: Pace,
    due: Instant,
    /// Rounds asked for one by one, in generations.
    steps: VecDeque<u32>,
    issued: u64,
    refresh: bool,
    view: Option<ViewRequest>,
    selected: usize,
    statistics: Statistics,
    checkpoints: Checkpoints,
    recoveries: VecDeque<Instant>,
    notice: Option<(String, Instant)>,
    failed: Option<String>,
    pictures: Pictures,
    trace: Arc<Mutex<Trace>>,
    status: Arc<Mutex<Arc<Status>>>,
    status_made: Instant,
    changed: bool,
    wake: Box<dyn Fn()>,
}

impl Pilot {
    fn new(setup: Setup, wake: Box<dyn Fn()>) -> Result<Pilot> {
        let view = ViewRequest {
            transfer: Transfer::Bits,
            viewport: Viewport {
                x0: 0,
                y0: 0,
                step: Viewport::ONE,
                width: 4,
                height: 1,
            },
            only: None,
        };
        let engine = open_engine(setup.device)?;
        let mut worlds = Worlds::new(engine, &setup, 2)?;
        worlds.upload(starts(&setup, 0..setup.instances))?;
        let pictures = Pictures::new(worlds.slots().clone(), setup.instances);
        let now = Instant::now();
        let mut pilot = Pilot {
            running: setup.rounds != Some(0),
            pace: setup.pace,
            due: now,
            steps: VecDeque::new(),
            issued: 0,
            refresh: true,
            view: None,
            selected: 0,
            statistics: Statistics::default(),
            checkpoints: Checkpoints {
                stale: true,
                ..Default::default()
            },
            recoveries: VecDeque::new(),
            notice: None,
            failed: None,
            pictures,
            trace: Arc::default(),
            status: Arc::new(Mutex::new(Arc::new(Status::before_start(&setup)))),
            status_made: now,
            changed: true,
            worlds: Some(worlds),
            setup,
            wake,
        };
        // Until the drawing side says what it wants, bits, if the lattice is not enormous.
        if pilot.setup.size.words() <= 1 << 24 {
            pilot.set_view(view)?;
        }
        pilot.publish_status(now);
        Ok(pilot)
    }

    /// One turn of the loop; `false` when it is over.
    fn turn(&mut self, commands: &Receiver<Command>) -> bool {
        let command = match self.rest(Instant::now()) {
            Rest::Engine(at_most) => {
                let command = commands.try_recv();
                if let (Err(_), Some(worlds)) = (&command, &mut self.worlds) {
                    worlds.wait(at_most);
                }
                match command {
                    Ok(command) => Some(command),
                    Err(std::sync::mpsc::TryRecvError::Empty) => None,
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return false,
                }
            }
            Rest::Commands(at_most) => match commands.recv_timeout(at_most) {
                Ok(command) => Some(command),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return false,
            },
        };
        let done = match command {
            Some(Command::Close) => return false,
            Some(Command::Act(action)) => self.act(action).inspect(|()| self.log(action)),
            Some(Command::View(request)) => self.set_view(request),
            None => Ok(()),
        };
        if let Err(error) = done.and_then(|()| self.work(Instant::now())) {
            self.meet(error);
        }
        let now = Instant::now();
        if self
            .notice
            .as_ref()
            .is_some_and(|(_, since)| now - *since > NOTICE_FOR)
        {
            self.notice = None;
            self.changed = true;
        }
        if self.changed && now - self.status_made >= STATUS_EVERY {
            self.publish_status(now);
        }
        true
    }

    /// How to sleep: in the engine while something is under way there, else for commands.
    fn rest(&self, now: Instant) -> Rest {
        const LONG: Duration = Duration::from_millis(500);
        let Some(worlds) = self.worlds.as_ref().filter(|_| self.failed.is_none()) else {
            return Rest::Commands(if self.changed { STATUS_EVERY } else { LONG });
        };
        if !worlds.is_idle() {
            return Rest::Engine(Duration::from_millis(1));
        }
        let until_due = match (self.running, self.refresh || !self.steps.is_empty()) {
            (_, true) => Duration::from_micros(200),
            (true, _) => self.due.saturating_duration_since(now),
            (false, false) => LONG,
        };
        Rest::Commands(if self.changed {
            until_due.min(STATUS_EVERY)
        } else {
            until_due
        })
    }

    /// Polls, and issues what is due.
    fn work(&mut self, now: Instant) -> Result<()> {
        self.poll(now)?;
        let generations = self.setup.generations_per_round;
        if let Some(&step) = self.steps.front() {
            if self.issue(step, false)? {
                self.steps.pop_front();
            }
        } else if self.running && now >= self.due {
            if self.issue(generations, self.issued % u64::from(TIMED_ONE_IN) == 1)? {
                self.keep_pace(now);
            }
        } else if self.refresh && self.issue(0, false)? {
            self.refresh = false;
        }
        self.checkpoint(now)
    }

    fn issue(&mut self, generations: u32, timed: bool) -> Result<bool> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(false);
        };
        let pictures = &self.pictures;
        let issued = worlds.issue_round(generations, timed, |slot| pictures.holds_newest(slot))?;
        if issued && generations > 0 {
            self.issued += 1;
            if !self.running {
                tracing::debug!("stepped to generation {}", worlds.generations()[0]);
            }
            self.checkpoints.stale = true;
            self.refresh = false; // the round's own pictures are newer
            if self
                .setup
                .rounds
                .is_some_and(|rounds| self.issued >= rounds)
            {
                self.running = false;
            }
        }
        Ok(issued)
    }

    /// Sets when the next round is due; rounds missed by far are not made up for.
    fn keep_pace(&mut self, now: Instant) {
        let Pace::PerSecond(rounds) = self.pace else {
            return self.due = now;
        };
        let period = Duration::from_secs_f64(1.0 / rounds);
        self.due += period;
        if self.due + 4 * period < now {
            self.due = now;
        }
    }

    fn poll(&mut self, now: Instant) -> Result<()> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        let mut news = false;
        let mut checkpoint = None;
        let per_round = self.setup.generations_per_round;
        let (pictures, statistics) = (&self.pictures, &mut self.statistics);
        let trace = &self.trace;
        let polled = worlds.poll(|event| {
            news = true;
            match event {
                Event::Picture {
                    instance,
                    generation,
                    picture,
                    slot,
                } => {
                    let view = picture.transfer == Transfer::View;
                    let viewport = view.then_some(picture.viewport);
                    pictures.note(instance, generation, viewport, slot);
                }
                Event::Round { timed, launches } => {
                    statistics.round(now, per_round);
                    if let Some(timed) = timed {
                        if let Some(length) = timed.median_launch() {
                            statistics.launch(length.as_us() / f64::from(launches.max(1)));
                        }
                        // Held for no longer than this: those who draw look at it too.
                        let trace = trace.lock();
                        trace
                            .unwrap_or_else(|poisoned| poisoned.into_inner())
                            .add(timed);
                    }
                }
                Event::Checkpoint { slot, generations } => checkpoint = Some((slot, generations)),
            }
        });
        if let Some(checkpoint) = checkpoint {
            self.checkpoints.latest = Some(checkpoint);
            self.checkpoints.under_way = false;
        }
        if news {
            self.changed = true;
            (self.wake)();
        }
        polled
    }

    /// Brings every lattice to the host once a second, in its own stream.
    fn checkpoint(&mut self, now: Instant) -> Result<()> {
        let Checkpoints {
            under_way,
            stale,
            made,
            next,
            ..
        } = self.checkpoints;
        let due = made.is_none_or(|made| now - made >= CHECKPOINT_EVERY);
        let Some(worlds) = self.worlds.as_mut().filter(|_| due && stale && !under_way) else {
            return Ok(());
        };
        worlds.issue_checkpoint(next)?;
        self.checkpoints.under_way = true;
        self.checkpoints.stale = false;
        self.checkpoints.made = Some(now);
        self.checkpoints.next = 1 - next;
        Ok(())
    }

    fn act(&mut self, action: Action) -> Result<()> {
        self.changed = true;
        match action {
            Action::TogglePause => {
                self.running = !self.running;
                self.setup.rounds = None;
                self.due = Instant::now();
                self.statistics.restart();
            }
            Action::StepGeneration => self.step(1),
            Action::StepRound => self.step(self.setup.generations_per_round),
            Action::Faster => self.set_pace(self.pace.faster()),
            Action::Slower => self.set_pace(self.pace.slower()),
            Action::ResetPanel => self.restart(self.selected..self.selected + 1)?,
            Action::ResetAll => self.restart(0..self.setup.instances)?,
            Action::NewSeed => {
                self.setup.start = match self.setup.start {
                    Start::Soup { density, seed } => Start::Soup {
                        density,
                        seed: seed + 1,
                    },
                    Start::Lattices(_) => Start::Soup {
                        density: 0.3,
                        seed: 1,
                    },
                };
                self.restart(0..self.setup.instances)?;
            }
            Action::NextKernel => self.change_kernel(1)?,
            Action::PreviousKernel => self.change_kernel(KERNELS.len() - 1)?,
            Action::SelectNext => self.selected = (self.selected + 1) % self.setup.instances,
            Action::SelectPrevious => {
                self.selected = (self.selected + self.setup.instances - 1) % self.setup.instances;
            }
            Action::Select(i) => self.selected = i.min(self.setup.instances - 1),
            _ => {}
        }
        Ok(())
    }

    /// What came of an action, for `LIFESTREAMS_LOG=debug`.
    fn log(&self, action: Action) {
        let state = if self.running { "running" } else { "paused" };
        let generation = self.worlds.as_ref().map_or(0, |w| w.generations()[0]);
        let (kernel, selected) = (self.setup.kernel.name, self.selected);
        tracing::debug!(
            "{action:?}: {state} at generation {generation}, kernel {kernel}, instance {selected} selected"
        );
    }

    fn step(&mut self, generations: u32) {
        self.running = false;
        self.setup.rounds = None;
        self.statistics.restart();
        self.steps.push_back(generations);
    }

    fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        self.due = Instant::now();
        self.statistics.restart();
    }

    fn restart(&mut self, instances: std::ops::Range<usize>) -> Result<()> {
        self.refresh = true;
        self.checkpoints.stale = true;
        let starts = starts(&self.setup, instances);
        self.worlds
            .as_mut()
            .map_or(Ok(()), |worlds| worlds.upload(starts))
    }

    /// Goes `ahead` kernels on in the table, past those that do not take this size.
    fn change_kernel(&mut self, ahead: usize) -> Result<()> {
        let mut at = self.setup.kernel.index();
        let kernel: &'static Kernel = loop {
            at = (at + ahead) % KERNELS.len();
            if KERNELS[at].admit(self.setup.size).is_ok() {
                break &KERNELS[at];
            }
        };
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        worlds.set_kernel(kernel)?;
        self.setup.kernel = kernel;
        self.statistics.restart();
        Ok(())
    }

    fn set_view(&mut self, view: ViewRequest) -> Result<()> {
        let ViewRequest {
            transfer,
            viewport,
            only,
        } = view;
        let only = only.filter(|_| transfer == Transfer::View);
        self.view = Some(view);
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        let before = worlds.plan().picture;
        let plan = Some(PicturePlan {
            transfer,
            viewport,
            only,
        });
        if worlds.set_picture(plan)? {
            self.pictures.replace_slots(worlds.slots().clone());
            // Checkpoints lived in the slots that were given back.
            self.checkpoints = Checkpoints {
                stale: true,
                ..Default::default()
            };
        }
        self.refresh |= before != plan;
        self.changed = true;
        Ok(())
    }

    /// Meets an error: a lost context is replaced; what could not be done is said.
    fn meet(&mut self, error: EngineError) {
        self.changed = true;
        match error {
            EngineError::ContextLost(why) => {
                if let Err(error) = self.recover(&why) {
                    self.fail(format!("the engine was lost ({why}), and then: {error}"));
                }
            }
            EngineError::BadProgram(_) | EngineError::Driver { .. } => {
                self.fail(error.to_string());
            }
            could_not => self.say(could_not.to_string()),
        }
    }

    fn fail(&mut self, why: String) {
        tracing::error!("{why}");
        self.failed = Some(why);
        self.running = false;
        self.steps.clear();
        self.changed = true;
        (self.wake)();
    }

    fn say(&mut self, what: String) {
        tracing::warn!("{what}");
        self.notice = Some((what, Instant::now()));
        self.refresh = false;
    }

    /// Makes a new engine and sets every lattice to the last checkpoint, or to its start.
    fn recover(&mut self, why: &str) -> Result<()> {
        let now = Instant::now();
        self.recoveries
            .retain(|at| now - *at < Duration::from_secs(10));
        self.recoveries.push_back(now);
        if self.recoveries.len() > 3 {
            return Err(EngineError::ContextLost("again and again".into()));
        }
        let lattices = self.last_lattices();
        let generation = lattices
            .iter()
            .map(|(.., generation)| *generation)
            .min()
            .unwrap_or(0);
        // The old context must be gone, its host memory too, before a new one is made.
        self.pictures.clear();
        self.worlds = None;
        let (engine, whence) = match open_engine(self.setup.device) {
            Ok(engine) => (engine, "on the same device"),
            Err(error) => {
                tracing::warn!("{error}");
                (open_engine(DeviceChoice::Cpu)?, "on the CPU")
            }
        };
        let mut worlds = match Worlds::new(engine, &self.setup, 2) {
            Ok(worlds) => Ok((worlds, whence)),
            Err(EngineError::ContextLost(_)) => open_engine(DeviceChoice::Cpu)
                .and_then(|cpu| Worlds::new(cpu, &self.setup, 2))
                .map(|worlds| (worlds, "on the CPU")),
            Err(error) => Err(error),
        }?;
        worlds.0.upload(lattices)?;
        self.pictures.replace_slots(worlds.0.slots().clone());
        self.worlds = Some(worlds.0);
        self.checkpoints = Checkpoints {
            stale: true,
            ..Default::default()
        };
        self.statistics.restart();
        if let Some(view) = self.view {
            self.set_view(view)?;
        }
        self.refresh = true;
        self.say(format!(
            "the engine was lost ({why}): every lattice was restored from generation {generation} {}",
            worlds.1
        ));
        self.refresh = true;
        Ok(())
    }

    /// Every lattice as of the last checkpoint, or as it started.
    fn last_lattices(&self) -> Vec<(usize, Arc<Lattice>, u64)> {
        let restored = || {
            let (slot, generations) = self.checkpoints.latest.clone()?;
            let slots = self.worlds.as_ref()?.slots();
            let read = |i: usize| read_lattice(&**slots, i, slot, self.setup.size).ok();
            (0..self.setup.instances)
                .map(|i| Some((i, Arc::new(read(i)?), generations[i])))
                .collect::<Option<Vec<_>>>()
        };
        restored().unwrap_or_else(|| starts(&self.setup, 0..self.setup.instances))
    }

    fn publish_status(&mut self, now: Instant) {
        let status = Arc::new(self.make_status(now));
        *self
            .status
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = status;
        self.status_made = now;
        self.changed = false;
        (self.wake)();
    }

    fn make_status(&self, now: Instant) -> Status {
        let mut status = Status::before_start(&self.setup);
        let (rounds, generations) = self.statistics.rates(now);
        let at_work = self.running || !self.steps.is_empty();
        let rate = |per_second: f64| if at_work { per_second } else { 0.0 };
        if let Some(worlds) = &self.worlds {
            let engine = worlds.engine();
            status.engine = engine.name();
            status.devices = engine.devices().to_vec();
            status.startup = engine.startup();
            status.generation = worlds.generations().iter().copied().min().unwrap_or(0);
            status.newest_generation = worlds.generations().iter().copied().max().unwrap_or(0);
            status.bytes_per_round = worlds.bytes_per_round();
            let idle = worlds.is_idle();
            status.finished = self.setup.rounds.is_some_and(|r| self.issued >= r) && idle;
            if let Some(picture) = worlds.plan().picture {
                status.transfer = picture.transfer;
            }
        }
        let cells = self.setup.size.cells() as f64 * self.setup.instances as f64;
        status.running = self.running;
        status.pace = self.pace;
        status.rounds = self.statistics.rounds();
        status.rounds_per_second = rate(rounds);
        status.generations_per_second = rate(generations);
        status.cells_per_second = rate(generations) * cells;
        status.launch_us = self.statistics.launch_us();
        status.timed_one_in = TIMED_ONE_IN;
        status.selected = self.selected;
        status.notice = self.notice.as_ref().map(|(text, _)| text.clone());
        status.failed = self.failed.clone();
        status
    }
}

/// How a turn sleeps.
enum Rest {
    Engine(Duration),
    Commands(Duration),
}

/// The first generation of these instances.
fn starts(setup: &Setup, instances: std::ops::Range<usize>) -> Vec<(usize, Arc<Lattice>, u64)> {
    instances
        .map(|i| (i, start_lattice(&setup.start, setup.size, i), 0))
        .collect()
}
