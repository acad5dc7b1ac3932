//! Issues rounds: eagerly, or as graphs that are prepared once and replayed.

use std::hash::Hasher;
use std::sync::Arc;
use std::time::Instant;

use super::{Instances, MAX_IN_FLIGHT, Measuring, SPARSE_ROUNDS};
use crate::fastest::{MAX_ROUND, RoundLength};
use crate::round::RoundPlan;
use crate::trace::StepFacts;
use crate::{PicturePlan, Side, Switches, Wait};
use engine::{
    EngineError, IssuedStep, Kernel, LatticeId, LatticeOp, Op, OrderOp, Program, Result, RunId,
    Slot, Step, StreamId, nvtx,
};
use life::Size;

/// A program that the engine has accepted and not completed.
pub(super) struct InFlight {
    pub(super) run: RunId,
    /// The generation of the lattices that it downloads.
    pub(super) generation: u64,
    /// Whether the slots of its measures still exist.
    pub(super) measured: bool,
    /// The last edit in its pictures, by instance.
    pub(super) edits: u64,
    pub(super) picture: Option<PicturePlan>,
    /// The picture slot of a round or a refresh, not filled again before its completion is handled.
    pub(super) slot: Option<Slot>,
    pub(super) kind: Kind,
    pub(super) steps: Arc<[StepFacts]>,
    /// How it is issued, copied and waited for.
    pub(super) switches: Switches,
    /// Whose plan it was made from.
    pub(super) side: Side,
    pub(super) launches: u32,
    /// Generations stepped.
    pub(super) stepped: u32,
    /// The time just before its first call.
    pub(super) issued: Instant,
}

impl InFlight {
    /// Notes that the slots it was to fill are gone.
    pub(super) fn forget_slots(&mut self) {
        (self.picture, self.slot) = (None, None);
        self.measured = false;
        if let Kind::Snapshot(_) = self.kind {
            self.kind = Kind::Other;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A round, issued step by step or replayed as a graph.
    Round { replayed: bool },
    /// Pictures of the lattices as they are.
    Refresh,
    /// All lattices' bits into the whole-lattice slot of this index.
    Snapshot(u8),
    /// One step of a round that runs op by op.
    IsolatedStep,
    /// Anything else; its completion is ignored.
    Other,
}

/// The facts that a prepared round depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PreparedKey {
    pub(super) slot: Slot,
    pub(super) parities: u64,
    pub(super) generations: u32,
    pub(super) timed: bool,
    pub(super) side: Side,
    pub(super) measured: bool,
}

/// The longest round allowed of a kernel whose speed is not known yet; it learns from every round.
pub(super) fn longest_round(kernel: &'static Kernel, size: Size, instances: usize) -> RoundLength {
    /// Launches of all instances: some 40 ms of calls.
    const LAUNCHES: u32 = 1 << 14;
    /// Cells stepped by the first round, unless a generation has more: the slowest rung takes less
    /// than half a second for them on one core.
    const FIRST_CELLS: u64 = 1 << 28;
    /// The same of a kernel of a user's own, which may be much slower.
    const FIRST_OWN_CELLS: u64 = 1 << 22;
    let launches = (LAUNCHES / instances as u32).max(1);
    let first = match kernel.own {
        None => FIRST_CELLS,
        Some(_) => FIRST_OWN_CELLS,
    };
    let first = first / (size.cells() * instances as u64).max(1);
    RoundLength::adapting(kernel, launches, MAX_ROUND, first.max(1) as u32)
}

/// Maximum number of launches in a graph: capturing more takes seconds and gigabytes.
pub const MAX_GRAPH_LAUNCHES: u64 = 1 << 16;

impl Instances {
    /// A free picture slot for the next round. Prefers slots that do not hold a newest picture, as
    /// `newest` tells; takes one of those only when nothing is in flight. (That picture is then
    /// unreadable until its successor has landed; nothing is torn.)
    fn free_slot(&self, newest: impl Fn(Slot) -> bool) -> Option<Slot> {
        let plan = self.plan();
        let free = |slot: &Slot| {
            if self.is_in_flight(*slot) {
                return false;
            }
            let free = |i: usize| self.slots.is_free(LatticeId(i as u32), *slot);
            plan.downloads().all(free)
        };
        let of_its_memory = if plan.pinned() {
            0..self.spec.pinned
        } else {
            self.spec.pinned..self.spec.pictures()
        };
        let slots = || of_its_memory.clone().map(Slot).filter(free);
        let spare = slots().find(|&slot| !newest(slot));
        spare.or_else(|| slots().next().filter(|_| self.is_idle()))
    }

