//! What happened, written down by simpler means than the log's: every record since the beginning,
//! and by it what the cells are at any position. `worker::tests` follow a session's log with it.

use super::{Author, CellChange, Content, Log, Position, Record, SessionParameters, at};
use crate::{Area, Change, Start};
use life::{Lattice, Rule, Size, SplitMix64, reference, soup};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All lattices at a position.
pub(crate) type Cells = Vec<Arc<Lattice>>;

/// A record.
#[derive(Clone)]
pub(crate) struct Item {
    pub author: Author,
    pub entry: u64,
    pub generation: u64,
    pub content: Content,
    /// What holds once it has been applied.
    parameters: SessionParameters,
}

impl Item {
    fn says_the_same(&self, record: &Record) -> bool {
        (self.author, self.entry, self.generation)
            == (record.author, record.entry, record.generation)
            && self.content == record.content
    }
}

/// Where an undo leads, and whether it takes the edit off the log.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Back {
    pub to: Position,
    pub removes: bool,
}

/// Everything that happened.
#[derive(Clone)]
pub(crate) struct ReferenceLog {
    /// At the beginning.
    parameters: SessionParameters,
    pub items: Vec<Item>,
    /// The number of the first record that the log has kept.
    pub first: u64,
    /// The cells at positions that were asked for.
    known: BTreeMap<Position, Cells>,
}

fn step(cells: &mut [Arc<Lattice>], rule: Rule, generations: u64) {
    for lattice in cells {
        *lattice = Arc::new(reference::run(lattice, rule, generations));
    }
}

/// The instance of A that an instance of B is like.
fn original(parameters: &SessionParameters, instance: usize) -> usize {
    let each = parameters.instances / 2;
    if parameters.compares && (each..2 * each).contains(&instance) {
        instance - each
    } else {
        instance
    }
}

/// An instance's lattice of the start.
fn started(parameters: &SessionParameters, instance: usize) -> Arc<Lattice> {
    let (size, instance) = (parameters.size, original(parameters, instance));
    Arc::new(match &parameters.start {
        Start::Soup { density, seed } => soup(size, *density, *seed, instance as u64),
        Start::Lattices { lattices, .. } => {
            let lattice = &lattices[instance % lattices.len()];
            lattice.resized(size).unwrap()
        }
    })
}

/// The lattices of the start.
fn start_cells(parameters: &SessionParameters) -> Cells {
    let of = |instance| started(parameters, instance);
    (0..parameters.instances).map(of).collect()
}

/// What a record makes of the parameters and of the cells.
pub(crate) fn apply(content: &Content, parameters: &mut SessionParameters, cells: &mut Cells) {
    change(content, parameters);
    match content {
        Content::Start(_) => *cells = start_cells(parameters),
        Content::Rule(_) => {}
        Content::Compare => {
            for instance in 0..cells.len() {
                cells[instance] = cells[original(parameters, instance)].clone();
            }
        }
        Content::Grid { size, instances } => {
            cells.truncate(*instances);
            for lattice in cells.iter_mut() {
                *lattice = Arc::new(lattice.resized(*size).unwrap());
            }
            cells.extend((cells.len()..*instances).map(|added| started(parameters, added)));
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
                    CellChange::Start => started(parameters, own),
                    CellChange::Soup { density, seed } => {
                        Arc::new(soup(parameters.size, *density, *seed, own as u64))
                    }
                };
            }
        }
    }
}

/// What a record makes of the parameters.
fn change(content: &Content, parameters: &mut SessionParameters) {
    match content {
        Content::Start(start) => parameters.start = start.clone(),
        Content::Rule(rule) => parameters.rule = *rule,
        Content::Grid { size, instances } => {
            (parameters.size, parameters.instances) = (*size, *instances);
        }
        Content::Compare => parameters.compares = true,
        Content::Cells { .. } => {}
    }
}

impl ReferenceLog {
    /// The account of a log from its beginning on.
    pub(crate) fn of(log: &Log) -> ReferenceLog {
        assert!(log.is_start && log.begin.records == 0);
        let parameters = log.base.clone();
        let mut reference = ReferenceLog {
            known: BTreeMap::from([(log.begin, start_cells(&parameters))]),
            parameters,
            items: Vec::new(),
            first: 0,
        };
        reference.follow(log);
        reference
    }

