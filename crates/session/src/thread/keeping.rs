//! A session's state handed over to be kept, and taken up again.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use super::Pilot;
use crate::{Kept, KeptHalves};
use engine::Result;
use lang::tr;
use life::Lattice;
use model::Setup;

impl Pilot {
    /// Hands over everything once the next copy of all lattices is complete.
    pub(super) fn keep(&mut self, answer: Sender<Kept>) {
        self.checkpoints.keepers.push((answer, false));
        if self.failed.is_some() || self.worlds.is_none() {
            self.give_keepers_what_there_is();
        }
    }

    /// No copy will come any more: they get the last one that there was. Nobody gets anything
    /// where what was kept before has not been taken up: it would be written over.
    pub(super) fn give_keepers_what_there_is(&mut self) {
        let keepers = std::mem::take(&mut self.checkpoints.keepers);
        for (answer, _) in keepers.into_iter().filter(|_| !self.unrestored) {
            let _ = answer.send(self.all_of_it()); // who no longer listens has gone
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
        let numbered = |lattices: Vec<(usize, Arc<Lattice>, u64)>| {
            let lattices = lattices.into_iter();
            lattices.map(|(_, lattice, at)| (lattice, at)).collect()
        };
        // Without a copy of both halves there is only what was before them.
        let halves = self.lab.halves.as_ref();
        let (lattices, halves) = match (halves, &self.checkpoints.latest) {
            (Some(halves), None) => (halves.before.clone(), None),
            (halves, _) => (self.last_lattices(), halves),
        };
        Kept {
            setup: Setup {
                pace: self.pace,
                rounds: None,
                ..self.setup.clone()
            },
            lattices: numbered(lattices),
            halves: halves.map(|halves| KeptHalves {
                second: halves.second,
                before: numbered(halves.before.clone()),
            }),
            running: self.running,
            selected: self.selected,
        }
    }

    /// Goes on from what was kept of a session of this very setup; nothing is under way. Where
    /// that cannot be, the session ends, and what was kept stays as it is.
    pub(super) fn restore(&mut self, kept: Kept) -> Result<()> {
        self.unrestored = true;
        match self.take_up(kept) {
            Ok(()) => {
                self.unrestored = false;
                Ok(())
            }
            // The lattices are known: they come with the new engine.
            Err(lost) if lost.loses_lattices() => {
                self.unrestored = false;
                Err(lost)
            }
            Err(error) => {
                let why = tr!(
                    "the session in the file cannot be gone on with: {error}",
                    error = error
                );
                self.fail(why);
                Ok(())
            }
        }
    }

    fn take_up(&mut self, kept: Kept) -> Result<()> {
        let numbered = |lattices: Vec<(Arc<Lattice>, u64)>| -> Vec<_> {
            let lattices = lattices.into_iter().enumerate();
            lattices
                .map(|(i, (lattice, at))| (i, lattice, at))
                .collect()
        };
        self.selected = kept.selected.min(self.setup.instances - 1);
        let limited = self.setup.rounds.is_some(); // whoever wants some rounds wants them made
        self.running = (kept.running || limited) && self.setup.rounds != Some(0);
        self.due = Instant::now();
        self.statistics.restart();
        self.history_begins();
        self.changed = true;
        if let Some(halves) = kept.halves {
            self.part_into(halves.second, numbered(halves.before))?;
        }
        let lattices = numbered(kept.lattices);
        self.watch.drawn(0..lattices.len());
        if !self.lab.is_split() {
            self.progress_known = self.progress();
            self.last_known = Some(lattices.clone()); // should the engine be lost before a checkpoint
        }
        self.set_lattices(lattices)
    }
}
