//! Checkpoints once a second, and what is done with them when the engine is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Pilot, starts};
use crate::engine::{EngineError, Result, Slot};
use crate::life::Lattice;
use crate::session::DeviceChoice;
use crate::session::worlds::{Worlds, open_engine, read_lattice};

/// How old the last checkpoint may get while something changes.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// The latest complete copy of every lattice on the host.
#[derive(Default)]
pub(super) struct Checkpoints {
    pub(super) under_way: bool,
    pub(super) next: u8,
    pub(super) latest: Option<(Slot, Arc<[u64]>)>,
    pub(super) made: Option<Instant>,
    /// Whether cells changed since the last one was issued.
    pub(super) stale: bool,
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

    /// Meets an error: a lost context is replaced; what could not be done is said.
    pub(super) fn meet(&mut self, error: EngineError) {
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

    pub(super) fn fail(&mut self, why: String) {
        tracing::error!("{why}");
        self.failed = Some(why);
        self.running = false;
        self.steps.clear();
        self.changed = true;
        (self.wake)();
    }

    /// Makes a new engine and sets every lattice to the last checkpoint, or to its start.
    pub(super) fn recover(&mut self, why: &str) -> Result<()> {
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
    pub(super) fn last_lattices(&self) -> Vec<(usize, Arc<Lattice>, u64)> {
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
}
