//! Begins moves: sets the lattices to the cells at the start of a route.

use super::SessionWorker;
use crate::NewCells;
use crate::health::no_snapshot;
use crate::instances::Sim;
use crate::log::{Position, Source};
use engine::Result;

impl SessionWorker {
    /// Sets the lattices to the cells at the start of the route to the move's target. Nothing may be in
    /// flight.
    pub(super) fn restore(&mut self) -> Result<()> {
        let Some(target) = self.state.moving().map(|moving| moving.target) else {
            return Ok(());
        };
        let Some(route) = self.state.route(target) else {
            return self.handle_unreachable_target();
        };
        let before = self.state.position();
        let from = match route.source {
            Source::Here => before,
            Source::Start(position) | Source::Snapshot(position) => position,
        };
        if route.source != Source::Here && !self.restore_from(route.source, from)? {
            return Ok(());
        }
        self.state.restored(from);
        self.log_changed();
        if let Some(instances) = &mut self.lattices.sim {
            instances.set_generation(from.generation);
        }
        // Cell ages, populations and cycle detection begin again.
        if route.source != Source::Here {
            self.watch.moved(self.lattices.setup.instances);
        }
        self.snapshots.is_stale = true;
        self.lab.statistics.restart();
        self.publisher.is_changed = true;
        Ok(())
    }

    /// Sets the lattices from a snapshot or a start. Returns `false` if the snapshot could not be read.
    fn restore_from(&mut self, source: Source, from: Position) -> Result<bool> {
        let parameters = self.state.log().parameters(from.records);
        let instances = 0..parameters.instances;
        let all: Vec<(usize, NewCells)> = match source {
            Source::Snapshot(position) => {
                let copy = self.state.timeline.copies.get(position);
                let Some(copy) = copy else {
                    // It was under way, and could not be read: another, or a start, is tried instead.
                    self.state.timeline.copies.retain(|at| at != position);
                    return Ok(false);
                };
                let lattices = copy.lattices()?;
                instances
                    .zip(lattices.into_iter().map(NewCells::from))
                    .collect()
            }
            _ => {
                let cells = |i| Ok((i, parameters.start_cells(i)?));
                instances.map(cells).collect::<Result<_>>()?
            }
        };
        self.state.cells_known = false;
        let setup = self.lattices.setup_for(&parameters);
        let grid = |it: &Sim| (it.size(), it.instances());
        let Some(present) = self.lattices.sim.as_ref().map(grid) else {
            return Ok(false);
        };
        if present == (parameters.size, parameters.instances) {
            self.set_rule(parameters.rule);
            let sim = self.lattices.sim.as_mut();
            sim.map_or(Ok(()), |it| it.set_lattices(all))?;
            return Ok(true);
        }
        self.replace_lattices(setup, all)?;
        Ok(true)
    }

    /// Handles a move whose target no route reaches: goes as near as possible, or ends the session.
    fn handle_unreachable_target(&mut self) -> Result<()> {
        match self.state.handle_unreachable_target() {
            Some(notice) => self.notify(notice),
            None => self.fail(no_snapshot()),
        }
        self.log_changed();
        Ok(())
    }
}
