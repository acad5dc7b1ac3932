//! A session's state handed over to be kept, and taken up again.

use std::sync::mpsc::Sender;
use std::time::Instant;

use super::Pilot;
use crate::engine::Result;
use crate::session::{Kept, Setup};

impl Pilot {
    /// Hands over everything once the next copy of all lattices is complete.
    pub(super) fn keep(&mut self, answer: Sender<Kept>) {
        if self.failed.is_some() || self.worlds.is_none() {
            let _ = answer.send(self.all_of_it());
        } else {
            self.checkpoints.keepers.push((answer, false));
        }
    }

    /// A copy of all lattices is complete: it is for those who asked before it was begun.
    pub(super) fn tell_keepers(&mut self) {
        if self.checkpoints.keepers.iter().all(|(_, begun)| !begun) {
            return;
        }
        let kept = self.all_of_it();
        self.checkpoints.keepers.retain(|(answer, begun)| {
            if *begun {
                let _ = answer.send(kept.clone()); // who no longer listens has gone
            }
            !begun
        });
    }

    fn all_of_it(&self) -> Kept {
        let lattices = self.last_lattices().into_iter();
        Kept {
            setup: Setup {
                pace: self.pace,
                rounds: None,
                ..self.setup.clone()
            },
            lattices: lattices.map(|(_, lattice, at)| (lattice, at)).collect(),
            running: self.running,
            selected: self.selected,
        }
    }

    /// Goes on from what was kept of a session of this very setup; nothing is under way.
    pub(super) fn restore(&mut self, kept: Kept) -> Result<()> {
        let lattices = kept.lattices.into_iter().enumerate();
        let lattices = lattices.map(|(instance, (lattice, at))| (instance, lattice, at));
        let lattices: Vec<_> = lattices.collect();
        self.last_known = Some(lattices.clone()); // should the engine be lost before a checkpoint
        self.set_lattices(lattices)?;
        self.history_begins();
        self.selected = kept.selected.min(self.setup.instances - 1);
        let limited = self.setup.rounds.is_some(); // whoever wants some rounds wants them made
        self.running = (kept.running || limited) && self.setup.rounds != Some(0);
        self.due = Instant::now();
        self.statistics.restart();
        self.changed = true;
        Ok(())
    }
}
