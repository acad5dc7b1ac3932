//! Applies records of the log to the lattices, and sets them to the cells at the start of a move.
//!
//! A change of few cells is uploaded as the words that it touches, in the lattice's stream, so rounds
//! do not wait for it. Before a person's change a copy is made, to which undo leads.

use super::lab::SessionWorker;
use crate::command::Notice;
use crate::copies::Snapshot;
use crate::instances::Sim;
use crate::log::{CellChange, Content, Position, Record, SessionParameters, Source};
use crate::state::MoveReason;
use crate::{KernelChoice, NewCells, Setting};
use engine::{EngineError, LatticeOp, Result, WordEdit};
use lang::{Message, message};
use life::{Lattice, Rule, counted_lattices};
use std::sync::Arc;

impl SessionWorker {
    /// Applies the due record. If it cannot be applied, takes it off the log.
    pub(super) fn apply_due(&mut self) -> Result<()> {
        let Some(record) = self.state.log.record(self.state.position.records).cloned() else {
            return Ok(());
        };
        let here = self.state.position;
        if self.state.begins_edit(&record) {
            self.state.copies.mark(here);
        }
        let applied = match &record.content {
            Content::Cells { instance, cells } => self.apply_cells(*instance, cells),
            Content::Start(_) => self.apply_start(),
            Content::Rule(rule) => {
                self.set_rule(*rule);
                self.lab.statistics.restart();
                if self.state.moving().is_none() {
                    self.notify(Notice::Done(message!("Rule {rule}")));
                }
                Ok(())
            }
            Content::Grid { .. } => self.apply_grid(),
            Content::Compare => self.apply_comparison(),
        };
        match applied {
            Ok(()) => {
                self.record_applied(&record);
                Ok(())
            }
            // It stays on the log and is applied after the recovery.
            Err(lost) if lost.loses_lattices() => Err(lost),
            // It was applied before, so it stays; the move ends here.
            Err(why)
                if self
                    .state
                    .moving()
                    .is_some_and(|it| it.purpose != MoveReason::Redo) =>
            {
                if !self.state.cells_known {
                    self.state.lost_cells();
                }
                Err(why)
            }
            Err(why) => {
                self.state.cannot_apply();
                if !self.state.cells_known {
                    self.state.lost_cells();
                }
                self.log_changed();
                // The drawing side stops waiting for a picture with the edit.
                self.state.edit_done(record.number);
                self.notify(Notice::Warning(Message::of(why)));
                self.publisher.is_changed = true;
                Ok(())
            }
        }
    }

    /// Sets the rule by which the lattices are stepped. Under the same one, nothing is compiled.
    fn set_rule(&mut self, rule: Rule) {
        let shares = self.shares_in_use();
        if let Some(sim) = self.sim.as_mut().filter(|it| it.rule != rule) {
            sim.rule = rule;
            sim.compile_in_background(&shares);
        }
    }

    fn record_applied(&mut self, record: &Record) {
        self.state.applied();
        self.log_changed();
        let parameters = self.state.parameters();
        let touched = match &record.content {
            Content::Cells { instance, .. } => parameters.instances_of(*instance),
            _ => (0..parameters.instances).collect(),
        };
        if let Some(instances) = &mut self.sim {
            instances.set_generation(self.state.position.generation);
        }
        self.state.edit_done(record.number);
        for &instance in &touched {
            match &record.content {
                Content::Cells {
                    cells: CellChange::Edit(_),
                    ..
                } => self.watch.changed(instance..instance + 1),
                _ => self.watch.replaced(instance..instance + 1),
            }
        }
        self.snapshots.is_current = false;
        self.publisher.is_changed = true;
    }

    fn apply_cells(&mut self, instance: usize, cells: &CellChange) -> Result<()> {
        let parameters = self.state.parameters();
        let instances = parameters.instances_of(instance);
        let reads = matches!(cells, CellChange::Edit(change) if change.reads_cells());
        let copy = self.present_copy().filter(|_| reads);
        let before = copy.and_then(|copy| copy.lattice(instances[0]));
        let whole = cells.whole(&parameters, instances[0])?;
        let Some(sim) = &mut self.sim else {
            return Ok(());
        };
        let mut set_all = |cells: NewCells| {
            let all = instances.iter().map(|&i| (i, cells.clone()));
            sim.set_lattices(all.collect())
        };
        let change = match (whole, cells) {
            (Some(whole), _) => return set_all(whole),
            (None, CellChange::Edit(change)) => change,
            (None, CellChange::Start | CellChange::Soup { .. }) => return Ok(()),
        };
        let words = match (change.touched(parameters.size), before) {
            (Some(words), _) => words,
            (None, Some(before)) => {
                let after = change.apply(&before);
                let words = WordEdit::between(&before, &after);
                // An edit of a word is three words.
                let most = before.words().len() / 3;
                if words.len() > most.max(WordEdit::MAX_PER_COPY) {
                    return set_all(Arc::new(after).into());
                }
                words
            }
            (None, None) => return Ok(()),
        };
        if words.is_empty() {
            return Ok(());
        }
        sim.change(&instances, &LatticeOp::Edit(words.into()))
    }

