//! The log of a session: everything that changed what its cells become, in order.
//!
//! All instances are at the same generation, the clock. A [`Position`] says where the session
//! stands: how many records have been applied, and which generation the clock shows. Between two
//! records the cells follow from the rule alone, so a position says exactly what the cells are.
//!
//! Moving (a step back, running to a generation) never changes the log: records that lie ahead are
//! applied again when their generation is reached. A new record discards those ahead. Undo goes
//! back in two steps: first to just after a person's last edit; from there to before the edit, which
//! is then taken off the log with everything later.
//!
//! The log has no cells beyond those that people drew. [`Log::route`] finds where to start in order
//! to reach a position, given the positions of copies of all lattices ([`copies`]).
//!
//! An edit that draws, clears, fills or places does not depend on the present cells. It becomes a list of
//! words to set ([`Change::touched`]), which is uploaded between two launches, or a whole lattice
//! if every cell is replaced ([`Change::whole`]). Flipping and rotating depend on the present
//! cells: they are computed on the host from the lattice between two rounds ([`Change::apply`]).
//!
//! This module knows no engine, thread or clock.
//!
//! [`copies`]: crate::copies

use crate::text;
use crate::{NewCells, Setup, Start};
use engine::WordEdit;
use lang::{Message, message};
use life::{Lattice, MemoryError, Rule, Size, Soup, soup};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Where a session stands. Positions are ordered as the session passes them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Records applied, counted from the session's beginning.
    pub records: u64,
    /// The clock: the generation under the start in force.
    pub generation: u64,
}

impl Position {
    /// The position after so many records, at a generation.
    pub const fn new(records: u64, generation: u64) -> Position {
        Position {
            records,
            generation,
        }
    }
}

#[cfg(test)]
pub(crate) fn at(records: u64, generation: u64) -> Position {
    Position::new(records, generation)
}

/// The target of an undo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undo {
    /// Just after the user's last edit; the log stays as it is.
    After(Position),
    /// Before that edit, which is taken off the log on arrival, with everything later.
    Before(Position),
}

impl Undo {
    /// Its position.
    pub fn position(self) -> Position {
        match self {
            Undo::After(position) | Undo::Before(position) => position,
        }
    }
}

/// An undo that can be redone.
#[derive(Clone, Debug)]
struct Undone {
    /// The position before it.
    from: Position,
    /// The oldest position that a redo needs.
    to: Position,
    /// The records that an [`Undo::Before`] took off the log, from `to` on.
    records: VecDeque<Record>,
}

/// How a position is reached: cells to begin with, generations to step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// The cells to begin with.
    pub source: Source,
    /// Generations to step from there.
    pub generations: u64,
}

/// The cells that a route begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The cells on the device.
    Here,
    /// The lattices of a start, whose first position this is.
    Start(Position),
    /// The snapshot of this position.
    Snapshot(Position),
}

/// The log; see the module's documentation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Log {
    /// The position before the first kept record.
    pub begin: Position,
    /// Whether that is the first position of a start, whose lattices can be generated.
    pub(crate) is_start: bool,
    /// The parameters before the first kept record.
    pub(crate) base: SessionParameters,
    /// The kept records, oldest first.
    pub(crate) records: VecDeque<Record>,
    #[serde(skip)]
    undone: Vec<Undone>,
    #[serde(skip)]
    next_entry: u64,
    /// The stroke that later segments may join: its entry and its instance.
    #[serde(skip)]
    stroke: Option<(u64, usize)>,
}

impl Log {
    /// Maximum number of kept records: searching more takes too long between two rounds.
    pub const MAX_RECORDS: u64 = 1 << 16;

    /// A log that begins with the start of these parameters.
    pub fn new(parameters: SessionParameters) -> Log {
        let begin = Position::new(0, parameters.start.generation());
        Log::from_parts(parameters, begin, true, VecDeque::new())
    }

    /// A log from the parts that a file has.
    pub(crate) fn from_parts(
        base: SessionParameters,
        begin: Position,
        is_start: bool,
        records: VecDeque<Record>,
    ) -> Log {
        Log {
            begin,
            is_start,
            base,
            records,
            undone: Vec::new(),
            next_entry: 0,
            stroke: None,
        }
    }

    /// The number of records so far, discarded ones included.
    pub fn end(&self) -> u64 {
        self.begin.records + self.records.len() as u64
    }

    /// Record number `at`, if it is kept and exists.
    pub fn record(&self, at: u64) -> Option<&Record> {
        let at = at.checked_sub(self.begin.records)?;
        self.records.get(usize::try_from(at).ok()?)
    }

