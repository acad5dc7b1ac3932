//! What was asked of a session, kept beside its log: every change in order, and by it what the
//! cells are at any position. It checks what requests make of the log; that of `log::tests` checks
//! the log's own operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::Request;
use super::choices::Choices;
use crate::log::{Author, CellChange, Content, Log, Position};
use crate::start::start_lattice;
use life::{Lattice, Rule, Size, reference};
use model::{Change, Start};

pub(super) type Cells = Vec<Arc<Lattice>>;

/// Everything but the cells.
#[derive(Clone)]
pub(super) struct Conditions {
    pub(super) size: Size,
    pub(super) instances: usize,
    pub(super) rule: Rule,
    pub(super) start: Start,
}

impl Conditions {
    pub(super) fn start_cells(&self) -> Cells {
        (0..self.instances).map(|i| self.start_of(i)).collect()
    }

    fn start_of(&self, instance: usize) -> Arc<Lattice> {
        match &self.start {
            Start::Soup { seed, .. } => noise(self.size, *seed, instance),
            start => start_lattice(start, self.size, instance).unwrap(),
        }
    }

    /// Whether a request is of lattices that there are, and none would shrink.
    pub(super) fn allows(&self, request: &Request) -> bool {
        match request {
            Request::Edit(edit, _) => edit.instance < self.instances,
            Request::ResetPanel(instance) | Request::Reseed { instance, .. } => {
                *instance < self.instances
            }
            Request::SetGrid {
                size,
                instances,
                place,
            } => {
                size.width() >= self.size.width()
                    && size.height() >= self.size.height()
                    && place
                        .as_ref()
                        .is_none_or(|(instance, _)| instance < instances)
            }
            _ => true,
        }
    }

    /// What a change makes of it and of the cells.
    pub(super) fn apply(&mut self, content: &Content, cells: &mut Cells) {
        match content {
            Content::Start(start) => {
                self.start = start.clone();
                *cells = self.start_cells();
            }
            Content::Cells {
                instance,
                cells: change,
            } => {
                let lattice = &mut cells[*instance];
                match change {
                    CellChange::Edit(change) => change.apply_to(Arc::make_mut(lattice)),
                    CellChange::Start => *lattice = self.start_of(*instance),
                    CellChange::Soup { seed, .. } => {
                        *lattice = noise(self.size, *seed, *instance);
                    }
                }
            }
            Content::Rule(rule) => self.rule = *rule,
            Content::Grid { size, instances } => {
                let is_larger = self.size != *size;
                (self.size, self.instances) = (*size, *instances);
                cells.truncate(*instances);
                if is_larger {
                    for lattice in cells.iter_mut() {
                        *lattice = Arc::new(lattice.in_the_middle_of(*size).unwrap());
                    }
                }
                cells.extend((cells.len()..*instances).map(|i| self.start_of(i)));
            }
        }
    }
}

/// Half of the cells of a lattice: which ones does not matter here, and a soup takes longer.
pub(super) fn noise(size: Size, seed: u64, instance: usize) -> Arc<Lattice> {
    let mut random = Choices::random(seed << 8 | instance as u64);
    let words = (0..size.words()).map(|_| random.below(1 << 32) as u32);
    Arc::new(Lattice::from_words(size, words.collect()))
}

pub(super) fn step(cells: &mut Cells, rule: Rule, generations: u64) {
    for lattice in cells {
        *lattice = Arc::new(reference::run(lattice, rule, generations));
    }
}

/// One change.
pub(super) struct Item {
    pub(super) author: Author,
    entry: u64,
    pub(super) generation: u64,
    pub(super) content: Content,
    pub(super) has_inverse: bool,
    /// What holds behind it.
    conditions: Conditions,
}

pub(super) struct ReferenceLog {
    conditions: Conditions,
    pub(super) items: Vec<Item>,
    /// What undo took off, the last on top.
    undone: Vec<Vec<Item>>,
    stroke: Option<(u64, usize)>,
    next_entry: u64,
    known: BTreeMap<Position, Cells>,
}

/// Where an undo leads, and whether the edit goes then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Back {
    pub(super) to: Position,
    pub(super) removes: bool,
}

impl ReferenceLog {
    pub(super) fn new(conditions: Conditions) -> ReferenceLog {
        let begin = Position {
            records: 0,
            generation: conditions.start.generation(),
        };
        ReferenceLog {
            known: BTreeMap::from([(begin, conditions.start_cells())]),
            conditions,
            items: Vec::new(),
            undone: Vec::new(),
            stroke: None,
            next_entry: 0,
        }
    }

    pub(super) fn conditions(&self, records: u64) -> &Conditions {
        match records {
            0 => &self.conditions,
            _ => &self.items[records as usize - 1].conditions,
        }
    }

    fn item(&self, at: u64) -> Option<&Item> {
        self.items.get(at as usize)
    }

