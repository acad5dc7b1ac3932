//! The engine's thread: hears what people ask, issues rounds at their pace, tells what came of
//! them.
//!
//! It is the only one that touches the engine, and it never waits for a reader. A turn of its
//! loop polls, issues what is due, and sleeps until something may have happened.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

mod doing;
pub(super) mod editing;
mod halves;
mod hearing;
mod keeping;
mod lab;
mod reading;
mod recovery;
mod reporting;
mod resting;
mod rewind;
mod run_to;
mod watching;

use editing::Editor;
pub(crate) use editing::WHOLE_SLOTS;
use lab::Lab;
use recovery::{Checkpoints, Progress};
use rewind::Past;
use run_to::RunTo;
use watching::Watch;

use crate::statistics::Statistics;
use crate::worlds::{Worlds, open_engine, starts};
use crate::{Command, Sampling};
use engine::Result;
use life::Lattice;
use model::KernelChoice;
use model::population::Populations;
use model::trace::Trace;
use model::{Pace, PicturePlan, Pictures, Setup, Status};

/// How long a notice stays.
const NOTICE_FOR: Duration = Duration::from_secs(6);

/// How often the status is made anew while rounds go by.
const STATUS_EVERY: Duration = Duration::from_millis(15);

/// The largest lattice that is downloaded whole until who draws has said what it wants.
const MOST_PICTURE_WORDS: usize = 1 << 24;

/// What the rest of the program reads of a session.
pub(super) struct Shared {
    pub(super) status: Arc<Mutex<Arc<Status>>>,
    pub(super) pictures: Pictures,
    pub(super) trace: Arc<Mutex<Trace>>,
    pub(super) populations: Arc<Mutex<Populations>>,
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
        populations: pilot.watch.populations.clone(),
    };
    if ready.send(Ok(shared)).is_err() {
        return;
    }
    drop(ready);
    while pilot.turn(&commands) {}
}

struct Pilot {
    worlds: Option<Worlds>,
    setup: Setup,
    running: bool,
    pace: Pace,
    due: Instant,
    /// Rounds asked for one by one, in generations.
    steps: VecDeque<u32>,
    /// How many there ever were.
    steps_asked: u64,
    /// Generations of the round under way that are still to be issued.
    left_of_round: Option<u32>,
    /// What was asked for and waits until nothing runs, and since when.
    pending: VecDeque<(Command, Instant)>,
    issued: u64,
    /// What the lattices that are restored if the engine is lost have made of them.
    progress_known: Progress,
    refresh: bool,
    view: Option<PicturePlan>,
    selected: usize,
    statistics: Statistics,
    checkpoints: Checkpoints,
    past: Past,
    watch: Watch,
    run_to: Option<RunTo>,
    /// Paused for a lesson while it ran, to this generation if to any.
    paused_for_lesson: Option<Option<u64>>,
    editor: Editor,
    recoveries: VecDeque<Instant>,
    /// The lattices that the engine was last made from, until there is a checkpoint of them.
    last_known: Option<Vec<(usize, Arc<Lattice>, u64)>>,
    /// What the session is to go on from has not been taken up.
    unrestored: bool,
    notice: Option<(String, Instant)>,
    sampling: Sampling,
    lab: Lab,
    /// Why rounds have stopped though nobody asked for that, until they go on.
    halted: Option<String>,
    /// How many turns in a row have failed.
    failures: u32,
    failed: Option<String>,
    pictures: Pictures,
    trace: Arc<Mutex<Trace>>,
    status: Arc<Mutex<Arc<Status>>>,
    status_made: Instant,
    changed: bool,
    wake: Box<dyn Fn()>,
}