    /// How many of the kept records come before number `at`.
    fn place(&self, at: u64) -> usize {
        (at.saturating_sub(self.begin.records) as usize).min(self.records.len())
    }

    /// The parameters once the first `records` records have been applied.
    pub fn parameters(&self, records: u64) -> SessionParameters {
        let mut parameters = self.base.clone();
        for record in self.records.range(..self.place(records)) {
            parameters.apply(&record.content);
        }
        parameters
    }

    /// The record to apply at this position before the next step, if any.
    pub fn due_record(&self, here: Position) -> Option<&Record> {
        let next = self.record(here.records)?;
        (next.generation <= here.generation).then_some(next)
    }

    /// Generations to step until the next record is due; `None` if there is no next record.
    pub(crate) fn generations_to_next(&self, here: Position) -> Option<u64> {
        let next = self.record(here.records)?;
        Some(next.generation.saturating_sub(here.generation))
    }

    /// The position once the next record has been applied.
    pub fn after_next(&self, here: Position) -> Position {
        Position::new(here.records + 1, self.generation_after(here.records + 1))
    }

    /// The generation just after this many records have been applied.
    fn generation_after(&self, records: u64) -> u64 {
        match records.checked_sub(1).and_then(|last| self.record(last)) {
            None => self.begin.generation,
            Some(Record {
                content: Content::Start(start),
                ..
            }) => start.generation(),
            Some(record) => record.generation,
        }
    }

    /// Whether a session that follows this log passes a position.
    pub fn contains(&self, position: Position) -> bool {
        let before_next = self
            .record(position.records)
            .is_none_or(|next| position.generation <= next.generation);
        (self.begin.records..=self.end()).contains(&position.records)
            && position.generation >= self.generation_after(position.records)
            && before_next
    }

    /// The first position of the start in force at `here`.
    pub fn start_of(&self, here: Position) -> Position {
        let until_here = self.starts().take_while(|it| it.records <= here.records);
        until_here.last().unwrap_or(self.begin)
    }

    /// The position of a generation under the start in force at `here`, with every record up to
    /// that generation applied. Limited to the positions of that start: from its first one to the
    /// next start on the log.
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