    /// What the clock shows behind this many changes.
    fn generation_after(&self, records: u64) -> u64 {
        match records.checked_sub(1).map(|at| &self.items[at as usize]) {
            None => self.conditions.start.generation(),
            Some(item) => match &item.content {
                Content::Start(start) => start.generation(),
                _ => item.generation,
            },
        }
    }

    fn after(&self, records: u64) -> Position {
        Position {
            records,
            generation: self.generation_after(records),
        }
    }

    pub(super) fn contains(&self, at: Position) -> bool {
        at.records <= self.items.len() as u64
            && at.generation >= self.generation_after(at.records)
            && self
                .item(at.records)
                .is_none_or(|next| at.generation <= next.generation)
    }

    /// Whether a change is to be made here before anything steps.
    pub(super) fn is_due(&self, at: Position) -> bool {
        self.item(at.records)
            .is_some_and(|next| next.generation <= at.generation)
    }

    /// The generation up to which it may step from here.
    pub(super) fn next_at(&self, at: Position) -> u64 {
        self.item(at.records)
            .map_or(u64::MAX, |next| next.generation)
    }

    pub(super) fn push(
        &mut self,
        at: Position,
        author: Author,
        content: Content,
        continues_stroke: bool,
    ) {
        self.cut(at.records);
        self.undone.clear();
        let instance = match &content {
            Content::Cells { instance, .. } => Some(*instance),
            _ => None,
        };
        let goes_on = self.stroke.filter(|&(entry, of)| {
            continues_stroke
                && Some(of) == instance
                && self.items.iter().any(|item| item.entry == entry)
        });
        let entry = goes_on.map_or(self.next_entry, |(entry, _)| entry);
        if author == Author::Person {
            self.stroke = instance.map(|instance| (entry, instance));
        }
        self.add(entry, at.generation, author, content);
    }

    /// A change that is of one piece with the one before it.
    pub(super) fn push_joined(&mut self, content: Content) {
        let last = self.items.last().unwrap();
        let (entry, generation) = (last.entry, last.generation);
        if let Content::Cells { instance, .. } = &content {
            self.stroke = Some((entry, *instance));
        }
        self.add(entry, generation, Author::Person, content);
    }

    fn add(&mut self, entry: u64, generation: u64, author: Author, content: Content) {
        self.next_entry = self.next_entry.max(entry + 1);
        let mut conditions = self.conditions(self.items.len() as u64).clone();
        match &content {
            Content::Start(start) => conditions.start = start.clone(),
            Content::Rule(rule) => conditions.rule = *rule,
            Content::Grid { size, instances } => {
                (conditions.size, conditions.instances) = (*size, *instances);
            }
            Content::Cells { .. } => {}
        }
        self.items.push(Item {
            author,
            entry,
            generation,
            content,
            has_inverse: false,
            conditions,
        });
    }

    fn cut(&mut self, records: u64) -> Vec<Item> {
        self.known.retain(|at, _| at.records <= records);
        self.items.split_off(records as usize)
    }

    /// A change that cannot be made is gone with all behind it.
    pub(super) fn discard_from(&mut self, records: u64) {
        self.stroke = None;
        self.undone.clear();
        self.cut(records);
    }

    pub(super) fn undo(&self, at: Position, base: Position) -> Option<Back> {
        let kept = base.records as usize..at.records as usize;
        let is_person = |&i: &usize| self.items[i].author == Author::Person;
        let last = kept.clone().rev().find(is_person)?;
        let of_entry = |&i: &usize| self.items[i].entry == self.items[last].entry;
        let begin = kept.clone().find(of_entry)?;
        let end = (base.records as usize..self.items.len())
            .rev()
            .find(of_entry)?;
        let mut after = self.after(end as u64 + 1);
        while let Some(item) = self.item(after.records)
            && item.author == Author::Program
            && item.generation == after.generation
        {
            after.records += 1; // it would happen again at once
        }
        let before = Position {
            records: begin as u64,
            generation: self.items[begin].generation,
        };
        Some(Back {
            to: if at > after { after } else { before },
            removes: at <= after,
        })
    }

    pub(super) fn undid(&mut self, back: Back) {
        self.stroke = None;
        if back.removes {
            let removed = self.cut(back.to.records);
            self.undone.push(removed);
        }
    }

    /// What the last undo took off is there again.
    pub(super) fn redo(&mut self) {
        self.stroke = None;
        let removed = self.undone.pop().unwrap();
        self.items.extend(removed);
    }

    /// It was not to be: what [`ReferenceLog::redo`] added from `records` on goes again.
    pub(super) fn redo_failed(&mut self, records: u64) {
        let removed = self.cut(records);
        self.undone.push(removed);
    }

