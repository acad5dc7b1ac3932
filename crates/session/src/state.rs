//! The session's state: what it is doing, where it stands and what waits, without an engine, a
//! thread or a clock.
//!
//! Commands wait in one [`queue`](State::queue) and are taken in order. Each that changes cells or time
//! is a method here, which adds records to the log or sets another [`Mode`], and returns a notice for the
//! user, if any. The worker decides what to do now, does it and reports back
//! ([`State::stepped`], [`State::applied`], [`State::restored`], [`State::arrived`]). So the log has
//! every edit even if the work fails, and the position says which edits the cells contain.

use crate::command::{Command, Notice, refuse};
use crate::copies::{Copies, SavedTimeline, Snapshot};
use crate::log::{
    Author, CellChange, Content, Log, Position, Record, Route, SessionParameters, Undo,
};
use crate::{Edit, Pace, Setup, Start};
use lang::message;
use life::{Lattice, Size, counted_lattices, grouped};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Generations from the snapshot made during a move back to the move's target: a user who steps back
/// once often steps back again.
const WAYPOINT_DISTANCE: u64 = 64;

/// Duration that rounds of a run or a move are fitted to: long enough to be fast, short enough to
/// show progress.
const CHUNK_TIME: Duration = Duration::from_millis(16);

/// What the session is doing.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Mode {
    /// Nothing steps.
    Paused,
    /// Rounds follow one another at the pace.
    Running,
    /// One round of this many generations, stepped by hand; then it pauses.
    Stepping(u32),
    /// Rounds as fast as possible up to a generation; then it pauses.
    RunningTo(RunTo),
    /// Restores a snapshot and steps from there to a position.
    Moving(Box<Move>),
}

/// A run to a generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RunTo {
    /// The generation at which it ends.
    pub generation: u64,
    /// Generations per round; grows while rounds are short.
    pub chunk: u32,
    /// Whether the user chose a kernel since it began, which it leaves then.
    pub keeps_kernel: bool,
}

/// A move to a position.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Move {
    /// Its end.
    pub target: Position,
    /// What it is for.
    pub purpose: MoveReason,
    /// The mode after it.
    then: Mode,
    /// Since when it is under way.
    pub since: Option<Instant>,
    /// Whether the cells at the start of its route were set.
    pub begun: bool,
    /// Generations per round on the way.
    pub chunk: u32,
    /// Generations to step in all.
    pub total: u64,
    /// The generation at which a snapshot is made on the way.
    pub waypoint: Option<u64>,
}

/// Why a session moves to a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MoveReason {
    /// The user went back in time.
    Back {
        /// Whether the generation was entered: then the arrival is announced.
        is_entered: bool,
    },
    /// The user undid an edit.
    Undo {
        /// The position before the undo.
        from: Position,
        /// The undo.
        undo: Undo,
    },
    /// The user redid an undone edit.
    Redo,
    /// The cells were lost, with the device or by a submission that failed midway.
    Recovery,
    /// A saved session is continued.
    Opening,
}

/// The state of a session; see the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// What the session is doing.
    pub mode: Mode,
    pub log: Log,
    /// The position of the cells, or the last one if they are lost.
    pub position: Position,
    /// Copies of all lattices along the log.
    pub copies: Copies,
    /// Whether the cells on the device are those of the position.
    pub cells_known: bool,
    /// The commands that wait.
    pub queue: VecDeque<Command>,
    /// How long rounds are while running or stepping by hand, and when the next one is due.
    pub pacing: Pacing,
    /// Rounds issued since the session began.
    pub rounds: u64,
    /// The session pauses after this many rounds.
    pub max_rounds: Option<u64>,
    /// New pictures are wanted even if nothing steps.
    pub wants_pictures: bool,
    /// The mode before a lesson paused the session.
    before_lesson: Option<Mode>,
    /// The number of the last edit that was applied or refused.
    pub last_edit: u64,
    /// The log before a redo, until the cells are set for the log after it.
    before_redo: Option<Box<Log>>,
}

impl State {
    /// A running session at the beginning of a log. Copies and log may take `budget` bytes.
    pub(crate) fn new(log: Log, budget: u64, pacing: Pacing, rounds: Option<u64>) -> State {
        State {
            mode: match rounds {
                Some(0) => Mode::Paused,
                _ => Mode::Running,
            },
            position: log.begin,
            log,
            copies: Copies::new(budget),
            cells_known: true,
            queue: VecDeque::new(),
            pacing,
            rounds: 0,
            max_rounds: rounds,
            wants_pictures: true,
            before_lesson: None,
            last_edit: 0,
            before_redo: None,
        }
    }