    /// Takes in what has changed of a log.
    pub(crate) fn follow(&mut self, log: &Log) {
        self.first = log.begin.records;
        for (at, record) in (self.first..).zip(&log.records) {
            match self.item(at) {
                Some(item) if item.says_the_same(record) => continue,
                Some(_) => self.cut(at),
                None => assert_eq!(at, self.end(), "a record was missed"),
            }
            let mut parameters = self.parameters(at).clone();
            if record.author == Author::Program {
                let was_drawn = self.was_drawn(&record.content, &parameters);
                assert!(!was_drawn, "a panel is refilled that somebody drew");
            }
            change(&record.content, &mut parameters);
            self.items.push(Item {
                author: record.author,
                entry: record.entry,
                generation: record.generation,
                content: record.content.clone(),
                parameters,
            });
        }
        if log.end() < self.end() {
            self.cut(log.end());
        }
    }

    /// Whether the cells that a record changes are those that a person drew.
    fn was_drawn(&self, content: &Content, parameters: &SessionParameters) -> bool {
        let of = |content: &Content| match content {
            Content::Cells { instance, .. } => Some(original(parameters, *instance)),
            _ => None,
        };
        let drawn = |item: &Item| match &item.content {
            Content::Start(_) => Some(false),
            // An instance that was taken away comes back as the start has it.
            Content::Grid { instances, .. } if of(content) >= Some(*instances) => Some(false),
            Content::Cells { cells, .. } if of(&item.content) == of(content) => {
                Some(matches!(cells, CellChange::Edit(_)))
            }
            _ => None,
        };
        self.items.iter().rev().find_map(drawn).unwrap_or(false)
    }

    /// The number of records.
    pub(crate) fn end(&self) -> u64 {
        self.items.len() as u64
    }

    /// What holds once this many records have been applied.
    pub(crate) fn parameters(&self, records: u64) -> &SessionParameters {
        match records {
            0 => &self.parameters,
            _ => &self.items[records as usize - 1].parameters,
        }
    }

    fn item(&self, at: u64) -> Option<&Item> {
        self.items.get(at as usize)
    }

    /// The position just after this many records.
    pub(crate) fn after(&self, records: u64) -> Position {
        let generation = match records.checked_sub(1).map(|at| &self.items[at as usize]) {
            None => self.parameters.start.generation(),
            Some(item) => match &item.content {
                Content::Start(start) => start.generation(),
                _ => item.generation,
            },
        };
        at(records, generation)
    }

    pub(crate) fn contains(&self, at: Position) -> bool {
        at.records <= self.end()
            && at.generation >= self.after(at.records).generation
            && self
                .next_at(at)
                .is_none_or(|generation| at.generation <= generation)
    }

    /// The generation of the next record.
    pub(crate) fn next_at(&self, at: Position) -> Option<u64> {
        Some(self.item(at.records)?.generation)
    }

    fn cut(&mut self, records: u64) {
        self.known.retain(|at, _| at.records <= records);
        self.items.truncate(records as usize);
    }

    /// Where undo leads from here.
    pub(crate) fn undo(&self, at: Position) -> Option<Back> {
        let first = self.first as usize;
        let kept = first..at.records as usize;
        let is_person = |&i: &usize| self.items[i].author == Author::Person;
        let last = kept.clone().rev().find(is_person)?;
        let of_entry = |&i: &usize| self.items[i].entry == self.items[last].entry;
        let begin = kept.clone().find(of_entry)?;
        let end = (first..self.items.len()).rev().find(of_entry)?;
        let mut after = self.after(end as u64 + 1);
        while let Some(item) = self.item(after.records)
            && item.author == Author::Program
            && item.generation == after.generation
        {
            after = self.after(after.records + 1); // it would happen again at once
        }
        let before = super::at(begin as u64, self.items[begin].generation);
        Some(Back {
            to: if at > after { after } else { before },
            removes: at <= after,
        })
    }