    /// The slot of the next round's pictures, if one is free.
    pub(super) fn next_slot(&self, newest: impl Fn(Slot) -> bool) -> Option<Slot> {
        match self.plan().picture {
            None if self.measures_next() && self.is_in_flight(Slot(0)) => None,
            None => Some(Slot(0)),
            Some(_) => self.free_slot(newest),
        }
    }

    /// Whether a round in flight fills a slot of the next plan's instances: it may have landed, but
    /// what it brought has not been taken yet.
    fn is_in_flight(&self, slot: Slot) -> bool {
        let fills = |it: &InFlight| it.side == self.in_use && it.slot == Some(slot);
        self.in_flight.iter().any(fills)
    }

    /// Notes the slot that the round just issued fills.
    fn fills(&mut self, slot: Slot) {
        if let Some(issued) = self.in_flight.back_mut() {
            issued.slot = Some(slot);
        }
    }

    /// Maximum number of rounds in flight: 1 where settings are compared and each is timed alone.
    fn max_in_flight(&self) -> usize {
        if self.plans.len() > 1 {
            1
        } else {
            MAX_IN_FLIGHT
        }
    }

    /// Whether another round may be in flight.
    pub fn has_room(&self) -> bool {
        self.in_flight.len() < self.max_in_flight() && !self.is_calibrating()
    }

    /// Issues a round (in a comparison, of A and B in turn) if fewer than two are in flight and a
    /// slot is free; returns whether it did. `newest` says whether a slot holds somebody's newest
    /// picture. With `timed`, its event has spans. A round of 0 generations only downloads.
    pub fn issue_round(
        &mut self,
        generations: u32,
        timed: bool,
        newest: impl Fn(Slot) -> bool,
    ) -> Result<bool> {
        if !self.has_room() {
            return Ok(false);
        }
        if generations == 0 {
            return self.refresh(newest);
        }
        let Some(slot) = self.next_slot(newest) else {
            return Ok(false);
        };
        let replays = self.plan().switches.graphs && self.fits_a_graph(generations);
        // A graph has events of its own, whose times must be read before it is launched again.
        if replays && timed && self.is_in_flight(slot) {
            return Ok(false);
        }
        let _range = nvtx::range("round");
        let issued = if replays {
            self.replay_round(generations, slot, timed)
        } else {
            self.submit_round(generations, slot, timed, Kind::Round { replayed: false })
        };
        match issued {
            Ok(()) => {}
            // A reader took the slot just now; another will be free.
            Err(EngineError::SlotBusy(..)) => return Ok(false),
            Err(error) => return Err(error),
        }
        self.fills(slot);
        self.rounds_since_measure = if self.measures_next() {
            0
        } else {
            self.rounds_since_measure + 1
        };
        if self.is_comparing() {
            self.in_use = self.in_use.other();
        }
        Ok(true)
    }

    /// Downloads every instance without stepping, as each plan says.
    fn refresh(&mut self, newest: impl Fn(Slot) -> bool) -> Result<bool> {
        let in_use = self.in_use;
        let mut issued = Ok(true);
        for side in self.sides_in_turn() {
            self.in_use = side;
            issued = match self.next_slot(&newest) {
                Some(slot) => {
                    let in_flight = self.in_flight.len();
                    let issued = self.submit_round(0, slot, false, Kind::Refresh);
                    if self.in_flight.len() > in_flight {
                        self.fills(slot);
                    }
                    issued.map(|()| true)
                }
                None => Ok(false),
            };
            if !matches!(issued, Ok(true)) {
                break;
            }
        }
        self.in_use = in_use;
        match issued {
            Err(EngineError::SlotBusy(..)) => Ok(false),
            other => other,
        }
    }

    fn submit_round(
        &mut self,
        generations: u32,
        slot: Slot,
        timed: bool,
        kind: Kind,
    ) -> Result<()> {
        let picture = self.plan().picture;
        let program = self.round(generations, slot);
        if !timed {
            return self.submit(&program, kind, picture);
        }
        self.timed += 1;
        let program = Program {
            timed,
            // Rounds without timestamps in between show what timestamps cost.
            block_timestamps: self.block_timestamps && self.timed % 2 == 1,
            ..Program::clone(&program)
        };
        self.submit(&program, kind, picture)
    }

