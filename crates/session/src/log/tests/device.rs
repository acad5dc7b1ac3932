//! A session in miniature: cells that follow a log as the worker makes them follow it.

use super::super::*;
use crate::copies::{Copies, Snapshot};
use crate::log::reference_log::{Cells, Joins, apply, start_cells, step};

pub(super) struct Device {
    pub(super) log: Log,
    pub(super) here: Position,
    pub(super) cells: Cells,
    pub(super) copies: Copies,
}

impl Device {
    pub(super) fn new(parameters: SessionParameters, budget: u64) -> Device {
        let log = Log::new(parameters);
        let mut device = Device {
            here: log.base(),
            log: log.clone(),
            cells: Vec::new(),
            copies: Copies::new(budget),
        };
        device.load(&log, Source::Start(log.base()));
        device
    }

    /// The route to a position from here, the snapshots and the starts.
    pub(super) fn route(&self, target: Position) -> Option<Route> {
        let here = Some(self.here);
        self.log.route(here, self.copies.positions(), target)
    }

    /// Takes the cells of a route's source.
    fn load(&mut self, log: &Log, source: Source) {
        match source {
            Source::Here => {}
            Source::Start(position) => {
                self.cells = start_cells(&log.parameters(position.records));
                self.here = position;
            }
            Source::Snapshot(position) => {
                let snapshot = self.copies.get(position).expect("it was named");
                self.cells = snapshot.lattices().unwrap();
                self.here = position;
            }
        }
    }

    /// Follows a route, record by record and generation by generation.
    pub(super) fn follow(&mut self, log: &Log, route: Route, target: Position) {
        self.load(log, route.source);
        self.run_on(log, route.generations, target.records);
        assert_eq!(self.here, target, "by {route:?}");
    }

    pub(super) fn go(&mut self, target: Position) {
        let route = self.route(target).expect("it can be reached");
        let log = self.log.clone();
        self.follow(&log, route, target);
    }

    /// Runs on for some generations, with the records that become due.
    pub(super) fn run(&mut self, generations: u64) {
        let log = self.log.clone();
        self.run_on(&log, generations, u64::MAX);
    }

    /// Steps for some generations, and applies records before number `end` when they are due.
    fn run_on(&mut self, log: &Log, mut generations: u64, end: u64) {
        loop {
            while self.here.records < end
                && let Some(record) = log.due_record(self.here)
            {
                self.apply(log.parameters(self.here.records), &record.content);
                self.here = log.after_next(self.here);
            }
            if generations == 0 {
                return;
            }
            let to_next = log.generations_to_next(self.here).unwrap_or(generations);
            let steps = generations.min(to_next);
            assert_ne!(steps, 0, "nothing is stepped past a record");
            let parameters = log.parameters(self.here.records);
            let stepped = &mut self.cells[parameters.stepped()];
            step(stepped, parameters.rule, steps);
            self.here.generation += steps;
            generations -= steps;
        }
    }

    /// Changes the cells as a record says; before A and B are compared, all are copied.
    fn apply(&mut self, mut parameters: SessionParameters, content: &Content) {
        if matches!(content, Content::Compare) {
            self.copy();
        }
        apply(content, &mut parameters, &mut self.cells);
    }

    /// Adds a record here and applies it.
    pub(super) fn push(&mut self, author: Author, content: &Content, joins: Joins) {
        let before = self.here;
        let parameters = self.log.parameters(before.records);
        self.copies.retain(|at| at <= before);
        self.apply(parameters, content);
        self.here = match joins {
            Joins::Last => self.log.push_joined(before, author, content.clone()),
            _ => {
                let joins = joins == Joins::Stroke;
                self.log.push(before, author, content.clone(), joins)
            }
        };
    }

    /// Undoes this, if anything leads there.
    pub(super) fn undo(&mut self, undo: Undo) -> Option<Undo> {
        let from = self.here;
        self.route(undo.position())?;
        self.go(undo.position());
        self.log.commit_undo(from, undo);
        Some(undo)
    }

    /// Redoes, if there is something and it can be reached.
    pub(super) fn redo(&mut self) -> Option<Position> {
        let (log, target) = self.log.after_redo()?;
        let here = Some(self.here);
        let route = log.route(here, self.copies.positions(), target)?;
        self.follow(&log, route, target);
        assert_eq!(self.log.redo(), Some(target));
        Some(target)
    }

    pub(super) fn copy(&mut self) {
        let copy = Snapshot::new(self.here, &self.cells).unwrap();
        self.copies.pinned = self.log.comparison();
        self.copies.add(copy, self.log.bytes() / 8);
    }

    /// Lets go of what nothing leads to any more, and of snapshots off the line before it.
    pub(super) fn discard(&mut self) {
        let here = Some(self.here);
        let oldest = self.log.oldest_reachable(here, self.copies.positions());
        if let Some(oldest) = oldest {
            self.log.discard_before(oldest);
        }
    }
}
