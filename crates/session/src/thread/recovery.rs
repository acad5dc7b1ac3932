//! Checkpoints once a second, and what is done with them when the engine is lost.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::editing::WHOLE_SLOTS;
use super::{Pilot, starts};
use crate::worlds::{Worlds, open_engine, read_lattice};
use crate::{Command, Kept};
use engine::{EngineError, Result, Slot};
use lang::tr;
use life::Lattice;
use model::DeviceChoice;

/// How old the last checkpoint may get while something changes.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// One holds the latest complete checkpoint while the other is filled.
pub(super) const CHECKPOINT_SLOTS: u8 = 2;

/// How many turns in a row may fail before the session ends: each is said, and without an end they
/// would be thousands a second.
const MAX_FAILURES: u32 = 3;

/// How far the rounds are that were asked for.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// Rounds issued.
    issued: u64,
    /// Generations of the one under way that are still to be issued.
    left_of_round: Option<u32>,
}

impl Progress {
    /// So many rounds, and none under way.
    pub(super) fn of(issued: u64) -> Progress {
        Progress {
            issued,
            left_of_round: None,
        }
    }
}

/// The latest complete copy of every lattice on the host.
#[derive(Default)]
pub(super) struct Checkpoints {
    pub(super) under_way: bool,
    pub(super) next: u8,
    pub(super) latest: Option<(Slot, Arc<[u64]>)>,
    /// How far the rounds were when the last one was issued.
    pub(super) progress: Progress,
    pub(super) made: Option<Instant>,
    /// Whether cells changed since the last one was issued.
    pub(super) stale: bool,
    /// Who asked for one to keep, and whether the one that is theirs has been issued.
    pub(super) keepers: Vec<(Sender<Kept>, bool)>,
}

impl Checkpoints {
    /// What was copied is gone, and what was under way never comes; who waits for a copy waits on.
    pub(super) fn begin_anew(&mut self) {
        let mut keepers = std::mem::take(&mut self.keepers);
        keepers.iter_mut().for_each(|(_, begun)| *begun = false);
        *self = Checkpoints {
            stale: true,
            keepers,
            ..Default::default()
        };
    }

    /// One is under way.
    pub(super) fn issued(&mut self, now: Instant, progress: Progress) {
        self.keepers.iter_mut().for_each(|(_, begun)| *begun = true);
        self.under_way = true;
        self.progress = progress;
        self.stale = false;
        self.made = Some(now);
        self.next = (self.next + 1) % CHECKPOINT_SLOTS;
    }
}

impl Pilot {
    /// Brings every lattice to the host once a second, in its own stream.
    pub(super) fn checkpoint(&mut self, now: Instant) -> Result<()> {
        let Checkpoints {
            under_way,
            stale,
            made,
            next,
            ..
        } = self.checkpoints;
        let asked = !self.checkpoints.keepers.is_empty();
        let due = asked || made.is_none_or(|made| now - made >= CHECKPOINT_EVERY);
        let ready = |worlds: &&mut Worlds| !worlds.is_calibrating() && worlds.owed().is_none();
        let wanted = self
            .worlds
            .as_mut()
            .filter(|_| due && (stale || asked) && !under_way);
        let Some(worlds) = wanted.filter(ready) else {
            return Ok(());
        };
        if worlds.issue_checkpoint(next)? {
            self.checkpoints.issued(now, self.progress());
        }
        Ok(())
    }

