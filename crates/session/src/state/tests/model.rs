//! A session with no engine: lattices in memory take the place of the device, and whatever comes
//! from outside (rounds that end, copies that land, failures) comes when a history says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::*;
use super::choices::Choices;
use crate::log::reference_log::{Back, Cells, Joins, ReferenceLog, noise};
use crate::log::reference_log::{apply, start_cells, step};
use crate::log::{Inverse, SessionParameters, Source};
use life::{Lattice, Rule};
use model::Area;

pub(super) type Outcome = Result<(), String>;

macro_rules! ensure {
    ($holds:expr, $($why:tt)*) => {
        if !$holds {
            return Err(format!($($why)*));
        }
    };
}
pub(super) use ensure;

struct TakenSnapshot {
    position: Position,
    cells: Cells,
    why: SnapshotReason,
    is_under_way: bool,
    /// The log has changed: it lands, and is forgotten then.
    is_void: bool,
}

impl TakenSnapshot {
    /// One that a session was opened with.
    fn here(position: Position, cells: Cells) -> TakenSnapshot {
        TakenSnapshot {
            position,
            cells,
            why: SnapshotReason::Periodic,
            is_under_way: false,
            is_void: false,
        }
    }
}

/// Somebody waits for a copy.
struct Waiter {
    why: SnapshotReason,
    /// Where the session was to be, for who saves it.
    target: Position,
    begun: Option<Position>,
    /// The cells were lost while it waited, another one's were read, or no slot was free: the copy
    /// may be one of a later position.
    is_late: bool,
}

pub(super) struct Model {
    pub(super) state: State,
    pub(super) reference_log: ReferenceLog,
    pub(super) choices: Choices,
    pub(super) now: Instant,
    /// The device's; `None` where they are lost.
    device: Option<Cells>,
    rule: Rule,
    rounds_under_way: u32,
    snapshots: Vec<TakenSnapshot>,
    landmark: Option<Position>,
    whole: Option<Position>,
    known: Option<(usize, Position)>,
    waiters: Vec<Waiter>,
    longest_round: u32,
    /// Whether copies go that a session keeps, so that sometimes nothing leads back.
    is_forgetful: bool,
    /// Nothing fails any more, and no copy goes.
    pub(super) is_calm: bool,
    is_stale: bool,
    next_number: u64,
    last_taken: u64,
    requested: usize,
    taken: usize,
    /// Generations asked for by hand, and made.
    by_hand: Option<(u64, u64)>,
    /// Generations of a long round that are issued.
    of_round: u32,
    /// What the session did when it began.
    begun_as: Mode,
    rounds: u64,
    undo: Option<Back>,
    /// From where on the account has what a redo brought back, until the cells are on its line.
    redone: Option<u64>,
    /// The session could not go on.
    pub(super) has_ended: bool,
    /// Every turn is printed.
    pub(super) is_reported: bool,
}

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

const RULES: [&str; 5] = ["B3/S23", "B36/S23", "B1357/S1357", "B3/S012345678", "B2/S"];

fn rule(number: u64) -> Rule {
    RULES[number as usize % RULES.len()].parse().unwrap()
}

impl Model {
    pub(super) fn new(mut choices: Choices) -> Model {
        let sizes = [(5, 7), (7, 5), (8, 6), (9, 9), (24, 16)];
        let at = choices.below(17) as usize;
        let (width, height) = sizes[if at == 16 { 4 } else { at % 4 }];
        let size = size(width, height);
        let instances = 1 + choices.below(4) as usize;
        let seed = choices.unlike_any_other();
        let soup = Start::Soup { density: 0.4, seed };
        let start = match choices.below(3) {
            2 => lattices(&mut choices, size, instances),
            _ => soup,
        };
        let parameters = SessionParameters {
            size,
            instances,
            rule: rule(choices.below(5)),
            start,
            counterparts: None,
            drawn: Default::default(),
        };
        let per_round = [1, 2, 5, 10][choices.below(4) as usize];
        let pace = match choices.below(2) {
            0 => Pace::Unthrottled,
            _ => Pace::PerSecond(60.0),
        };
        let now = Instant::now();
        let is_opened = choices.below(3) == 2;
        let begin = Position {
            records: 0,
            generation: parameters.start.generation(),
        };
        let own = parameters.clone();
        let log = if is_opened {
            Log::from_parts(own, begin, false, Vec::new()).unwrap()
        } else {
            Log::new(own)
        };
        let cells = start_cells(&parameters);
        let mut state = State::new(log, per_round, pace, now);
        state.max_rounds = [None, None, None, Some(5)][choices.below(4) as usize];
        Model {
            state,
            rule: parameters.rule,
            device: Some(cells.clone()),
            now,
            rounds_under_way: 0,
            snapshots: if is_opened {
                vec![TakenSnapshot::here(begin, cells)]
            } else {
                Vec::new()
            },
            landmark: None,
            whole: None,
            known: None,
            waiters: Vec::new(),
            longest_round: [1000, 1, 3, 8][choices.below(4) as usize],
            is_forgetful: choices.below(3) == 2,
            is_calm: false,
            is_stale: true,
            next_number: 0,
            last_taken: 0,
            requested: 0,
            taken: 0,
            by_hand: None,
            of_round: 0,
            begun_as: Mode::Paused,
            rounds: 0,
            undo: None,
            redone: None,
            has_ended: false,
            reference_log: ReferenceLog::new(parameters),
            is_reported: false,
            choices,
        }
    }