    pub(super) fn start_of(&self, at: Position) -> Position {
        let is_start =
            |&i: &u64| i == 0 || matches!(self.items[i as usize - 1].content, Content::Start(_));
        let records = (0..=at.records).rev().find(is_start).unwrap();
        self.after(records)
    }

    /// A generation of the present start: with every change up to then.
    pub(super) fn at_generation(&self, here: Position, generation: u64) -> Position {
        let mut at = self.start_of(here);
        at.generation = generation;
        while self.is_due(at)
            && !matches!(self.items[at.records as usize].content, Content::Start(_))
        {
            at.records += 1;
        }
        at
    }

    /// Whether cells of one position lead to another.
    pub(super) fn leads(&self, from: Position, to: Position) -> bool {
        let can_be_taken_back = |at: u64| {
            let item = &self.items[at as usize];
            let can = item.has_inverse || matches!(item.content, Content::Rule(_));
            can && item.generation == from.generation
        };
        let is_on_line = self.contains(from) && self.contains(to);
        is_on_line
            && (from <= to
                || from.generation == to.generation
                    && from.records > to.records
                    && (to.records..from.records).all(can_be_taken_back))
    }

    /// What the cells are.
    pub(super) fn cells(&mut self, at: Position) -> Cells {
        assert!(self.contains(at), "{at:?} is not on the line");
        let mut before = self.known.range(..=at).rev();
        let nearest = before.find(|(from, _)| self.contains(**from));
        let (&from, cells) = nearest.expect("the beginning");
        if from == at {
            return cells.clone();
        }
        let (mut from, mut cells) = (from, cells.clone());
        while from != at {
            let mut conditions = self.conditions(from.records).clone();
            let until = match from.records == at.records {
                true => at.generation,
                false => self.items[from.records as usize].generation,
            };
            step(&mut cells, conditions.rule, until - from.generation);
            from.generation = until;
            if from.records < at.records {
                conditions.apply(&self.items[from.records as usize].content, &mut cells);
                from = self.after(from.records + 1);
            }
        }
        self.known.insert(at, cells.clone());
        cells
    }

    /// Whether a log says the same.
    pub(super) fn check(&self, log: &Log) -> Result<(), String> {
        if log.end() != self.items.len() as u64 {
            return Err(format!(
                "the log ends at {}, not {}",
                log.end(),
                self.items.len()
            ));
        }
        for (record, item) in log.records().rev().zip(self.items.iter().rev()) {
            let is_same = record.generation == item.generation
                && record.author == item.author
                && record.inverse.is_some() == item.has_inverse
                && is_same(&record.content, &item.content);
            if !is_same {
                let (there, here) = (&record.content, &item.content);
                return Err(format!(
                    "the log has {there:?} at {}, not {here:?} at {}; inverses {} {}",
                    record.generation,
                    item.generation,
                    record.inverse.is_some(),
                    item.has_inverse
                ));
            }
        }
        Ok(())
    }
}

/// Whether two changes are one: every change that a test asks for is unlike every other.
fn is_same(a: &Content, b: &Content) -> bool {
    match (a, b) {
        (Content::Start(a), Content::Start(b)) => match (a, b) {
            (Start::Soup { seed: a, .. }, Start::Soup { seed: b, .. }) => a == b,
            (Start::Lattices { lattices: a, .. }, Start::Lattices { lattices: b, .. }) => {
                Arc::ptr_eq(&a[0], &b[0])
            }
            _ => false,
        },
        (
            Content::Cells {
                instance: i,
                cells: a,
            },
            Content::Cells {
                instance: j,
                cells: b,
            },
        ) => i == j && is_same_change(a, b),
        (Content::Rule(a), Content::Rule(b)) => a == b,
        (
            Content::Grid {
                size: a,
                instances: i,
            },
            Content::Grid {
                size: b,
                instances: j,
            },
        ) => (a, i) == (b, j),
        _ => false,
    }
}

fn is_same_change(a: &CellChange, b: &CellChange) -> bool {
    match (a, b) {
        (
            CellChange::Edit(Change::Draw { cells: a, .. }),
            CellChange::Edit(Change::Draw { cells: b, .. }),
        ) => Arc::ptr_eq(a, b),
        (
            CellChange::Edit(Change::Fill { seed: a, .. }),
            CellChange::Edit(Change::Fill { seed: b, .. }),
        )
        | (CellChange::Soup { seed: a, .. }, CellChange::Soup { seed: b, .. }) => a == b,
        (
            CellChange::Edit(
                Change::Flip { area: a, .. } | Change::Rotate { area: a, .. } | Change::Clear(a),
            ),
            CellChange::Edit(
                Change::Flip { area: b, .. } | Change::Rotate { area: b, .. } | Change::Clear(b),
            ),
        ) => a == b,
        (CellChange::Start, CellChange::Start) => true,
        _ => false,
    }
}