    /// Adds a record at `here` and returns the position after it. Discards later records and what
    /// could be redone, so snapshots after `here` become void. With `continues_stroke`, the record belongs to
    /// the entry of the stroke before it, if that was of the same instance.
    pub fn push(
        &mut self,
        here: Position,
        author: Author,
        content: Content,
        continues_stroke: bool,
    ) -> Position {
        self.undone.clear();
        let kept = self.place(here.records);
        // Whoever waits for an edit that is replaced before it was applied sees what replaces it.
        let replaced = self.records.range(kept..).map(|record| record.number);
        let number = replaced.max().unwrap_or(0);
        self.records.truncate(kept);
        let instance = match &content {
            Content::Cells { instance, .. } => Some(*instance),
            _ => None,
        };
        let kept_entry = |at: u64| self.records.iter().any(|record| record.entry == at);
        let joined = self
            .stroke
            .filter(|&(entry, of)| continues_stroke && Some(of) == instance && kept_entry(entry));
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
            number,
        });
        self.after_next(here)
    }

    /// Gives the last record a number.
    pub(crate) fn number_last(&mut self, number: u64) {
        self.records.back_mut().expect("one was added").number = number;
    }

    /// Adds a record to the entry of the record before it: both are undone together.
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
        }
        after
    }

    /// Discards the records from number `at` on, which cannot be applied, and what could be redone.
    pub(crate) fn discard_from(&mut self, at: u64) {
        self.stroke = None;
        self.undone.clear();
        self.records.truncate(self.place(at));
    }

    /// The target of an undo from here; `None` if no record of the user's is kept.
    pub fn undo_target(&self, here: Position) -> Option<Undo> {
        let mut applied = self.records.range(..self.place(here.records));
        let last = applied.rfind(|record| record.author == Author::Person)?;
        let of_entry = |record: &Record| record.entry == last.entry;
        let begin = self.begin.records + self.records.iter().position(of_entry)? as u64;
        let mut end = self.begin.records + 1 + self.records.iter().rposition(of_entry)? as u64;
        // Records of the program at the same generation are due there, and applied again at once.
        let at_once = |record: &Record, end| {
            record.author == Author::Program && record.generation == self.generation_after(end)
        };
        while self.record(end).is_some_and(|record| at_once(record, end)) {
            end += 1;
        }
        let after = Position::new(end, self.generation_after(end));
        let before = Position::new(begin, self.record(begin)?.generation);
        Some(if here > after {
            Undo::After(after)
        } else {
            Undo::Before(before)
        })
    }

    /// Where A and B begin to be compared, if the log has that.
    pub fn comparison(&self) -> Option<Position> {
        let is_it = |record: &Record| record.content == Content::Compare;
        let at = self.records.iter().position(is_it)?;
        let records = self.begin.records + at as u64;
        Some(Position::new(records, self.records[at].generation))
    }

    /// Notes an undo that has arrived, and takes an undone edit off the log. Returns the edit's number, or 0: it
    /// may never have been applied, since its lattices were lost before.
    pub(crate) fn commit_undo(&mut self, from: Position, undo: Undo) -> u64 {
        self.stroke = None;
        let (to, records) = match undo {
            Undo::After(_) => (from, VecDeque::new()),
            Undo::Before(position) => {
                let records = self.records.split_off(self.place(position.records));
                (position, records)
            }
        };
        let number = records.iter().map(|record| record.number).max();
        self.undone.push(Undone { from, to, records });
        number.unwrap_or(0)
    }

    /// Reverts the last undo: puts its records back on the log and returns the position before it;
    /// `None` if nothing was undone. Positions that a session reached without those records are not
    /// on the log any more.
    pub fn redo(&mut self) -> Option<Position> {
        let undone = self.undone.pop()?;
        self.records.extend(undone.records);
        Some(undone.from)
    }

    /// The shortest route to a position from `here` (if the cells there are known), from a snapshot
    /// or from a start; `None` if nothing leads there.
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
            .filter(|(_, from)| *from <= target && self.contains(*from) && self.contains(target))
            .map(|(source, from)| Route {
                source,
                generations: self.generations_between(from, target),
            })
            .min_by_key(|route| (route.generations, route.source != Source::Here))
    }

    /// The first position of the start in force at `target`, if its lattices can be generated.
    fn start_source(&self, target: Position) -> Option<Position> {
        let start = self.start_of(target);
        let made_anew = start.records > self.begin.records || self.is_start;
        (made_anew && start <= target).then_some(start)
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
        if self.is_start {
            return Some(self.begin);
        }
        here.into_iter()
            .chain(snapshots)
            .filter(|&position| self.contains(position))
            .chain(self.starts())
            .min()
    }

    /// Discards the records before a position, which becomes the base. Where A and B begin to be compared
    /// stays on the log: leaving that leads there.
    pub(crate) fn discard_before(&mut self, position: Position) {
        let is_needed = self.comparison().is_some_and(|at| at < position);
        if position <= self.begin || is_needed || !self.contains(position) {
            return;
        }
        self.is_start = self.start_source(position) == Some(position);
        let before = self.place(position.records);
        for record in self.records.drain(..before) {
            self.base.apply(&record.content);
        }
        self.begin = position;
        // A redo to before the base is impossible, and so is any older one.
        let lost = self.undone.iter().rposition(|it| it.to < position);
        self.undone.drain(..lost.map_or(0, |last| last + 1));
    }

    /// Makes a position the base, with these lattices as its start.
    pub(crate) fn begin_with(&mut self, position: Position, lattices: Vec<Arc<Lattice>>) {
        self.discard_before(position);
        self.is_start = true;
        self.base.start = Start::Lattices {
            lattices,
            generation: position.generation,
        };
    }

    /// Memory of the records in bytes, including records that can be redone. Shared lattices and
    /// patterns count once; those of the base's start do not count, as a session always has them.
    pub fn bytes(&self) -> u64 {
        self.bytes_from(self.begin.records)
    }

    /// The same without the records before number `at`.
    fn bytes_from(&self, at: u64) -> u64 {
        let undone = self.undone.iter().flat_map(|undone| &undone.records);
        let kept = self.records.range(self.place(at)..);
        let base = lattices_of(&self.base.start);
        let mut counted: BTreeSet<_> = base.map(Arc::as_ptr).collect();
        let mut bytes = 0;
        for record in kept.chain(undone) {
            bytes += record.own_bytes();
            for lattice in record.lattices() {
                if counted.insert(Arc::as_ptr(lattice)) {
                    bytes += bytes_of(lattice);
                }
            }
        }
        bytes
    }

    /// Discards the oldest records until the others take at most `bytes` and number at most
    /// [`Log::MAX_RECORDS`], as far as the new base is a start or one of these snapshots, at `here` or
    /// before: nothing would lead to a later one if the device were lost. Where A and B begin to be compared
    /// stays on the log.
    pub fn discard_beyond(
        &mut self,
        bytes: u64,
        here: Position,
        snapshots: impl Iterator<Item = Position>,
    ) {
        let fits = |log: &Log, base: Position| {
            log.end() - base.records <= Log::MAX_RECORDS && log.bytes_from(base.records) <= bytes
        };
        if fits(self, self.begin) {
            return;
        }
        let last = self.comparison().unwrap_or(here);
        let mut bases: Vec<Position> = snapshots
            .chain(self.starts())
            .filter(|&position| position <= here.min(last) && self.contains(position))
            .collect();
        bases.sort();
        let first = bases.partition_point(|&base| !fits(self, base));
        if let Some(&base) = bases.get(first).or(bases.last()) {
            self.discard_before(base);
        }
    }

    /// The first position of each start on the log: its lattices can be generated.
    pub fn starts(&self) -> impl Iterator<Item = Position> {
        let base = self.is_start.then_some(self.begin);
        let records = self.records.iter().zip(self.begin.records + 1..);
        let later = records.filter_map(|(record, records)| match &record.content {
            Content::Start(start) => Some(Position::new(records, start.generation())),
            _ => None,
        });
        base.into_iter().chain(later)
    }

    /// Checks what was read from a file. Later entries get numbers of their own.
    ///
    /// # Errors
    /// What is inconsistent.
    pub(crate) fn validate(&mut self) -> Result<(), Message> {
        // Numbers up to here can be added to without care.
        const MAX: u64 = life::MAX_GENERATION;
        let within = |number: u64| match number {
            0..=MAX => Ok(()),
            _ => Err(message!(
                "its log has the number {number}; take at most {MAX}"
            )),
        };
        within(self.begin.records)?;
        within(self.begin.generation)?;
        let mut parameters = self.base.clone();
        parameters.validate()?;
        let (log, start) = (self.begin.generation, parameters.start.generation());
        within(start)?;
        if self.is_start && log != start {
            return Err(message!(
                "its log begins with a start at generation {}, but the start has generation {}",
                log,
                start
            ));
        }
        let mut now = log;
        let mut generations = 0;
        for (record, number) in self.records.iter().zip(self.begin.records..) {
            let mut check = || {
                within(record.entry)?;
                within(record.generation)?;
                if record.generation < now {
                    return Err(message!(
                        "it has generation {}, but the clock shows {now} before it",
                        record.generation
                    ));
                }
                generations += record.generation - now;
                within(generations)?;
                now = record.generation;
                match &record.content {
                    Content::Start(start) => now = start.generation(),
                    Content::Cells { instance, .. } if *instance >= parameters.instances => {
                        return Err(message!(
                            "cells of instance {instance} change, but there are {}, counted from 0",
                            parameters.instances
                        ));
                    }
                    Content::Compare if parameters.instances < 2 => {
                        return Err(message!("A and B cannot be compared from here on"));
                    }
                    Content::Grid { instances, .. }
                        if parameters.compares && *instances != parameters.instances =>
                    {
                        return Err(message!(
                            "the number of instances changes while A and B are compared"
                        ));
                    }
                    _ => {}
                }
                within(now)?;
                parameters.apply(&record.content);
                parameters.validate()
            };
            check().map_err(|reason| message!("in record {number}: {reason}"))?;
            self.next_entry = self.next_entry.max(record.entry + 1);
        }
        Ok(())
    }
}