    /// Meets an error: a lost engine is replaced; what could not be done is said. `while_working`
    /// says that it would come again with the next round.
    pub(super) fn meet(&mut self, error: EngineError, while_working: bool) {
        self.changed = true;
        match error {
            EngineError::ContextLost(why) | EngineError::HalfDone(why) => {
                if let Err(error) = self.recover(&why) {
                    self.fail(tr!(
                        "the engine was lost ({why}), and then: {error}",
                        why = why,
                        error = error
                    ));
                }
            }
            EngineError::BadProgram(_) | EngineError::Driver { .. } => {
                self.fail(error.to_string());
            }
            could_not => {
                let why = could_not.to_string();
                if while_working {
                    self.failures += 1;
                    if self.failures > MAX_FAILURES {
                        return self.fail(why);
                    }
                    self.running = false;
                    self.run_to = None;
                    self.steps.clear();
                    self.left_of_round = None;
                    self.checkpoints.stale = false;
                    self.refresh = false;
                    self.halted = Some(why.clone());
                }
                self.say(why);
            }
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        tracing::error!("{why}");
        self.failed = Some(why);
        self.running = false;
        self.steps.clear();
        self.give_keepers_what_there_is();
        for (command, _) in std::mem::take(&mut self.pending) {
            if let Command::Ask(asked) = command {
                self.ask(asked);
            }
        }
        self.answer_from_the_last();
        self.changed = true;
        (self.wake)();
    }

    /// Makes a new engine and sets every lattice to the last checkpoint, or to its start: on the
    /// same device if that works, else on the CPU.
    pub(super) fn recover(&mut self, why: &str) -> Result<()> {
        let now = Instant::now();
        self.recoveries
            .retain(|at| now - *at < Duration::from_secs(10));
        self.recoveries.push_back(now);
        let (lattices, progress) = match self.lab.leave_halves() {
            Some(halves) => (halves.before, halves.progress),
            None => (self.last_lattices(), self.progress_known),
        };
        self.last_known = Some(lattices.clone());
        self.lab.changed();
        let generations = lattices.iter().map(|(.., generation)| *generation);
        let generation = generations.min().unwrap_or(0);
        let edits = self.worlds.as_ref().map(|worlds| worlds.edits().clone());
        self.let_go();
        let often = self.recoveries.len() > 3;
        let choices: &[DeviceChoice] = match often {
            true => &[DeviceChoice::Cpu],
            false => &[self.setup.device, DeviceChoice::Cpu],
        };
        let mut made = Err(EngineError::ContextLost(why.into()));
        for &choice in choices {
            made = self.make_again(choice, &lattices);
            match &made {
                Ok(_) => break,
                Err(error) => tracing::warn!("{error}"),
            }
        }
        let mut worlds = made?;
        for (i, &number) in edits.iter().flat_map(|edits| edits.iter().enumerate()) {
            worlds.number_edit(&[i], number);
        }
        let place = match worlds.engine().name() {
            "cpu" => tr!("on the CPU"),
            _ => tr!("on the same device"),
        };
        self.pictures.replace_slots(worlds.slots().clone());
        self.worlds = Some(worlds);
        self.editor.forget_copies();
        self.checkpoints.begin_anew();
        self.go_on_from(progress);
        let goes_to = self.run_to.take();
        self.history_begins();
        self.settle_measuring(true);
        self.statistics.restart();
        self.say(tr!("the engine was lost ({why}): every lattice was restored from generation {generation} {place}", why = why, generation = generation, place = place));
        self.refresh = true;
        if let Some(view) = self.view {
            self.set_view(view)?;
        }
        match goes_to {
            Some(run_to) => self.run_to(run_to.generation),
            None => Ok(()),
        }
    }

    /// How far the rounds that were asked for are.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            issued: self.issued,
            left_of_round: self.left_of_round,
        }
    }

    /// The lattices are where they were then: rounds since do not count.
    fn go_on_from(&mut self, progress: Progress) {
        let was_through = |rounds: &u64| self.issued >= *rounds;
        let through = self.setup.rounds.as_ref().is_some_and(was_through);
        self.left_of_round = None;
        if let Some(rounds) = self.setup.rounds {
            self.issued = progress.issued;
            self.left_of_round = progress.left_of_round;
            self.running |= through && self.issued < rounds;
        }
        self.progress_known = progress;
    }

    fn make_again(
        &self,
        choice: DeviceChoice,
        lattices: &[(usize, Arc<Lattice>, u64)],
    ) -> Result<Worlds> {
        let mut worlds = Worlds::new(open_engine(choice)?, &self.setup, WHOLE_SLOTS)?;
        worlds.upload(lattices.to_vec())?;
        worlds.set_stamped(self.lab.stamped());
        Ok(worlds)
    }

    /// Lets the old engine go, its context and its host memory too: only then is a new context a
    /// new one. A reader of a picture keeps them for some milliseconds.
    fn let_go(&mut self) {
        let slots = self.worlds.as_ref().map(|w| Arc::downgrade(w.slots()));
        self.pictures.clear();
        self.worlds = None;
        let until = Instant::now() + Duration::from_secs(1);
        while slots.as_ref().is_some_and(|s| s.strong_count() > 0) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Every lattice as of the last checkpoint, or as it started.
    pub(super) fn last_lattices(&self) -> Vec<(usize, Arc<Lattice>, u64)> {
        let restored = || {
            let (slot, generations) = self.checkpoints.latest.clone()?;
            let slots = self.worlds.as_ref()?.slots();
            let read = |i: usize| read_lattice(&**slots, i, slot, self.setup.size).ok();
            (0..self.setup.instances)
                .map(|i| Some((i, Arc::new(read(i)?), generations[i])))
                .collect::<Option<Vec<_>>>()
        };
        restored()
            .or_else(|| self.last_known.clone())
            .unwrap_or_else(|| starts(&self.setup, 0..self.setup.instances))
    }
}
