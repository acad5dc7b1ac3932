//! Rounds on their way to the engine: eagerly, or prepared once and replayed.

use std::hash::Hasher;
use std::sync::Arc;
use std::time::Instant;

use super::{DEPTH, Worlds};
use crate::engine::kernels::Iteration;
use crate::engine::{EngineError, LatticeId, Op, Program, Result, RunId, Slot, Step};
use crate::session::round::{PicturePlan, RoundPlan};
use crate::session::trace::StepFacts;

/// A round under way.
pub(super) struct UnderWay {
    pub(super) run: RunId,
    /// The generations of its pictures, by instance; shared with the rounds that change nothing.
    pub(super) generations: Arc<[u64]>,
    pub(super) picture: Option<PicturePlan>,
    pub(super) kind: Kind,
    pub(super) steps: Arc<[StepFacts]>,
    pub(super) launches: u32,
    /// Generations stepped.
    pub(super) stepped: u32,
    /// Before its first call.
    pub(super) issued: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Round,
    Refresh,
    Checkpoint(Slot),
    Other,
}

/// What a prepared round was made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PreparedKey {
    pub(super) slot: Slot,
    pub(super) parities: u64,
    pub(super) generations: u32,
    pub(super) timed: bool,
}

/// The most launches of one graph: beyond, capturing it takes seconds and gigabytes.
pub const MOST_GRAPH_LAUNCHES: u64 = 1 << 16;

impl Worlds {
    /// A picture slot that no download is bound for and nobody reads; one that `newest` says
    /// holds somebody's newest picture only where there is no other and nothing is under way.
    /// (That picture is then unreadable until its successor is there; nothing is torn.)
    pub(super) fn free_slot(&self, newest: impl Fn(Slot) -> bool) -> Option<Slot> {
        let free = |slot: &Slot| {
            let free = |i: usize| self.slots.is_free(LatticeId(i as u32), *slot);
            self.plan.downloads().all(free)
        };
        let slots = || (0..self.spec.pictures()).map(Slot).filter(free);
        let spare = slots().find(|&slot| !newest(slot));
        spare.or_else(|| slots().next().filter(|_| self.is_idle()))
    }

    /// Issues a round of so many generations, if there is room for one: not more than two under
    /// way, and a slot free. With `timed`, spans come back.
    pub fn issue_round(
        &mut self,
        generations: u32,
        timed: bool,
        newest: impl Fn(Slot) -> bool,
    ) -> Result<bool> {
        if self.under_way.len() >= DEPTH {
            return Ok(false);
        }
        let slot = match self.plan.picture {
            None => Slot(0),
            Some(_) => match self.free_slot(newest) {
                Some(slot) => slot,
                None => return Ok(false),
            },
        };
        let kind = if generations == 0 {
            Kind::Refresh
        } else {
            Kind::Round
        };
        let before = self.count(generations);
        let issued = if self.graphs && kind == Kind::Round && self.fits_a_graph(generations) {
            self.replay_round(generations, slot, timed)
        } else {
            let mut program = self.plan.program(generations, slot);
            program.timed = timed;
            self.submit(program, kind, self.plan.picture)
        };
        match issued {
            Ok(()) => {
                self.part_began = None;
                Ok(true)
            }
            Err(error) => {
                self.generations = before;
                // Somebody began to read the slot just now: there will be another.
                let busy = matches!(error, EngineError::SlotBusy(..));
                if busy { Ok(false) } else { Err(error) }
            }
        }
    }

    /// Issues some generations of a round that is too long for one submission, with no picture.
    pub fn issue_part(&mut self, generations: u32) -> Result<bool> {
        if self.under_way.len() >= DEPTH {
            return Ok(false);
        }
        self.part_began.get_or_insert_with(Instant::now);
        let before = self.count(generations);
        let plan = RoundPlan {
            picture: None,
            ..self.plan.clone()
        };
        let issued = self.submit(plan.program(generations, Slot(0)), Kind::Other, None);
        issued
            .map(|()| true)
            .inspect_err(|_| self.generations = before)
    }

