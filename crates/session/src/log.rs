//! The log of a session: everything that changed what its cells become, in order.
//!
//! All instances are at the same generation, the clock. A [`Position`] says where the session
//! stands: how many records have been applied, and which generation the clock shows. Between two
//! records the cells follow from the rule alone, so a position says exactly what the cells are.
//!
//! Moving (a step back, running to a generation) never changes the log: records that lie ahead are
//! applied again when their generation is reached. A new record discards those ahead. Undo goes
//! back in two steps: past a person's last edit it moves to just after that edit; from there it
//! moves to before the edit, which is then taken off the log with everything later.
//!
//! The log has no cells of its own beyond what people drew. Where to start from in order to reach
//! a position is what [`Log::route`] finds, given where copies of all lattices ([`snapshots`]) are.
//!
//! Nothing here knows an engine, a thread or the time.
//!
//! [`snapshots`]: crate::snapshots

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::start::start_lattice;
use engine::WordEdit;
use lang::tr;
use life::{Lattice, MemoryError, Rule, Size, soup};
use model::{Change, Setup, Start};

/// Where a session stands. Positions are ordered as the session passes them.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Position {
    /// Records applied, counted from the session's beginning.
    pub records: u64,
    /// What the clock shows: generations since the last start.
    pub generation: u64,
}

/// Who made a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// A person, who can undo it.
    Person,
    /// The program: a panel that died was filled again.
    Program,
}

/// One change, at one generation. A stroke that is drawn while the session runs is several records
/// of one entry.
#[derive(Clone, Debug)]
pub struct Record {
    /// Records of the same entry are undone together.
    pub entry: u64,
    /// Who made it.
    pub author: Author,
    /// What the clock showed.
    pub generation: u64,
    /// What it did.
    pub content: Content,
    /// What takes it back at the same generation, once the cells before it are known.
    pub inverse: Option<Inverse>,
}

/// What a record does.
#[derive(Clone, Debug)]
pub enum Content {
    /// Every lattice is set to a start, and the clock begins again at the start's generation.
    Start(Start),
    /// Cells of one instance change.
    Cells {
        /// Which instance.
        instance: usize,
        /// How.
        cells: CellChange,
    },
    /// The rule changes.
    Rule(Rule),
    /// The lattices grow, their cells in the middle, or their number changes.
    Grid {
        /// The size of every lattice.
        size: Size,
        /// How many there are. Those added begin as the start in force says.
        instances: usize,
    },
}

/// How the cells of an instance change.
#[derive(Clone, Debug)]
pub enum CellChange {
    /// What a person drew, pasted, filled, flipped or turned.
    Edit(Change),
    /// Back to the instance's lattice of the start in force.
    Start,
    /// A new soup.
    Soup {
        /// The chance of each cell to be alive.
        density: f64,
        /// The seed; the instance picks its own soup of it.
        seed: u64,
    },
}

/// What takes a change of cells back, where nothing was stepped since.
#[derive(Clone, Debug)]
pub enum Inverse {
    /// The cells that were there, where few words were touched.
    Words(Arc<[WordEdit]>),
    /// The whole lattice as it was.
    Lattice(Arc<Lattice>),
}

/// Everything about a session at a position but its cells.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The size of every lattice.
    pub size: Size,
    /// How many lattices there are.
    pub instances: usize,
    /// The rule.
    pub rule: Rule,
    /// The start in force.
    pub start: Start,
    /// Where two settings are compared, the distance from each of A's instances to its
    /// counterpart of B: what happens to one happens to the other, and instances behind both
    /// halves are not stepped.
    pub counterparts: Option<usize>,
    /// Instances whose cells a person drew or opened: the program never fills them again.
    pub drawn: BTreeSet<usize>,
}

impl Scene {
    /// What a session begins with.
    pub fn of(setup: &Setup) -> Scene {
        Scene {
            size: setup.size,
            instances: setup.instances,
            rule: setup.rule,
            start: setup.start.clone(),
            counterparts: None,
            drawn: BTreeSet::new(),
        }
    }

