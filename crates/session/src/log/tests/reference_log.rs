//! What happened, written down by simpler means than the log's: every record since the beginning,
//! the cells at every position that the session passed, and what was there before each undo. It
//! checks the log's own operations; that of `state::tests` checks what requests make of the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::*;
use life::{reference, soup};

/// All lattices at a position.
pub(super) type Cells = Vec<Arc<Lattice>>;

/// What a record belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Joins {
    /// To itself.
    No,
    /// To the stroke before it, if that is of the same instance.
    Stroke,
    /// To the record before it, whatever that is.
    Last,
}

/// A record, as the account keeps it.
#[derive(Clone, Debug)]
struct Line {
    entry: usize,
    author: Author,
    generation: u64,
    content: Content,
}

/// What undo left.
#[derive(Clone, Debug)]
struct Left {
    /// Where it led.
    to: Position,
    from: Position,
    cells: Cells,
    lines: Vec<Line>,
}

/// Everything that happened.
pub(super) struct ReferenceLog {
    /// At the beginning.
    parameters: SessionParameters,
    lines: Vec<Line>,
    pub(super) here: Position,
    /// The log keeps nothing before it.
    base: Position,
    left: Vec<Left>,
    /// Where each entry began, and the cells before it.
    begun: BTreeMap<usize, (Position, Cells)>,
    /// The stroke that may be joined: its entry and instance.
    stroke: Option<(usize, usize)>,
    entries: usize,
    /// The cells at positions of the present lines.
    cells: BTreeMap<Position, Cells>,
}

/// The instance of A that an instance of B is like.
fn original(parameters: &SessionParameters, instance: usize) -> usize {
    match parameters.counterparts {
        Some(each) if (each..2 * each).contains(&instance) => instance - each,
        _ => instance,
    }
}

/// An instance's lattice of a start.
fn started(parameters: &SessionParameters, start: &Start, instance: usize) -> Arc<Lattice> {
    let instance = original(parameters, instance);
    Arc::new(match start {
        Start::Soup { density, seed } => soup(parameters.size, *density, *seed, instance as u64),
        Start::Lattices { lattices, .. } => {
            let lattice = &lattices[instance % lattices.len()];
            lattice.in_the_middle_of(parameters.size).unwrap()
        }
    })
}

impl ReferenceLog {
    pub(super) fn new(parameters: SessionParameters) -> ReferenceLog {
        let here = Position {
            records: 0,
            generation: parameters.start.generation(),
        };
        let first = (0..parameters.instances)
            .map(|instance| started(&parameters, &parameters.start, instance));
        let cells = [(here, first.collect())].into();
        ReferenceLog {
            parameters,
            lines: Vec::new(),
            here,
            base: here,
            left: Vec::new(),
            begun: BTreeMap::new(),
            stroke: None,
            entries: 0,
            cells,
        }
    }

    /// How many records there have been.
    pub(super) fn end(&self) -> u64 {
        self.lines.len() as u64
    }

    /// How many records there are, records that can be redone included.
    pub(super) fn records(&self) -> u64 {
        let undone = self.left.iter().map(|left| left.lines.len() as u64);
        self.end() - self.base.records + undone.sum::<u64>()
    }

    /// Size, number, rule and start once this many records have been applied.
    pub(super) fn parameters(&self, records: u64) -> SessionParameters {
        let mut parameters = self.parameters.clone();
        for line in &self.lines[..records as usize] {
            match &line.content {
                Content::Start(start) => parameters.start = start.clone(),
                Content::Cells { .. } => {}
                Content::Rule(rule) => parameters.rule = *rule,
                Content::Grid { size, instances } => {
                    parameters.size = *size;
                    parameters.instances = *instances;
                }
            }
        }
        parameters
    }

    /// What the clock shows just after a number of records.
    pub(super) fn clock_after(&self, records: u64) -> u64 {
        let Some(last) = records.checked_sub(1) else {
            return self.parameters.start.generation();
        };
        let line = &self.lines[last as usize];
        match &line.content {
            Content::Start(start) => start.generation(),
            _ => line.generation,
        }
    }