// What a log consists of: changes of the cells, and what holds of a session between them.

/// The author of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// The user, who can undo it.
    Person,
    /// The program, which refills dead panels.
    Program,
}

/// One change at one generation. A stroke drawn while the session runs is several records of one
/// entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Records of the same entry are undone together.
    pub entry: u64,
    /// Its author.
    pub author: Author,
    /// The generation at which it is applied.
    pub generation: u64,
    /// The change.
    pub content: Content,
    /// The number by which pictures say that they show it; 0 for what nobody waits to see.
    #[serde(skip)]
    pub number: u64,
}

/// The change of a record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Sets every lattice to a start, and the clock to the start's generation.
    Start(Start),
    /// Changes cells of one instance; while A and B are compared, of its counterpart too.
    Cells {
        /// The instance, counted from 0.
        instance: usize,
        /// The change of its cells.
        #[serde(rename = "change")]
        cells: CellChange,
    },
    /// Sets the rule.
    Rule(#[serde(with = "text")] Rule),
    /// Enlarges or reduces the lattices about their middle, or changes their number.
    Grid {
        /// The size of every lattice.
        #[serde(with = "text")]
        size: Size,
        /// Number of lattices. Added ones get their lattices of the start in force.
        instances: usize,
    },
    /// From here on A and B are compared: the second half of the lattices, B's, takes the cells of the first,
    /// A's. The last one of an odd number stays as it is, and is not stepped.
    Compare,
}