    /// The most generations that one submission should issue: the host is inside its calls
    /// meanwhile, and hears nobody.
    pub fn most_at_once(&self) -> u32 {
        const LAUNCHES: u32 = 1 << 14; // some 40 ms of calls
        match self.plan.kernel.iteration {
            Iteration::InKernel => u32::MAX,
            Iteration::Launches => (LAUNCHES / self.plan.streams.len() as u32).max(1),
        }
    }

    /// Whether a round of so many generations is a graph that a driver digests.
    pub(super) fn fits_a_graph(&self, generations: u32) -> bool {
        let nodes = u64::from(self.launches(generations)) * self.plan.streams.len() as u64;
        nodes <= MOST_GRAPH_LAUNCHES
    }

    /// Counts generations that are about to be issued; the count before.
    fn count(&mut self, generations: u32) -> Arc<[u64]> {
        let counted = self.generations.iter().map(|g| g + u64::from(generations));
        let counted = counted.collect();
        std::mem::replace(&mut self.generations, counted)
    }

    pub(super) fn replay_round(&mut self, generations: u32, slot: Slot, timed: bool) -> Result<()> {
        let key = PreparedKey {
            slot,
            parities: self.parities(),
            generations,
            timed,
        };
        let (prepared, steps) = match self.prepared.get(&key) {
            Some(known) => known.clone(),
            None => {
                let mut program = self.plan.program(generations, slot);
                program.timed = timed;
                let made = (self.engine.prepare(&program)?, self.facts(&program));
                self.prepared.insert(key, made.clone());
                made
            }
        };
        let issued = Instant::now();
        let run = self.engine.replay(prepared)?;
        self.push(
            run,
            issued,
            Kind::Round,
            self.plan.picture,
            steps,
            generations,
        );
        Ok(())
    }

    /// Downloads every lattice's bits into a whole-lattice slot.
    pub fn issue_checkpoint(&mut self, index: u8) -> Result<()> {
        let slot = Slot(self.spec.pictures() + index);
        let program = self.plan.checkpoint(slot);
        self.submit(program, Kind::Checkpoint(slot), None)
    }

    pub(super) fn submit(
        &mut self,
        program: Program,
        kind: Kind,
        picture: Option<PicturePlan>,
    ) -> Result<()> {
        if program.steps.is_empty() {
            return Ok(());
        }
        let issued = Instant::now();
        let run = self.engine.submit(&program)?;
        let steps = self.facts(&program);
        let generations = program.steps.iter().find_map(|step| match step.op {
            Op::Advance { generations, .. } => Some(generations),
            _ => None,
        });
        self.push(run, issued, kind, picture, steps, generations.unwrap_or(0));
        Ok(())
    }

    pub(super) fn push(
        &mut self,
        run: RunId,
        issued: Instant,
        kind: Kind,
        picture: Option<PicturePlan>,
        steps: Arc<[StepFacts]>,
        stepped: u32,
    ) {
        let launches = self.launches(stepped.max(1));
        let issued = match kind {
            Kind::Round => self.part_began.unwrap_or(issued),
            _ => issued,
        };
        let generations = self.generations.clone();
        self.under_way.push_back(UnderWay {
            run,
            generations,
            picture,
            kind,
            steps,
            launches,
            stepped,
            issued,
        });
    }

    /// What a timed program's steps are, for whoever shows their spans.
    pub(super) fn facts(&self, program: &Program) -> Arc<[StepFacts]> {
        if !program.timed {
            return Arc::new([]);
        }
        let view = self
            .plan
            .picture
            .map_or(0, |picture| picture.viewport.words());
        let facts = |step: &Step| StepFacts::of(step, self.size, view as u64 * 4);
        program.steps.iter().map(facts).collect()
    }

    /// Which buffer holds each lattice's cells, as one number: a graph holds their addresses.
    pub(super) fn parities(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        for i in 0..self.plan.streams.len() as u32 {
            hasher.write_u8(self.engine.parity(LatticeId(i)));
        }
        hasher.finish()
    }

    pub(super) fn launches(&self, generations: u32) -> u32 {
        match self.plan.kernel.iteration {
            Iteration::Launches => generations,
            Iteration::InKernel => 1,
        }
    }
}