    /// Sets every lattice to the start of the due record.
    fn apply_start(&mut self) -> Result<()> {
        let after = self.state.log.parameters(self.state.position.records + 1);
        let all = after.all_start_cells()?;
        self.lab.statistics.restart();
        match &mut self.sim {
            Some(instances) => instances.set_lattices(all),
            None => Ok(()),
        }
    }

    /// Changes the size of the lattices or their number.
    fn apply_grid(&mut self) -> Result<()> {
        let before = self.state.parameters();
        let after = self.state.log.parameters(self.state.position.records + 1);
        let Some(lattices) = self.present_copy().map(Snapshot::lattices).transpose()? else {
            return Ok(());
        };
        let all = resized(lattices, &before, &after)?;
        let setup = self.setup_for(&after);
        let Setting {
            kernel, switches, ..
        } = self.setup.setting;
        let leaves_own_round = switches.order != setup.setting.switches.order;
        self.replace_lattices(setup, all.into_iter().enumerate().collect())?;
        self.state.cells_known = true;
        if self.state.moving().is_none() {
            self.notify(Notice::Done(if after.size != before.size {
                message!(
                    "The lattices are {size} now; Ctrl+Z brings those of {before} back",
                    size = after.size,
                    before = before.size
                )
            } else {
                message!(
                    "{count} now; Ctrl+Z goes back to {before}",
                    count = counted_lattices(after.instances),
                    before = before.instances
                )
            }));
            self.tell_kernel(kernel);
        }
        if self.setup.kernel_choice == KernelChoice::Estimated {
            self.keep_kernel(false); // another one may be the fastest now
        }
        if leaves_own_round {
            self.own_round_left(after.instances);
        }
        Ok(())
    }
}

/// Adapts lattices from the parameters `before` to `after`: enlarges or reduces them about their
/// middle, and gives added instances their start.
fn resized(
    lattices: Vec<Arc<Lattice>>,
    before: &SessionParameters,
    after: &SessionParameters,
) -> Result<Vec<NewCells>, EngineError> {
    let mut all: Vec<NewCells> = Vec::with_capacity(after.instances);
    for lattice in lattices.into_iter().take(after.instances) {
        all.push(if before.size == after.size {
            lattice.into()
        } else {
            Arc::new(lattice.resized(after.size)?).into()
        });
    }
    for instance in all.len()..after.instances {
        all.push(after.start_cells(instance)?);
    }
    Ok(all)
}

// Begins moves: sets the lattices to the cells at the start of a route.

impl SessionWorker {
    /// Sets the lattices to the cells at the start of the route to the move's target. Nothing may be in
    /// flight.
    pub(super) fn restore(&mut self) -> Result<()> {
        let Some(target) = self.state.moving().map(|moving| moving.target) else {
            return Ok(());
        };
        let Some(route) = self.state.route(target) else {
            // It goes as near as possible, or the session ends.
            match self.state.handle_unreachable_target() {
                Some(notice) => self.notify(notice),
                None => self.fail(message!("no snapshot of the lattices is left")),
            }
            self.log_changed();
            return Ok(());
        };
        let before = self.state.position;
        let from = match route.source {
            Source::Here => before,
            Source::Start(position) | Source::Snapshot(position) => position,
        };
        if route.source != Source::Here && !self.restore_from(route.source, from)? {
            return Ok(());
        }
        self.state.restored(from);
        self.log_changed();
        if let Some(instances) = &mut self.sim {
            instances.set_generation(from.generation);
        }
        // Cell ages, populations and cycle detection begin again.
        if route.source != Source::Here {
            self.watch.moved(self.setup.instances);
        }
        self.snapshots.is_current = false;
        self.lab.statistics.restart();
        self.publisher.is_changed = true;
        Ok(())
    }

    /// Sets the lattices from a snapshot or a start. Returns `false` if the snapshot could not be read.
    fn restore_from(&mut self, source: Source, from: Position) -> Result<bool> {
        let parameters = self.state.log.parameters(from.records);
        let all: Vec<(usize, NewCells)> = match source {
            Source::Snapshot(position) => {
                let copy = self.state.copies.get(position);
                let Some(copy) = copy else {
                    // It was under way, and could not be read: another, or a start, is tried instead.
                    self.state.copies.retain(|at| at != position);
                    return Ok(false);
                };
                let lattices = copy.lattices()?.into_iter().map(NewCells::from);
                lattices.enumerate().collect()
            }
            _ => parameters.all_start_cells()?,
        };
        self.state.cells_known = false;
        let setup = self.setup_for(&parameters);
        let grid = |it: &Sim| (it.size, it.instances());
        let Some(present) = self.sim.as_ref().map(grid) else {
            return Ok(false);
        };
        if present == (parameters.size, parameters.instances) {
            self.set_rule(parameters.rule);
            let sim = self.sim.as_mut();
            sim.map_or(Ok(()), |it| it.set_lattices(all))?;
            return Ok(true);
        }
        self.replace_lattices(setup, all)?;
        Ok(true)
    }
}