    /// The next plan's round as a program, from the cache if possible.
    fn round(&mut self, generations: u32, slot: Slot) -> Arc<Program> {
        let key = (slot, generations, self.in_use, self.measures_next());
        if let Some(known) = self.programs.get(&key) {
            return known.clone();
        }
        let made = Arc::new(self.next_program(generations, slot));
        self.programs.insert(key, made.clone());
        made
    }

    pub(super) fn next_program(&self, generations: u32, slot: Slot) -> Program {
        let plan = self.plan();
        if self.measures_next() {
            return plan.program(generations, slot);
        }
        let rounds_since_measure = RoundPlan {
            measures: None,
            ..plan.clone()
        };
        rounds_since_measure.program(generations, slot)
    }

    /// Whether the next round measures its lattices, if its plan has slots for it.
    fn measures_next(&self) -> bool {
        match self.measuring {
            Measuring::Never => false,
            // It would be a round that is not like the others.
            Measuring::Sparse if self.has_alternative() => false,
            Measuring::Sparse => self.rounds_since_measure + 1 >= SPARSE_ROUNDS,
            Measuring::Always => true,
        }
    }

    /// Whether the next round is one of the few that measure: its times are not representative.
    pub fn is_next_an_exception(&self) -> bool {
        self.measuring == Measuring::Sparse && self.measures_next()
    }

    /// Loads the functions and memory of a round, so that the first takes no longer than others.
    pub fn load(&mut self) -> Result<()> {
        let program = self.next_program(1, Slot(0));
        self.engine.load(&program)
    }

    /// Maximum number of generations of a round, so that it takes at most [`MAX_ROUND`] and its calls
    /// some 40 ms: nothing stops in the middle of a round.
    pub fn longest_round(&self) -> u32 {
        #[cfg(test)]
        if let Some(max) = limit::get() {
            return max;
        }
        let of_plans = self.longest.iter().take(self.plans.len());
        let shortest = of_plans.map(|it| it.generations()).min();
        shortest.expect("there is a plan")
    }

    /// Rounds of this many generations, or fewer if so many would take longer than [`MAX_ROUND`].
    pub fn stoppable_rounds(&self, generations: u32) -> RoundLength {
        self.longest[0].at_most(generations)
    }

    /// Forgets how long rounds took, after a change of the setting.
    pub(super) fn reset_longest_round(&mut self) {
        let plan = |side| self.plans.get(side).unwrap_or(self.own_plan());
        self.longest = [0, 1].map(|side| longest_round(plan(side).kernel, self.size, self.count));
    }

    /// Whether a round of this many generations can be a graph: it stays within
    /// [`MAX_GRAPH_LAUNCHES`], and no lattice is split over devices, as a graph is one device's.
    fn fits_a_graph(&self, generations: u32) -> bool {
        let nodes = u64::from(self.launches(generations)) * self.instances() as u64;
        nodes <= MAX_GRAPH_LAUNCHES && !self.engine.is_split()
    }

    fn replay_round(&mut self, generations: u32, slot: Slot, timed: bool) -> Result<()> {
        let key = PreparedKey {
            slot,
            parities: self.parities(),
            generations,
            timed,
            side: self.in_use,
            measured: self.measures_next(),
        };
        let (prepared, steps) = match self.prepared.get(&key) {
            Some(known) => known.clone(),
            None => {
                let mut program = self.next_program(generations, slot);
                // The host cannot wait inside a graph; it waits after it.
                program
                    .steps
                    .retain(|step| !matches!(step.op, Op::Order(OrderOp::Synchronize(_))));
                program.timed = timed;
                let made = (self.engine.prepare(&program)?, self.facts(&program));
                self.prepared.insert(key, made.clone());
                made
            }
        };
        let issued = Instant::now();
        let run = self.engine.replay(prepared)?;
        if self.plan().switches.wait == Wait::All {
            self.engine.synchronize()?;
        }
        let picture = self.plan().picture;
        let kind = Kind::Round { replayed: true };
        self.accepted(run, issued, kind, picture, steps, generations);
        Ok(())
    }

