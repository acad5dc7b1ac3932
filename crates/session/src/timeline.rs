//! Where a session is and how it came there.

use crate::copies::{Copies, Snapshot};
use crate::log::{Log, Position, Route};
use crate::saved::SavedTimeline;

/// A log, a position on it, and copies of all lattices along it.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) log: Log,
    /// The position of the cells, or the last one if they are lost.
    pub(crate) here: Position,
    pub(crate) copies: Copies,
}

impl Timeline {
    /// The beginning of a log. Copies and log may take `budget` bytes.
    pub(crate) fn new(log: Log, budget: u64) -> Timeline {
        Timeline {
            here: log.base(),
            log,
            copies: Copies::new(budget),
        }
    }

    /// Adds a copy. Returns whether it alone fits into the budget beside the log.
    pub(crate) fn add(&mut self, copy: Snapshot) -> bool {
        self.copies.pinned = self.log.comparison();
        self.copies.add(copy, self.log.bytes())
    }

    /// The shortest route to a position, from the present cells, if they are known, a copy or a start.
    pub(crate) fn route(&self, cells_known: bool, target: Position) -> Option<Route> {
        let here = cells_known.then_some(self.here);
        self.log.route(here, self.copies.all_positions(), target)
    }

    /// The oldest position that a route leads to.
    pub(crate) fn oldest_reachable(&self, cells_known: bool) -> Option<Position> {
        let here = cells_known.then_some(self.here);
        let copies = self.copies.all_positions();
        self.log.oldest_reachable(here, copies)
    }

    /// Drops copies of positions that are not on the log.
    pub(crate) fn drop_void(&mut self) {
        self.copies.retain(|position| self.log.contains(position));
    }

    /// What is saved of it at a position: with the newest copy that leads there, the one before A and B were
    /// compared, and the one that the log then begins with, unless that is a start; `None` if nothing leads
    /// there. An undo on its way there takes the records after it off the log.
    pub(crate) fn saved(&self, position: Position, is_undone: bool) -> Option<SavedTimeline> {
        let mut log = self.log.clone();
        if is_undone {
            log.discard_from(position.records);
        }
        let leads = |at: &Position| *at <= position && log.contains(*at);
        let leading: Vec<Position> = self.copies.positions().filter(leads).collect();
        let mut needed = vec![log.comparison(), leading.last().copied()];
        if !log.base_is_start() {
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
}