/// How the cells of an instance change.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellChange {
    /// The instance's lattice of the start in force.
    Start,
    /// A new soup.
    Soup {
        /// Probability that a cell is alive, 0 to 1.
        density: f64,
        /// The seed; each instance gets another soup of it.
        seed: u64,
    },
    /// An edit by the user: drawn, pasted, filled, flipped or turned cells.
    #[serde(untagged)]
    Edit(Change),
}

/// Everything about a session at a position except its cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionParameters {
    /// The size of every lattice.
    #[serde(with = "text")]
    pub size: Size,
    /// Number of lattices.
    pub instances: usize,
    /// The rule.
    #[serde(with = "text")]
    pub rule: Rule,
    /// The start in force.
    pub start: Start,
    /// Whether A and B are compared. A log's base is never later than the record that says so.
    #[serde(skip)]
    pub compares: bool,
    /// Instances whose cells the user drew or opened: the program never refills them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub drawn: BTreeSet<usize>,
}

impl SessionParameters {
    /// The parameters that a session begins with.
    pub fn of(setup: &Setup) -> SessionParameters {
        SessionParameters {
            size: setup.size,
            instances: setup.instances,
            rule: setup.rule,
            start: setup.start.clone(),
            compares: false,
            drawn: BTreeSet::new(),
        }
    }

    /// Has a setup's lattices be as these say.
    pub(crate) fn set(self, setup: &mut Setup) {
        setup.size = self.size;
        setup.instances = self.instances;
        setup.rule = self.rule;
        setup.start = self.start;
    }

    /// An instance's cells of the start in force, which is of another size if the lattices have
    /// been resized since.
    ///
    /// # Errors
    /// The host has no memory for them.
    pub fn start_cells(&self, instance: usize) -> Result<NewCells, MemoryError> {
        self.start.cells(self.size, self.instances_of(instance)[0])
    }

    /// The same of every instance, with its number.
    ///
    /// # Errors
    /// As of [`start_cells`](Self::start_cells).
    pub(crate) fn all_start_cells(&self) -> Result<Vec<(usize, NewCells)>, MemoryError> {
        let cells = |i| Ok((i, self.start_cells(i)?));
        (0..self.instances).map(cells).collect()
    }

    /// An instance's as a lattice on the host.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn start_lattice(&self, instance: usize) -> Result<Arc<Lattice>, MemoryError> {
        Ok(self.start_cells(instance)?.lattice(self.size))
    }

    /// How many instances A and B have each, while they are compared.
    pub fn each(&self) -> Option<usize> {
        self.compares.then_some(self.instances / 2)
    }

    /// The instance, and its counterpart while A and B are compared: a change of one is made to both.
    pub fn instances_of(&self, instance: usize) -> Vec<usize> {
        match self.each() {
            Some(each) if instance < 2 * each => vec![instance % each, instance % each + each],
            _ => vec![instance],
        }
    }

    /// Checks what was read from a file.
    fn validate(&self) -> Result<(), Message> {
        let instances = self.instances;
        if !(1..=Setup::MAX_INSTANCES).contains(&instances) {
            return Err(message!(
                "it has {instances} instances; take 1 to {most}",
                most = Setup::MAX_INSTANCES
            ));
        }
        match self.drawn.last() {
            Some(last) if *last >= instances => Err(message!(
                "a person drew on instance {last}, but there are {}, counted from 0",
                instances
            )),
            _ => Ok(()),
        }
    }

    /// Updates the parameters by a record.
    fn apply(&mut self, content: &Content) {
        match content {
            Content::Start(start) => {
                self.start = start.clone();
                self.drawn.clear();
            }
            Content::Cells { instance, cells } => {
                let drawn = matches!(cells, CellChange::Edit(_));
                for instance in self.instances_of(*instance) {
                    if drawn {
                        self.drawn.insert(instance)
                    } else {
                        self.drawn.remove(&instance)
                    };
                }
            }
            Content::Rule(rule) => self.rule = *rule,
            Content::Grid { size, instances } => {
                (self.size, self.instances) = (*size, *instances);
                self.drawn.split_off(instances);
            }
            Content::Compare => self.compares = true,
        }
    }
}

impl Record {
    /// Its memory in bytes except whole lattices, which may be shared.
    fn own_bytes(&self) -> u64 {
        let cells = match &self.content {
            Content::Cells {
                cells: CellChange::Edit(Change::Draw { cells, .. }),
                ..
            } => size_of_val(&cells[..]) as u64,
            _ => 0,
        };
        size_of::<Record>() as u64 + cells
    }

    /// The lattices that it shares.
    fn lattices(&self) -> impl Iterator<Item = &Arc<Lattice>> {
        let (start, pattern) = match &self.content {
            Content::Start(start) => (Some(start), None),
            Content::Cells {
                cells: CellChange::Edit(Change::Place { pattern, .. }),
                ..
            } => (None, Some(pattern)),
            _ => (None, None),
        };
        let start = start.into_iter().flat_map(lattices_of);
        start.chain(pattern)
    }
}