    /// The lattice that an instance has at the start in force; where the lattices have grown
    /// since, in the middle of one of their present size.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn start_lattice(&self, instance: usize) -> Result<Arc<Lattice>, MemoryError> {
        start_lattice(&self.start, self.size, self.instances_of(instance)[0])
    }

    /// The instances that a change of one is for: its counterpart too, where there is one.
    pub fn instances_of(&self, instance: usize) -> Vec<usize> {
        match self.counterparts {
            Some(each) if instance < 2 * each => vec![instance % each, instance % each + each],
            _ => vec![instance],
        }
    }

    /// The instances that rounds step.
    pub fn stepped(&self) -> std::ops::Range<usize> {
        0..self.counterparts.map_or(self.instances, |each| 2 * each)
    }

    /// What a record makes of it.
    fn apply(&mut self, content: &Content) {
        match content {
            Content::Start(start) => {
                self.start = start.clone();
                self.drawn.clear();
            }
            Content::Cells { instance, cells } => {
                let drawn = matches!(cells, CellChange::Edit(_));
                for instance in self.instances_of(*instance) {
                    match drawn {
                        true => self.drawn.insert(instance),
                        false => self.drawn.remove(&instance),
                    };
                }
            }
            Content::Rule(rule) => self.rule = *rule,
            Content::Grid { size, instances } => {
                (self.size, self.instances) = (*size, *instances);
                self.drawn.split_off(instances);
            }
        }
    }
}

/// What an undo leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undo {
    /// To just after a person's last edit; the log stays as it is.
    After(Position),
    /// To before that edit, which is taken off the log on arrival, with everything later.
    Before(Position),
}

impl Undo {
    /// Where it leads.
    pub fn position(self) -> Position {
        match self {
            Undo::After(position) | Undo::Before(position) => position,
        }
    }
}

/// What redo brings back.
#[derive(Clone, Debug)]
enum Undone {
    /// The position that was left for the one just after the last edit.
    Left(Position),
    /// Records that were taken off the log, from `position` on, when the session left `from`.
    Removed {
        from: Position,
        position: Position,
        records: VecDeque<Record>,
    },
}

/// From where, and by what, a position is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// The cells to begin with.
    pub source: Source,
    /// So many records are taken back there by their inverses.
    pub inverses: u64,
    /// So many generations are stepped then.
    pub generations: u64,
}

/// Cells that a route begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Those on the device.
    Here,
    /// The lattices of the start that the record before this position made.
    Start(Position),
    /// The snapshot of this position.
    Snapshot(Position),
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Log {
    /// What was before the first record that is kept.
    base: Scene,
    base_generation: u64,
    /// Whether the base is the beginning of a start, whose lattices can be made anew.
    base_is_start: bool,
    /// The number of the first record that is kept.
    first: u64,
    records: VecDeque<Record>,
    undone: Vec<Undone>,
    next_entry: u64,
    /// The stroke that further segments may join: its entry and its instance.
    stroke: Option<(u64, usize)>,
}

impl Log {
    /// Records beyond which looking through them takes too long between two rounds.
    pub const MAX_RECORDS: u64 = 1 << 16;

    /// A log that begins with a start.
    pub fn new(scene: Scene) -> Log {
        Log {
            base_generation: scene.start.generation(),
            base: scene,
            base_is_start: true,
            first: 0,
            records: VecDeque::new(),
            undone: Vec::new(),
            next_entry: 0,
            stroke: None,
        }
    }

    /// A log whose base is a snapshot rather than a start.
    pub(crate) fn from_snapshot(scene: Scene, position: Position) -> Log {
        Log {
            base_generation: position.generation,
            base_is_start: false,
            first: position.records,
            ..Log::new(scene)
        }
    }

    /// The position before the first record that is kept.
    pub fn base(&self) -> Position {
        Position {
            records: self.first,
            generation: self.base_generation,
        }
    }

    /// What was before the first record that is kept.
    pub fn base_scene(&self) -> &Scene {
        &self.base
    }

    /// Whether the lattices of the base are those of its start.
    pub fn base_is_start(&self) -> bool {
        self.base_is_start
    }