    fn chance(&mut self, of: u64) -> bool {
        self.choices.below(of) == of - 1
    }

    fn fails(&mut self, of: u64) -> bool {
        !self.is_calm && self.chance(of)
    }

    pub(super) fn enqueue(&mut self, request: Request) {
        self.next_number += 1;
        let before = self.state.requests.len();
        self.state.enqueue(request, self.next_number);
        self.requested += self.state.requests.len() - before;
    }

    fn positions(&self) -> Vec<Position> {
        let all = self.snapshots.iter().filter(|copy| !copy.is_void);
        let mut all: Vec<Position> = all.map(|copy| copy.position).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn under_way(&self) -> usize {
        self.snapshots
            .iter()
            .filter(|copy| copy.is_under_way)
            .count()
    }

    fn facts(&mut self) -> EngineFacts {
        let under_way = self.under_way();
        let wanted = self.waiters.iter().filter(|waiter| waiter.begun.is_none());
        let wanted = wanted.map(|waiter| waiter.why);
        let wanted = wanted.reduce(|one, other| {
            if other == SnapshotReason::AllCells {
                other
            } else {
                one
            }
        });
        let known = self.known.filter(|(_, at)| *at == self.state.position);
        EngineFacts {
            engine_idle: self.rounds_under_way == 0 && under_way == 0,
            has_room: self.rounds_under_way < 2,
            longest_round: self.longest_round,
            calibrating: false,
            wants_calibration: false,
            pending_second_round: None,
            can_snapshot: under_way < 2,
            snapshots: self.positions().into(),
            whole: self.whole,
            known: known.filter(|_| self.state.cells_known).map(|(i, _)| i),
            snapshot_wanted: wanted,
            snapshot_due: self.is_stale && under_way == 0 && self.chance(8),
        }
    }

    /// Whatever may come from outside between two turns.
    fn outside(&mut self) {
        self.now += Duration::from_millis(self.choices.below(12));
        for _ in 0..self.rounds_under_way {
            if self.choices.below(2) == 0 {
                self.rounds_under_way -= 1;
                let took = Duration::from_millis(self.choices.below(60));
                self.state.fit_chunk(took, self.longest_round);
            }
        }
        for at in (0..self.snapshots.len()).rev() {
            if self.snapshots[at].is_under_way && self.choices.below(2) == 0 {
                self.land(at);
            }
        }
        let is_about_to_move = self.state.moving().is_some_and(|moving| !moving.begun);
        if is_about_to_move && self.is_forgetful && self.fails(4) {
            // Of all moments the one at which they are missed most.
            for at in (0..self.snapshots.len()).rev() {
                if !self.snapshots[at].is_under_way && self.choices.below(4) > 0 {
                    self.forget(at);
                }
            }
        }
        if !self.snapshots.is_empty() && self.fails(16) {
            let at = self.choices.below(self.snapshots.len() as u64) as usize;
            let copy = &self.snapshots[at];
            let newest = self.snapshots.iter().map(|copy| copy.position).max();
            let is_needed = Some(copy.position) == newest || Some(copy.position) == self.landmark;
            if !copy.is_under_way && (self.is_forgetful || !is_needed) {
                self.forget(at);
            }
        }
    }

    fn forget(&mut self, at: usize) {
        let gone = self.snapshots.swap_remove(at);
        self.whole.take_if(|whole| *whole == gone.position);
        if self.choices.below(2) == 1 {
            return;
        }
        let here = self.state.cells_known.then_some(self.state.position);
        let oldest = self
            .state
            .log
            .oldest_reachable(here, self.positions().into_iter());
        if let Some(oldest) = oldest {
            self.state.log.discard_before(oldest);
        }
    }

    fn land(&mut self, at: usize) {
        let position = self.snapshots[at].position;
        self.snapshots[at].is_under_way = false;
        for waiter in &mut self.waiters {
            let is_other = matches!((self.snapshots[at].why, waiter.why),
                (SnapshotReason::Instance(read), SnapshotReason::Instance(wanted)) if read != wanted);
            if waiter
                .begun
                .take_if(|begun| *begun == position && is_other)
                .is_some()
            {
                waiter.is_late = true; // it has its turn after this one
            }
        }
        self.waiters.retain(|waiter| waiter.begun != Some(position));
        if self.snapshots[at].is_void {
            self.snapshots.swap_remove(at);
            return;
        }
        let why = self.snapshots[at].why;
        if why == SnapshotReason::AllCells {
            self.whole = Some(position);
        }
        let edited = self.reference_log.items.get(position.records as usize);
        let instance = match (why, edited.map(|item| &item.content)) {
            (SnapshotReason::Instance(instance), _) => instance,
            (_, Some(Content::Cells { instance, .. })) => *instance,
            _ => return,
        };
        if let Some(lattice) = self.snapshots[at].cells.get(instance).cloned() {
            self.update_known_cells(instance, lattice, position);
        }
    }

    /// A lattice is on the host: changes since get their inverses.
    fn update_known_cells(&mut self, instance: usize, lattice: Arc<Lattice>, position: Position) {
        let mut lattice = lattice;
        let mut at = position;
        while at.records < self.state.position.records
            && let Some(item) = self.reference_log.items.get_mut(at.records as usize)
            && item.generation == position.generation
            && let Content::Cells { instance: of, .. } = &item.content
        {
            if *of == instance {
                let inverse = Inverse::Lattice(lattice);
                self.state.log.set_inverse(at.records, inverse);
                item.has_inverse = at.records >= self.state.log.base().records;
                at.records += 1;
                lattice = self.reference_log.cells(at)[instance].clone();
            } else {
                at.records += 1;
            }
        }
        if at == self.state.position && self.state.cells_known {
            self.known = Some((instance, at));
        }
    }

    /// Copies that are of no use go.
    fn log_changed(&mut self) {
        let behind = self.state.stale_after.take();
        let log = &self.state.log;
        self.snapshots.retain_mut(|copy| {
            let position = copy.position;
            copy.is_void |=
                !log.contains(position) || behind.is_some_and(|behind| position > behind);
            copy.is_under_way || !copy.is_void
        });
        let of_use = self.positions();
        self.whole.take_if(|whole| !of_use.contains(whole));
        self.landmark.take_if(|landmark| !of_use.contains(landmark));
    }

    /// One turn of the worker's loop; `true` once nothing is left to be done.
    pub(super) fn turn(&mut self) -> Result<bool, String> {
        self.outside();
        let facts = self.facts();
        let work = next_task(&self.state, &facts, self.now);
        if !facts.can_snapshot {
            // Rounds go on while a copy waits for a slot.
            let waits = self
                .waiters
                .iter_mut()
                .filter(|waiter| waiter.begun.is_none());
            waits.for_each(|waiter| waiter.is_late = true);
        }
        if self.is_reported {
            let (mode, here) = (&self.state.mode, self.state.position);
            let first = self.state.requests.front().map(|(request, _)| request);
            let first = first.filter(|_| work == NextTask::TakeRequest);
            println!("{here:?} {mode:?}: {work:?} {first:?}");
        }
        match work {
            NextTask::Wait(Some(until)) => {
                ensure!(until > self.now, "it waits for what is over");
                self.now = until;
            }
            NextTask::Wait(None) if self.rounds_under_way > 0 || self.under_way() > 0 => {}
            NextTask::Wait(None) => {
                let is_at_rest = self.state.mode == Mode::Paused
                    && self.state.requests.is_empty()
                    && self.waiters.is_empty()
                    && !self.reference_log.is_due(self.state.position);
                ensure!(
                    is_at_rest,
                    "stuck: {:?}, {:?}",
                    self.state.mode,
                    self.state.requests
                );
                ensure!(self.taken == self.requested, "a request is gone");
                return Ok(true);
            }
            NextTask::TakeRequest => self.take()?,
            NextTask::Apply => self.apply()?,
            NextTask::Round(generations) => self.round(generations)?,
            NextTask::Snapshot(why) => {
                ensure!(facts.can_snapshot, "no slot");
                self.copy(why)?;
            }
            NextTask::Restore => {
                ensure!(facts.engine_idle, "a restore while something is under way");
                self.restore()?;
            }
            NextTask::Arrive => self.arrive()?,
            NextTask::Refresh => {
                ensure!(
                    self.state.refresh && facts.has_room,
                    "a refresh for nothing"
                );
                self.state.refresh = false;
            }
            NextTask::Calibrate => return Err("a calibration".into()),
        }
        self.check()?;
        Ok(false)
    }

    /// What holds after every turn.
    fn check(&mut self) -> Outcome {
        let here = self.state.position;
        if self.has_ended {
            return Ok(());
        }
        ensure!(
            self.state.cells_known == self.device.is_some(),
            "lost or not?"
        );
        if self.redone.is_none() {
            ensure!(
                self.reference_log.contains(here),
                "it stands at {here:?}, off the line"
            );
        }
        if self.redone.is_none()
            && let Some(device) = &self.device
        {
            ensure!(
                *device == self.reference_log.cells(here),
                "other cells at {here:?}"
            );
            ensure!(
                self.rule == self.reference_log.parameters(here.records).rule,
                "another rule"
            );
        }
        match &self.state.mode {
            Mode::RunningTo(run_to) => {
                ensure!(
                    run_to.generation > here.generation,
                    "past {}",
                    run_to.generation
                );
            }
            Mode::Moving(moving) => {
                ensure!(
                    self.reference_log.contains(moving.target),
                    "it moves off the line"
                );
                ensure!(!moving.begun || here <= moving.target, "past the target");
            }
            Mode::Running => {
                let is_over = self.state.max_rounds.is_some_and(|max| self.rounds >= max);
                ensure!(!is_over, "one round more than asked for");
            }
            Mode::Stepping(0) => return Err("no step is left".into()),
            Mode::Paused | Mode::Stepping(_) => {}
        }
        ensure!(
            self.rounds == self.state.rounds,
            "{} rounds",
            self.state.rounds
        );
        Ok(())
    }

    fn is_moving(&self) -> bool {
        self.state.moving().is_some()
    }

    /// Whether any cells that are there lead to a position.
    fn is_reachable(&self, to: Position) -> bool {
        let here = self.state.cells_known.then_some(self.state.position);
        let start = self.reference_log.start_of(to);
        let log = &self.state.log;
        let has_start = start > log.base() || log.base_is_start() && start == log.base();
        let mut sources = self
            .positions()
            .into_iter()
            .chain(here)
            .chain(has_start.then_some(start));
        to >= log.base()
            && sources.any(|from| from >= log.base() && self.reference_log.leads(from, to))
    }

    fn take(&mut self) -> Outcome {
        self.reference_log.first = self.state.log.base().records;
        let Some((request, number)) = self.state.requests.pop_front() else {
            return Err("there is no request to take".into());
        };
        self.taken += 1;
        if !matches!(request, Request::TogglePause) {
            ensure!(number > self.last_taken, "{request:?} overtakes another");
            self.last_taken = number;
        }
        let quiet = self.rounds_under_way == 0 && self.under_way() == 0;
        let may_be_halfway = matches!(request, Request::TogglePause | Request::PauseForLesson(_));
        let may_move = may_be_halfway || matches!(request, Request::Save);
        ensure!(may_move || !self.is_moving(), "{request:?} while it moves");
        if !self.is_moving() {
            ensure!(
                !self.reference_log.is_due(self.state.position),
                "{request:?} before a change"
            );
        }
        let needs_rest = matches!(
            request,
            Request::StepBack(_)
                | Request::RunTo(_)
                | Request::ResetPanel(_)
                | Request::Begin(_)
                | Request::SetRule(_)
                | Request::SetGrid { .. }
                | Request::Undo
                | Request::Redo
                | Request::EngineIdle
                | Request::AllCellsOnHost
        );
        ensure!(
            quiet || !needs_rest,
            "{request:?} while something is under way"
        );
        let before = (self.state.position, self.state.mode.clone());
        let snapshots = self.positions();
        self.expect(&request)?;
        let redone = match request {
            Request::Redo => self.state.log.after_redo(),
            _ => None,
        };
        let requested = request.clone();
        let answer = self.state.take(request, &snapshots, self.now);
        if self.state.round_left.is_none() {
            self.of_round = 0;
        }
        self.taken(requested, redone, before, answer)?;
        self.log_changed();
        self.reference_log.check(&self.state.log)
    }

    /// What must be so before a request is taken.
    fn expect(&mut self, request: &Request) -> Outcome {
        match request {
            Request::AllCellsOnHost => {
                ensure!(self.whole == Some(self.state.position), "not whole")
            }
            // Whoever waits for an instance's cells; which one it is does not matter here.
            Request::ReadCells => {
                let instance = self.choices.below(2) as usize;
                self.wait_for(SnapshotReason::Instance(instance));
            }
            Request::Save => self.wait_for(SnapshotReason::AllCells),
            _ => {}
        }
        Ok(())
    }

    /// A person stopped a move, or nothing leads to its target: who waits gets what there is.
    fn goes_elsewhere(&mut self) {
        let here = self.state.position;
        let target = self.state.moving().map_or(here, |moving| moving.target);
        for waiter in &mut self.waiters {
            waiter.target = target;
        }
    }

    fn wait_for(&mut self, why: SnapshotReason) {
        let here = self.state.position;
        self.waiters.push(Waiter {
            why,
            target: self.state.moving().map_or(here, |moving| moving.target),
            begun: None,
            is_late: false,
        });
    }

    /// What must have come of it.
    fn taken(
        &mut self,
        request: Request,
        redone: Option<(Log, Position)>,
        (here, mode): (Position, Mode),
        answer: Option<Notice>,
    ) -> Outcome {
        ensure!(self.state.position == here, "a request has stepped");
        if !allows(self.reference_log.parameters(here.records), &request) {
            ensure!(matches!(answer, Some(Notice::Refused(_))), "{answer:?}");
            ensure!(self.state.mode == mode, "{:?}", self.state.mode);
            return Ok(());
        }
        let cells = |instance, cells| Content::Cells { instance, cells };
        let (person, program) = (Author::Person, Author::Program);
        let (author, content, joins) = match request {
            Request::Edit(edit, _) => (
                person,
                cells(edit.instance, CellChange::Edit(edit.change)),
                if edit.continues_stroke {
                    Joins::Stroke
                } else {
                    Joins::No
                },
            ),
            Request::ResetPanel(instance) => {
                (person, cells(instance, CellChange::Start), Joins::No)
            }
            Request::Begin(start) => (person, Content::Start(start), Joins::No),
            Request::Reseed {
                instance,
                density,
                seed,
            } => (
                program,
                cells(instance, CellChange::Soup { density, seed }),
                Joins::No,
            ),
            Request::SetRule(rule) => (person, Content::Rule(rule), Joins::No),
            Request::SetGrid {
                size,
                instances,
                place,
            } => {
                let grid = Content::Grid { size, instances };
                self.reference_log.push(here, person, grid, Joins::No);
                if let Some((instance, change)) = place {
                    let after = self.reference_log.after(here.records + 1);
                    let change = cells(instance, CellChange::Edit(change));
                    self.reference_log.push(after, person, change, Joins::Last);
                }
                return self.run_is_over(mode, answer);
            }
            other => return self.went(other, redone, here, mode, answer),
        };
        self.reference_log.push(here, author, content, joins);
        self.run_is_over(mode, answer)
    }

    /// Cells were changed: a run to a generation has ended, and said so.
    fn run_is_over(&mut self, mode: Mode, answer: Option<Notice>) -> Outcome {
        match mode {
            Mode::RunningTo(_) => {
                ensure!(answer.is_some(), "nobody was told");
                ensure!(self.state.mode == Mode::Paused, "the run goes on");
            }
            mode => ensure!(self.state.mode == mode, "{mode:?} → {:?}", self.state.mode),
        }
        Ok(())
    }

    /// A request about time was taken.
    fn went(
        &mut self,
        request: Request,
        redone: Option<(Log, Position)>,
        here: Position,
        mode: Mode,
        answer: Option<Notice>,
    ) -> Outcome {
        let new = self.state.mode.clone();
        match request {
            Request::TogglePause => {
                let was_running = match &mode {
                    Mode::Moving(moving) if !moving.begun => {
                        matches!(moving.then, Mode::Running | Mode::RunningTo(_))
                    }
                    Mode::Running | Mode::RunningTo(_) | Mode::Moving(_) => true,
                    Mode::Paused | Mode::Stepping(_) => false,
                };
                ensure!(self.state.is_running() != was_running, "{mode:?} → {new:?}");
                if !self.is_moving() {
                    self.goes_elsewhere();
                    self.undo = None; // and the log stays as it is
                    self.by_hand = None;
                    self.of_round = 0;
                }
            }
            Request::Step(generations) => {
                ensure!(new == Mode::Stepping(generations), "{new:?}");
                self.by_hand = Some((generations.into(), 0));
            }
            Request::StepBack(by) => {
                let start = self.reference_log.start_of(here).generation;
                let to = here.generation.saturating_sub(by).max(start);
                if here.generation == start {
                    ensure!(new == Mode::Paused && answer.is_some(), "{new:?}")
                } else {
                    self.went_back(to, here, answer)?
                }
            }
            Request::RunTo(to) if to > here.generation => match new {
                Mode::RunningTo(run_to) if run_to.generation == to => {}
                _ => return Err(format!("run to {to}: {new:?}")),
            },
            Request::RunTo(to) if to == here.generation => ensure!(new == Mode::Paused, "{new:?}"),
            Request::RunTo(to) => {
                if to < self.reference_log.start_of(here).generation {
                    ensure!(matches!(answer, Some(Notice::Refused(_))), "{answer:?}")
                } else {
                    self.went_back(to, here, answer)?
                }
            }
            Request::Undo => {
                let back = self.reference_log.undo(here);
                let reached = back.filter(|back| self.is_reachable(back.to));
                match (reached, self.state.moving()) {
                    (Some(back), Some(moving)) if moving.target == back.to => {
                        self.undo = Some(back);
                    }
                    (None, None) if answer.is_some() => {}
                    (back, moving) => return Err(format!("undo {back:?}: {moving:?}")),
                }
            }
            Request::Redo => {
                let Some((log, target)) = redone else {
                    ensure!(matches!(answer, Some(Notice::Refused(_))), "{answer:?}");
                    return Ok(());
                };
                let end = self.reference_log.end();
                if log.end() > end {
                    self.reference_log.redo();
                }
                let is_reachable = self.is_reachable(target);
                ensure!(
                    is_reachable == self.is_moving(),
                    "redo to {target:?}: {new:?}"
                );
                match self.state.moving() {
                    Some(moving) => {
                        ensure!(moving.target == target, "redo to {:?}", moving.target);
                        self.redone = (log.end() > end).then_some(end);
                    }
                    None if log.end() > end => self.reference_log.redo_failed(end),
                    None => {}
                }
            }
            Request::PauseForLesson(_) | Request::ReadCells | Request::Save => {}
            Request::EngineIdle | Request::AllCellsOnHost => ensure!(new == mode, "{new:?}"),
            _ => return Err("unexpected".into()),
        }
        Ok(())
    }

    /// Back to a generation of the present start, or as far as anything leads.
    fn went_back(&mut self, to: u64, here: Position, answer: Option<Notice>) -> Outcome {
        let to = self.reference_log.at_generation(here, to);
        let is_reachable = self.is_reachable(to);
        match self.state.moving() {
            Some(moving) if is_reachable => ensure!(moving.target == to, "{:?}", moving.target),
            _ if is_reachable => return Err(format!("{to:?} can be had")),
            Some(moving) => {
                ensure!(matches!(answer, Some(Notice::Done(_))), "{answer:?}");
                let target = moving.target;
                ensure!(to < target && target < here, "{target:?} for {to:?}");
                let older = self
                    .positions()
                    .into_iter()
                    .find(|&older| older >= to && older < target && self.is_reachable(older));
                ensure!(older.is_none(), "{older:?} is older than {target:?}");
            }
            None => {
                ensure!(matches!(answer, Some(Notice::Refused(_))), "{answer:?}");
                let older = self.positions().into_iter().find(|&older| {
                    older >= to && older < here && older.generation < here.generation
                });
                ensure!(older.is_none(), "{older:?} can be had");
            }
        }
        Ok(())
    }

    fn apply(&mut self) -> Outcome {
        self.reference_log.first = self.state.log.base().records;
        let at = self.state.position;
        ensure!(self.reference_log.is_due(at), "nothing is due");
        let item = &self.reference_log.items[at.records as usize];
        let (content, author) = (item.content.clone(), item.author);
        let begins = self.reference_log.undo(Position {
            records: at.records + 1,
            ..at
        });
        if author == Author::Person && !self.is_moving() {
            // Whoever did it can undo it.
            let begins = begins.is_some_and(|back| back.to == at);
            let is_here = |from: &Position| from.generation == at.generation;
            let mut snapshots = self.positions().into_iter().filter(is_here);
            let reachable = snapshots.any(|from| self.reference_log.leads(from, at));
            let is_start = self.is_reachable_from_start(at);
            ensure!(
                !begins || reachable || is_start,
                "no copy is made before an edit"
            );
        }
        match &content {
            Content::Cells { .. } => {}
            Content::Grid { .. } => ensure!(self.whole == Some(at), "not whole"),
            Content::Start(_) | Content::Rule(_) => {
                ensure!(self.rounds_under_way == 0, "a change of all while it steps");
            }
        }
        if self.fails(40) {
            self.lose();
            return Ok(());
        }
        let mut parameters = self.reference_log.parameters(at.records).clone();
        let refused = self.fails(40);
        let Some(device) = &mut self.device else {
            return Err("the cells are lost".into());
        };
        if let Content::Cells {
            instance,
            cells: CellChange::Edit(change),
        } = &content
            && let Change::Flip { .. } | Change::Rotate { .. } = change
            && *instance < device.len()
        {
            ensure!(
                self.known == Some((*instance, at)),
                "cells that the host does not know"
            );
        }
        let before = device.clone();
        if !refused {
            apply(&content, &mut parameters, device);
        } else {
            if self.is_moving() {
                self.by_hand = None;
            }
            self.state.cannot_apply();
            self.goes_elsewhere();
            self.reference_log.discard_from(at.records);
            self.undo = None;
            self.redone = None;
            self.log_changed();
            return self.reference_log.check(&self.state.log);
        }
        self.rule = parameters.rule;
        if let Content::Grid { .. } = content {
            self.whole = None;
            self.snapshots.retain(|copy| !copy.is_under_way);
        }
        if let Content::Cells { instance, .. } = content
            && self.known == Some((instance, at))
        {
            let inverse = Inverse::Lattice(before[instance].clone());
            self.state.log.set_inverse(at.records, inverse);
            self.reference_log.items[at.records as usize].has_inverse = true;
        }
        let runs_to = matches!(self.state.mode, Mode::RunningTo(_));
        self.state.applied();
        if let (Content::Start(_), true) = (&content, runs_to) {
            ensure!(
                self.state.mode == Mode::Paused,
                "a run to a generation of another start"
            );
        }
        let here = self.state.position;
        self.known = self
            .known
            .filter(|_| matches!(content, Content::Cells { .. }));
        self.known = self
            .known
            .filter(|known| known.1 == at)
            .map(|(i, _)| (i, here));
        self.is_stale = true;
        self.log_changed();
        Ok(())
    }

    fn is_reachable_from_start(&self, to: Position) -> bool {
        let log = &self.state.log;
        let start = self.reference_log.start_of(to);
        let can_be_made = start > log.base() || log.base_is_start() && start == log.base();
        can_be_made && start.generation == to.generation && self.reference_log.leads(start, to)
    }

    fn round(&mut self, generations: u32) -> Outcome {
        let here = self.state.position;
        let is_moving = self.is_moving();
        ensure!(generations > 0, "a round of nothing");
        ensure!(self.rounds_under_way < 2, "no room");
        let is_due = self.reference_log.is_due(here);
        let at_target = self
            .state
            .moving()
            .is_some_and(|it| here.records == it.target.records);
        ensure!(!is_due || at_target, "a round before a change");
        let end = here.generation + u64::from(generations);
        ensure!(
            self.reference_log
                .next_at(here)
                .is_none_or(|next| end <= next),
            "a round past a change"
        );
        match &self.state.mode {
            Mode::Moving(moving) => {
                ensure!(moving.begun, "a round before it began");
                ensure!(
                    !at_target || end <= moving.target.generation,
                    "a round past the target"
                );
            }
            Mode::RunningTo(run_to) => ensure!(end <= run_to.generation, "a round past the end"),
            Mode::Paused => return Err("a round while it pauses".into()),
            Mode::Running | Mode::Stepping(_) => {}
        }
        if self.fails(60) {
            self.lose();
            return Ok(());
        }
        ensure!(generations <= self.longest_round, "a round too long");
        let Some(device) = &mut self.device else {
            return Err("the cells are lost".into());
        };
        step(device, self.rule, generations.into());
        let mode = self.state.mode.clone();
        self.state.stepped(generations, self.now);
        self.rounds_under_way += 1;
        self.is_stale = true;
        ensure!(self.state.position.generation == end, "the clock");
        if is_moving {
            return Ok(());
        }
        if let Some((_, made)) = &mut self.by_hand {
            *made += u64::from(generations);
        }
        if self.of_round == 0 || mode != Mode::Running {
            self.of_round = 0;
            self.begun_as = mode.clone();
        }
        self.of_round += generations;
        if self.state.round_left.is_some() {
            return Ok(());
        }
        self.rounds += 1;
        let whole = std::mem::take(&mut self.of_round);
        if let (Mode::Running, Mode::Running) = (&self.begun_as, &mode) {
            let per_round = self.state.generations_per_round;
            let is_cut = self.reference_log.next_at(self.state.position) == Some(end);
            ensure!(
                whole == per_round || is_cut && whole < per_round,
                "a round of {whole}"
            );
        }
        if let (Mode::Stepping(_), Mode::Paused, Some((requested, made))) = (
            mode.clone(),
            &self.state.mode,
            self.by_hand.take_if(|_| self.state.mode == Mode::Paused),
        ) {
            ensure!(requested == made, "{made} steps, not {requested}");
        }
        if let (Mode::RunningTo(run_to), Mode::Paused) = (mode, &self.state.mode) {
            ensure!(
                self.state.position.generation == run_to.generation,
                "short of the end"
            );
        }
        Ok(())
    }

    fn copy(&mut self, why: SnapshotReason) -> Outcome {
        if self.fails(60) {
            self.lose();
            return Ok(());
        }
        let Some(device) = &self.device else {
            return Err("a copy of cells that are lost".into());
        };
        let position = self.state.position;
        self.snapshots
            .retain(|copy| copy.position != position || copy.is_under_way);
        self.snapshots.push(TakenSnapshot {
            position,
            cells: device.clone(),
            why,
            is_under_way: true,
            is_void: false,
        });
        self.is_stale = false;
        if why == SnapshotReason::Landmark {
            if self.is_moving() {
                self.state.passed_waypoint()
            } else {
                self.landmark = Some(position)
            }
        }
        let target = self.state.moving().map_or(position, |moving| moving.target);
        let is_moving = self.is_moving();
        let waits = |waiter: &&mut Waiter| {
            waiter.begun.is_none() && (waiter.why == SnapshotReason::AllCells || !is_moving)
        };
        for waiter in self.waiters.iter_mut().filter(waits) {
            // Whoever saves gets where it moves to, and cells from which that follows.
            let wanted = waiter.target;
            waiter.begun = Some(position);
            if let SnapshotReason::AllCells = waiter.why {
                let route = self.state.log.route(None, [position].into_iter(), target);
                let leads = route.is_some_and(|it| {
                    it.source == Source::Snapshot(position) || it.generations == 0
                });
                ensure!(leads, "no way from the saved cells");
                let is_it = wanted == target || waiter.is_late && target > wanted;
                ensure!(is_it, "saved elsewhere: {target:?}, not {wanted:?}");
            } else {
                // What was lost comes back with what was asked for meanwhile.
                let is_it = wanted == position || waiter.is_late && position > wanted;
                ensure!(is_it, "a copy of {position:?}, not {wanted:?}");
            }
        }
        Ok(())
    }

    fn restore(&mut self) -> Outcome {
        let Some(target) = self.state.moving().map(|moving| moving.target) else {
            return Err("nothing moves".into());
        };
        let snapshots = self.positions();
        if self.fails(30) {
            self.device = None;
            self.lose();
            return Ok(());
        }
        let route = self.state.route(&snapshots, target);
        ensure!(
            route.is_some() == self.is_reachable(target),
            "a way that is none: {route:?}"
        );
        let Some(route) = route else {
            return self.handle_unreachable_target(&snapshots);
        };
        let (from, mut cells) = match route.source {
            Source::Here => (self.state.position, self.device.clone().unwrap()),
            Source::Start(at) => (at, start_cells(self.reference_log.parameters(at.records))),
            Source::Snapshot(at) => {
                let copy = self
                    .snapshots
                    .iter()
                    .find(|copy| copy.position == at && !copy.is_void);
                (at, copy.unwrap().cells.clone())
            }
        };
        let begin = Position {
            records: from.records - route.inverses,
            ..from
        };
        for at in (begin.records..from.records).rev() {
            let record = self.state.log.record(at).unwrap();
            if let (Content::Cells { instance, .. }, Some(Inverse::Lattice(before))) =
                (&record.content, &record.inverse)
            {
                cells[*instance] = before.clone();
            }
        }
        self.rule = self.reference_log.parameters(begin.records).rule;
        self.device = Some(cells);
        self.redone = None;
        self.state.restored(begin);
        self.known = None;
        self.is_stale = true;
        self.log_changed();
        Ok(())
    }

    fn handle_unreachable_target(&mut self, snapshots: &[Position]) -> Outcome {
        let was_known = self.state.cells_known;
        let answer = self.state.handle_unreachable_target(snapshots);
        if let Some(end) = self.redone.take() {
            self.reference_log.redo_failed(end);
        }
        self.reference_log.check(&self.state.log)?;
        self.undo = None;
        self.goes_elsewhere();
        self.of_round = 0;
        self.log_changed();
        if was_known {
            self.by_hand = None;
            ensure!(self.state.mode == Mode::Paused, "{:?}", self.state.mode);
        }
        if answer.is_none() {
            let base = self.state.log.base();
            let any = self
                .positions()
                .into_iter()
                .find(|&at| self.reference_log.contains(at) && at >= base);
            ensure!(any.is_none(), "it ends though there is a copy of {any:?}");
            self.has_ended = true;
        }
        Ok(())
    }

    fn arrive(&mut self) -> Outcome {
        let Some(moving) = self.state.moving().cloned() else {
            return Err("nothing moves".into());
        };
        ensure!(
            self.state.position == moving.target,
            "at {:?}",
            self.state.position
        );
        let answer = self.state.arrived(self.now);
        if let Some(back) = self.undo.take() {
            ensure!(matches!(answer, Some(Notice::Done(_))), "{answer:?}");
            self.reference_log.undid(back);
        }
        ensure!(!self.is_moving(), "it moves on");
        self.log_changed();
        self.reference_log.check(&self.state.log)
    }

    /// The device is lost, and with it what was on its way.
    fn lose(&mut self) {
        self.device = None;
        self.rounds_under_way = 0;
        self.known = None;
        let is_forgetful = self.is_forgetful && self.chance(3);
        self.snapshots
            .retain(|copy| !copy.is_under_way && !is_forgetful);
        self.state.lost_cells();
        let target = self.state.moving().map(|moving| moving.target);
        for waiter in &mut self.waiters {
            waiter.begun = None;
            waiter.is_late = true;
            waiter.target = target.unwrap_or(self.state.position);
        }
    }

    /// Asks for something, whatever it is.
    pub(super) fn ask_something(&mut self) {
        let here = self.state.position;
        let parameters = self
            .reference_log
            .parameters(self.reference_log.end())
            .clone();
        let instance = self.choices.below(parameters.instances as u64) as usize;
        let base = self.reference_log.parameters(0).size;
        let request = match self.choices.below(30) {
            0 | 1 => Request::TogglePause,
            2..8 => {
                let (change, continues_stroke) =
                    (draw(&mut self.choices, base), self.choices.below(3) > 0);
                self.edit(instance, change, continues_stroke)
            }
            8 => {
                let change = self.fill(base);
                self.edit(instance, change, false)
            }
            9 => {
                let area = self.area(base);
                let change = match self.choices.below(3) {
                    0 => Change::Flip {
                        area,
                        horizontal: true,
                    },
                    1 => Change::Rotate {
                        area,
                        clockwise: true,
                    },
                    _ => Change::Clear(area),
                };
                self.edit(instance, change, false)
            }
            10 | 11 => Request::Step(1 + self.choices.below(20) as u32),
            12 | 13 => Request::StepBack(1 + self.choices.below(20)),
            14 => Request::RunTo(self.choices.below(here.generation + 30)),
            15 => {
                let far = [20, 20, 20, 200][self.choices.below(4) as usize];
                Request::RunTo(here.generation + self.choices.below(far))
            }
            16..19 => Request::Undo,
            19 | 20 => Request::Redo,
            21 => Request::ResetPanel(instance),
            22 => match self.choices.below(2) {
                0 => Request::Begin(Start::Soup {
                    density: 0.4,
                    seed: self.choices.unlike_any_other(),
                }),
                _ => Request::Begin(lattices(&mut self.choices, base, parameters.instances)),
            },
            23 => Request::Reseed {
                instance,
                density: 0.4,
                seed: self.choices.unlike_any_other(),
            },
            24 => Request::SetRule(rule(self.choices.below(5))),
            25 => {
                let more = [0, 1, 3][self.choices.below(3) as usize];
                let (width, height) = (parameters.size.width(), parameters.size.height());
                let place = match self.choices.below(2) {
                    0 => None,
                    _ => Some((0, draw(&mut self.choices, base))),
                };
                Request::SetGrid {
                    size: size(u64::from(width) + more, u64::from(height) + more),
                    instances: 1 + self.choices.below(4) as usize,
                    place,
                }
            }
            26 => Request::ReadCells,
            27 => Request::Save,
            28 => match self.choices.below(2) {
                0 => Request::EngineIdle,
                _ => Request::AllCellsOnHost,
            },
            _ => Request::PauseForLesson(self.choices.below(2) == 0),
        };
        self.enqueue(request);
    }

    fn edit(&self, instance: usize, change: Change, continues_stroke: bool) -> Request {
        let edit = Edit {
            instance,
            change,
            continues_stroke,
        };
        Request::Edit(edit, self.next_number + 1)
    }

    fn area(&mut self, of: Size) -> Area {
        let (width, height) = (u64::from(of.width()), u64::from(of.height()));
        Area {
            x: self.choices.below(width) as u32,
            y: self.choices.below(height) as u32,
            size: size(
                1 + self.choices.below(width),
                1 + self.choices.below(height),
            ),
        }
    }

    fn fill(&mut self, of: Size) -> Change {
        Change::Fill {
            area: self.area(of),
            density: 0.5,
            seed: self.choices.unlike_any_other(),
        }
    }
}

/// Whether the lattices of a request exist, and none would shrink.
fn allows(now: &SessionParameters, request: &Request) -> bool {
    match request {
        Request::Edit(edit, _) => edit.instance < now.instances,
        Request::ResetPanel(instance) | Request::Reseed { instance, .. } => {
            *instance < now.instances
        }
        Request::SetGrid {
            size,
            instances,
            place,
        } => {
            let place = place.as_ref();
            size.width() >= now.size.width()
                && size.height() >= now.size.height()
                && place.is_none_or(|(instance, _)| instance < instances)
        }
        _ => true,
    }
}

fn draw(choices: &mut Choices, size: Size) -> Change {
    let (width, height) = (u64::from(size.width()), u64::from(size.height()));
    let cell = |choices: &mut Choices| [choices.below(width) as u32, choices.below(height) as u32];
    let cells = [cell(choices), cell(choices), cell(choices)];
    Change::Draw {
        cells: cells.into(),
        alive: choices.below(3) < 2,
    }
}

fn lattices(choices: &mut Choices, size: Size, count: usize) -> Start {
    let seed = choices.unlike_any_other();
    let lattice = |i| noise(size, seed << 8 | i as u64);
    Start::Lattices {
        lattices: (0..count).map(lattice).collect(),
        generation: choices.below(9),
    }
}