    /// Whether all rounds that were asked for are issued.
    pub(crate) fn has_all_rounds(&self) -> bool {
        self.max_rounds.is_some_and(|rounds| self.rounds >= rounds)
    }

    /// Notes that an edit was applied or refused.
    pub(crate) fn edit_done(&mut self, number: u64) {
        self.last_edit = self.last_edit.max(number);
    }

    /// Discards records before the oldest position that can be reached, and those that take more
    /// than `budget` bytes.
    pub(crate) fn discard_unreachable(&mut self, budget: u64) {
        if let Some(oldest) = self.oldest_reachable() {
            self.log.discard_before(oldest);
        }
        self.log
            .discard_beyond(budget, self.position, self.copies.positions());
        self.drop_void();
    }

    /// Drops copies of positions that are not on the log.
    pub(crate) fn drop_void(&mut self) {
        self.copies.retain(|position| self.log.contains(position));
    }

    /// Adds a copy. Returns whether it alone fits into the budget beside the log.
    pub(crate) fn add_copy(&mut self, copy: Snapshot) -> bool {
        self.copies.pinned = self.log.comparison();
        self.copies.add(copy, self.log.bytes())
    }

    /// The position that is saved: during a move its end, since the way there follows from the log. While a
    /// comparison of A and B is redone and the lattices before it are not copied yet, it is the position
    /// before the comparison, since leaving that needs the copy.
    pub(crate) fn saved_position(&self) -> Position {
        let moving = self.moving();
        let target = moving.map_or(self.position, |moving| moving.target);
        let begun = self.log.comparison();
        let is_copied = |at: &Position| self.copies.get(*at).is_some();
        begun.map_or(target, |at| {
            if is_copied(&at) {
                target
            } else {
                target.min(at)
            }
        })
    }

    /// The newest copy that leads to the position that is saved, or that of the start.
    pub(crate) fn last_copy(&self) -> Option<Snapshot> {
        let (log, limit) = (&self.log, self.saved_position());
        let copies = self.copies.iter().rev();
        let newest = copies.into_iter().find(|copy| copy.position <= limit);
        if newest.is_some() || !log.is_start {
            return newest.cloned();
        }
        let parameters = &log.base;
        let all = (0..parameters.instances).map(|i| parameters.start_lattice(i));
        let all = all.collect::<Result<Vec<_>, _>>().ok()?;
        Snapshot::new(log.begin, &all).ok()
    }

    /// What is saved: with the newest copy that leads there, the one before A and B were
    /// compared, and the one that the log then begins with, unless that is a start; `None` if nothing leads
    /// there. An undo on its way there takes the records after it off the log.
    pub(crate) fn saved(&self) -> Option<SavedTimeline> {
        let position = self.saved_position();
        let mut log = self.log.clone();
        let takes_off = |moving: &Move| {
            let undo = Undo::Before(moving.target);
            matches!(moving.purpose, MoveReason::Undo { undo: it, .. } if it == undo)
        };
        if self.moving().is_some_and(takes_off) {
            log.discard_from(position.records);
        }
        let leads = |at: &Position| *at <= position && log.contains(*at);
        let leading: Vec<Position> = self.copies.positions().filter(leads).collect();
        let mut needed = vec![log.comparison(), leading.last().copied()];
        if !log.is_start {
            let oldest = *leading.first()?;
            log.discard_before(oldest);
            needed.push(Some(oldest));
        }
        let is_needed =
            |copy: &&Snapshot| copy.position <= position && needed.contains(&Some(copy.position));
        let copies = self.copies.iter().filter(is_needed).cloned().collect();
        Some(SavedTimeline {
            log,
            position,
            copies,
        })
    }

    /// The log changes after a position: copies of later ones are void.
    fn drop_copies_after(&mut self, position: Position) {
        self.copies.retain(|at| at <= position);
    }

    /// Adds a record at the present position, where it is due.
    fn push(&mut self, author: Author, content: Content, continues_stroke: bool) -> Position {
        if self.has_records_ahead() {
            self.drop_copies_after(self.position);
        }
        self.log
            .push(self.position, author, content, continues_stroke)
    }