    /// What the clock shows when the record after this many is due, if there is one.
    pub(super) fn clock_before(&self, record: u64) -> Option<u64> {
        Some(self.lines.get(record as usize)?.generation)
    }

    fn is_start(&self, record: u64) -> bool {
        matches!(self.lines[record as usize].content, Content::Start(_))
    }

    /// The first position of the present start, or the base.
    pub(super) fn start(&self) -> Position {
        let starts = (self.base.records..self.here.records).rev();
        let start = starts.map(|at| at + 1).find(|&at| self.is_start(at - 1));
        start.map_or(self.base, |records| Position {
            records,
            generation: self.clock_after(records),
        })
    }

    /// The position after everything that happens up to a generation in the present start.
    pub(super) fn at(&self, generation: u64) -> Position {
        let start = self.start();
        let mut position = Position {
            records: start.records,
            generation: generation.max(start.generation),
        };
        for record in start.records..self.end() {
            let due = self.lines[record as usize].generation;
            if self.is_start(record) {
                position.generation = position.generation.min(due);
                break;
            }
            if due > position.generation {
                break;
            }
            position.records += 1;
        }
        position
    }

    /// The cells at a position, by replaying everything up to it.
    pub(super) fn cells(&mut self, position: Position) -> Cells {
        if let Some(cells) = self.cells.get(&position) {
            return cells.clone();
        }
        let Position {
            records,
            generation,
        } = position;
        let cells = if generation > self.clock_after(records) {
            let before = self.cells(Position {
                generation: generation - 1,
                records,
            });
            let parameters = self.parameters(records);
            let stepped = parameters
                .counterparts
                .map_or(parameters.instances, |each| 2 * each);
            let next = |(instance, lattice): (usize, Arc<Lattice>)| match instance < stepped {
                true => Arc::new(reference::step(&lattice, parameters.rule)),
                false => lattice,
            };
            before.into_iter().enumerate().map(next).collect()
        } else {
            let last = records.checked_sub(1).expect("the first cells are kept");
            let line = self.lines[last as usize].clone();
            let before = self.cells(Position {
                records: last,
                generation: line.generation,
            });
            applied(&self.parameters(last), &line.content, before)
        };
        self.cells.insert(position, cells.clone());
        cells
    }

    /// Adds a record here.
    pub(super) fn push(&mut self, author: Author, content: &Content, joins: Joins) {
        let before = self.cells(self.here);
        self.lines.truncate(self.here.records as usize);
        self.left.clear();
        self.cells.retain(|&position, _| position <= self.here);
        let instance = match content {
            Content::Cells { instance, .. } => Some(original(&self.parameters, *instance)),
            _ => None,
        };
        let kept = &self.lines[self.base.records as usize..];
        let is_kept = |entry| kept.iter().any(|line| line.entry == entry);
        let stroke = self
            .stroke
            .filter(|&(entry, of)| Some(of) == instance && is_kept(entry));
        let entry = match joins {
            Joins::Stroke => stroke.map(|(entry, _)| entry),
            Joins::Last => kept.last().map(|line| line.entry),
            Joins::No => None,
        };
        let entry = entry.unwrap_or_else(|| {
            self.entries += 1;
            self.begun.insert(self.entries, (self.here, before));
            self.entries
        });
        if author == Author::Person {
            self.stroke = instance.map(|instance| (entry, instance));
        }
        self.lines.push(Line {
            entry,
            author,
            generation: self.here.generation,
            content: content.clone(),
        });
        let records = self.here.records + 1;
        self.here = Position {
            records,
            generation: self.clock_after(records),
        };
    }