    /// Submits a program, and counts what it steps once the engine has accepted it.
    pub(super) fn submit(
        &mut self,
        program: &Program,
        kind: Kind,
        picture: Option<PicturePlan>,
    ) -> Result<()> {
        if program.steps.is_empty() {
            return Ok(());
        }
        let issued = Instant::now();
        self.join(program)?;
        let run = self.engine.submit(program)?;
        self.own_streams.issued(program);
        let steps = match self.engine.issued_steps(run) {
            Some(issued) => self.facts_of(issued),
            None => self.facts(program),
        };
        let generations = program.steps.iter().find_map(|step| match step.op {
            Op::Lattices(_, LatticeOp::Advance { generations, .. }) => Some(generations),
            _ => None,
        });
        self.accepted(run, issued, kind, picture, steps, generations.unwrap_or(0));
        Ok(())
    }

    /// Counts the generations of an accepted program and adds it to those in flight.
    fn accepted(
        &mut self,
        run: RunId,
        issued: Instant,
        kind: Kind,
        picture: Option<PicturePlan>,
        steps: Arc<[StepFacts]>,
        stepped: u32,
    ) {
        let side = self.in_use;
        if self.behind.is_some_and(|(of, _)| of == side && stepped > 0) {
            self.behind = None; // that was the second round of a pair
        } else if stepped > 0 {
            self.generation += u64::from(stepped);
            self.behind = self.is_comparing().then(|| (side.other(), stepped));
        }
        let behind = self.behind.filter(|(of, _)| *of == side);
        let launches = self.launches(stepped.max(1));
        self.in_flight.push_back(InFlight {
            run,
            generation: self.generation - behind.map_or(0, |(_, by)| u64::from(by)),
            measured: self.measuring != Measuring::Never,
            edits: self.edit_number,
            picture,
            slot: None,
            kind,
            steps,
            switches: self.plan().switches,
            side,
            launches,
            stepped,
            issued,
        });
    }

    /// Facts about a timed program's steps, for showing their spans.
    pub(super) fn facts(&self, program: &Program) -> Arc<[StepFacts]> {
        if !program.timed {
            return Arc::default();
        }
        let has_several = self.engine.places() > 1;
        let gpu = |step: &Step| {
            let lattices = Some(step.op.lattices()).filter(|it| has_several && !it.is_empty())?;
            Some(self.device_of(lattices.start as usize).0)
        };
        let steps = program.steps.iter();
        self.facts_about(steps.map(|step| (step, step.stream, self.size, gpu(step))))
    }

    /// Facts about steps on lattices in bands.
    pub(super) fn facts_of(&self, issued: &[IssuedStep]) -> Arc<[StepFacts]> {
        let issued = issued.iter();
        self.facts_about(issued.map(|it| (&it.step, it.stream, it.size, Some(it.device.0))))
    }

    /// Facts about steps, each with the program's stream, the size of the lattices or of the bands that it
    /// works on, and its GPU if there are several.
    fn facts_about<'a>(
        &self,
        steps: impl Iterator<Item = (&'a Step, StreamId, Size, Option<u16>)>,
    ) -> Arc<[StepFacts]> {
        let view = self
            .plan()
            .picture
            .map_or(0, |picture| self.engine.view_words(picture.region));
        let own = self.plan().own.as_ref();
        let own_number = |stream| own?.streams.iter().position(|&it| it == stream);
        let facts = |(step, stream, size, gpu): (&Step, StreamId, Size, Option<u16>)| StepFacts {
            gpu,
            own_number: own_number(stream).map(|number| number as u32),
            ..StepFacts::of(step, size, view as u64 * 4)
        };
        steps.map(facts).collect()
    }

    /// A hash of which buffer holds each lattice's cells: a graph contains their addresses.
    fn parities(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        for i in self.plan().instances.clone() {
            hasher.write_u8(self.engine.parity(LatticeId(i as u32)));
        }
        hasher.finish()
    }

    fn launches(&self, generations: u32) -> u32 {
        self.plan().kernel.launches(generations)
    }
}

/// A lower limit of generations per round, for tests.
#[cfg(test)]
pub mod limit {
    use std::cell::Cell;

    thread_local! {
        static LONGEST_ROUND: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// Sets it for this thread.
    pub fn set(max: Option<u32>) {
        LONGEST_ROUND.set(max);
    }

    pub(super) fn get() -> Option<u32> {
        LONGEST_ROUND.get()
    }
}