    /// The records that are kept, from the base on.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &Record> + DoubleEndedIterator {
        self.records.iter()
    }

    /// How many records there have been, those that are no longer kept included.
    pub fn end(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// Record number `at`, if it is kept.
    pub fn record(&self, at: u64) -> Option<&Record> {
        let at = at.checked_sub(self.first)?;
        self.records.get(usize::try_from(at).ok()?)
    }

    /// What holds at a position but the cells.
    pub fn scene(&self, records: u64) -> Scene {
        let mut scene = self.base.clone();
        let applied = records.saturating_sub(self.first) as usize;
        for record in self.records.iter().take(applied) {
            scene.apply(&record.content);
        }
        scene
    }

    /// The record to apply at this position before anything is stepped, if there is one.
    pub fn due(&self, here: Position) -> Option<&Record> {
        let next = self.record(here.records)?;
        (next.generation <= here.generation).then_some(next)
    }

    /// How many generations can be stepped from here before a record is due; `None` where none
    /// lies ahead.
    pub(crate) fn generations_to_next(&self, here: Position) -> Option<u64> {
        let next = self.record(here.records)?;
        Some(next.generation.saturating_sub(here.generation))
    }

    /// The position once the next record has been applied.
    pub fn after_next(&self, here: Position) -> Position {
        Position {
            records: here.records + 1,
            generation: self.generation_after(here.records + 1),
        }
    }

    /// What the clock shows once so many records have been applied, before anything is stepped.
    fn generation_after(&self, records: u64) -> u64 {
        match records.checked_sub(1).and_then(|last| self.record(last)) {
            None => self.base_generation,
            Some(Record {
                content: Content::Start(start),
                ..
            }) => start.generation(),
            Some(record) => record.generation,
        }
    }

    /// Whether a session that follows this log passes a position.
    pub fn passes(&self, position: Position) -> bool {
        let before_next = self
            .record(position.records)
            .is_none_or(|next| position.generation <= next.generation);
        (self.first..=self.end()).contains(&position.records)
            && position.generation >= self.generation_after(position.records)
            && before_next
    }

    /// The first position of the start in force at a position.
    pub fn start_of(&self, here: Position) -> Position {
        let is_start = |&at: &u64| {
            let record = self.record(at);
            matches!(
                record.map(|record| &record.content),
                Some(Content::Start(_))
            )
        };
        let records = (self.first..here.records).rev().find(is_start);
        let records = records.map_or(self.first, |at| at + 1);
        Position {
            records,
            generation: self.generation_after(records),
        }
    }

    /// The position of a generation under the start in force here: every record up to that
    /// generation is applied. No earlier than the first position of that start, and no later than
    /// its last: where the clock begins again ahead.
    pub(crate) fn at_generation(&self, here: Position, generation: u64) -> Position {
        let mut position = self.start_of(here);
        position.generation = position.generation.max(generation);
        while let Some(next) = self.record(position.records) {
            if matches!(next.content, Content::Start(_)) {
                position.generation = position.generation.min(next.generation);
                break;
            }
            if next.generation > position.generation {
                break;
            }
            position.records += 1;
        }
        position
    }

    /// Adds a record where the session stands, and answers the position after it. Those ahead are
    /// discarded, and with them what could be redone: snapshots behind `here` are of no use any
    /// more. A segment with `joins` belongs to the stroke before it, if that was of the same
    /// instance.
    pub fn push(
        &mut self,
        here: Position,
        author: Author,
        content: Content,
        joins: bool,
    ) -> Position {
        self.undone.clear();
        self.records
            .truncate(here.records.saturating_sub(self.first) as usize);
        let instance = match &content {
            Content::Cells { instance, .. } => Some(self.base.instances_of(*instance)[0]),
            Content::Start(_) | Content::Rule(_) | Content::Grid { .. } => None,
        };
        let kept_entry = |at: u64| self.records.iter().any(|record| record.entry == at);
        let joined = self
            .stroke
            .filter(|&(entry, of)| joins && Some(of) == instance && kept_entry(entry));
        let entry = joined.map_or(self.next_entry, |(entry, _)| entry);
        self.next_entry = self.next_entry.max(entry + 1);
        if author == Author::Person {
            self.stroke = instance.map(|instance| (entry, instance));
        }
        self.records.push_back(Record {
            entry,
            author,
            generation: here.generation,
            content,
            inverse: None,
        });
        self.after_next(here)
    }

    /// Adds a record to the entry before it, whatever that was: both are undone together.
    pub(crate) fn push_joined(
        &mut self,
        here: Position,
        author: Author,
        content: Content,
    ) -> Position {
        let entry = here.records.checked_sub(1).and_then(|at| self.record(at));
        let entry = entry.map(|record| record.entry);
        let after = self.push(here, author, content, false);
        if let (Some(entry), Some(record)) = (entry, self.records.back_mut()) {
            record.entry = entry;
            if let Some((stroke, _)) = &mut self.stroke
                && author == Author::Person
            {
                *stroke = entry;
            }
        }
        after
    }

    /// Takes records off that cannot be applied, from number `at` on: what was undone behind them
    /// cannot be redone either.
    pub(crate) fn discard_from(&mut self, at: u64) {
        self.stroke = None;
        self.undone.clear();
        self.records
            .truncate(at.saturating_sub(self.first) as usize);
    }

    /// Gives a record its inverse.
    pub fn set_inverse(&mut self, at: u64, inverse: Inverse) {
        let at = at.checked_sub(self.first).map(|at| at as usize);
        if let Some(record) = at.and_then(|at| self.records.get_mut(at)) {
            record.inverse = Some(inverse);
        }
    }

    /// What undo leads to from here; `None` where no person has done anything that is kept.
    pub fn undo(&self, here: Position) -> Option<Undo> {
        let applied = here.records.saturating_sub(self.first) as usize;
        let last = self.records.iter().take(applied);
        let last = last.rev().find(|record| record.author == Author::Person)?;
        let of_entry = |record: &Record| record.entry == last.entry;
        let begin = self.first + self.records.iter().position(of_entry)? as u64;
        let mut end = self.first + 1 + self.records.iter().rposition(of_entry)? as u64;
        // What the program did right then is due there, and happens again at once.
        let at_once = |record: &Record, end| {
            record.author == Author::Program && record.generation == self.generation_after(end)
        };
        while self.record(end).is_some_and(|record| at_once(record, end)) {
            end += 1;
        }
        let after = Position {
            records: end,
            generation: self.generation_after(end),
        };
        let before = Position {
            records: begin,
            generation: self.record(begin)?.generation,
        };
        Some(if here > after {
            Undo::After(after)
        } else {
            Undo::Before(before)
        })
    }

    /// Notes that undo has led from one position to another, and takes an undone edit off the log.
    pub(crate) fn undid(&mut self, from: Position, undo: Undo) {
        self.stroke = None;
        match undo {
            Undo::After(_) => self.undone.push(Undone::Left(from)),
            Undo::Before(position) => {
                let at = position.records.saturating_sub(self.first) as usize;
                let records = self.records.split_off(at.min(self.records.len()));
                self.undone.push(Undone::Removed {
                    from,
                    position,
                    records,
                });
            }
        }
    }

    /// Where redo leads: back to where the last undo began; `None` where nothing was undone.
    /// Records that were taken off are back on the log then: a session that ran on without them,
    /// and snapshots from there, are off its line.
    pub fn redo(&mut self) -> Option<Position> {
        let undone = self.undone.pop()?;
        self.stroke = None;
        Some(match undone {
            Undone::Left(position) => position,
            Undone::Removed { from, records, .. } => {
                self.records.extend(records);
                from
            }
        })
    }

    /// What redo would lead to, with the log as it would be then.
    pub(crate) fn redone(&self) -> Option<(Log, Position)> {
        let mut log = self.clone();
        let position = log.redo()?;
        Some((log, position))
    }

    /// The shortest way to a position from where the session stands (if the cells there are good),
    /// from a snapshot or from a start; `None` where nothing leads there.
    pub(crate) fn route(
        &self,
        here: Option<Position>,
        snapshots: impl Iterator<Item = Position>,
        target: Position,
    ) -> Option<Route> {
        let here = here.map(|position| (Source::Here, position));
        let snapshots = snapshots.map(|position| (Source::Snapshot(position), position));
        let start = self.start_source(target);
        let start = start.map(|position| (Source::Start(position), position));
        here.into_iter()
            .chain(snapshots)
            .chain(start)
            .filter_map(|(source, from)| self.leads(source, from, target))
            .min_by_key(|route| (route.generations, route.source != Source::Here))
    }

    /// The first position of the start in force at a position, if its lattices can be made anew.
    fn start_source(&self, target: Position) -> Option<Position> {
        let start = self.start_of(target);
        let made_anew = start.records > self.first || self.base_is_start;
        (made_anew && start <= target).then_some(start)
    }

    fn leads(&self, source: Source, from: Position, target: Position) -> Option<Route> {
        if !self.passes(from) || !self.passes(target) {
            return None;
        }
        if from <= target {
            return Some(Route {
                source,
                inverses: 0,
                generations: self.generations_between(from, target),
            });
        }
        let back = from.records - target.records;
        let invertible = back > 0
            && from.generation == target.generation
            && back <= self.invertible_before(from);
        invertible.then_some(Route {
            source,
            inverses: back,
            generations: 0,
        })
    }

    /// How many of the records before a position can be taken back by their inverses, one after
    /// the other. The cells do not change where the rule does: that needs no inverse.
    fn invertible_before(&self, from: Position) -> u64 {
        let records = (self.first..from.records).rev();
        let invertible = |&at: &u64| {
            self.record(at).is_some_and(|record| {
                let is_rule = matches!(record.content, Content::Rule(_));
                record.generation == from.generation && (is_rule || record.inverse.is_some())
            })
        };
        records.take_while(invertible).count() as u64
    }

    /// The generations to step from one position to a later one.
    fn generations_between(&self, from: Position, to: Position) -> u64 {
        let mut now = from.generation;
        let mut between = 0;
        for at in from.records..to.records {
            let Some(record) = self.record(at) else { break };
            between += record.generation - now;
            now = self.generation_after(at + 1);
        }
        between + (to.generation - now)
    }

    /// The oldest position that a route leads to.
    pub(crate) fn oldest_reachable(
        &self,
        here: Option<Position>,
        snapshots: impl Iterator<Item = Position>,
    ) -> Option<Position> {
        if self.base_is_start {
            return Some(self.base());
        }
        let taken_back = |from: Position| Position {
            records: from.records - self.invertible_before(from),
            ..from
        };
        here.into_iter()
            .chain(snapshots)
            .filter(|&position| self.passes(position))
            .map(taken_back)
            .chain(self.starts())
            .min()
    }

    /// Lets the records before a position go: it is the base from now on.
    pub(crate) fn discard_before(&mut self, position: Position) {
        if position <= self.base() || !self.passes(position) {
            return;
        }
        self.base_is_start = self.start_source(position) == Some(position);
        for _ in self.first..position.records {
            if let Some(record) = self.records.pop_front() {
                self.base.apply(&record.content);
            }
        }
        self.first = position.records;
        self.base_generation = position.generation;
        // What leads to before the base cannot be redone, nor what lies below it.
        let is_lost = |undone: &Undone| match undone {
            Undone::Left(to) | Undone::Removed { position: to, .. } => *to < position,
        };
        let lost = self.undone.iter().rposition(is_lost);
        self.undone.drain(..lost.map_or(0, |last| last + 1));
    }

    /// Bytes of memory that the records take, those that can be redone included. Lattices and
    /// patterns that several share count once, and those of the base's start not at all: a session
    /// has them however little it remembers.
    pub fn bytes(&self) -> u64 {
        self.bytes_from(self.first)
    }

    /// Bytes that would be left without the records before number `at`.
    fn bytes_from(&self, at: u64) -> u64 {
        let undone = self.undone.iter().flat_map(|undone| match undone {
            Undone::Left(_) => None,
            Undone::Removed { records, .. } => Some(records.iter()),
        });
        let kept = self.records.iter().skip((at - self.first) as usize);
        let base = start_lattices(&self.base.start);
        let mut counted: BTreeSet<_> = base.map(Arc::as_ptr).collect();
        let mut bytes = 0;
        for record in kept.chain(undone.flatten()) {
            bytes += record.own_bytes();
            for lattice in record.lattices() {
                if counted.insert(Arc::as_ptr(lattice)) {
                    bytes += bytes_of(lattice);
                }
            }
        }
        bytes
    }

    /// Lets the oldest records go until the others take at most so many bytes, and no more than
    /// [`Log::MAX_RECORDS`] are left, as far as something leads to the new base: a snapshot, a
    /// start, or the cells where the session stands. It never lies behind `here`.
    pub fn discard_beyond(
        &mut self,
        bytes: u64,
        here: Position,
        snapshots: impl Iterator<Item = Position>,
    ) {
        let fits = |log: &Log, base: Position| {
            log.end() - base.records <= Log::MAX_RECORDS && log.bytes_from(base.records) <= bytes
        };
        if fits(self, self.base()) {
            return;
        }
        let mut bases: Vec<Position> = snapshots
            .chain(self.starts())
            .filter(|&position| position <= here && self.passes(position))
            .collect();
        bases.push(here);
        bases.sort();
        let first = bases.partition_point(|&base| !fits(self, base));
        let base = bases.get(first).copied().unwrap_or(here);
        self.discard_before(base);
    }

    /// The first position of each start on the log, where its lattices can be made anew.
    pub fn starts(&self) -> impl Iterator<Item = Position> {
        let base = self.base_is_start.then(|| self.base());
        let records = self.records.iter().zip(self.first + 1..);
        let later = records.filter_map(|(record, records)| match &record.content {
            Content::Start(start) => Some(Position {
                records,
                generation: start.generation(),
            }),
            Content::Cells { .. } | Content::Rule(_) | Content::Grid { .. } => None,
        });
        base.into_iter().chain(later)
    }

    /// A log of these parts, as a file has them; what its records do to the cells is not checked.
    ///
    /// # Errors
    /// A sentence that says why no log has these parts.
    pub(crate) fn from_parts(
        base: Scene,
        base_position: Position,
        base_is_start: bool,
        records: Vec<Record>,
    ) -> Result<Log, String> {
        // Numbers up to here can be added to without care.
        const MAX: u64 = life::MAX_GENERATION;
        let within = |number: u64| match number {
            0..=MAX => Ok(()),
            _ => Err(tr!(
                "its log has the number {number}; take at most {MAX}",
                number = number,
                MAX = MAX
            )),
        };
        within(base_position.records)?;
        within(base_position.generation)?;
        within(base.start.generation())?;
        if base_is_start && base_position.generation != base.start.generation() {
            return Err(tr!(
                "its log begins with a start at generation {}, but the start has generation {}",
                base_position.generation,
                base.start.generation()
            ));
        }
        let mut now = base_position.generation;
        let mut generations = 0;
        let mut next_entry = 0;
        for (record, number) in records.iter().zip(base_position.records..) {
            within(record.entry)?;
            within(record.generation)?;
            if record.generation < now {
                return Err(tr!(
                    "in record {number}: it has generation {}, but the clock shows {now} before it",
                    record.generation,
                    number = number,
                    now = now
                ));
            }
            generations += record.generation - now;
            within(generations)?;
            now = match &record.content {
                Content::Start(start) => start.generation(),
                Content::Cells { .. } | Content::Rule(_) | Content::Grid { .. } => {
                    record.generation
                }
            };
            within(now)?;
            next_entry = next_entry.max(record.entry + 1);
        }
        Ok(Log {
            first: base_position.records,
            base_generation: base_position.generation,
            base_is_start,
            records: records.into(),
            next_entry,
            ..Log::new(base)
        })
    }
}