impl Pilot {
    fn new(mut setup: Setup, wake: Box<dyn Fn()>) -> Result<Pilot> {
        let engine = open_engine(setup.device)?;
        let mut worlds = Worlds::new(engine, &setup, WHOLE_SLOTS)?;
        if setup.kernel_choice == KernelChoice::Open && setup.size.words() <= MOST_PICTURE_WORDS {
            worlds.set_picture(Some(PicturePlan::BITS))?; // what pictures cost counts
        }
        worlds.start(&mut setup)?;
        let pictures = Pictures::new(worlds.slots().clone(), setup.instances, setup.size);
        let now = Instant::now();
        let mut pilot = Pilot {
            running: setup.rounds != Some(0),
            pace: setup.pace,
            due: now,
            steps: VecDeque::new(),
            steps_asked: 0,
            left_of_round: None,
            pending: VecDeque::new(),
            issued: 0,
            progress_known: Progress::default(),
            refresh: true,
            view: None,
            selected: 0,
            statistics: Statistics::default(),
            checkpoints: Checkpoints {
                stale: true,
                ..Default::default()
            },
            past: Past::new(setup.time.history_bytes, worlds.all_bits()),
            watch: Watch::default(),
            run_to: None,
            paused_for_lesson: None,
            editor: Editor::default(),
            recoveries: VecDeque::new(),
            last_known: None,
            unrestored: false,
            notice: None,
            sampling: Sampling::default(),
            lab: Lab::default(),
            halted: None,
            failures: 0,
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
        if pilot.setup.size.words() <= MOST_PICTURE_WORDS {
            pilot.set_view(PicturePlan::BITS)?;
        }
        pilot.settle_measuring(false);
        pilot.publish_status(now);
        Ok(pilot)
    }

    /// One turn of the loop; `false` when it is over.
    fn turn(&mut self, commands: &Receiver<Command>) -> bool {
        let Ok(command) = self.next_command(commands) else {
            return false;
        };
        let done = match command {
            Some(Command::Close) => return false,
            Some(command) if self.failed.is_some() => self.obey_after_the_end(command),
            Some(command) if self.must_wait(&command) => {
                self.put_off(command);
                Ok(())
            }
            Some(command) => self.obey(command),
            None if self.failed.is_some() => Ok(()),
            None => self.obey_pending(),
        };
        if let Err(error) = done {
            self.meet(error, false);
        }
        match self.work(Instant::now()) {
            Ok(()) => self.failures = 0,
            Err(error) => self.meet(error, true),
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
        self.reseed_one(now);
        self.tell_effect(now);
        self.renew_overlap();
        if self.changed && now - self.status_made >= STATUS_EVERY {
            self.publish_status(now);
        }
        true
    }

    /// Polls, and issues what is due.
    fn work(&mut self, now: Instant) -> Result<()> {
        let polled = self.poll(now);
        if self.failed.is_some() {
            return Ok(()); // whatever becomes of what was under way
        }
        polled?;
        self.edit()?;
        let owed = self.owed();
        let begun = self.left_of_round.is_some() || owed.is_some() || self.editor.is_busy();
        if !self.pending.is_empty() && !begun {
            return Ok(()); // nothing new, so that it is their turn soon
        }
        if self.left_of_round.is_none() && self.copy_first(now)? {
            return Ok(()); // nothing new, so that the copy is of now
        }
        if self.calibrate()? {
            return Ok(());
        }
        if self.edit_is_next() && self.left_of_round.is_none() && owed.is_none() {
            return Ok(()); // what it waits for comes soon, and it is next
        }
        let exception = self
            .worlds
            .as_ref()
            .is_some_and(Worlds::is_next_an_exception);
        let timed = !exception
            && self
                .sampling
                .wants(now, self.lab.wants_rounds(), self.lab.is_split());
        if let Some(left) = self.left_of_round {
            // What was begun is ended first, whatever has been asked for since.
            if self.issue_round(left, false)? && self.running {
                self.keep_pace(now);
            }
        } else if let Some(owed) = owed {
            // At its pace while both run; at once when something waits for it.
            let waits = !self.pending.is_empty() || self.editor.is_busy();
            let due = !self.running || waits || now >= self.due;
            if due && self.issue_round(owed, timed)? && self.running {
                self.keep_pace(now);
            }
        } else if let Some(&step) = self.steps.front() {
            if self.issue_round(step, false)? || self.left_of_round.is_some() {
                self.steps.pop_front();
            }
        } else if let Some(run_to) = self.run_to {
            self.run_on(run_to, timed)?;
        } else if self.running && now >= self.due {
            if self.issue_round(self.setup.generations_per_round, timed)? {
                self.keep_pace(now);
            }
        } else if self.refresh {
            let issued = self.issue(0, false);
            // One that failed is not tried again: it would fail for ever.
            self.refresh = matches!(issued, Ok(false));
            issued?;
        }
        self.checkpoint(now)
    }

    /// Whether lattices that have come to the host are still being read.
    fn is_reading(&self) -> bool {
        self.editor.is_fetching() || self.past.is_reading()
    }

    /// Issues a round (or what is left of one), or as much of it as may be issued at once; whether
    /// it is complete.
    fn issue_round(&mut self, generations: u32, timed: bool) -> Result<bool> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(false);
        };
        let most = worlds.most_at_once();
        if generations > most {
            let issued = worlds.issue_part(most)?;
            self.left_of_round = Some(generations - if issued { most } else { 0 });
            self.checkpoints.stale |= issued;
            return Ok(false);
        }
        let issued = self.issue(generations, timed)?;
        if issued {
            self.left_of_round = None;
        }
        Ok(issued)
    }

    fn issue(&mut self, generations: u32, timed: bool) -> Result<bool> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(false);
        };
        let pictures = &self.pictures;
        let wanted = worlds.next_plan().downloads();
        let newest = |slot| pictures.holds_newest(slot, wanted.clone());
        let issued = worlds.issue_round(generations, timed, newest)?;
        if issued && generations > 0 {
            if !self.running {
                tracing::debug!("stepped to generation {}", worlds.generations()[0]);
            }
            self.count_round();
            self.halted = None;
            self.sampling.issued(Instant::now(), timed);
            self.checkpoints.stale = true;
            self.refresh = false; // the round's own pictures are newer
        }
        Ok(issued)
    }

    /// Counts a round that was issued, and stops behind the last that was asked for.
    fn count_round(&mut self) {
        self.issued += 1;
        let last = |rounds| self.issued >= rounds;
        self.running &= !self.setup.rounds.is_some_and(last);
    }

    /// Sets when the next round is due; rounds missed by far are not made up for.
    fn keep_pace(&mut self, now: Instant) {
        if self.pace == Pace::Unthrottled {
            return self.due = now;
        }
        let period = self.pace.period();
        self.due += period;
        if self.due + 4 * period < now {
            self.due = now;
        }
    }
}

#[cfg(test)]
mod tests;