    /// Whether rounds follow one another, or will after the move under way.
    pub(crate) fn is_running(&self) -> bool {
        match &self.mode {
            Mode::Running | Mode::RunningTo(_) => true,
            Mode::Moving(moving) => matches!(moving.then, Mode::Running | Mode::RunningTo(_)),
            Mode::Paused | Mode::Stepping(_) => false,
        }
    }

    /// Whether lattices are stepping or about to.
    pub(crate) fn is_at_work(&self) -> bool {
        self.mode != Mode::Paused
    }

    /// The move under way.
    pub(crate) fn moving(&self) -> Option<&Move> {
        match &self.mode {
            Mode::Moving(moving) => Some(moving),
            _ => None,
        }
    }

    /// The finished part of a move, from 0 to 1.
    pub(crate) fn progress(&self) -> Option<f64> {
        let moving = self.moving().filter(|moving| moving.begun)?;
        let here = Some(self.position);
        let left = self.log.route(here, std::iter::empty(), moving.target)?;
        let done = moving.total.saturating_sub(left.generations);
        Some(done as f64 / moving.total.max(1) as f64)
    }

    /// Everything about the session at its position except its cells.
    pub(crate) fn parameters(&self) -> SessionParameters {
        self.log.parameters(self.position.records)
    }

    /// Changes a lattice, on behalf of a person.
    pub(crate) fn edit(&mut self, edit: &Edit, number: u64) -> Option<Notice> {
        if let Some(why) = self.missing(edit.instance) {
            return Some(why);
        }
        let content = Content::Cells {
            instance: edit.instance,
            cells: CellChange::Edit(edit.change.clone()),
        };
        let other = self.leave_run_to();
        self.push(Author::Person, content, edit.continues_stroke);
        self.log.number_last(number);
        other
    }

    /// Changes an instance's cells, on behalf of the user.
    pub(crate) fn change_cells(&mut self, instance: usize, cells: CellChange) -> Option<Notice> {
        self.missing(instance)
            .or_else(|| self.change(Author::Person, Content::Cells { instance, cells }))
    }

    /// Fills an instance with a soup, on behalf of the program.
    pub(crate) fn reseed(&mut self, instance: usize, cells: CellChange) -> Option<Notice> {
        self.change(Author::Program, Content::Cells { instance, cells })
    }

    /// Begins anew at a generation and pauses, with this lattice in place of an instance's among these
    /// of the position.
    pub(crate) fn open_pattern(
        &mut self,
        instance: usize,
        lattice: Arc<Lattice>,
        generation: u64,
        mut lattices: Vec<Arc<Lattice>>,
    ) -> Option<Notice> {
        if let Some(why) = self.missing(instance) {
            return Some(why);
        }
        let (now, size) = (self.parameters(), lattice.size());
        for at in now.instances_of(instance) {
            lattices[at] = lattice.clone();
        }
        let start = Content::Start(Start::Lattices {
            lattices,
            generation,
        });
        let other = self.leave_run_to();
        self.begin_anew(Mode::Paused);
        if size == now.size {
            self.push(Author::Person, start, false);
        } else {
            let instances = now.instances;
            let after = self.push(Author::Person, Content::Grid { size, instances }, false);
            self.log.push_joined(after, Author::Person, start);
        }
        other
    }

    /// Begins with the next soup, of this density in thousandths if there is one.
    pub(crate) fn new_seed(&mut self, thousandths: Option<u16>) -> Option<Notice> {
        let density = thousandths.map(|it| f64::from(it.min(1000)) / 1e3);
        let start = self.parameters().start.next_soup(density);
        self.change(Author::Person, Content::Start(start))
    }

    /// Sets the number of instances, found from the present one.
    pub(crate) fn set_instances(&mut self, other: impl FnOnce(usize) -> usize) -> Option<Notice> {
        let now = self.parameters();
        let count = other(now.instances);
        let refused = if now.compares {
            message!("The number of instances stays while A and B are compared; key B ends that")
        } else if !(1..=Setup::MAX_INSTANCES).contains(&count) {
            message!("Take 1 to {most} instances", most = Setup::MAX_INSTANCES)
        } else if count == now.instances {
            message!("There are {count} already", count = counted_lattices(count))
        } else {
            let (size, instances) = (now.size, count);
            return self.change(Author::Person, Content::Grid { size, instances });
        };
        refuse(refused)
    }