    /// What undo does here: where it leads, and whether it takes the edit off the log.
    pub(super) fn undo(&mut self) -> Option<(Position, bool)> {
        let applied = &self.lines[self.base.records as usize..self.here.records as usize];
        let person = |line: &&Line| line.author == Author::Person;
        let entry = applied.iter().rev().find(person)?.entry;
        let of_entry = |line: &Line| line.entry == entry;
        let mut records = 1 + self.lines.iter().rposition(of_entry)? as u64;
        // What the program did at the same generation belongs to what is seen after the edit.
        while self.lines.get(records as usize).is_some_and(|line| {
            line.author == Author::Program && line.generation == self.clock_after(records)
        }) {
            records += 1;
        }
        let after = Position {
            records,
            generation: self.clock_after(records),
        };
        let takes_off = self.here <= after;
        let to = match takes_off {
            false => after,
            true => self.before_entry(entry),
        };
        let from = std::mem::replace(&mut self.here, to);
        let cells = self.cells(from);
        let lines = match takes_off {
            false => Vec::new(),
            true => self.lines.split_off(to.records as usize),
        };
        if takes_off {
            self.cells.retain(|&position, _| position <= to);
        }
        self.stroke = None;
        self.left.push(Left {
            to,
            from,
            cells,
            lines,
        });
        Some((to, takes_off))
    }

    /// Before the first segment of an entry that the log has kept.
    fn before_entry(&mut self, entry: usize) -> Position {
        let (begun, before) = self.begun[&entry].clone();
        if begun >= self.base {
            assert_eq!(self.cells(begun), before, "as when the edit was made");
            return begun;
        }
        let kept = self.lines[self.base.records as usize..].iter();
        let first = kept.zip(self.base.records..).find(|it| it.0.entry == entry);
        let (line, records) = first.expect("one was found");
        Position {
            records,
            generation: line.generation,
        }
    }

    /// Whether something can be redone.
    pub(super) fn can_redo(&self) -> bool {
        !self.left.is_empty()
    }

    /// Brings back what undo left last.
    pub(super) fn redo(&mut self) {
        let left = self.left.pop().expect("something can be redone");
        self.stroke = None;
        if !left.lines.is_empty() {
            self.cells.retain(|&position, _| position <= left.to);
            self.lines.extend(left.lines);
        }
        self.here = left.from;
        assert_eq!(self.cells(self.here), left.cells, "as before the undo");
    }

    /// The log keeps nothing before this position from now on. What was undone goes where what
    /// it brings back, or leads to, lies before it.
    pub(super) fn discard_before(&mut self, base: Position) {
        self.base = self.base.max(base);
        let is_lost = |left: &Left| match left.lines.is_empty() {
            true => left.from < base,
            false => left.to < base,
        };
        let lost = self.left.iter().rposition(is_lost);
        self.left.drain(..lost.map_or(0, |last| last + 1));
    }
}

/// The cells after a record.
fn applied(parameters: &SessionParameters, content: &Content, mut cells: Cells) -> Cells {
    match content {
        Content::Start(start) => (0..parameters.instances)
            .map(|instance| started(parameters, start, instance))
            .collect(),
        Content::Rule(_) => cells,
        Content::Grid { size, instances } => {
            let mut after = parameters.clone();
            (after.size, after.instances) = (*size, *instances);
            let of = |instance: usize| match cells.get(instance) {
                Some(lattice) => Arc::new(lattice.in_the_middle_of(*size).unwrap()),
                None => started(&after, &parameters.start, instance),
            };
            (0..*instances).map(of).collect()
        }
        Content::Cells {
            instance,
            cells: change,
        } => {
            let own = original(parameters, *instance);
            for (instance, lattice) in cells.iter_mut().enumerate() {
                if original(parameters, instance) != own {
                    continue;
                }
                *lattice = match change {
                    CellChange::Edit(change) => Arc::new(change.apply(lattice)),
                    CellChange::Start => started(parameters, &parameters.start, own),
                    CellChange::Soup { density, seed } => {
                        Arc::new(soup(parameters.size, *density, *seed, own as u64))
                    }
                };
            }
            cells
        }
    }
}