    /// Where A and B begin to be compared.
    pub(crate) fn comparison(&self) -> Option<Position> {
        let is_it = |item: &Item| item.content == Content::Compare;
        let at = self.items.iter().position(is_it)?;
        Some(super::at(at as u64, self.items[at].generation))
    }

    /// The first position of the start in force.
    pub(crate) fn start_of(&self, at: Position) -> Position {
        let is_start =
            |&i: &u64| i == 0 || matches!(self.items[i as usize - 1].content, Content::Start(_));
        let records = (0..=at.records).rev().find(is_start).unwrap();
        self.after(records)
    }

    /// The position after everything that happens up to a generation in the present start.
    pub(crate) fn at_generation(&self, here: Position, generation: u64) -> Position {
        let mut at = self.start_of(here);
        at.generation = at.generation.max(generation);
        while let Some(item) = self.item(at.records)
            && item.generation <= at.generation
        {
            if let Content::Start(_) = item.content {
                at.generation = item.generation;
                break;
            }
            at.records += 1;
        }
        at
    }

    /// The cells at a position, by replaying what happened.
    pub(crate) fn cells(&mut self, at: Position) -> Cells {
        assert!(self.contains(at), "{at:?} is not on the line");
        let mut before = self.known.range(..=at).rev();
        let nearest = before.find(|(from, _)| self.contains(**from));
        let (&from, cells) = nearest.expect("the beginning");
        let (mut from, mut cells) = (from, cells.clone());
        while from != at {
            let mut parameters = self.parameters(from.records).clone();
            let until = if from.records == at.records {
                at.generation
            } else {
                self.items[from.records as usize].generation
            };
            let mut stepped = parameters.instances;
            if parameters.compares {
                stepped -= stepped % 2; // the odd one stays as it is
            }
            step(
                &mut cells[..stepped],
                parameters.rule,
                until - from.generation,
            );
            from.generation = until;
            if from.records < at.records {
                let content = &self.items[from.records as usize].content;
                apply(content, &mut parameters, &mut cells);
                from = self.after(from.records + 1);
            }
        }
        self.known.insert(at, cells.clone());
        cells
    }
}

// What sessions are made of, at random: lattices and edits.

pub(crate) fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

/// Random parts of sessions, all from one seed.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(SplitMix64(seed))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn density(&mut self) -> f64 {
        self.below(1001) as f64 / 1000.0
    }

    fn size(&mut self, most: Size) -> Size {
        let side = |most: u32, random: &mut Random| 1 + random.below(most.into());
        size(side(most.width, self), side(most.height, self))
    }

    pub(crate) fn lattices(&mut self, count: usize, size: Size) -> Vec<Arc<Lattice>> {
        let (density, seed) = (self.density(), self.below(1 << 40));
        (0..count)
            .map(|i| Arc::new(soup(size, density, seed, i as u64)))
            .collect()
    }

    /// An edit, or none.
    pub(crate) fn edit(&mut self, on: Size) -> Option<Change> {
        let at = |random: &mut Random| {
            let (x, y) = (
                random.below(on.width.into()),
                random.below(on.height.into()),
            );
            [x as u32, y as u32]
        };
        let [x, y] = at(self);
        let (density, seed) = (self.density(), self.below(u64::MAX));
        let area = Area {
            x,
            y,
            size: self.size(on),
        };
        let area = match self.below(4) {
            0 => Area::whole(on),
            _ => area,
        };
        let (one, other) = (self.chance(), self.chance());
        Some(match self.below(8) {
            0 | 1 => return None,
            2 => Change::Draw {
                cells: (0..self.below(9)).map(|_| at(self)).collect(),
                alive: one,
            },
            3 => Change::Place {
                pattern: self.lattices(1, area.size).remove(0),
                at: [x, y],
                overwrites_dead: other,
            },
            4 => Change::Clear(area),
            5 => Change::Fill {
                area,
                density,
                seed,
            },
            6 => Change::Flip {
                area,
                horizontal: one,
            },
            _ => Change::Rotate {
                area,
                clockwise: one,
            },
        })
    }
}