    /// Sets the size of every lattice.
    pub(crate) fn set_size(&mut self, size: Size) -> Option<Notice> {
        let now = self.parameters();
        if size == now.size {
            let why = message!("The lattices are {size} already");
            return refuse(why);
        }
        let instances = now.instances;
        self.change(Author::Person, Content::Grid { size, instances })
    }

    /// The refusal of a change of an instance that an earlier command has taken away.
    fn missing(&self, instance: usize) -> Option<Notice> {
        let is_gone = instance >= self.parameters().instances;
        let number = instance + 1;
        is_gone.then(|| Notice::Refused(message!("Panel {number} no longer exists")))
    }

    /// Whether the program may refill an instance: it is there, nobody drew in it, nothing is compared,
    /// and no records ahead say what happens.
    pub(crate) fn may_reseed(&self, instance: usize) -> bool {
        let parameters = self.parameters();
        instance < parameters.instances
            && !parameters.drawn.contains(&instance)
            && !parameters.compares
            && !self.has_records_ahead()
    }

    /// Goes on in another mode; ends what was begun before: a lesson's pause, and a number of rounds that was
    /// asked for.
    fn begin_anew(&mut self, mode: Mode) {
        self.mode = mode;
        self.before_lesson = None;
        self.max_rounds = None;
    }

    /// Steps by hand.
    pub(crate) fn step(&mut self, generations: u32) {
        self.begin_anew(Mode::Stepping(generations));
    }

    pub(crate) fn change(&mut self, author: Author, content: Content) -> Option<Notice> {
        let other = self.leave_run_to();
        self.push(author, content, false);
        other
    }

    /// Ends a run to a generation, also one that a lesson paused, because cells are changed.
    fn leave_run_to(&mut self) -> Option<Notice> {
        let modes = std::iter::once(&self.mode).chain(&self.before_lesson);
        let generation = modes.into_iter().find_map(|mode| match mode {
            Mode::RunningTo(run_to) => Some(run_to.generation),
            _ => None,
        })?;
        self.mode = Mode::Paused;
        self.before_lesson = None;
        Some(Notice::Done(message!(
            "Stopped before generation {generation}: the cells were changed"
        )))
    }

    /// Pauses or goes on.
    pub(crate) fn toggle_pause(&mut self, now: Instant) -> Option<Notice> {
        self.before_lesson = None;
        self.pacing.due = now;
        self.pacing.left = None; // a pause ends a long round
        let (mode, answer) = match &self.mode {
            Mode::Paused | Mode::Stepping(_) => (Mode::Running, None),
            Mode::Running | Mode::RunningTo(_) => (Mode::Paused, None),
            // Lost cells must be restored, and a move that is at its end cannot be stopped: the command applies
            // to the mode after the move.
            Mode::Moving(moving) if !moving.begun || self.position >= moving.target => {
                let mut moving = moving.clone();
                moving.then = match moving.then {
                    Mode::Running | Mode::RunningTo(_) => Mode::Paused,
                    _ => Mode::Running,
                };
                (Mode::Moving(moving), None)
            }
            Mode::Moving(moving) => {
                let (now, target) = (self.position.generation, moving.target.generation);
                let told = message!("Stopped at generation {now}, on the way to {target}");
                (Mode::Paused, Some(Notice::Done(told)))
            }
        };
        self.mode = mode;
        if self.is_running() && self.has_all_rounds() {
            self.max_rounds = None; // all of them are done; the user wants more
        }
        answer
    }

    /// Pauses for a lesson, or goes on after it if nobody has paused or stepped meanwhile.
    pub(crate) fn pause_for_lesson(&mut self, pause: bool, now: Instant) {
        let here = self.position.generation;
        // The present mode, or the mode after the move.
        let mode = match &mut self.mode {
            Mode::Moving(moving) => &mut moving.then,
            mode => mode,
        };
        match (pause, &mode) {
            (true, Mode::Running | Mode::RunningTo(_)) => {
                self.before_lesson = Some(std::mem::replace(mode, Mode::Paused));
            }
            (false, Mode::Paused) => {
                if let Some(before) = self.before_lesson.take() {
                    let is_over = |run_to: &RunTo| run_to.generation <= here;
                    *mode = match before {
                        Mode::RunningTo(run_to) if is_over(&run_to) => Mode::Paused,
                        other => other,
                    };
                    self.pacing.due = now;
                }
            }
            _ => {}
        }
    }