impl Record {
    /// Bytes of memory that it takes but for whole lattices, which others may share.
    fn own_bytes(&self) -> u64 {
        let cells = match &self.content {
            Content::Cells {
                cells: CellChange::Edit(Change::Draw { cells, .. }),
                ..
            } => size_of_val(&cells[..]) as u64,
            _ => 0,
        };
        let words = match &self.inverse {
            Some(Inverse::Words(words)) => size_of_val(&words[..]) as u64,
            Some(Inverse::Lattice(_)) | None => 0,
        };
        size_of::<Record>() as u64 + cells + words
    }

    /// The lattices that it refers to.
    fn lattices(&self) -> impl Iterator<Item = &Arc<Lattice>> {
        let (start, pattern) = match &self.content {
            Content::Start(start) => (Some(start), None),
            Content::Cells {
                cells: CellChange::Edit(Change::Place { pattern, .. }),
                ..
            } => (None, Some(pattern)),
            _ => (None, None),
        };
        let inverse = match &self.inverse {
            Some(Inverse::Lattice(lattice)) => Some(lattice),
            Some(Inverse::Words(_)) | None => None,
        };
        let start = start.into_iter().flat_map(start_lattices);
        start.chain(pattern).chain(inverse)
    }
}

fn start_lattices(start: &Start) -> std::slice::Iter<'_, Arc<Lattice>> {
    match start {
        Start::Soup { .. } => [].iter(),
        Start::Lattices { lattices, .. } => lattices.iter(),
    }
}

fn bytes_of(lattice: &Lattice) -> u64 {
    size_of_val(lattice.words()) as u64
}

impl CellChange {
    /// The lattice that an instance has afterwards, where nothing of it stays; `None` where
    /// something does.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn whole(
        &self,
        scene: &Scene,
        instance: usize,
    ) -> Result<Option<Arc<Lattice>>, MemoryError> {
        Ok(match self {
            CellChange::Edit(change) => change.whole(scene.size),
            CellChange::Start => Some(scene.start_lattice(instance)?),
            CellChange::Soup { density, seed } => {
                let instance = scene.instances_of(instance)[0] as u64;
                Some(Arc::new(soup(scene.size, *density, *seed, instance)))
            }
        })
    }

    /// Makes an instance's lattice what becomes of it.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn apply(
        &self,
        scene: &Scene,
        instance: usize,
        lattice: &mut Arc<Lattice>,
    ) -> Result<(), MemoryError> {
        match (self, self.whole(scene, instance)?) {
            (_, Some(whole)) => *lattice = whole,
            (CellChange::Edit(change), None) => change.apply_to(Arc::make_mut(lattice)),
            (CellChange::Start | CellChange::Soup { .. }, None) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
