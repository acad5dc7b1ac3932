//! Begins moves: sets the lattices to the cells at the start of a route.

use std::sync::Arc;

use super::SessionWorker;
use crate::NewCells;
use crate::health::no_snapshot;
use crate::log::{Position, Source};
use crate::state::MoveReason;
use engine::Result;
use life::Lattice;

impl SessionWorker {
    /// Sets the lattices to the cells at the start of the route to the move's target. Nothing may be in
    /// flight.
    pub(super) fn restore(&mut self) -> Result<()> {
        let Some(target) = self.state.moving().map(|moving| moving.target) else {
            return Ok(());
        };
        let snapshots = self.snapshots.positions();
        let Some(route) = self.state.route(&snapshots, target) else {
            return self.handle_unreachable_target();
        };
        let before = self.state.position();
        let from = match route.source {
            Source::Here => before,
            Source::Start(position) | Source::Snapshot(position) => position,
        };
        let begin = Position {
            records: from.records - route.inverses,
            ..from
        };
        match route.source {
            Source::Here => self.take_back(route.inverses)?,
            Source::Start(_) | Source::Snapshot(_) => {
                if !self.restore_from(route.source, from, begin)? {
                    return Ok(());
                }
            }
        }
        self.state.restored(begin);
        self.log_changed();
        if let Some(instances) = &mut self.lattices.instances {
            instances.set_generation(begin.generation);
        }
        // Cell ages, populations and cycle detection begin again.
        if route.source != Source::Here {
            self.watch.moved(self.lattices.setup().instances);
        }
        self.snapshots.mark_stale();
        self.lab.statistics.restart();
        self.publisher.mark_changed();
        Ok(())
    }

    /// Sets the lattices from a snapshot or a start. Returns `false` if the snapshot could not be read.
    fn restore_from(&mut self, source: Source, from: Position, begin: Position) -> Result<bool> {
        let parameters = self.state.log().parameters(from.records);
        let records = begin.records..from.records;
        let instances = 0..parameters.instances;
        let all: Vec<(usize, NewCells)> = match source {
            Source::Snapshot(position) => {
                let Some(mut lattices) = self.lattices_of_copy(position) else {
                    // Another snapshot or a start is tried instead.
                    self.snapshots.retain(|at| at != position);
                    return Ok(false);
                };
                self.state.log().take_back(records, &mut lattices);
                instances
                    .zip(lattices.into_iter().map(NewCells::from))
                    .collect()
            }
            // Before a start, nothing is taken back.
            _ => {
                let cells = |i| Ok((i, parameters.start_cells(i)?));
                instances.map(cells).collect::<Result<_>>()?
            }
        };
        self.forget_known();
        self.state.cells_unknown();
        let parameters = self.state.log().parameters(begin.records);
        let setup = self.lattices.setup_for(&parameters);
        let Some(instances) = &mut self.lattices.instances else {
            return Ok(false);
        };
        if (instances.size(), instances.instances()) == (parameters.size, parameters.instances) {
            instances.set_rule(parameters.rule);
            instances.set_lattices(all)?;
            return Ok(true);
        }
        self.replace_lattices(setup, all)?;
        Ok(true)
    }

    /// The lattices at the end of an undo, where every copy that leads there is of a later position, which
    /// is about to leave the log: without them, nothing would lead on if the device were lost.
    pub(super) fn last_copy_of_undone(&self) -> Option<(Position, Vec<Arc<Lattice>>)> {
        let (log, here) = (self.state.log(), self.state.position());
        let is_undo = matches!(self.state.moving()?.purpose, MoveReason::Undo { .. });
        let is_last = is_undo
            && log.starts().next().is_none()
            && !self.snapshots.arrived().any(|position| position <= here);
        is_last.then(|| Some((here, self.lattices_at(log, here)?)))?
    }

    /// Handles a move whose target no route reaches: goes as near as possible, or ends the session.
    fn handle_unreachable_target(&mut self) -> Result<()> {
        let snapshots = self.snapshots.positions();
        match self.state.handle_unreachable_target(&snapshots) {
            Some(notice) => self.notify(notice),
            None => self.fail(no_snapshot()),
        }
        self.log_changed();
        Ok(())
    }
}