    /// Begins a move, if a route leads there.
    fn move_to(&mut self, target: Position, purpose: MoveReason) -> bool {
        let route = self.route(target);
        if route.is_some() {
            self.begin_move(target, purpose, Mode::Paused);
        }
        route.is_some()
    }

    /// Goes back to where the comparison of A and B began, and takes it and all that came after it off the log.
    /// Rounds go on there if they do now.
    pub(crate) fn end_comparison(&mut self) {
        let Some(begin) = self.log.comparison() else {
            return;
        };
        let (from, undo) = (self.position, Undo::Before(begin));
        let then = match self.mode {
            Mode::Running => Mode::Running,
            _ => Mode::Paused,
        };
        self.begin_move(begin, MoveReason::Undo { from, undo }, then);
    }

    /// Notes since when a move is under way.
    pub(crate) fn time_move(&mut self, now: Instant) {
        if let Mode::Moving(moving) = &mut self.mode {
            moving.since.get_or_insert(now);
        }
    }

    /// Begins a move. Its route is found when the worker restores the cells.
    pub(crate) fn begin_move(&mut self, target: Position, purpose: MoveReason, then: Mode) {
        self.mode = Mode::Moving(Box::new(Move {
            target,
            purpose,
            then,
            since: None,
            begun: false,
            chunk: self.pacing.generations(),
            total: 0,
            waypoint: None,
        }));
    }

    /// The shortest route to a position, from the present cells, a snapshot or a start.
    pub(crate) fn route(&self, target: Position) -> Option<Route> {
        self.log
            .route(self.known_position(), self.copies.all_positions(), target)
    }

    /// The oldest position that a route leads to.
    pub(crate) fn oldest_reachable(&self) -> Option<Position> {
        self.log
            .oldest_reachable(self.known_position(), self.copies.all_positions())
    }

    fn known_position(&self) -> Option<Position> {
        self.cells_known.then_some(self.position)
    }

    /// Goes back so many generations, at most to the start in force.
    pub(crate) fn step_back(&mut self, by: u64) -> Option<Notice> {
        self.begin_anew(Mode::Paused);
        let generation = self.start_generation();
        if self.position.generation == generation {
            return Some(Notice::Done(message!(
                "Already at the start (generation {generation}); Ctrl+Z undoes the start"
            )));
        }
        let wanted = self.position.generation.saturating_sub(by);
        self.go_back(wanted.max(generation), false)
    }

    /// The generation of the start in force, which the log may have discarded.
    fn start_generation(&self) -> u64 {
        self.parameters().start.generation()
    }

    /// Goes back to a generation of the start in force, or as far back as a route leads.
    fn go_back(&mut self, generation: u64, is_entered: bool) -> Option<Notice> {
        let reason = MoveReason::Back { is_entered };
        let target = self.log.at_generation(self.position, generation);
        let is_kept = target.generation == generation;
        if is_kept && self.move_to(target, reason) {
            return None;
        }
        let oldest = self.oldest_reachable();
        let oldest = oldest.filter(|&oldest| {
            oldest.generation < self.position.generation
                && self.log.start_of(oldest) == self.log.start_of(self.position)
        });
        match oldest {
            Some(oldest) if self.move_to(oldest, reason) => {
                let generation = oldest.generation;
                Some(Notice::Done(message!(
                    "Generation {generation} is the oldest one kept"
                )))
            }
            _ => refuse(message!(
                "No earlier generation is kept; raise --history-memory"
            )),
        }
    }

    /// Runs to a generation, or goes back to it.
    pub(crate) fn run_to(&mut self, generation: u64) -> Option<Notice> {
        self.begin_anew(Mode::Paused);
        let now = self.position.generation;
        if generation > now {
            self.mode = Mode::RunningTo(RunTo {
                generation,
                chunk: self.pacing.generations(),
                keeps_kernel: false,
            });
            return None;
        }
        let start = self.start_generation();
        match generation {
            _ if generation == now => None,
            before if before < start => refuse(message!(
                "Cannot go back before the start (generation {start})"
            )),
            _ => self.go_back(generation, true),
        }
    }