/// The lattices of a start.
fn lattices_of(start: &Start) -> std::slice::Iter<'_, Arc<Lattice>> {
    match start {
        Start::Soup { .. } => [].iter(),
        Start::Lattices { lattices, .. } => lattices.iter(),
    }
}

impl CellChange {
    /// All of the instance's cells after the change; `None` if they depend on the cells before.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub fn whole(
        &self,
        parameters: &SessionParameters,
        instance: usize,
    ) -> Result<Option<NewCells>, MemoryError> {
        Ok(match *self {
            CellChange::Edit(ref change) => change.whole(parameters.size).map(NewCells::Lattice),
            CellChange::Start => Some(parameters.start_cells(instance)?),
            CellChange::Soup { density, seed } => Some(NewCells::Soup(Soup {
                density,
                seed,
                instance: parameters.instances_of(instance)[0] as u64,
            })),
        })
    }
}

fn bytes_of(lattice: &Lattice) -> u64 {
    size_of_val(lattice.words()) as u64
}

// Edits of cells by a user.

/// An edit, and of which instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// Whose lattice.
    pub instance: usize,
    /// What is done to it.
    pub change: Change,
    /// Whether it goes on with the edit before it, as a stroke of the pencil does: both are undone
    /// together.
    pub continues_stroke: bool,
}

/// What is done to a lattice. Whatever reaches beyond an edge goes around the torus.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Makes cells alive or dead, by column and row.
    Draw {
        /// The cells.
        #[serde(with = "text::cells")]
        cells: Arc<[[u32; 2]]>,
        /// What they become.
        alive: bool,
    },
    /// Puts a pattern on it.
    Place {
        /// The pattern.
        #[serde(with = "text::lattice")]
        pattern: Arc<Lattice>,
        /// Column and row of its top left.
        at: [u32; 2],
        /// Whether its dead cells are put there too, or only its live ones.
        #[serde(rename = "dead_too")]
        overwrites_dead: bool,
    },
    /// Makes every cell of an area dead.
    Clear(Area),
    /// Fills an area with a soup.
    Fill {
        /// Where.
        area: Area,
        /// The chance of each cell to be alive.
        density: f64,
        /// The soup's seed.
        seed: u64,
    },
    /// Makes an area its mirror image.
    Flip {
        /// Where.
        area: Area,
        /// Left becomes right, or top becomes bottom.
        #[serde(rename = "sideways")]
        horizontal: bool,
    },
    /// Turns an area by a quarter about its middle; what was there before and is no more in it
    /// becomes dead.
    #[serde(rename = "turn")]
    Rotate {
        /// Where.
        area: Area,
        /// The way that a clock goes, or the other.
        clockwise: bool,
    },
}

/// A rectangle of cells, which may go around the torus; no larger than the lattice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Area {
    /// The column of its top left.
    pub x: u32,
    /// The row.
    pub y: u32,
    /// Its sides.
    #[serde(with = "text")]
    pub size: Size,
}

impl Area {
    /// All of a lattice.
    pub const fn whole(size: Size) -> Area {
        Area { x: 0, y: 0, size }
    }

    /// The smallest that has both of these cells, neither beyond the edge.
    pub fn spanned([x, y]: [u32; 2], [to_x, to_y]: [u32; 2]) -> Area {
        let sides = [x.abs_diff(to_x) + 1, y.abs_diff(to_y) + 1];
        Area {
            x: x.min(to_x),
            y: y.min(to_y),
            size: Size::new(sides[0].into(), sides[1].into()).expect("within a lattice"),
        }
    }

    /// Whether the area contains a cell, without wrapping around the torus.
    pub fn contains(self, [x, y]: [u32; 2]) -> bool {
        let within = |at: u32, from: u32, side: u32| at >= from && at - from < side;
        within(x, self.x, self.size.width) && within(y, self.y, self.size.height)
    }
}

impl Change {
    /// The area that it changes, if it does not say which cells.
    pub fn area(&self) -> Option<Area> {
        match self {
            Change::Clear(area) | Change::Fill { area, .. } => Some(*area),
            Change::Flip { area, .. } | Change::Rotate { area, .. } => Some(*area),
            Change::Draw { .. } | Change::Place { .. } => None,
        }
    }

    /// Whether there is room for it.
    fn fits(&self, lattice: Size) -> bool {
        self.area().is_none_or(|Area { size, .. }| {
            size.width <= lattice.width && size.height <= lattice.height
        })
    }

