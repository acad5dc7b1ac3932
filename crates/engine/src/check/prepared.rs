//! Prepared programs, and the conditions for replaying them.

use std::collections::HashSet;
use std::sync::Arc;

use super::state::LatticeState;
use super::{Plan, Validator};
use crate::error::invalid;
use crate::{LatticeId, Op, PreparedId, Program, Result, Transfer};

/// A prepared program and the states it was prepared from.
pub(crate) struct Prepared {
    pub(crate) program: Arc<Program>,
    /// Whether a replay changes cells.
    pub(crate) changes_cells: bool,
    /// The states that its lattices must have at replay.
    before: Vec<(LatticeId, LatticeState)>,
    /// Lattices whose view it downloads without reducing them first.
    reads_view: HashSet<LatticeId>,
    /// Groups whose views it uses, with the words allocated per view when it was prepared.
    views: Vec<(usize, usize)>,
    /// [`Validator::memory`] when it was prepared.
    memory: u64,
}

impl Validator {
    /// Stores a program that its engine has prepared after validation.
    pub(crate) fn add_prepared(&mut self, program: &Arc<Program>, plan: &Plan) -> PreparedId {
        let mut reduced = HashSet::new();
        let mut reads_view = HashSet::new();
        let mut viewed = Vec::new();
        let mut about = Vec::new();
        for step in &program.steps {
            about.extend(step.op.lattices().map(LatticeId));
            let is_reduce = matches!(step.op, Op::Reduce { .. });
            let what = match step.op {
                Op::Download { what, .. } => Some(what),
                _ => None,
            };
            if !is_reduce && what != Some(Transfer::View) {
                continue;
            }
            for lattice in step.op.lattices().map(LatticeId) {
                if is_reduce {
                    reduced.insert(lattice);
                } else if !reduced.contains(&lattice) {
                    reads_view.insert(lattice);
                }
                viewed.push(self.lattices.group_of(lattice));
            }
        }
        viewed.sort_unstable();
        viewed.dedup();
        let capacity = |group: usize| (group, self.lattices.groups[group].view_capacity);
        about.sort_unstable();
        about.dedup();
        let prepared = Prepared {
            program: program.clone(),
            changes_cells: plan.changes_cells,
            before: about
                .into_iter()
                .map(|lattice| (lattice, self.states.committed(lattice)))
                .collect(),
            reads_view,
            views: viewed.into_iter().map(capacity).collect(),
            memory: self.memory,
        };
        self.prepared.push(Some(prepared));
        PreparedId(self.prepared.len() as u32 - 1)
    }

    /// Returns a prepared program, or an error if it cannot be replayed now.
    pub(crate) fn validate_replay(&self, id: PreparedId) -> Result<&Prepared> {
        let Some(Some(prepared)) = self.prepared.get(id.0 as usize) else {
            return Err(invalid(format!("there is no {id:?}")));
        };
        let capacity = |group: usize| self.lattices.groups[group].view_capacity;
        let moved = |&(group, words): &(usize, usize)| capacity(group) != words;
        if prepared.memory != self.memory || prepared.views.iter().any(moved) {
            return Err(invalid(format!(
                "memory that {id:?} uses was replaced since it was prepared"
            )));
        }
        for &(lattice, before) in &prepared.before {
            let now = self.states.committed(lattice);
            let other_view =
                now.view_words != before.view_words && prepared.reads_view.contains(&lattice);
            if !now.has_buffers_of(before) || other_view {
                return Err(invalid(format!(
                    "{id:?} was prepared from another state of {lattice:?}"
                )));
            }
        }
        Ok(prepared)
    }

    /// Commits the states that a replay leaves.
    pub(crate) fn commit_replay(&mut self, id: PreparedId) {
        self.states.begin();
        if let Some(Some(prepared)) = self.prepared.get(id.0 as usize) {
            for step in &prepared.program.steps {
                self.states.apply(&step.op);
            }
        }
        self.states.commit();
    }

    /// Removes a prepared program.
    pub(crate) fn release(&mut self, id: PreparedId) {
        if let Some(prepared) = self.prepared.get_mut(id.0 as usize) {
            *prepared = None;
        }
    }
}