    /// Undoes the last edit.
    pub(crate) fn undo(&mut self) -> Option<Notice> {
        self.begin_anew(Mode::Paused);
        let Some(undo) = self.log.undo_target(self.position) else {
            return refuse(message!("Nothing to undo"));
        };
        let from = self.position;
        if self.move_to(undo.position(), MoveReason::Undo { from, undo }) {
            return None;
        }
        Some(not_kept(undo.position()))
    }

    /// Brings back what was undone last.
    pub(crate) fn redo(&mut self) -> Option<Notice> {
        self.begin_anew(Mode::Paused);
        let mut log = self.log.clone();
        let Some(position) = log.redo() else {
            return refuse(message!("Nothing to redo"));
        };
        if log
            .route(self.known_position(), self.copies.all_positions(), position)
            .is_none()
        {
            return Some(not_kept(position));
        }
        self.before_redo = Some(Box::new(std::mem::replace(&mut self.log, log)));
        self.begin_move(position, MoveReason::Redo, Mode::Paused);
        None
    }

    /// Notes that the due record was applied.
    pub(crate) fn applied(&mut self) {
        let applied = self.log.record(self.position.records);
        let applied = applied.map(|record| &record.content);
        if let (Some(Content::Start(_)), Mode::RunningTo(_)) = (applied, &self.mode) {
            self.mode = Mode::Paused; // the run was to a generation of the start before
        }
        self.position = self.log.after_next(self.position);
        self.wants_pictures = true;
    }

    /// Takes the due record, which cannot be applied, and all later ones off the log. Ends a move:
    /// it would lead past that record.
    pub(crate) fn cannot_apply(&mut self) {
        if let Mode::Moving(_) = self.mode {
            self.mode = Mode::Paused;
        }
        self.log.discard_from(self.position.records);
        self.drop_copies_after(self.position);
        self.wants_pictures = true;
    }

    /// Notes that a round of this many generations was issued.
    pub(crate) fn stepped(&mut self, generations: u32, now: Instant) {
        self.position.generation += u64::from(generations);
        self.wants_pictures = false; // the round's own pictures are newer
        let whole = match self.mode {
            Mode::Moving(_) => return,
            Mode::Stepping(left) => left,
            Mode::Running => self.pacing.left(),
            Mode::RunningTo(_) | Mode::Paused => generations,
        };
        let left = whole.saturating_sub(generations);
        // A record cuts a round short.
        let is_cut = self.log.generations_to_next(self.position) == Some(0);
        let is_ended = left == 0 || is_cut;
        self.pacing.left = (!is_ended).then_some(left);
        if let Mode::Stepping(_) = self.mode {
            self.mode = match left {
                0 => Mode::Paused,
                left => Mode::Stepping(left),
            };
        }
        if !is_ended {
            return;
        }
        self.rounds += 1;
        match self.mode {
            Mode::Running if self.has_all_rounds() => self.mode = Mode::Paused,
            Mode::Running => self.pacing.keep(now),
            Mode::RunningTo(run_to) if self.position.generation >= run_to.generation => {
                self.mode = Mode::Paused;
            }
            Mode::RunningTo(_) | Mode::Stepping(_) | Mode::Paused | Mode::Moving(_) => {}
        }
    }

    /// Pauses after an error: what failed is not tried again.
    pub(crate) fn halt(&mut self) {
        self.pause_now();
        self.wants_pictures = false;
    }

    /// Pauses at once, also during a move. The cells must be known, or never asked for again.
    pub(crate) fn pause_now(&mut self) {
        self.drop_redo();
        self.mode = Mode::Paused;
    }

    /// Restores the log from before a redo whose cells were not set yet.
    fn drop_redo(&mut self) {
        if let Some(log) = self.before_redo.take() {
            self.log = *log;
        }
    }