    /// Whether the change depends on the cells that are there.
    pub fn reads_cells(&self) -> bool {
        match self {
            Change::Flip { .. } | Change::Rotate { .. } => true,
            Change::Draw { .. } | Change::Place { .. } | Change::Clear(_) | Change::Fill { .. } => {
                false
            }
        }
    }

    /// The words that the change sets in a lattice of this size; `None` if it
    /// [reads cells](Change::reads_cells).
    pub fn touched(&self, size: Size) -> Option<Vec<WordEdit>> {
        let mut patch = Patch::new(size);
        match self {
            Change::Flip { .. } | Change::Rotate { .. } => return None,
            _ if !self.fits(size) => {}
            Change::Draw { cells, alive } => {
                cells.iter().for_each(|&[x, y]| patch.set(x, y, *alive));
            }
            Change::Place {
                pattern,
                at,
                overwrites_dead,
            } => patch.lay(pattern, *at, *overwrites_dead),
            Change::Clear(area) => patch.lay(&Lattice::new(area.size), [area.x, area.y], true),
            Change::Fill {
                area,
                density,
                seed,
            } => {
                let soup = soup(area.size, *density, *seed, 0);
                patch.lay(&soup, [area.x, area.y], true);
            }
        }
        Some(patch.into_edits())
    }

    /// The new lattice, if the change sets every cell of a lattice of this size whatever the
    /// present ones are; otherwise `None`.
    pub fn whole(&self, size: Size) -> Option<Arc<Lattice>> {
        let all = |area: &Area| area.size == size;
        match self {
            Change::Place {
                pattern,
                at: [0, 0],
                overwrites_dead: true,
            } if pattern.size() == size => Some(pattern.clone()),
            Change::Clear(area) if all(area) => Some(Arc::new(Lattice::new(size))),
            Change::Fill {
                area,
                density,
                seed,
            } if *area == Area::whole(size) => Some(Arc::new(soup(size, *density, *seed, 0))),
            _ => None,
        }
    }

    /// The lattice after the change.
    pub fn apply(&self, lattice: &Lattice) -> Lattice {
        let (size, mut after) = (lattice.size(), lattice.clone());
        match self {
            _ if !self.fits(size) => {}
            Change::Flip { area, horizontal } => {
                let part = lattice.part(area.x, area.y, area.size);
                let flipped = flipped(&part, *horizontal);
                lay(&flipped, &mut after, [area.x, area.y]);
            }
            Change::Rotate { area, clockwise } => {
                let part = lattice.part(area.x, area.y, area.size);
                let turned = turned(&part, *clockwise);
                // Else it would meet itself.
                if turned.size().width <= size.width && turned.size().height <= size.height {
                    lay(&Lattice::new(area.size), &mut after, [area.x, area.y]);
                    lay(&turned, &mut after, turned_corner(*area, size));
                }
            }
            Change::Draw { .. } | Change::Place { .. } | Change::Clear(_) | Change::Fill { .. } => {
                apply_all(self.touched(size).unwrap_or_default(), &mut after)
            }
        }
        after
    }
}

/// Lays a part on a lattice, its dead cells too.
fn lay(part: &Lattice, lattice: &mut Lattice, at: [u32; 2]) {
    let mut patch = Patch::new(lattice.size());
    patch.lay(part, at, true);
    apply_all(patch.into_edits(), lattice);
}

fn apply_all(edits: Vec<WordEdit>, lattice: &mut Lattice) {
    let words = lattice.words_mut();
    for edit in edits {
        edit.apply(&mut words[edit.word as usize]);
    }
}

// The words that an edit touches, gathered cell by cell or row by row.

/// Words of a lattice, each with the cells that are set and what they are set to.
#[derive(Clone, Debug)]
struct Patch {
    size: Size,
    /// In the order in which they were made; one word may have several.
    edits: Vec<WordEdit>,
}

impl Patch {
    /// Nothing yet, of a lattice of this size.
    fn new(size: Size) -> Patch {
        let edits = Vec::new();
        Patch { size, edits }
    }

    /// Sets a cell, around the torus.
    fn set(&mut self, x: u32, y: u32, alive: bool) {
        let (x, y) = (x % self.size.width, y % self.size.height);
        let word = y as usize * self.size.words_per_row() + (x / 32) as usize;
        let mask = 1 << (x % 32);
        self.edits.push(WordEdit {
            word: word as u32,
            mask,
            bits: if alive { mask } else { 0 },
        });
    }