    /// Handles a move to whose target no route leads any more. If the cells are known, the move
    /// ends; otherwise it goes to the nearest reachable position. `None` if there is none: the
    /// session cannot continue.
    pub(crate) fn handle_unreachable_target(&mut self) -> Option<Notice> {
        if self.cells_known {
            self.pause_now();
            return refuse(message!(
                "That generation can no longer be reached: its history was discarded"
            ));
        }
        // An edit that cannot be redone stays undone.
        let lost = match (&self.before_redo, self.moving()) {
            (None, Some(moving)) => moving.target,
            _ => self.position,
        };
        self.drop_redo();
        let log = &self.log;
        let target = match self.route(lost) {
            Some(_) => lost,
            None => {
                let all = self.copies.all_positions().chain(log.starts());
                let all = all.filter(|&position| log.contains(position));
                let apart = |position: &Position| (*position < lost, *position);
                all.min_by_key(apart)?
            }
        };
        if let Mode::Moving(moving) = &mut self.mode {
            // It leads elsewhere than the user asked.
            (moving.target, moving.purpose) = (target, MoveReason::Recovery);
        }
        let generation = target.generation;
        Some(Notice::Warning(message!(
            "Only generation {generation} could be restored"
        )))
    }

    /// Fits the generations per round of a run or a move to the time that the last round took.
    pub(crate) fn fit_chunk(&mut self, took: Duration, max: u32) {
        let least = self.pacing.generations();
        let chunk = match &mut self.mode {
            Mode::RunningTo(run_to) => &mut run_to.chunk,
            Mode::Moving(moving) => &mut moving.chunk,
            Mode::Paused | Mode::Running | Mode::Stepping(_) => return,
        };
        if took < CHUNK_TIME {
            *chunk = chunk.saturating_mul(2).min(max.max(least));
        } else if took > 3 * CHUNK_TIME {
            *chunk = (*chunk / 2).max(least);
        }
    }

    /// Notes that the cells were set to those of a position, where a route begins.
    pub(crate) fn restored(&mut self, position: Position) {
        self.position = position;
        self.cells_known = true;
        self.wants_pictures = true;
        self.before_redo = None;
        let Mode::Moving(moving) = &mut self.mode else {
            return;
        };
        moving.begun = true;
        let route = self
            .log
            .route(Some(position), std::iter::empty(), moving.target);
        moving.total = route.map_or(0, |route| route.generations);
        let far = moving.total > 2 * WAYPOINT_DISTANCE
            && matches!(moving.purpose, MoveReason::Back { .. });
        let waypoint = moving.target.generation.saturating_sub(WAYPOINT_DISTANCE);
        moving.waypoint = Some(waypoint).filter(|_| far);
    }

    /// Ends a move at its target. Returns a notice for the user, if any.
    pub(crate) fn arrived(&mut self, now: Instant) -> Option<Notice> {
        let Mode::Moving(moving) = std::mem::replace(&mut self.mode, Mode::Paused) else {
            return None;
        };
        let generation = self.position.generation;
        self.mode = match moving.then {
            Mode::RunningTo(run_to) if run_to.generation <= generation => Mode::Paused,
            then => then,
        };
        self.pacing.due = now;
        self.wants_pictures = true;
        let told = match moving.purpose {
            MoveReason::Back { is_entered: false } | MoveReason::Recovery | MoveReason::Opening => {
                return None;
            }
            MoveReason::Back { is_entered: true } => message!("Back to generation {generation}"),
            MoveReason::Undo { from, undo } => {
                let begun = self.log.comparison();
                let is_of_comparison = begun.is_some_and(|begun| match undo {
                    Undo::After(to) => to == self.log.after_next(begun),
                    Undo::Before(to) => to == begun,
                });
                let number = self.log.commit_undo(from, undo);
                self.edit_done(number);
                if let Undo::Before(position) = undo {
                    self.drop_copies_after(position);
                }
                let generation = grouped(generation);
                match undo {
                    Undo::After(_) if is_of_comparison => {
                        message!(
                            "Back to generation {generation}, where the comparison of A and B began"
                        )
                    }
                    Undo::After(_) => {
                        message!("Back to generation {generation}, just after the last edit")
                    }
                    Undo::Before(_) if is_of_comparison => {
                        message!("The comparison has ended; every lattice is as it was before")
                    }
                    Undo::Before(_) => {
                        message!("Undone: the last edit; at generation {generation}")
                    }
                }
            }
            MoveReason::Redo => message!(
                "Redone: at generation {generation} again",
                generation = grouped(generation)
            ),
        };
        Some(Notice::Done(told))
    }

    /// Notes that the cells are lost: a move restores them, then the present mode continues.
    pub(crate) fn lost_cells(&mut self) {
        self.cells_known = false;
        let mode = std::mem::replace(&mut self.mode, Mode::Paused);
        let position = self.position;
        match mode {
            Mode::Moving(mut moving) => {
                moving.begun = false;
                moving.waypoint = None;
                self.mode = Mode::Moving(moving);
            }
            mode => self.begin_move(position, MoveReason::Recovery, mode),
        }
    }

    /// The record to apply now, if any. A move applies none beyond its target.
    pub(crate) fn due_record(&self) -> Option<&Record> {
        let within = self
            .moving()
            .is_none_or(|moving| self.position.records < moving.target.records);
        self.log.due_record(self.position).filter(|_| within)
    }

    /// Whether the log has records after the present position.
    pub(crate) fn has_records_ahead(&self) -> bool {
        self.log.record(self.position.records).is_some()
    }

    /// Whether a record that is due here is the first of what the user did at once, so that undo leads here.
    pub(crate) fn begins_edit(&self, record: &Record) -> bool {
        let before = self.position.records.checked_sub(1);
        let before = before.and_then(|at| self.log.record(at));
        record.author == Author::Person
            && before.is_none_or(|before| before.entry != record.entry)
            && self.moving().is_none()
    }

    /// Whether the cells of a position can be restored from a snapshot without stepping.
    pub(crate) fn is_at_hand(&self, position: Position) -> bool {
        let route = self.log.route(None, self.copies.all_positions(), position);
        route.is_some_and(|route| route.generations == 0)
    }
}

/// The refusal to go where no copy leads.
fn not_kept(position: Position) -> Notice {
    Notice::Refused(message!(
        "Generation {generation} is no longer kept; raise --history-memory",
        generation = position.generation
    ))
}

// How many generations a round has, and when the next one is due.

/// The length of rounds and their pace.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    pub pace: Pace,
    /// Generations per round that somebody chose; those in use where the pace is not the maximum.
    pub chosen: u32,
    /// Those in use at the maximum pace, which fits them to the time of a frame.
    fitted: Option<u32>,
    /// Whether the user chose a kernel at the maximum pace; it then stays instead of the fastest one.
    pub keeps_kernel: bool,
    /// When the next round is due.
    pub due: Instant,
    /// Generations still to issue of a round that is too long to be issued at once. Such a round is
    /// issued as several, and counted once.
    pub left: Option<u32>,
}

impl Pacing {
    /// Rounds of so many generations, the first one due now.
    pub(crate) fn new(pace: Pace, generations: u32, now: Instant) -> Pacing {
        Pacing {
            pace,
            chosen: generations,
            fitted: (pace == Pace::Maximum).then_some(generations),
            keeps_kernel: false,
            due: now,
            left: None,
        }
    }

    /// Generations per round.
    pub(crate) fn generations(&self) -> u32 {
        self.fitted.unwrap_or(self.chosen)
    }

    /// Generations that are left of the round under way, or a whole round's.
    pub(crate) fn left(&self) -> u32 {
        self.left.unwrap_or(self.generations())
    }

    /// Sets the pace; the next round is due now.
    pub(crate) fn set_pace(&mut self, pace: Pace, now: Instant) {
        self.keeps_kernel &= self.pace == pace;
        self.pace = pace;
        self.fitted = (pace == Pace::Maximum).then_some(self.generations());
        self.due = now;
    }

    /// Chooses the generations per round. Returns whether rounds have them at once: at the maximum pace
    /// they have them once that ends.
    pub(crate) fn choose(&mut self, generations: u32) -> bool {
        self.chosen = generations;
        if self.fitted.is_none() {
            self.left = None;
        }
        self.fitted.is_none()
    }

    /// Fits the generations per round to the time of a frame, at the maximum pace.
    pub(crate) fn fit(&mut self, generations: u32) {
        if let Some(fitted) = &mut self.fitted {
            *fitted = generations;
        }
    }

    /// Sets when the next round is due, at the pace. Delays of more than four periods are not caught up.
    pub(crate) fn keep(&mut self, now: Instant) {
        let period = self.pace.period();
        self.due += period;
        if period.is_zero() || self.due + 4 * period < now {
            self.due = now;
        }
    }
}

/// The generations of the first of the equal rounds, as far as possible, as which a round is issued
/// where rounds have at most `longest` generations.
pub(crate) fn part_of_round(generations: u32, longest: u32) -> u32 {
    let parts = generations.div_ceil(longest.max(1)).max(1);
    generations.div_ceil(parts)
}