    /// Lays a pattern whose top left is at this column and row; without `overwrites_dead` only its live
    /// cells. Nothing happens if it is larger than the lattice.
    fn lay(&mut self, pattern: &Lattice, [x, y]: [u32; 2], overwrites_dead: bool) {
        let (own, all) = (pattern.size(), self.size);
        if own.width > all.width || own.height > all.height {
            return;
        }
        let per_row = all.words_per_row();
        let mut row = vec![[0u32; 2]; per_row]; // mask and bits
        let (left, top) = (x % all.width, y % all.height);
        let rows = pattern.words().chunks_exact(own.words_per_row());
        for (words, y) in rows.zip(0..) {
            row.fill([0; 2]);
            for (&bits, i) in words.iter().zip(0..) {
                let count = (own.width - 32 * i).min(32);
                let cells = u32::MAX >> (32 - count);
                let mask = if overwrites_dead { cells } else { bits };
                if mask != 0 {
                    put(&mut row, all.width, left, i, mask, bits);
                }
            }
            let first = ((top + y) % all.height) as usize * per_row;
            let touched = row.iter().zip(first as u32..);
            let touched = touched.filter(|([mask, _], _)| *mask != 0);
            self.edits
                .extend(touched.map(|(&[mask, bits], word)| WordEdit { word, mask, bits }));
        }
    }

    /// As an engine takes them.
    fn into_edits(mut self) -> Vec<WordEdit> {
        self.edits.sort_by_key(|edit| edit.word); // stable: what came later stays later
        self.edits.dedup_by(|later, earlier| {
            let same = later.word == earlier.word;
            if same {
                earlier.bits = earlier.bits & !later.mask | later.bits & later.mask;
                earlier.mask |= later.mask;
            }
            same
        });
        self.edits
    }
}

/// Puts word `i` of a pattern whose first column is `left` into a row of this width, around.
fn put(row: &mut [[u32; 2]], width: u32, left: u32, i: u32, mask: u32, bits: u32) {
    let start = u64::from(left) + 32 * u64::from(i);
    let column = (start % u64::from(width)) as u32;
    let mut deposit = |word: u32, shift: u32, up: bool| {
        let shifted = |bits: u32| if up { bits << shift } else { bits >> shift };
        let [masks, cells] = &mut row[word as usize];
        *masks |= shifted(mask);
        *cells |= shifted(mask & bits);
    };
    let highest = 31 - mask.leading_zeros();
    if column + highest < width {
        deposit(column / 32, column % 32, true);
        if column % 32 + highest > 31 {
            deposit(column / 32 + 1, 32 - column % 32, false);
        }
        return;
    }
    for bit in (0..=highest).filter(|bit| mask >> bit & 1 == 1) {
        let column = (column + bit) % width;
        let [masks, cells] = &mut row[(column / 32) as usize];
        *masks |= 1 << (column % 32);
        *cells |= (bits >> bit & 1) << (column % 32);
    }
}

// Mirror images and quarter turns of a part.

/// Left and right exchanged, or top and bottom.
pub fn flipped(part: &Lattice, horizontal: bool) -> Lattice {
    let (width, height) = (part.size().width, part.size().height);
    rearranged(part, part.size(), |x, y| {
        if horizontal {
            (width - 1 - x, y)
        } else {
            (x, height - 1 - y)
        }
    })
}

/// A quarter turn; a tall part becomes a wide one.
pub fn turned(part: &Lattice, clockwise: bool) -> Lattice {
    let (width, height) = (part.size().width, part.size().height);
    let size = Size::new(height.into(), width.into()).expect("as many cells as before");
    rearranged(part, size, |x, y| {
        if clockwise {
            (height - 1 - y, x)
        } else {
            (y, width - 1 - x)
        }
    })
}

/// Where the top left of an area is when it has been turned about its middle.
fn turned_corner(area: Area, lattice: Size) -> [u32; 2] {
    let (width, height) = (i64::from(area.size.width), i64::from(area.size.height));
    let moved = (width - height).div_euclid(2);
    let around = |at: i64, side: u32| at.rem_euclid(side.into()) as u32;
    [
        around(i64::from(area.x) + moved, lattice.width),
        around(i64::from(area.y) - moved, lattice.height),
    ]
}

/// Every live cell goes where `place` says.
fn rearranged(part: &Lattice, size: Size, place: impl Fn(u32, u32) -> (u32, u32)) -> Lattice {
    let mut after = Lattice::new(size);
    let rows = part.words().chunks_exact(part.size().words_per_row());
    for (row, y) in rows.zip(0..) {
        for (&word, i) in row.iter().zip(0..) {
            let mut left = word;
            while left != 0 {
                let (x, y) = place(32 * i + left.trailing_zeros(), y);
                after.set(x, y, true);
                left &= left - 1;
            }
        }
    }
    after
}

#[cfg(test)]
pub(crate) mod reference_log;
#[cfg(test)]
mod tests;
